"""The verdict on a trial: what was stated against what came out, for every kind of trial and every way to end."""

import pytest
from workshop.laboratory import PYTHON

from envdoctor.rulebase.compile import compile_rule
from envdoctor.rulebase.syntax import parse
from envdoctor.workshop.proof.judge import judge, known_by, shows, symptom, through
from envdoctor.workshop.proof.trials import Trial, TrialEnvironment

RULE = f"""\
id: lib-name-removed
title: lib 2.0 lacks a name
severity: error
impact: crash
when: {{packages: {{lib: ">=2.0"}}}}
why: It was removed.
symptoms: [SYMPTOM]
remedies: [downgrade: lib<2.0]
references: ["https://github.com/owner/lib/issues/1"]
proof:
  script: import lib
  bad: [{{python: "{PYTHON}", packages: {{lib: "2.0"}}}}]
  good: [{{python: "{PYTHON}", packages: {{lib: "1.0"}}}}]
"""
NO_NAME = "{raises: AttributeError, message: \"module 'lib' has no attribute 'name'\"}"
TRACEBACK = """\
Traceback (most recent call last):
  File "script.py", line 2, in <module>
    lib.name()
AttributeError: module 'lib' has no attribute 'name'
"""
OTHER = TRACEBACK.replace("AttributeError: module 'lib' has no attribute 'name'", "KeyError: 'name'")


def texts(symptom=NO_NAME, impact="crash"):
    text = RULE.replace("SYMPTOM", symptom).replace("impact: crash", f"impact: {impact}")
    rule, complaints = parse(text, "lib-name-removed.yaml", {})
    assert complaints == []
    return compile_rule(rule, {})


def trial(kind="bad", **stated):
    return Trial(
        rule="lib-name-removed", name=f"{kind} 1", kind=kind, place=TrialEnvironment(python=PYTHON), script="", **stated
    )


def came(outcome="failed", output="", **more):
    return {"outcome": outcome, "output": output, "signal": None, **more}


CRASHED = "AttributeError: module 'lib' has no attribute 'name'"


@pytest.mark.parametrize(
    ("one", "result", "verdict", "reason"),
    [
        (trial(), came(output=TRACEBACK), "agrees", None),
        (trial("good"), came("passed"), "agrees", None),
        (trial("remedy"), came("passed"), "agrees", None),
        (trial(), came("passed"), "contradicts", "it should fail, and it passes"),
        (trial("good"), came(output=TRACEBACK), "contradicts", f"it should pass, and it fails: {CRASHED}"),
        (trial("remedy"), came(output=TRACEBACK), "contradicts", f"the remedy does not cure it: {CRASHED}"),
        (trial(), came(output=OTHER), "contradicts",
         "it fails with `KeyError: 'name'`, which is none of the rule's symptoms"),
        (trial(raises="KeyError"), came(output=OTHER), "agrees", None),
        (trial(raises="KeyError: 'nobody'"), came(output=OTHER), "contradicts",
         "it should fail with `KeyError: 'nobody'`, not with `KeyError: 'name'`"),
    ],
)  # fmt: skip
def test_each_kind_of_trial_is_held_against_what_it_states(one, result, verdict, reason):
    found = judge(one, result, texts())

    assert (found["verdict"], found["reason"]) == (verdict, reason)
    assert found["symptom"] == symptom(result)


def test_of_an_installation_the_line_is_kept_that_the_rule_knows():
    output = (
        "  error in lib setup command: use_2to3 is invalid\nERROR: Failed to build 'lib' when getting requirements\n"
    )
    known = texts('{message: "error in \\\\S+ setup command: use_2to3 is invalid"}')

    found = judge(trial(installs=["lib"]), came(output=output), known)
    assert (found["verdict"], found["symptom"]) == ("agrees", "error in lib setup command: use_2to3 is invalid")


def test_what_could_not_be_built_is_unproven_for_its_reason():
    result = {"outcome": "unbuilt", "reason": "no Python 3.5 was found"}

    assert judge(trial(), result, texts()) == {"verdict": "unproven", "symptom": None, "reason": result["reason"]}


def test_a_rule_without_symptoms_takes_any_failure():
    rule = {**texts(), "symptoms": []}

    assert judge(trial(), came(output=OTHER), rule)["verdict"] == "agrees"
    assert judge(trial(), came("passed"), rule)["verdict"] == "contradicts"


@pytest.mark.parametrize(
    ("signal", "message"),
    [("SIGSEGV", "Segmentation fault"), ("SIGABRT", "Aborted"), ("SIGBUS", "Bus error")],
)
def test_a_signal_shows_what_a_shell_says_of_it(signal, message):
    result = came(signal=signal)
    rule = texts(f'{{message: "{message}"}}')

    assert judge(trial(), result, rule) == {"verdict": "agrees", "symptom": signal, "reason": None}
    assert judge(trial(), came(signal="SIGKILL"), rule)["verdict"] == "contradicts"


