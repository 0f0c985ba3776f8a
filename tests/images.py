"""Root file systems in the making, for tests that examine them."""

import struct

GLIBC_LOADER = "/lib64/ld-linux-x86-64.so.2"
MUSL_LOADER = "/lib/ld-musl-x86_64.so.1"


def elf(loader=GLIBC_LOADER, machine=62, content=b""):
    """A 64-bit program that names its loader and holds some text."""
    name = loader.encode() + b"\0"
    header = (
        b"\x7fELF\x02\x01\x01"
        + bytes(9)
        + struct.pack("<HHIQQQIHHHHHH", 3, machine, 1, 0, 64, 0, 0, 64, 56, 1, 0, 0, 0)
    )
    segment = struct.pack("<IIQQQQQQ", 3, 4, 120, 0, 0, len(name), len(name), 1)
    return header + segment + name + b"\0" + content


class Image:
    """A root file system in the making; paths are those inside it."""

    def __init__(self, path):
        self.path = path
        path.mkdir()

    def __str__(self):
        return str(self.path)

    def host(self, path):
        return str(self.path) + path

    def file(self, path, content=b""):
        place = self.path / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content if isinstance(content, bytes) else content.encode())
        return self

    def folder(self, *paths):
        for path in paths:
            (self.path / path.lstrip("/")).mkdir(parents=True, exist_ok=True)
        return self

    def link(self, path, target):
        place = self.path / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(target)
        return self

    def python(self, prefix, version, content=None, suffix="", *, header=True):
        """An installation with its headers and its library."""
        minor = ".".join(version.split(".")[:2]) + suffix
        self.file(f"{prefix}/bin/python{minor}", elf() if content is None else content)
        self.link(f"{prefix}/bin/python3", f"python{minor}")
        self.file(f"{prefix}/lib/python{minor}/os.py")
        self.folder(f"{prefix}/lib/python{minor}/lib-dynload", f"{prefix}/lib/python{minor}/site-packages")
        if header:
            self.file(f"{prefix}/include/python{minor}/patchlevel.h", f'#define PY_VERSION      "{version}"\n')
        return self

    def venv(self, prefix, home, minor, settings=""):
        self.link(f"{prefix}/bin/python", f"{home}/python{minor}")
        self.folder(f"{prefix}/lib/python{minor}/site-packages")
        return self.file(f"{prefix}/pyvenv.cfg", f"home = {home}\n{settings}")

    def distribution(self, site, name, version, requires=()):
        """The metadata of an installed distribution in a site directory."""
        lines = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}"]
        lines += [f"Requires-Dist: {requirement}" for requirement in requires]
        return self.file(f"{site}/{name}-{version}.dist-info/METADATA", "\n".join([*lines, "", ""]))
