"""What runs on which GPU, and what is unknown of a build stays so."""

import pytest

from envdoctor.engine.builds import _numbers, _runs, asked, build
from envdoctor.engine.trace import Trace
from envdoctor.facts import ENV, FILE, SYSTEM, Facts
from envdoctor.model import Distribution, Snapshot, Unknown
from envdoctor.rulebase.compile_condition import compile_condition
from envdoctor.rulebase.reader import vocabulary_of
from envdoctor.rulebase.shipped_files import checkout

VERSION = "torch/version.py: "


@pytest.fixture(scope="module")
def words():
    return vocabulary_of(checkout())


def decided(words, word, packages, facts):
    """The verdict, what the texts may name, and what was missed, of a build of the first distribution."""
    condition = compile_condition({"build": {"of": [next(iter(packages))], "is": word}}, words)
    installed = {name: Distribution(name=name, version=version) for name, version in packages.items()}
    snapshot = Snapshot(target={}, python={}, packages=installed, source="here", facts=Facts(facts))
    trace = Trace()
    return build(condition, snapshot, trace), [names for _, names in trace.cases], trace.unknown


@pytest.mark.parametrize(
    ("compiled", "gpu", "runs"),
    [
        ("8.0", (8, 0), True), ("8.0", (8, 6), True), ("8.6", (8, 0), False), ("8.0", (9, 0), False),
        ("sm_86", (8, 9), True), ("sm_90a", (9, 0), True), ("sm_120", (12, 0), True), ("sm_120", (10, 0), False),
        ("compute_80", (12, 0), True), ("compute_90", (8, 9), False), ("9.0+PTX", (12, 0), True),
    ],
)  # fmt: skip
def test_machine_code_is_for_a_generation_and_ptx_for_later_ones(compiled, gpu, runs):
    assert _runs(compiled, gpu) is runs
    assert _numbers("compute_75") == (7, 5)


@pytest.mark.parametrize(
    ("driver", "cuda", "verdict"),
    [
        ("525.60.13", "12.8", False), ("525.60.11", "12.8", True), ("450.80.02", "11.8", False), ("450.51.05", "11.0", False),
        ("450.51.05", "11.8", True), ("418.39", "10.2", True), ("575.57.08", "13.0", True), ("580.65.06", "13.2", False),
        (None, "12.8", False), ("470.86", "99.0", False),
    ],
)  # fmt: skip
def test_the_driver_that_a_cuda_needs(words, driver, cuda, verdict):
    local = "2.9.0+cu" + cuda.replace(".", "")
    facts = {SYSTEM: {"nvidia-driver": driver}, FILE: {"/usr/local/cuda*/compat/libcuda.so.*": []}}
    found, told, _ = decided(words, "needs-newer-driver", {"torch": local}, facts)

    assert found is verdict
    assert [one["cuda"] for one in told] == [cuda] * verdict


@pytest.mark.parametrize(
    ("numbers", "verdict"),
    [(["1B06"], True), (["2330"], False), (["1B06", "2330"], False), (["FFFF"], False), (["1B06", "FFFF"], False)],
)
def test_one_gpu_that_it_runs_on_is_enough_and_a_number_that_is_new_decides_nothing(words, numbers, verdict):
    table = words["gpu"]["lacks-kernels"]
    kernels = f"torch/lib/libtorch_python.so: {words['builds']['torch']['architectures'][0]['text']}"
    facts = {FILE: {table["devices"]: numbers, kernels: []}, SYSTEM: {"gpu": None}}

    assert decided(words, "lacks-kernels", {"torch": "2.9.0+cu128"}, facts)[0] is verdict


def test_what_no_version_and_no_file_tells_is_unknown(words):
    rows = words["builds"]["torch"]["cuda"]
    keys = [VERSION + row["text"] for row in rows if "file" in row]
    unread = Unknown(reason="this target cannot tell")

    found, _, missed = decided(words, "for-cuda", {"torch": "2.9.0"}, {FILE: dict.fromkeys(keys, unread)})
    assert (found, missed) == (None, [("file.torch/version.py", "this target cannot tell")])
    assert decided(words, "for-cuda", {"torch": "2.9.0"}, {FILE: {key: [] for key in keys}})[0] is False
    assert decided(words, "for-cuda", {"torch": "2.9.0+cu128"}, {})[:2] == (
        True,
        [{"distribution": "torch", "release": "2.9.0+cu128", "cuda": "12.8"}],
    )


