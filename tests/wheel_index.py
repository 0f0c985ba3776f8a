"""An index on this machine, of wheels that are made where a test needs them; it answers range requests, or does not."""

import contextlib
import http.server
import io
import json
import random
import re
import threading
import zipfile

from conftest import new_cache

from envdoctor.probes import releases
from envdoctor.probes.wheel_files import BLOCK

BALLAST = random.Random(1).randbytes(BLOCK * 12)  # what a range request spares


def wheel(sources, name="left", version="1.0", requires=(), ballast=None):
    """The bytes of a wheel with these members and its metadata; at ``ballast`` with much that nobody wants to read."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        if ballast:
            archive.writestr(ballast, BALLAST)
        for path, content in sources.items():
            archive.writestr(path, content)
        if not any(path.endswith("/METADATA") for path in sources):
            header = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}"]
            header += [f"Requires-Dist: {one}" for one in requires]
            archive.writestr(f"{name.replace('-', '_')}-{version}.dist-info/METADATA", "\n".join(header) + "\n")
    return file.getvalue()


class Index(http.server.BaseHTTPRequestHandler):
    """Answers for ``server.wheels``, and takes note of what was ``asked`` for, with the bytes that it sent."""

    def do_GET(self):
        part = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range") or "") if self.server.ranges else None
        name = self.path.rstrip("/").rpartition("/")[2]
        if self.path.startswith("/simple/"):
            content, kind = self.page(name)
        else:
            content, kind = self.server.wheels.get(name, b""), "application/octet-stream"
        body = content[int(part[1]) : int(part[2]) + 1] if part else content
        self.server.asked.append((name, len(body)))
        self.send_response(206 if part else 200 if content else 404)
        self.send_header("Content-Type", kind)
        if part:
            self.send_header("Content-Range", f"bytes {part[1]}-{int(part[1]) + len(body) - 1}/{len(content)}")
        self.end_headers()
        self.wfile.write(body)

    def do_HEAD(self):
        """Say how long a file is, as uv asks before it takes it."""
        content = self.server.wheels.get(self.path.rstrip("/").rpartition("/")[2], b"")
        self.send_response(200 if content else 404)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()

    def page(self, project):
        """The page of a project, as JSON with sizes or as HTML without."""
        found = {
            one: content
            for one, content in self.server.wheels.items()
            if one.partition("-")[0] == project.replace("-", "_")
        }
        if not found:
            return b"", "text/html"
        if self.server.html:
            return "".join(f'<a href="../../{one}">{one}</a>' for one in found).encode(), "text/html"
        listed = [
            {
                "filename": one,
                "url": f"../../{one}",
                "size": len(content),
                "hashes": {},
                **({"upload-time": day} if (day := self.server.days.get(one)) else {}),
                **({"requires-python": said} if (said := self.server.pythons.get(one)) else {}),
            }
            for one, content in found.items()
        ]
        return json.dumps({"files": listed}).encode(), "application/vnd.pypi.simple.v1+json"

    def log_message(self, *_):
        """Say nothing."""


@contextlib.contextmanager
def serving(monkeypatch, cache, wheels, days=None, pythons=None):
    """Run an index, the only one that is configured, with an empty cache.

    ``days`` says when a wheel was uploaded, and ``pythons`` what it requires of Python.
    """
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Index)
    server.asked, server.wheels, server.ranges, server.html = [], wheels, True, False
    server.days, server.pythons = days or {}, pythons or {}
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    monkeypatch.setenv("XDG_CACHE_HOME", new_cache(cache))
    monkeypatch.setenv("LOCALAPPDATA", str(cache))
    url = f"http://127.0.0.1:{server.server_port}/simple/"
    monkeypatch.setattr(releases, "configuration", lambda: releases.Configuration(urls=[url]))
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
