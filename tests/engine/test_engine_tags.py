"""Which installed wheels contradict the interpreter and the machine: only a clear contradiction counts."""

import pytest
from engine.rule_bases import snapshot

from envdoctor.engine.tags import mismatch


def here(version="3.11.4", system="linux", machine="x86_64", **python):
    python = {"version": version, "implementation": "cpython", **python}
    return snapshot(python=python, platform={"system": system, "machine": machine})


@pytest.mark.parametrize(
    ("python", "fits"),
    [
        ("cp311-cp311", True), ("cp310-cp310", False), ("cp312-cp312", False), ("cp38-abi3", True), ("cp311-abi3", True),
        ("cp312-abi3", False), ("cp32-abi3", True), ("cp2-abi3", False), ("cp3-abi3", True), ("py3-none", True),
        ("py2-none", True), ("cp311-none", True), ("cp3-none", True), ("cp2-none", False), ("cp310-none", False),
        ("pp310-pypy310_pp73", True), ("cp311-cp311t", True), ("cpx-none", True), ("cp3-cp3", False), ("cp31-cp31", False),
    ],
)  # fmt: skip
def test_the_python_of_a_wheel(python, fits):
    tag = f"{python}-linux_x86_64"
    assert mismatch([tag], here()) == (None if fits else tag)
    assert mismatch([tag], here(implementation="pypy")) is None
    assert mismatch([tag], here(version=None)) is mismatch([tag], here(version="3")) is None


@pytest.mark.parametrize(
    ("tag", "threaded", "fits"),
    [
        ("cp313-cp313t", True, True), ("cp313-cp313t", False, False), ("cp313-cp313", True, False),
        ("cp313-cp313", False, True), ("cp313-none", True, True), ("cp313-cp313t", None, True), ("cp312-cp312t", True, False),
    ],
)  # fmt: skip
def test_a_wheel_for_free_threads(tag, threaded, fits):
    tag += "-any"
    assert mismatch([tag], here(version="3.13.0", free_threaded=threaded)) == (None if fits else tag)
    assert mismatch([tag], snapshot(python={"version": "3.13.0", "free_threaded": threaded})) == (None if fits else tag)


@pytest.mark.parametrize(
    ("platform", "system", "machine", "fits"),
    [
        ("manylinux_2_17_x86_64", "linux", "x86_64", True), ("musllinux_1_1_x86_64", "linux", "x86_64", True),
        ("linux_x86_64", "linux", "x86_64", True), ("win_amd64", "linux", "x86_64", False),
        ("macosx_11_0_arm64", "linux", "aarch64", False), ("macosx_11_0_arm64", "darwin", "arm64", True),
        ("macosx_10_9_universal2", "darwin", "arm64", True), ("macosx_10_9_x86_64", "darwin", "arm64", False),
        ("macosx_10_9_intel", "darwin", "x86_64", True), ("macosx_10_9_universal2", "darwin", "x86_64", True),
        ("macosx_10_9_universal", "darwin", "x86_64", True), ("macosx_10_9_intel", "darwin", "arm64", False),
        ("win32", "win32", "x86", True), ("win_amd64", "win32", "AMD64", True), ("win32", "win32", "AMD64", False),
        ("win_arm64", "win32", "AMD64", False), ("win_amd64", "win32", "x86", False), ("win_arm64", "win32", "ARM64", True),
        ("manylinux2014_aarch64", "linux", "x86_64", False), ("manylinux2014_aarch64", "linux", "aarch64", True),
        ("manylinux1_i686", "linux", "i686", True), ("linux_i386", "linux", "i686", True), ("manylinux1_i686", "linux", "x86_64", False),
        ("manylinux_2_17_ppc64le", "linux", "x86_64", True), ("odd", "linux", "x86_64", True), ("any", "linux", "x86_64", True),
        ("manylinux_2_17_x86_64", "linux", "riscv64", True), ("win_amd64", None, "x86_64", True), ("win_arm64", None, "x86_64", False),
        ("manylinux_2_17_x86_64", "darwin", "x86_64", False), ("manylinux_2_17_x86_64", "freebsd13", "x86_64", True),
        ("win_amd64", "linux", None, False), ("linux_aarch64", "linux", None, True),
    ],
)  # fmt: skip
def test_the_system_and_the_processor_of_a_wheel(platform, system, machine, fits):
    tag = f"cp311-cp311-{platform}"
    assert mismatch([tag], here(system=system, machine=machine)) == (None if fits else tag)


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        (["cp310-cp310-win32", "cp310-cp310-win_amd64"], "cp310-cp310-win32"), (["cp310-cp310-win32", "py3-none-any"], None),
        (["cp310-cp310-win32", "cp311-cp311-linux_x86_64", "cp39-cp39-win32"], None), ([], None), (["odd"], None),
        (["cp310-cp310-linux_x86_64", "a-b"], None), (["cp310-none-any"], "cp310-none-any"), (["py2-none-any"], None),
        (["cp310-cp310-win-amd64"], None), (["py3-none-win32"], "py3-none-win32"),
    ],
)  # fmt: skip
def test_the_first_of_a_wheel_all_of_whose_tags_contradict(tags, expected):
    assert mismatch(tags, here()) == expected