@pytest.mark.parametrize(
    ("packages", "word", "verdict"),
    [
        ({"torchvision": "0.16.0+cu118", "torch": "2.1.0+cu121"}, "for-other-cuda", True),
        ({"torchvision": "0.16.0+cu118", "torch": "2.1.0+cu117"}, "for-other-cuda", False),
        ({"torchaudio": "2.1.0+cu118", "torch": "2.1.0+cu117"}, "for-other-cuda", True),
        ({"torchvision": "0.16.0+cpu", "torch": "2.1.0+cu121"}, "for-other-cuda", True),
        ({"torchvision": "0.16.0+cu118"}, "for-other-cuda", False),
        ({"jax-cuda12-plugin": "0.4.36", "jaxlib": "0.4.36"}, "for-other-release", False),
        ({"jax-cuda12-plugin": "0.4.36", "jaxlib": "0.4.35"}, "for-other-release", True),
        ({"jax-cuda12-plugin": "0.9.0.1", "jaxlib": "0.9.0"}, "for-other-release", True),
        ({"jax-cuda12-plugin": "0.4.36"}, "for-other-release", False),
        ({"flash-attn": "2.8.1+cu12torch2.7cxx11abiTRUE", "torch": "2.7.1"}, "for-other-release", False),
    ],
)  # fmt: skip
def test_a_build_against_what_it_works_with(words, packages, word, verdict):
    assert decided(words, word, packages, {})[0] is verdict


#: Each way in which a vocabulary says what a build tells, of made-up distributions.
ROWS = {
    "named": {"cuda": [{"file": "named/lib*.so", "named": r"lib(\d+\.\d+)\.so"}], "library": "libown.so.*"},
    "texts": {"cuda": [{"file": "texts/v.py"}, {"file": "texts/w.py", "text": "x"}], "cuda-by": "major"},
    "called-cuda12x": {"cuda": [{"name": r"cuda(\d)(\d)"}, {"name": "[xyz]"}]},
    "local": {"cuda": [{"local": r"\+cu(\d\d)(\d)"}, {"is": "cpu", "release": "<2"}], "partner": "texts",
              "architectures": [{"is": "8.0", "cuda": ["12.1"]}, {"is": "7.0 7.5", "release": ">=3"}]},
    "symbols": {"partner": "local", "symbols": [{"file": "symbols/*.so", "text": "s"}], "built-for": [{"name": "sym"}],
                "binaries": [{"file": "symbols/b*.so", "named": r"b(\d+)"}]},
}  # fmt: skip
TABLE = {
    "drivers": {"12": "525.60", "12.8": "570"}, "bridge": "compat*", "unbridged": "GeForce", "text": "t",
    "devices": "pci", "numbers": [["2200", "22ff", "8.6"]], "models": {"A100": "8.0", "H100": "9.0"},
}  # fmt: skip
MADE_UP = {
    "builds": ROWS,
    "gpu": dict.fromkeys(["needs-newer-driver", "lacks-kernels", "for-cuda", "cpu-only", "for-other-cuda"], TABLE),
}
PRESENT = {FILE: {"compat*": ["compat.so"]}, SYSTEM: {"nvidia-driver": "520.1", "gpu": "GeForce RTX"}}


def told(word, packages, facts):
    """The verdict, and what a finding would show, without what is installed."""
    condition = compile_condition({"build": {"of": [next(iter(packages))], "is": word}}, MADE_UP)
    installed = {name: Distribution(name=name, version=version) for name, version in packages.items()}
    here = Snapshot(target={}, python={}, packages=installed, source="here", facts=Facts(facts))
    trace = Trace()
    verdict = build(condition, here, trace)
    shown = [[(fact, str(value), str(source)) for fact, value, source in seen] for seen, _ in trace.cases]
    fields = [
        {key: text for key, text in names.items() if key not in {"distribution", "release"}} for _, names in trace.cases
    ]
    wanted = [(kind.name, key) for kind, key in asked(condition, here)]
    return verdict, [seen[1:] for seen in shown], fields, trace.unknown, wanted


CUDA = {
    ("named", "1"): ({FILE: {"named/lib*.so": ["a/odd.so", "a/lib12.4.so"]}}, "12.4", "named/lib*.so"),
    ("texts", "1"): ({FILE: {"texts/v.py: t": [], "texts/w.py: x": ["11.8"]}}, "11.8", "texts/w.py"),
    ("called-cuda12x", "1"): ({}, "1.2", "here"),
    ("local", "2.0+cu121"): ({}, "12.1", "here"),
}  # fmt: skip


@pytest.mark.parametrize(("name", "version"), CUDA)
def test_each_way_to_tell_the_cuda_of_a_build(name, version):
    facts, cuda, source = CUDA[name, version]
    shown = [(f"build.{name}", f"cuda {cuda}", source)]
    assert told("for-cuda", {name: version}, facts) == (True, [shown], [{"cuda": cuda}], [], [])
    assert told("cpu-only", {name: version}, facts)[0] is False


def test_a_build_without_cuda():
    assert told("cpu-only", {"local": "1.0"}, {})[:3] == (True, [[("build.local", "cuda cpu", "here")]], [{}])
    assert told("for-cuda", {"local": "1.0"}, {})[0] is told("for-cuda", {"local": "2.0"}, {})[0] is False
    assert told("cpu-only", {"local": "2.0"}, {})[0] is told("cpu-only", {"absent": "1"}, {})[0] is False


