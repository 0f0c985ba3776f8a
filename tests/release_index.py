"""An index on this machine with wheels of tiny distributions, which answers range requests."""

import http.server
import io
import json
import re
import threading
import zipfile
from contextlib import contextmanager

from envdoctor.probes import releases


def wheel(sources, name="left", version="1.0", requires=()):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for path, content in sources.items():
            archive.writestr(path, content)
        header = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}", *(f"Requires-Dist: {one}" for one in requires)]  # fmt: skip
        archive.writestr(f"{name.replace('-', '_')}-{version}.dist-info/METADATA", "\n".join(header) + "\n")
    return file.getvalue()


class Index(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        part = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range") or "")
        name = self.path.strip("/").rpartition("/")[2]
        if self.path.startswith("/simple/"):
            listed = [
                {"filename": one, "url": f"http://127.0.0.1:{self.server.server_port}/{one}", "size": len(content)}
                for one, content in self.server.wheels.items()
                if one.startswith(f"{name.replace('-', '_')}-")
            ]
            content = json.dumps({"files": listed}).encode() if listed else b""
        else:
            content = self.server.wheels.get(name, b"")
        body = content[int(part[1]) : int(part[2]) + 1] if part else content
        self.server.asked.append((name, len(body)))
        self.send_response(206 if part else 200 if content else 404)
        self.send_header("Content-Type", "application/vnd.pypi.simple.v1+json")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@contextmanager
def serving(wheels, monkeypatch, tmp_path):
    """The server, with its ``wheels`` by file name, and in ``asked`` what was asked for with the bytes sent."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Index)
    server.asked, server.wheels = [], dict(wheels)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "cache"))
    url = f"http://127.0.0.1:{server.server_port}/simple/"
    monkeypatch.setattr(releases, "configuration", lambda: releases.Configuration(urls=[url]))
    yield server
    server.shutdown()
    thread.join()
    server.server_close()
