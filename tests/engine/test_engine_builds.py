"""What runs on which GPU, and what is unknown of a build stays so."""

import pytest

from envdoctor.engine.builds import _numbers, _runs, asked, build, file
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
        ("rel:/a/:/b", "1.1", "1.1"), ("/a.so.9", "1.1", "1.1"), ("/a", "1.2.3", None), ("/a", "2.0", None), ("", "1.1", None), (None, "1.1", None),
        ("/a", "1", None), ("/a", "0.9", None),
    ],
)  # fmt: skip
def test_an_older_library_before_its_own(variable, there, expected):
    folder = "/a.so.9" if variable == "/a.so.9" else "/a"
    path = f"{folder}/libown.so.{there}"
    facts = {ENV: {"LD_LIBRARY_PATH": variable}, FILE: {folder + "/libown.so.*": [path], "/b/libown.so.*": []}}
    verdict, shown, fields, *_ = told("behind-older-library", {"named": "1.2.0"}, facts)
    assert verdict is (expected is not None)
    if expected:
        assert shown == [[("env.LD_LIBRARY_PATH", path, "the environment")]]
        assert fields == [{"file": path, "theirs": there}]


@pytest.mark.parametrize(
    ("found", "wanted", "verdict", "shown"),
    [
        (["/lib/b.so", "/lib/a.so"], "present", True, "/lib/b.so"), ([], "present", False, None),
        ([], "absent", True, "no /lib/*.so"), (["/lib/a.so"], "absent", False, None),
    ],
)  # fmt: skip
def test_files_are_there_or_not(found, wanted, verdict, shown):
    here = Snapshot(target={}, python={}, packages={}, source="here", facts=Facts({FILE: {"/lib/*.so": found}}))
    trace = Trace()
    assert file(["file", "/lib/*.so", wanted], here, trace) is verdict
    source = found[0] if found else "here"
    assert trace.seen == ([("file./lib/*.so", shown, source)] if verdict else [])
    assert trace.unknown == []


@pytest.mark.parametrize("wanted", ["present", "absent"])
def test_files_that_nobody_could_look_for_are_unknown(wanted):
    unread = Facts({FILE: {"a*": Unknown(reason="of another machine")}})
    trace = Trace()
    assert file(["file", "a*", wanted], Snapshot(target={}, python={}, packages={}, facts=unread), trace) is None
    assert (trace.seen, trace.unknown) == ([], [("file.a*", "of another machine")])


@pytest.mark.parametrize(
    ("first", "second", "verdict", "names"),
    [
        (["11.8"], ["12.4"], True, ["texts", "named"]), (None, ["12.4"], True, ["named"]), (["11.8"], None, True, ["texts"]),
        (None, [], None, []), ([], None, None, []), ([], [], False, []), ([], ["12.4"], True, ["named"]),
    ],
)  # fmt: skip
def test_each_build_of_which_it_holds_is_a_finding(first, second, verdict, names):
    unread = Unknown(reason="no reason")
    libraries = unread if second is None else [f"lib{one}.so" for one in second]
    facts = {
        FILE: {"texts/v.py: t": unread if first is None else first, "texts/w.py: x": [], "named/lib*.so": libraries}
    }
    packages = {name: Distribution(name=name, version="1.5", path=f"/{name}") for name in ("texts", "named")}
    here = Snapshot(target={}, python={}, packages=packages, source="here", facts=Facts(facts))
    condition = compile_condition({"build": {"of": ["texts", "named", "local"], "is": "for-cuda"}}, MADE_UP)
    trace = Trace()

    assert build(condition, here, trace) is verdict
    assert [said["distribution"] for _, said in trace.cases] == names
    assert [seen[0] for seen, _ in trace.cases] == [(f"packages.{name}", "1.5", f"/{name}") for name in names]
    assert {said["release"] for _, said in trace.cases} <= {"1.5"}
    missed = [("file.texts/v.py", "no reason")] * (first is None) + [("file.named/lib*.so", "no reason")] * (
        second is None
    )
    assert trace.unknown == missed
    wanted = [("texts/v.py: t", first), ("texts/w.py: x", first), ("named/lib*.so", second)]
    assert [key for _, key in asked(condition, here)] == [key for key, found in wanted if found is None]