def test_what_is_not_known_is_asked_for():
    unread = [("file.texts/v.py", "no reason")]
    facts = {FILE: {"texts/v.py: t": Unknown(reason="no reason"), "texts/w.py: x": []}}
    verdict, *_, missed, wanted = told("for-cuda", {"texts": "1"}, facts)
    assert (verdict, missed, wanted) == (None, unread, [("file", "texts/v.py: t"), ("file", "texts/w.py: x")])
    facts[FILE]["texts/w.py: x"] = ["11.8"]
    assert told("for-cuda", {"texts": "1"}, facts)[0] is True, "a later row tells it"


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({}, True), ({"nvidia-driver": "525.60"}, False), ({"nvidia-driver": None}, False), ({"gpu": "A100"}, False),
        ({"gpu": None}, False),
    ],
)  # fmt: skip
def test_a_driver_is_too_old_unless_a_package_bridges_it(changes, verdict):
    facts = {**PRESENT, SYSTEM: {**PRESENT[SYSTEM], **changes}}
    found = told("needs-newer-driver", {"local": "2.0+cu121"}, facts)
    fields = {"cuda": "12.1", "driver": "520.1", "needed": "525.60"}
    shown = [("build.local", "cuda 12.1", "here"), ("system.nvidia-driver", "520.1", "here")]
    assert found[:3] == ((True, [shown], [fields]) if verdict else (False, [], []))
    assert told("needs-newer-driver", {"local": "2.0+cu101"}, facts)[0] is False, "a CUDA that the table does not know"


@pytest.mark.parametrize(
    ("devices", "gpus", "built", "gpu"),
    [
        (["2204"], None, "2.0+cu121", None), ([], "H100 80GB, A100", "2.0+cu121", None), ([], "H100", "2.0+cu121", "H100"),
        (["2204"], None, "3.0+cu118", "GPU 2204"), (["1"], "H100", "2.0+cu121", None), ([], "Odd, H100", "2.0+cu121", None),
        ([], "", "2.0+cu121", None), ([], "H100", "1.0", "unknown"), ([], "H100", "2.0+cu118", "unknown"),
    ],
)  # fmt: skip
def test_kernels_for_none_of_the_gpus(devices, gpus, built, gpu):
    verdict, shown, fields, *_ = told(
        "lacks-kernels", {"local": built}, {FILE: {"pci": devices}, SYSTEM: {"gpu": gpus}}
    )
    assert verdict is (gpu in {"H100", "GPU 2204"})
    if verdict:
        needed, kernels = ("9.0", "8.0") if gpu == "H100" else ("8.6", "7.0 7.5")
        assert fields == [{"gpu": gpu, "needed": needed, "kernels": kernels}]
        assert shown[0][-1] == ("system.gpu", f"{gpu}, compute capability {needed}", "here")


@pytest.mark.parametrize(
    ("version", "theirs", "fields"),
    [
        ("2.0+cu121", ["11.8"], {"partner": "texts", "own": "12.1", "theirs": "11.8"}), ("2.0+cu118", ["11.8"], None),
        ("2.0+cu118", ["11.7"], {"partner": "texts", "own": "11.8", "theirs": "11.7"}), ("2.0", ["11.8"], None),
        ("2.0+cu118", [], None), ("1.0", ["11.8"], {"partner": "texts", "own": "cpu", "theirs": "11.8"}),
    ],
)  # fmt: skip
def test_partners_that_are_built_for_different_cudas(version, theirs, fields):
    facts = {FILE: {"texts/v.py: t": theirs, "texts/w.py: x": []}}
    assert told("for-other-cuda", {"local": version, "texts": "1"}, facts)[2] == ([fields] if fields else [])
    assert told("for-other-cuda", {"local": version}, facts)[0] is False


def test_names_binaries_and_libraries_of_a_partner():
    rows = {"symbols/*.so: s": ["a", "b"], "symbols/b*.so": ["b118", "b120"]}
    own = {"symbols": "1", "local": "2.0+cu121"}
    assert told("without-binary", own, {FILE: rows})[1:3] == (
        [[("build.local", "cuda 12.1", "here"), ("build.symbols", "binaries 118 120", "symbols/b*.so")]],
        [{"partner": "local", "own": "118, 120", "theirs": "12.1"}],
    )
    assert told("without-binary", {**own, "local": "2.0+cu118"}, {FILE: rows})[0] is False
    assert told("without-binary", {**own, "local": "1.0"}, {FILE: rows})[0] is False
    assert told("for-other-names", own, {FILE: rows})[0] is False


@pytest.mark.parametrize(
    ("variable", "there", "expected"),
    [
        ("rel:/a/:/b", "1.1", "1.1"), ("/a", "1.2.3", None), ("/a", "2.0", None), ("", "1.1", None), (None, "1.1", None),
        ("/a", "1", None), ("/a", "0.9", None),
    ],
)  # fmt: skip
def test_an_older_library_before_its_own(variable, there, expected):
    path = f"/a/libown.so.{there}"
    facts = {ENV: {"LD_LIBRARY_PATH": variable}, FILE: {"/a/libown.so.*": [path], "/b/libown.so.*": []}}
    verdict, shown, fields, *_ = told("behind-older-library", {"named": "1.2.0"}, facts)
    assert verdict is (expected is not None)
    if expected:
        assert shown == [[("env.LD_LIBRARY_PATH", path, "the environment")]]
        assert fields == [{"file": path, "theirs": there}]
