"""What runs on which GPU, and what is unknown of a build stays so."""

import pytest

from envdoctor.engine.builds import _numbers, _runs, build
from envdoctor.engine.evaluate import Trace
from envdoctor.facts import FILE, SYSTEM, Facts
from envdoctor.model import Distribution, Snapshot, Unknown
from envdoctor.rulebase.compile_condition import compile_condition
from envdoctor.rulebase.reader import vocabulary_of
from envdoctor.rulebase.shipped import checkout

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