def test_a_build_without_a_version_is_of_no_release():
    packages = {"local": None, "symbols": "1"}
    assert told("cpu-only", packages, {})[:3] == (False, [], [])
    assert told("for-cuda", packages, {})[0] is False
    texts = {FILE: {"texts/v.py: t": ["12.1"]}}
    assert told("for-cuda", {"texts": None}, texts)[:3] == (
        True, [[("build.texts", "cuda 12.1", "texts/v.py")]], [{"cuda": "12.1"}],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("built", "theirs", "differs"),
    [
        ("0.4.36", "0.4.36", False), ("0.4", "0.4.36", False), ("0.4.36", "0.4.35", True), ("0.4.36", "0.4", True),
        ("1.10", "1.1.0", True), ("2", "2.1.0+cu121", False), ("x", "1.0", False), ("2.1", "2.1+cu118", False),
    ],
)  # fmt: skip
def test_the_release_of_the_partner_that_it_was_built_for(built, theirs, differs):
    vocabulary = {"builds": {"plugin": {"partner": "base", "built-for": [{"file": "v", "text": "r"}]}}}
    condition = compile_condition({"build": {"of": ["plugin"], "is": "for-other-release"}}, vocabulary)
    packages = {
        "plugin": Distribution(name="plugin", version="1"),
        "base": Distribution(name="base", version=theirs, path="/site/base"),
    }
    here = Snapshot(target={}, python={}, packages=packages, source="here", facts=Facts({FILE: {"v: r": [built]}}))
    trace = Trace()
    assert build(condition, here, trace) is differs
    seen = [("packages.plugin", "1", "here"), ("build.plugin", f"built-for {built}", "v")]
    seen.append(("packages.base", theirs, "/site/base"))
    fields = {"distribution": "plugin", "release": "1", "partner": "base", "own": built, "theirs": theirs}
    assert trace.cases == ([(seen, fields)] if differs else [])


@pytest.mark.parametrize(
    ("own", "theirs", "gone"),
    [
        (["a", "b"], ["b", "c"], "a"), (["a", "b"], ["a"], "b"), (["a"], ["a", "b"], None), ([], ["a"], None),
        (["a"], [], None), (["a", "b"], ["c"], "a"),
    ],
)  # fmt: skip
def test_names_that_its_partner_does_not_have(own, theirs, gone):
    vocabulary = {"builds": {
        "ext": {"partner": "base", "symbols": [{"file": "ext.so", "text": "s"}]},
        "base": {"symbols": [{"file": "base.so", "text": "s"}]},
    }}  # fmt: skip
    condition = compile_condition({"build": {"of": ["ext"], "is": "for-other-names"}}, vocabulary)
    packages = {name: Distribution(name=name, version="1") for name in ("ext", "base")}
    facts = Facts({FILE: {"ext.so: s": own, "base.so: s": theirs}})
    here = Snapshot(target={}, python={}, packages=packages, source="here", facts=facts)
    trace = Trace()
    assert build(condition, here, trace) is (gone is not None)
    fields = {"distribution": "ext", "release": "1", "partner": "base", "own": gone}
    assert [names for _, names in trace.cases] == ([fields] if gone else [])
    assert [fact for fact, _, _ in trace.cases[0][0][1:]] == ["build.ext", "build.base"] if gone else True
    alone = here.replace(packages={"ext": packages["ext"]})
    assert build(condition, alone, Trace()) is False
    unread = alone.replace(packages=packages, facts=Facts({FILE: {"ext.so: s": own}}))
    assert build(condition, unread, Trace()) is (None if own else False)


def test_a_row_may_say_what_its_file_means():
    vocabulary = {
        "builds": {
            "x": {"cuda": [{"file": "rocm.so", "text": "r", "is": "rocm"}, {"file": "v", "text": "r", "is": 12}]}
        }
    }
    condition = compile_condition({"build": {"of": ["x"], "is": "for-cuda"}}, vocabulary)
    packages = {"x": Distribution(name="x", version="1")}

    def found(first, second):
        facts = Facts({FILE: {"rocm.so: r": first, "v: r": second}})
        trace = Trace()
        verdict = build(condition, Snapshot(target={}, python={}, packages=packages, facts=facts), trace)
        return verdict, [(names["cuda"], seen[-1]) for seen, names in trace.cases]

    assert found(["hip"], ["y"]) == (False, [])
    assert found([], ["y"]) == (True, [("12", ("build.x", "cuda 12", "v"))])
    assert found([], []) == (False, [])


@pytest.mark.parametrize(
    ("name", "expression", "cuda"),
    [
        ("x-cu12", "cu.*", None), ("x-cu12", "12", "12"), ("x-cu118", r"cu(\d\d)(\d)", "11.8"), ("x-cu12", r"cu(\d+)", "12"),
        ("x", r"cu(\d+)", None),
    ],
)  # fmt: skip
def test_a_name_tells_the_cuda_by_its_groups_or_by_all_that_matches(name, expression, cuda):
    vocabulary = {"builds": {name: {"cuda": [{"name": expression}]}}}
    condition = compile_condition({"build": {"of": [name], "is": "for-cuda"}}, vocabulary)
    packages = {name: Distribution(name=name, version="1")}
    trace = Trace()
    assert build(condition, Snapshot(target={}, python={}, packages=packages), trace) is (cuda is not None)
    assert [names["cuda"] for _, names in trace.cases] == [cuda] * (cuda is not None)


