"""Coverage-guided fuzzing of the readers of foreign files, where ``atheris`` is installed.

    python tests/fuzz/fuzz_readers.py [metadata|lock|snapshot|rule|project|artifact] [LIBFUZZER OPTIONS] [CORPUS DIRECTORY]

Without a name, all are fed in turn, beginning with real files. Not part of the ordinary run, which feeds the same
readers with hypothesis; an input that breaks something here becomes a test there. A run ends with ``-max_total_time=60`` or ``-runs=100000``.
"""

import base64
import contextlib
import glob
import gzip
import io
import os
import pickle
import sys
import tempfile
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, ROOT)

try:
    import atheris
except ImportError:
    sys.exit("fuzz_readers: atheris is not installed here; pip install atheris (Linux and macOS)")

with atheris.instrument_imports(include=["envdoctor"]):
    from envdoctor.errors import EnvdoctorError
    from envdoctor.facts import CONFIG, ENV, INSTALLED, MARKER, MODULE, SHADOWS, SYSTEM
    from envdoctor.model import Distribution
    from envdoctor.probes import artifacts, distributions
    from envdoctor.probes.project import Project, config, config_text, config_yaml, ignore, shadows  # noqa: F401
    from envdoctor.rulebase import syntax
    from envdoctor.targets import requirements, snapshot_file

SCRATCH = tempfile.TemporaryDirectory(prefix="envdoctor-fuzz-")
LOCKS = [
    "requirements.txt", "pylock.toml", "uv.lock", "poetry.lock", "pdm.lock", "Pipfile.lock", "environment.yml", "conda-lock.yml",
]  # fmt: skip
CONFIGURATION = ["a.yaml", "a.toml", "a.json", "a.ini", ".env", ".gitignore", "logging.py"]
SAMPLES = [
    b"a: &b {c: [1, 'x', ~], <<: {d: yes}}\ne: *b\n---\n? [k]\n: !t |\n  f\n",
    b"a = 1\n[b.'c']\nd = [{e = 2.5}]\n[[f]]\ng = '''x\n'''\n",
    b'{"a": [1, {"b": "\\u0041"}], "c": null}',
    b"[a]\nb = c\n  d\ne\n",
    b"export A=\"x\\n\" # y\nB='z\n'\n",
    b"*.py[cod]\n!/a/**/b\nc/\n\\#d\n",
    b"def f(): pass\n",
]


def write(name, data):
    path = os.path.join(SCRATCH.name, name)
    with open(path, "wb") as file:
        file.write(data)
    return path


def metadata(data):
    """What ``METADATA`` says; nothing is ever raised."""
    folder = os.path.join(SCRATCH.name, "one-1.0.dist-info")
    os.makedirs(folder, exist_ok=True)
    write(os.path.join("one-1.0.dist-info", "METADATA"), data)
    write(os.path.join("one-1.0.dist-info", "WHEEL"), data)
    distribution = Distribution(name="one", version="1.0", path=folder, location=SCRATCH.name)
    distributions.read_metadata(distribution)
    distributions.wheel_tags(distribution)
    distributions.scan([SCRATCH.name])


def lock(data):
    """A requirements or lock file; only errors that speak to the user are raised."""
    path = write(LOCKS[data[0] % len(LOCKS)] if data else LOCKS[0], data[1:])
    requirements.snapshot_of(path, python_version="3.11", platform="linux", machine="x86_64")


def snapshot(data):
    """A saved snapshot, and every question that can be asked of it."""
    read = snapshot_file.snapshot_of(write("facts.json", data))
    for one in read.packages.values():
        read.facts.metadata(one.name, one.version)
    for kind in (ENV, INSTALLED, MARKER, MODULE, SYSTEM):
        for key in [*read.packages, "leftover"]:
            read.facts.ask(kind, key)


def rule(data):
    """A rule's file; its mistakes are returned, not raised."""
    syntax.parse(data.decode("utf-8", "replace"), "one.yaml", {"families": {}, "system": {}, "modules": []})


def project(data):
    """A project's configuration, what it ignores, and its modules; what cannot be read is a line, and nothing is raised."""
    name = CONFIGURATION[data[0] % len(CONFIGURATION)] if data else CONFIGURATION[0]
    if name == ".gitignore":
        for path in ("a.pyc", "x/a/b", "c"):
            ignore.Ignored(data[1:]).says(path, path.rpartition("/")[2], directory=path == "c")
        return
    there = Project.of({name: data[1:], "main.py": ""})
    for pattern in ("*", name):
        for line in there.ask(CONFIG, (pattern, "*")).gaps:
            assert line.isprintable(), line
    there.ask(SHADOWS, "standard-library")


def artifact(data):
    """A file that may be a pickle, an array or a saved model; only errors that speak to the user are raised."""
    artifacts.artifact_at(write("model.pkl", data))


def artifact_seeds():
    """Pickles of every protocol, alone and in what holds them."""
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        yield pickle.dumps([{"a": (1, 2.5, b"x")}, io.BytesIO, os.stat(ROOT), {3}, 2**80], protocol=protocol)
    inside = pickle.dumps({"a": io.BytesIO}, protocol=2)
    yield gzip.compress(inside)
    yield b"\x93NUMPY\x01\x00\x40\x00" + b"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }".ljust(64) + inside
    data = b'{"lr_schedule": {":serialized:": "' + base64.b64encode(inside) + b'"}}'
    for members in (
        {"a/data.pkl": inside},
        {"data": data, "policy.pth": inside},
        {"metadata.json": b"{}", "config.json": b"{}"},
    ):
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            for name, content in members.items():
                archive.writestr(name, content)
        yield packed.getvalue()


def seeds(reader):
    """Real files of the kind that a reader reads, as it wants them."""
    if reader == "artifact":
        yield from artifact_seeds()
    if reader == "project":
        for number, text in enumerate(SAMPLES):
            yield bytes([number]) + text
    if reader == "lock":
        for path in glob.glob(os.path.join(ROOT, "tests", "data", "locks", "*", "*")):
            if os.path.basename(path) in LOCKS:
                yield bytes([LOCKS.index(os.path.basename(path))]) + read(path)
    patterns = {
        "metadata": os.path.join(os.path.dirname(os.path.dirname(atheris.__file__)), "*.dist-info", "METADATA"),
        "snapshot": os.path.join(ROOT, "tests", "golden", "snapshot*.json"),
        "rule": os.path.join(ROOT, "rules", "*", "*.yaml"),
    }
    for path in glob.glob(patterns.get(reader, "")):
        yield read(path)


def read(path):
    with open(path, "rb") as file:
        return file.read()


READERS = {
    "metadata": metadata,
    "lock": lock,
    "snapshot": snapshot,
    "rule": rule,
    "project": project,
    "artifact": artifact,
}


def main():
    chosen = [sys.argv.pop(1)] if sys.argv[1:2] and sys.argv[1] in READERS else list(READERS)

    def one(data):
        reader = READERS[chosen[data[0] % len(chosen)]] if data else READERS[chosen[0]]
        with contextlib.suppress(EnvdoctorError):
            reader(data[1:] if len(chosen) > 1 else data)

    corpus = os.path.join(SCRATCH.name, "corpus")
    os.makedirs(corpus)
    for name in chosen:
        for number, content in enumerate(seeds(name)):
            prefix = b"" if len(chosen) == 1 else bytes([chosen.index(name)])
            write(os.path.join("corpus", f"{name}-{number}"), prefix + content)
    atheris.Setup([*sys.argv, corpus], one)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