def test_of_a_signal_the_line_is_kept_that_the_rule_knows():
    known = texts('{message: "OMP: Error #15"}')

    found = judge(trial(), came(output="OMP: Error #15: Initializing lib.so\nOMP: Hint\n", signal="SIGABRT"), known)
    assert (found["verdict"], found["symptom"]) == ("agrees", "OMP: Error #15: Initializing lib.so")


def test_a_program_without_end_agrees_with_a_rule_about_a_hang_whatever_else_the_rule_shows():
    result = came("timeout")

    assert judge(trial(), result, texts(impact="hang")) == {"verdict": "agrees", "symptom": "hang", "reason": None}
    slow = judge(trial(), result, texts())
    assert (slow["verdict"], slow["symptom"]) == ("unproven", None)
    assert slow["reason"] == "it had not ended after 120 seconds"


GONE = (
    "ERROR: No matching distribution found for made==1.7",
    "ERROR: Could not find a version that satisfies made==1.7",
)


@pytest.mark.parametrize("said", GONE)
def test_a_release_that_is_not_there_to_install_proves_nothing(said):
    result = came(output=said, installing=True)

    found = judge(trial("good"), result, texts())

    assert found == {"verdict": "unproven", "symptom": said, "reason": f"nothing was there to install: {said}"}
    assert judge(trial("good"), came(output=said), texts())["verdict"] == "contradicts", "a script that says so"
    other = came(output="ERROR: it cannot be built", installing=True)
    assert judge(trial("good"), other, texts())["verdict"] == "contradicts"


FOUND = [
    {"distribution": "left", "requirement": "right<2", "found": "not installed"},
    {"distribution": "top", "requirement": "left>=1", "found": "0.9"},
]


@pytest.mark.parametrize(
    ("kind", "findings", "verdict", "reason"),
    [
        ("bad", FOUND, "agrees", None),
        ("bad", FOUND[1:], "contradicts",
         "envdoctor finds nothing there that is missing: distribution left, requirement right<2"),
        ("remedy", FOUND[1:], "agrees", None),
        ("remedy", FOUND, "contradicts", "envdoctor finds that left is missing"),
        ("good", [], "agrees", None),
        ("good", FOUND[1:], "contradicts", "envdoctor finds that top is missing"),
    ],
)  # fmt: skip
def test_what_envdoctor_finds_there_must_be_what_is_stated(kind, findings, verdict, reason):
    one = trial(kind, examines="missing", finding={"distribution": "left", "requirement": "right<2"})
    result = came("failed" if kind == "bad" else "passed", TRACEBACK if kind == "bad" else "", findings=findings)

    found = judge(one, result, texts())

    assert (found["verdict"], found["reason"]) == (verdict, reason)


@pytest.mark.parametrize(
    ("raises", "result", "expected"),
    [
        ("AttributeError", came(output=TRACEBACK), True),
        ("AttributeError: module 'lib'", came(output=TRACEBACK), True),
        ("AttributeError:   module   'lib' has", came(output=TRACEBACK), True),
        ("builtins.AttributeError: module 'lib'", came(output=TRACEBACK), True),
        ("AttributeError: has no attribute", came(output=TRACEBACK), False),
        ("KeyError", came(output="  | lib.errors.KeyError \n"), True),
        ("KeyError: 'a", came(output="lib.errors.KeyError:\t'a b'\n"), True),
        ("KeyError", came(output="MyKeyError\n"), False),
        ("KeyError: first\nsecond", came(output="said KeyError: first\n\n  second and more"), True),
        ("KeyError: first\nthird", came(output="said KeyError: first\n  second"), False),
        ("KeyError: first", came(output="said KeyError: first"), False),
        ("SIGSEGV", came(signal="SIGSEGV"), True),
        ("SIGSEGV", came(signal="SIGABRT"), False),
        ("hang", came("timeout"), True),
        (" hang\n", came("timeout"), True),
        ("hang", came(output="hang"), False),
        ("KeyError", came("timeout", "KeyError"), False),
    ],
)
def test_a_stated_failure_is_recognised_by_type_and_start_of_message(raises, result, expected):
    assert shows(result, raises) is expected


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (came("passed", "whatever"), None),
        (came("timeout", TRACEBACK), "hang"),
        (came(output=TRACEBACK, signal="SIGABRT"), "SIGABRT"),
        (came(output=OTHER + "\nDuring handling of the above exception, another exception occurred:\n\n" + TRACEBACK),
         CRASHED),
        (came(output="KeyboardInterrupt\n" + TRACEBACK.replace(CRASHED, "ValueError")), "ValueError"),
        (came(output="error: it cannot be built\n\n   \n"), "error: it cannot be built"),
        (came(output=" \n"), "it said nothing"),
        (came(output="x" * 300), "x" * 200),
        (came(output=TRACEBACK.replace("'name'", "'" + "n" * 300 + "'")), (CRASHED[:-6] + "'" + "n" * 300)[:200]),
    ],
)  # fmt: skip
def test_a_failure_is_said_in_one_line(result, expected):
    assert symptom(result) == expected