@pytest.mark.parametrize(
    ("own", "theirs", "differs"),
    [
        ("12.1", ["12.8"], False),
        ("11.8", ["12.8"], True),
        ("12", ["12.8"], False),
        ("12.1", ["cpu"], True),
        ("12.1", [], False),
    ],
)
def test_partners_of_which_the_major_release_of_cuda_counts(own, theirs, differs):
    vocabulary = {"builds": {
        "x": {"partner": "y", "cuda": [{"file": "x.so", "text": "r"}], "cuda-by": "major"},
        "y": {"cuda": [{"file": "y.so", "text": "r"}]},
    }}  # fmt: skip
    condition = compile_condition({"build": {"of": ["x"], "is": "for-other-cuda"}}, vocabulary)
    packages = {name: Distribution(name=name, version="1") for name in ("x", "y")}
    facts = Facts({FILE: {"x.so: r": [own], "y.so: r": theirs}})
    trace = Trace()
    assert build(condition, Snapshot(target={}, python={}, packages=packages, facts=facts), trace) is differs
    fields = [{key: names[key] for key in ("partner", "own", "theirs")} for _, names in trace.cases]
    assert fields == ([{"partner": "y", "own": own, "theirs": theirs[0]}] if differs else [])


def test_the_model_tells_what_runs_where_nobody_can_read_the_bus():
    unread = Unknown(reason="no bus here")
    verdict, shown, fields, missed, _ = told(
        "lacks-kernels", {"local": "2.0+cu121"}, {FILE: {"pci": unread}, SYSTEM: {"gpu": "H100 80GB, H100"}}
    )
    assert (verdict, missed) == (True, [])
    assert fields == [{"gpu": "H100 80GB", "needed": "9.0", "kernels": "8.0"}]
    assert [said for _, said, _ in shown[0][-2:]] == ["architectures 8.0", "H100 80GB, compute capability 9.0"]
    facts = {FILE: {"pci": unread}, SYSTEM: {"gpu": unread}}
    assert told("lacks-kernels", {"local": "2.0+cu121"}, facts)[3] == [("system.gpu", "no bus here")]


@pytest.mark.parametrize(
    ("number", "verdict"), [("21ff", False), ("2200", True), ("22FF", True), ("2300", False), ("22ff", True)]
)
def test_a_number_on_the_bus_is_of_a_range_with_its_ends(number, verdict):
    facts = {FILE: {"pci": [number]}, SYSTEM: {"gpu": None}}
    assert told("lacks-kernels", {"local": "3.0+cu118"}, facts)[0] is verdict


@pytest.mark.parametrize("word", ["lacks-kernels", "needs-newer-driver"])
def test_a_build_for_no_cuda_asks_nothing_of_a_gpu(word):
    assert told(word, {"local": "1.0"}, {})[0] is False
    assert told(word, {"local": "1.0"}, {})[3:] == ([], [])


def test_the_driver_of_a_minor_release_counts_before_that_of_its_major_one():
    def needed(cuda, driver):
        facts = {**PRESENT, SYSTEM: {**PRESENT[SYSTEM], "nvidia-driver": driver}}
        fields = told("needs-newer-driver", {"local": f"2.0+cu{cuda}"}, facts)[2]
        return [one["needed"] for one in fields]

    assert needed("128", "569.9") == ["570"]
    assert needed("128", "570") == []
    assert needed("121", "569.9") == []
    assert needed("121", "525.59") == ["525.60"]


def test_a_bridge_counts_unless_a_gpu_is_one_that_cannot_be_bridged():
    def verdict(files, gpu, missing=None):
        facts = {FILE: {"compat*": files}, SYSTEM: {"nvidia-driver": "520.1", "gpu": gpu}}
        if missing:
            facts[missing[0]][missing[1]] = Unknown(reason="unread")
        found = told("needs-newer-driver", {"local": "2.0+cu121"}, facts)
        return found[0], found[3], found[4]

    assert verdict([], "A100")[0] is True
    assert verdict(["compat.so"], "A100, GeForce RTX")[0] is True
    assert verdict(["compat.so"], "A100")[0] is False
    assert verdict([], None, (FILE, "compat*"))[:2] == (None, [("file.compat*", "unread")])
    assert verdict([], None, (SYSTEM, "gpu"))[0] is True, "without a bridge no GPU matters"
    names = [("system", "nvidia-driver")]
    assert verdict(["x"], "A100", (SYSTEM, "nvidia-driver")) == (None, [("system.nvidia-driver", "unread")], names)


@pytest.mark.parametrize(
    ("variable", "first", "second", "shown"),
    [
        ("/a:/b", ["1.3"], ["1.1"], "/b/libown.so.1.1"), ("/b/:/a", ["1.1"], ["1.0"], "/b/libown.so.1.0"),
        ("/a:/b", ["2.1", "1.1"], [], "/a/libown.so.1.1"), ("b:/a", ["1.2"], ["1.1"], None), ("/a//:/b", [], [], None),
    ],
)  # fmt: skip
def test_the_first_older_library_in_the_order_of_the_loader(variable, first, second, shown):
    facts = {
        ENV: {"LD_LIBRARY_PATH": variable},
        FILE: {
            "/a/libown.so.*": [f"/a/libown.so.{one}" for one in first],
            "/b/libown.so.*": [f"/b/libown.so.{one}" for one in second],
        },
    }
    fields = told("behind-older-library", {"named": "1.2.0"}, facts)[2]
    assert [one["file"] for one in fields] == [shown] * (shown is not None)