@pytest.mark.parametrize(
    ("said", "broken"), [(TRACEBACK, "import"), (TRACEBACK + "the command lib fails\n", "command"), ("", None)]
)
def test_a_trial_of_severity_says_what_broke(said, broken):
    result = came(output=said) if said else came("passed")

    found = judge(trial("severity"), result, texts())

    assert found == {
        "verdict": "agrees",
        "symptom": symptom(result) if broken else None,
        "reason": None,
        "breaks": broken,
    }


@pytest.mark.parametrize("one", [trial("severity"), trial(measured=True)])
def test_a_trial_that_measures_and_fails_in_another_way_tells_nothing(one):
    unlike = {"verdict": "unproven", "symptom": None, "reason": "it fails in another way: KeyError: 'name'"}

    assert judge(one, came(output=OTHER), texts()) == unlike
    assert judge(trial("severity", raises="KeyError"), came(output=OTHER), texts())["verdict"] == "agrees"


def test_a_hang_that_a_cell_states_agrees():
    assert judge(trial(raises="hang"), came("timeout"), texts())["verdict"] == "agrees"
    assert judge(trial("good"), came("timeout"), texts())["verdict"] == "unproven"


def test_a_remedy_after_which_nothing_is_left_to_import_cures_nothing():
    found = judge(trial("remedy"), came("passed", lost=["lib", "lib.more"]), texts())

    assert (found["verdict"], found["reason"]) == (
        "contradicts",
        "after the remedy nothing is left to import as lib, lib.more",
    )
    assert judge(trial("remedy"), came("passed", lost=[]), texts())["reason"] is None


BY_SCRIPT = TRACEBACK.replace("script.py", "{file}").replace("lib.name()", 'raise AttributeError("no name")')


def test_a_failure_that_the_script_raises_itself_is_none_of_the_library():
    own = came(output=BY_SCRIPT.format(file="C:\\\\tmp\\\\.script.py"))
    why = 'the script raises it itself: raise AttributeError("no name")'

    assert judge(trial(), own, texts())["reason"] == why
    assert judge(trial(), came(output=BY_SCRIPT.format(file="/tmp/.script.py")), texts())["reason"] == why
    for other in (
        judge(trial(), came(output=BY_SCRIPT.format(file="/lib/module.py")), texts()),
        judge(trial(installs=["lib"]), own, texts()),
        judge(trial(), own, texts(impact="wrong-result")),
        judge(trial(), own, {**texts(), "packages": []}),
        judge(trial(), came(output=TRACEBACK.replace("script.py", "/tmp/.script.py")), texts()),
    ):
        assert (other["verdict"], other["reason"]) == ("agrees", None)


def test_of_several_lines_the_one_is_kept_that_the_rule_knows():
    output = f"{TRACEBACK}\nDuring handling of the above exception, another exception occurred:\n\n{OTHER}"

    assert judge(trial(), came(output=output), texts())["symptom"] == CRASHED
    assert judge(trial("good"), came(output=output), texts())["symptom"] == "KeyError: 'name'"
    long = f"  {'n' * 150} module 'lib' has no attribute 'name' {'n' * 100}  "
    rule = texts("{message: \"module 'lib' has no attribute\"}")
    assert judge(trial(), came(output=f"{long}\nerror: it ended\n"), rule)["symptom"] == long.strip()[:200]


def test_a_symptom_on_record_is_known_by_the_rule_or_by_the_cell():
    assert known_by(CRASHED, None, texts())
    assert known_by("KeyError: 'name'", trial(raises="KeyError"), texts())
    assert not known_by("KeyError: 'name'", trial(), texts())
    assert known_by("SIGSEGV", None, texts('{message: "Segmentation fault"}'))
    assert known_by("hang", trial(raises="hang"), texts())


def test_the_packages_of_the_last_traceback_are_named_once_each():
    frames = "".join(
        f'  File "/env/lib/python3.11/site-packages/{name}/a.py", line 1, in f\n    g()\n' for name in ("b", "a", "b")
    )
    failure = f"Traceback (most recent call last):\n{frames}KeyError: 1\n"

    assert through(came(output=failure)) == ["b", "a"]
    assert through(came(output="error: nothing\n")) == []
    assert through({"outcome": "unbuilt"}) == []
