"""Texts, environments and words of a vocabulary -> findings without a rule, and their place among those of rules."""

import pytest
from engine.rule_bases import base, diagnose, explained, rule, snapshot
from engine.test_engine_explanation import traceback

from envdoctor.engine import derived_cures
from envdoctor.engine.derived import MOST_FINDINGS, derive, endings, modules, questions
from envdoctor.engine.explanation import stated_environment
from envdoctor.engine.families import clues
from envdoctor.engine.names import Names
from envdoctor.engine.ranking import together
from envdoctor.linker.standard_library import Standard
from envdoctor.probes.error_text import read

WORDS = {
    "imports": {"rightmod": "right-pad", "lib": None, "ns.cloud.*": "ns-cloud-*"},
    "families": {"left": ["left-cpu"]},
    "classes": {"Frame": "left"},
    "aliases": {"rp": ["right-pad", "far"]},
    "symbols": {"_ZN4left": "left", "Py": "python", "GLIBC": "system"},
    "voices": {r"error in [\w.-]+ setup command": "builder", "stanza \\w+ refused": "left"},
    "plugins": {"left": "left-*"},
    "stands_in": {"distutils": "stand-in"},
}  # fmt: skip
STANDARD = Standard((3, 12))


def names(here=None, provided=None):
    return Names(WORDS, here.packages if here else (), provided, STANDARD)


def derived(text, here=None, seen=None):
    said = read(text)
    return derive(clues(said, WORDS["voices"]), names(here), here or stated_environment(said), seen or {})


def answered(text):
    """The traceback with a function for missing names as its innermost frame."""
    head, _, tail = text.rpartition("in <module>")
    return f"{head}in __getattr__{tail}"


def remedies(finding):
    return [f"{one.kind} {one.requirement or one.package}" for one in finding.remedies if one.kind != "change"]


# -- who is concerned ---


def test_a_text_alone_names_both_sides_and_no_version():
    (finding,) = derived(traceback("rightmod.core"))

    assert list(finding.packages) == ["right-pad", "left"]
    assert (finding.status, finding.severity, finding.proof, finding.confirmed) == (
        "derived",
        "warning",
        "unproven",
        None,
    )
    assert remedies(finding) == []
    assert [one.text for one in finding.remedies] == ["use a newer release of right-pad", "use a newer release of left"]


def test_the_innermost_frame_outside_the_provider_asked():
    (finding,) = derived(answered(traceback("stranger.app", "rightmod.core", "left.lazy", "left")))

    assert list(finding.packages) == ["right-pad", "left"]


@pytest.mark.parametrize(
    ("error", "holders", "expected"),
    [
        (
            "TypeError: Pad.__init__() got an unexpected keyword argument 'width'",
            ["far", "left"],
            ["right-pad", "left"],
        ),
        ("TypeError: Frame.drop() takes 1 positional argument but 2 were given", ["far"], ["right-pad", "left"]),
        ("TypeError: Pad.fill() missing 1 required positional argument: 'width'", ["far"], ["right-pad", "far"]),
    ],
)
def test_whose_class_it_is_says_a_distribution_in_the_frames_before_one_of_that_history(error, holders, expected):
    text = traceback("left.core", "rightmod.core", error=error)
    (said,) = endings(clues(read(text), WORDS["voices"]))
    (finding,) = derived(text, seen={"holders": {said: holders}})

    assert list(finding.packages) == expected


def test_a_class_is_of_the_module_that_it_is_called_on_and_a_method_is_of_nobody_s_variable():
    site = "/venv/lib/python3.12/site-packages"
    frame = f'Traceback (most recent call last):\n  File "{site}/rightmod/core.py", line 3, in run\n    '
    made = frame + "lock = far_away.Pad(1)\nTypeError: Pad.__init__() got multiple values for argument 'width'\n"
    used = frame + "text = left.fill()\nTypeError: Pad.fill() missing 1 required positional argument: 'width'\n"

    assert [list(one.packages) for one in (*derived(made), *derived(used))] == [
        ["right-pad", "far-away"],
        ["right-pad"],
    ]


def test_a_plugin_that_is_called_by_a_number_is_the_distribution_that_registered_it():
    text = traceback(
        "rightmod.plugin", "pluggy._manager", error="pluggy._manager.PluginValidationError: Plugin '140618146471120' for "
        "hook 'left_collect'\nhookimpl definition: left_collect(path)\nArgument(s) {'path'} are declared in the hookimpl "
        "but can not be found in the hookspec",
    )  # fmt: skip

    assert list(derived(text)[0].packages)[:2] == ["right-pad", "left"]


def test_who_raises_what_announces_its_own_change_under_an_alias():
    site = "/venv/lib/python3.12/site-packages"
    frames = [
        ("rightmod/core.py", "import", "x = l.gone"),
        ("left/__init__.py", "__getattr__", "raise AttributeError("),
    ]
    lines = [f'  File "{site}/{file}", line 1, in {name}\n    {code}\n' for file, name, code in frames]
    said = "AttributeError: `l.gone` was removed in the release 2.0. Use `l.new` instead.\n"

    (finding,) = derived(f"Traceback (most recent call last):\n{''.join(lines)}{said}")

    assert (finding.rule, list(finding.packages)) == ("derived-announced-change", ["right-pad", "left"])


def test_a_distribution_that_lacks_its_own_part_is_named_alone():
    text = traceback("left.a", "left.b", error="ModuleNotFoundError: No module named 'left.c'")

    (finding,) = derived(text, snapshot({"left": "2.0", "a": "1", "b": "1", "c": "1", "d": "1"}))

    assert (finding.rule, list(finding.packages)) == ("derived-broken-inside", ["left"])


def test_another_distribution_of_the_family_stands_for_the_name():
    (finding,) = derived(traceback("rightmod.core"), snapshot({"left-cpu": "2.0", "right-pad": "1.3"}))

    assert list(finding.packages) == ["right-pad", "left-cpu"]


def test_namespaces_and_spellings_lead_to_the_distribution():
    known = names(snapshot({"py-thing": "1", "web-py": "1", "flask-cors": "1"}))

    assert known.distribution("ns.cloud.big_store.client") == "ns-cloud-big-store"
    assert known.distribution("flask_cors.core") == "flask-cors"
    assert known.distribution("thing") == "py-thing"
    assert known.distribution("nowhere_to_be.seen") == "nowhere-to-be"
    assert known.distribution("lib") is None
    assert known.distribution("ssl") is None


def test_the_files_of_the_environment_know_better_than_the_vocabulary():
    known = Names(WORDS, ["fork-of-right", "right-pad"], {"rightmod": ["fork-of-right"]}, STANDARD)

    assert known.distribution("rightmod.core") == "fork-of-right"
    assert known.distribution("thing") == "thing"


def test_a_namespace_that_several_share_is_nobodys():
    known = Names(WORDS, ["ns-a", "ns-b"], {"ns": ["ns-a", "ns-b"], "ns.a": ["ns-a"], "ns.cloud": ["ns-b"]}, STANDARD)

    assert known.distribution("ns.a.core") == "ns-a"
    assert known.distribution("ns.cloud.storage") == "ns-cloud-storage"
    assert known.distribution("ns.other") == "ns"


def test_of_rivals_for_one_name_the_one_that_the_vocabulary_knows_counts_and_both_are_told():
    known = Names(WORDS, ["right-pad", "right-fork"], {"rightmod": ["right-fork", "right-pad"]}, STANDARD)

    assert known.distribution("rightmod.core") == "right-pad"
    assert known.rivals("rightmod.core") == ["right-fork", "right-pad"]


def test_symbols_are_told_by_their_namespace_inside_others_too():
    assert names().symbol("_ZN4left3padEv") == "left"
    assert names().symbol("__ZN8elsewhere6castEN4left5ThingE") == "left"
    assert names().symbol("PyLong_AsInt") == "python"
    assert names().symbol("unknown") is None


def test_a_header_of_python_that_changed_is_told_from_one_of_the_system():
    log = "  Building wheel for left (setup.py): started\n{}\n  ERROR: Failed building wheel for left\n"

    (python, *_) = derived(log.format("left/_c.c:3:5: error: 'PyLongObject' has no member named 'ob_digit'"))
    (system, *_) = derived(log.format("left/_c.c:3:5: fatal error: ffi.h: No such file or directory"))

    assert [(one.rule, list(one.packages)) for one in (python, system)] == [("derived-build-failed", ["left"])] * 2


def test_the_tool_that_speaks_is_concerned_though_it_does_not_name_itself():
    (finding,) = derived(
        "error in left setup command: use_2to3 is invalid.\n", snapshot({"left": "1", "builder": "58.0"})
    )

    assert list(finding.packages) == ["left", "builder"]


def test_an_exception_of_a_distribution_names_it():
    text = traceback("rightmod.core", error="left.errors.VersionError: 5.0")

    (finding,) = derived(text)

    assert list(finding.packages) == ["right-pad", "left"]


def test_in_an_environment_of_few_the_other_side_is_told_by_elimination():
    text = "ImportError: cannot import name 'pad' from 'left'"

    (few,) = derived(text, snapshot({"left": "2.0", "other": "1"}))
    (many,) = derived(text, snapshot({"left": "2.0", **{f"other{n}": "1" for n in range(9)}}))
    (open_ended,) = derived(text, snapshot({"left": "2.0", "other": "1"}, complete=False))

    assert [list(one.packages) for one in (few, many, open_ended)] == [["left", "other"], ["left"], ["left"]]
    assert "only other 1 can be the other side" in few.why


@pytest.mark.parametrize(
    "text", ["ValueError: stranger requires care", "KeyError: 'left'", "the build requires 3 things", "a b c", "Killed"]
)
def test_words_that_anybody_may_write_name_nobody(text):
    assert derived(text) == []


def test_where_nothing_is_known_the_place_is_information_and_no_cure_is_guessed():
    (alone,) = derived(
        traceback("rightmod.core", error="ValueError: x"),
        snapshot({"right-pad": "1", "a": "1", "b": "1", "c": "1", "d": "1"}),
    )
    (pair,) = derived(
        traceback("rightmod.core", "left.deep", error="ValueError: x"), snapshot({"right-pad": "1.3", "left": "2.0"})
    )

    assert (alone.rule, alone.severity, list(alone.remedies)) == ("derived-raised-in", "info", [])
    assert (list(pair.packages), remedies(pair)) == (
        ["left", "right-pad"],
        ["upgrade right-pad>1.3", "pin left<2", "upgrade left>2.0"],
    )


# -- which cures ---


@pytest.mark.parametrize(
    ("version", "below"), [("2.1.3", "<2"), ("0.21.3", "<0.21"), ("0.0.7", "<0.0.7"), ("2024.5", "<2024")]
)
def test_the_pin_is_below_the_leading_number(version, below):
    (finding,) = derived(traceback("rightmod.core"), snapshot({"left": version, "right-pad": "1.3"}))

    assert remedies(finding) == ["upgrade right-pad>1.3", f"pin left{below}", f"upgrade left>{version}"]


def test_what_metadata_asks_for_comes_first_and_is_evidence():
    lookups = {("requirements", "right-pad"): ["left<2"], ("requirements", "left"): []}
    here = snapshot({"left": "2.0", "right-pad": "1.3"}, lookups=lookups)

    (finding,) = derived(traceback("rightmod.core"), here)

    assert remedies(finding)[0] == "install left<2"
    assert [one.value for one in finding.evidence if one.fact == "requirements.right-pad"] == [
        "right-pad 1.3 → left<2 (there is: left 2.0)"
    ]


def test_what_python_removed_is_cured_by_a_newer_release_a_stand_in_or_an_older_python():
    text = traceback("rightmod.core", error="ModuleNotFoundError: No module named 'distutils'", python="3.12")

    (finding,) = derived(text, snapshot({"right-pad": "1.3"}, python="3.12.1"))

    assert finding.rule == "derived-removed-from-python"
    assert remedies(finding) == ["upgrade right-pad>1.3", "install stand-in", "downgrade python<3.12"]
    assert "python" in finding.facts


@pytest.mark.parametrize(
    ("error", "rule"),
    [
        ("AttributeError: module 'copy' has no attribute 'deepcopy'", "derived-shadowed"),
        ("ModuleNotFoundError: No module named 'json.decoder'; 'json' is not a package", "derived-shadowed"),
        ("AttributeError: module 'copy' has no attribute 'deepcopied'", "derived-missing-in-python"),
        ("ModuleNotFoundError: No module named '_ctypes'", "derived-missing-in-build"),
    ],
)
def test_what_every_python_has_is_hidden_by_a_file_or_was_left_out_of_a_build(error, rule):
    text = traceback("rightmod.core", error=error, python="3.12")

    (finding,) = derived(text, snapshot({"right-pad": "1.3"}, python="3.12.1"))

    assert finding.rule == rule


def test_what_python_does_not_have_yet_is_cured_the_other_way_round():
    text = traceback("rightmod.core", error="ModuleNotFoundError: No module named 'tomllib'", python="3.9")

    (finding,) = derived(text, snapshot({"right-pad": "1.3"}, python="3.9.1"))

    assert remedies(finding) == ["downgrade right-pad<1.3", "upgrade python>=3.11"]


def test_what_files_say_decides_between_gone_there_and_submodule():
    here = snapshot({"left": "2.0", "right-pad": "1.3"})

    def rule_of(verdict):
        (finding,) = derived(traceback("rightmod.core"), here, {"offers": {("left", "pad"): (verdict, "/x/left.py")}})
        assert [one.source for one in finding.evidence if one.fact == "offers.left"] == ["/x/left.py"]
        return finding.rule

    assert [rule_of(verdict) for verdict in ("gone", "there", "submodule")] == [
        "derived-missing-name", "derived-not-found-though-there", "derived-submodule-not-imported",
    ]  # fmt: skip


def test_a_saved_file_is_told_by_the_call_that_read_it():
    text = traceback("rightmod.core", error="ModuleNotFoundError: No module named 'left._core'").replace(
        "import it", "pickle.load(file)"
    )

    (finding,) = derived(text, snapshot({"left": "1.0", "right-pad": "1.3"}))

    assert (finding.rule, "artifact" in finding.facts) == ("derived-saved-elsewhere", True)


def test_the_search_line_holds_names_and_nothing_else_of_the_text():
    text = traceback(
        "rightmod.core", error="ImportError: cannot import name 'pad' from 'left' (/home/ada/secret/left.py)"
    )
    seen = {"trackers": {"left": "https://github.com/o/left/issues", "right-pad": "https://tracker.example.org"}}

    (finding,) = derived(text, snapshot({"left": "2.0", "right-pad": "1.3"}), seen)

    assert list(finding.references) == [
        "https://tracker.example.org", "https://github.com/o/left/issues?q=ImportError+left+pad",
    ]  # fmt: skip


def test_files_are_asked_only_about_what_matters():
    said = read(answered(traceback("rightmod.core", "left.lazy")))
    here = snapshot({"left": "2.0", "right-pad": "1.3"})

    asked = questions(clues(said), names(here), here, {})

    assert asked["offers"] == [("left", "left", "pad")]
    assert asked["askers"] == []
    assert asked["trackers"] == ["right-pad", "left"]
    assert {"rightmod.core", "left.lazy", "left"} <= {*modules(clues(said), said)}


# -- among the findings of rules ---

LOCK = "TypeError: cannot pickle '_thread.lock' object"


def ranked(text, here, *rules, holding=()):
    said = read(text)
    known = names(here)
    report = explained(said, here, [base(*rules)])
    found = derive(clues(said), known, here or stated_environment(said), {})
    return [one.rule for one in together(report.findings, found, holding, said, known)]


def about(name, package, message):
    return rule(name, symptoms=[{"message": message}], when={"packages": {package: ">=1"}})


def test_a_rule_about_nothing_in_sight_comes_after_what_was_derived():
    far = about("far-away", "elsewhere", "cannot pickle '_thread.lock' object")

    assert ranked(LOCK, None, far) == ["derived-not-picklable", "far-away"]


def test_a_rule_whose_package_is_in_a_frame_or_in_the_message_stays_first():
    near = about("near-by", "right-pad", "cannot pickle")
    far = about("far-away", "elsewhere", "cannot pickle '_thread.lock' object")

    assert ranked(traceback("rightmod.core", error=LOCK), None, near, far)[0] == "near-by"
    assert ranked(traceback("rightmod.core", error=LOCK), None, near, far)[-1] == "far-away"


def test_being_installed_is_enough_unless_the_message_is_everybodys():
    other = about("other", "elsewhere", "no attribute 'gone'")
    generic = about("generic", "elsewhere", "cannot pickle")
    here = snapshot({"elsewhere": "1", "left": "2.0", **{f"more{n}": "1" for n in range(9)}}, complete=False)

    assert ranked("AttributeError: module 'left' has no attribute 'gone'", here, other)[0] == "other"
    assert ranked(LOCK, here.replace(packages={}), generic)[-1] == "generic"


def test_nothing_is_derived_beside_a_rule_that_names_the_same():
    known = about("known", "left", "cannot import name 'pad'")

    assert ranked("ImportError: cannot import name 'pad' from 'left'", None, known) == ["known"]


def test_what_holds_in_the_environment_and_touches_the_frames_is_shown_with_what_it_is():
    here = snapshot({"left": "2.0", "right-pad": "1.3"})
    one = rule("holds", when={"packages": {"left": ">=2", "right-pad": "<2"}})
    other = rule("elsewhere", when={"packages": {"stranger": ">=2"}})
    said = read(traceback("rightmod.core", error="RuntimeError: something else"))
    known = names(here)
    holding, _ = diagnose(here, [base(one, other)])
    found = together([], derive(clues(said), known, here, {}), holding, said, known)

    assert [finding.rule for finding in found] == ["holds", "derived-raised-in"]
    assert found[0].confirmed is True
    assert "its own symptoms are not in the text" in found[0].matched[0]


# -- what a log quotes, hooks, and names that only the history knows --------------------------------------------------


@pytest.mark.parametrize(
    ("text", "rule", "packages"),
    [
        ("Extension error:\nCould not import extension rightmod.ext (exception: cannot import name 'gone' from 'left.core' (/x/left/core.py))\n", "derived-missing-name", ["right-pad", "left"]),
        ("Error while loading rightmod: ModuleNotFoundError: No module named 'left.old'\n", "derived-missing-name", ["right-pad", "left"]),
        ("2024 ERROR root: failed (<class 'AttributeError'>, AttributeError(\"module 'left' has no attribute 'gone'\"))\n", "derived-missing-name", ["left"]),
        ("x.PluginValidationError: Plugin 'rightmod' for hook 'left_collect'\nhookimpl definition: left_collect(path)\nArgument(s) {'path'} are declared in the hookimpl but can not be found in the hookspec\n", "derived-hook", ["right-pad", "left"]),
        ("INTERNALERROR> x.PluginValidationError: unknown hook 'left_gone' in plugin <module 'rightmod.plugin' from '/x/rightmod/plugin.py'>\n", "derived-hook", ["right-pad", "left"]),
        ("x.PluginValidationError: Plugin 'lint' for hook 'left_collect'\nhookimpl definition: left_collect(path)\n", "derived-hook", ["lint", "left", "left-lint"]),
        ("  Building wheel for right-pad (pyproject.toml) did not run successfully.\n  │ exit code: 1\n  running build_ext\n", "derived-build-failed", ["right-pad"]),
        ("Building wheels for collected packages: right-pad\n  error: [Errno 2] No such file or directory: 'pkg-config'\n  ERROR: Failed building wheel for right-pad\n", "derived-no-compiler", ["right-pad"]),
        ("ERROR: Failed to build 'right-pad' when installing build dependencies for right-pad\n", "derived-build-failed", ["right-pad"]),
        ("Collecting right-pad\n  Using cached right-pad-1.0.tar.gz\n  Preparing metadata (pyproject.toml) ... error\n", "derived-build-failed", ["right-pad"]),
        ("left.errors.Moved: `gone` has been moved to the `left-more` package.\n", "derived-announced-change", ["left"]),
    ],
)  # fmt: skip
def test_what_a_log_says_in_other_words_names_both_sides_too(text, rule, packages):
    found = derived(text)
    assert (found[0].rule, list(found[0].packages)) == (rule, packages)


def test_what_fails_in_a_build_hook_is_of_what_is_being_built():
    text = (
        "  creating /tmp/pip-modern-metadata-v08/right-pad.egg-info\n  Preparing metadata (pyproject.toml) did not run successfully\n"
        "Traceback (most recent call last):\n"
        '  File "/x/site-packages/inst/pyproject_hooks/_in_process.py", line 353, in <module>\n    main()\n'
        "  File \"<string>\", line 14, in get\nFileNotFoundError: [Errno 2] No such file or directory: 'left-config'\n"
    )
    assert all("inst" not in one.packages for one in derived(text))
    assert derived(text)[0].packages[0] == "right-pad"


def test_a_bare_name_is_of_the_one_distribution_that_ever_had_it():
    text = "TypeError: hset() got an unexpected keyword argument 'mapping'\n"
    said = read(text)
    (ending,) = endings(clues(said)).items()

    assert ending[1] == "hset:mapping"
    assert list(derived(text, seen={"holders": {ending[0]: ["left"]}})[0].packages) == ["left"]
    elsewhere = derived(text, snapshot({"right-pad": "1.3"}), seen={"holders": {ending[0]: ["left"]}})
    assert all("left" not in one.packages for one in elsewhere)


def test_the_words_of_a_tool_name_it_where_nothing_else_is_known():
    (finding,) = derived("reading the stanzas\nthe stanza colour refused: it must be a list\n")
    assert (finding.rule, list(finding.packages)) == ("derived-own-check", ["left"])
    assert "the stanza colour refused: it must be a list" in finding.title
    assert derived("the colour was refused\n") == []


@pytest.mark.parametrize("text", ["TypeError: Frame.__init__() got an unexpected keyword argument 'x'\n",
                                  "ValueError: cannot take <class 'left.core.Frame'>\n",
                                  "ValueError: no such value: see https://left.readthedocs.io/page\n"])  # fmt: skip
def test_a_class_a_type_and_an_address_name_their_distribution(text):
    here = snapshot({"left": "1.0"})
    assert [list(one.packages) for one in derived(text, here)] == [["left"]]


@pytest.mark.parametrize(("code", "said"), [
    ("data = rightmod.core.load(path, 1)", "load() takes 1 positional argument but 2 were given"),
    ("bot = rightmod.Client()", "__init__() missing 1 required keyword-only argument: 'intents'"),
])  # fmt: skip
def test_the_failing_statement_names_the_module_of_what_it_calls(code, said):
    text = f'Traceback (most recent call last):\n  File "/home/me/main.py", line 3, in <module>\n    {code}\nTypeError: {said}\n'
    assert [list(one.packages) for one in derived(text)] == [["right-pad"]]
    assert derived(text.replace("rightmod", "thing")) == []


def test_only_the_one_that_is_called_after_another_is_taken_to_ask_it():
    others = {f"other-{number}": "1.0" for number in range(5)}
    text = "AttributeError: module 'left' has no attribute 'pad'\n"
    assert list(derived(text, snapshot({"left": "2.0", "left-plug": "1.0", **others}))[0].packages) == [
        "left",
        "left-plug",
    ]
    both = snapshot({"left": "2.0", "left-plug": "1.0", "socket-left": "1.0", **others})
    assert list(derived(text, both)[0].packages) == ["left"]


def test_without_an_environment_a_plugin_is_named_by_what_it_may_be_called():
    frame = (
        '  File "/x/lib/python3.12/site-packages/socket_set/core.py", line 1, in <module>\n    from left import pad\n'
    )
    text = f"Traceback (most recent call last):\n{frame}ImportError: cannot import name 'pad' from 'left'\n"
    assert list(derived(text)[0].packages) == ["socket-set", "left", "left-socket-set"]


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        ("UnicodeDecodeError: 'ascii' codec can't decode byte 0xc2 in position 6: ordinal not in range(128)", "derived-locale"),
        ("error: the configured Python interpreter version (3.14) is newer than PyO3's maximum supported version (3.13)", "derived-build-failed"),
    ],
)  # fmt: skip
def test_the_machine_and_the_build_are_told_by_their_words(line, rule):
    assert [one.rule for one in derived(f"{line}\n")] == [rule]


def test_the_object_and_the_code_come_before_rules_about_what_is_not_in_the_text():
    text = (
        'Traceback (most recent call last):\n  File "/home/me/main.py", line 31, in <module>\n    p.start()\n'
        "TypeError: cannot pickle 'sqlite3.Connection' object\n"
    )
    close = explained(read(text), None, [base(rule("any-lock", symptoms=[{"message": "cannot pickle"}]))])
    first, *_ = together(close.findings, derived(text), [], read(text), names())

    assert first.rule == "derived-not-picklable"
    assert "sqlite3.Connection" in first.title
    assert "main.py, line 31" in first.title


def test_several_failures_are_several_findings_and_no_more_than_a_reader_takes():
    lines = [f"ModuleNotFoundError: No module named 'part{number}.core'" for number in range(9)]
    found = derived("\n\n".join(lines) + "\n")

    assert len(found) == MOST_FINDINGS > 1
    assert len({tuple(one.packages) or one.title for one in found}) == MOST_FINDINGS


@pytest.mark.parametrize(
    ("line", "plain"),
    [
        ("left >= 1", "left>=1"), ("left (>=1)", "left(>=1)"), ("left[all] >=1,<2,", "left[all]>=1,<2"), ("left", "left"),
        ("left @ https://example.org/left.whl", ""), ("-e .", ""), ("", ""), ("left>=", ""),
    ],
)  # fmt: skip
def test_a_requirement_is_offered_without_spaces_or_not_at_all(line, plain):
    assert derived_cures._plain(line) == plain


# -- who is concerned where the frames alone do not say it ---


def stacked(*frames, error):
    site = "/venv/lib/python3.11/site-packages"
    lines = [
        f'  File "{path if path[0] == "/" else f"{site}/{path}"}", line 7, in f\n    {code}\n' for path, code in frames
    ]
    return f"Traceback (most recent call last):\n{''.join(lines)}{error}\n"


OWN, LIBRARY = ("/home/u/run.py", "run(1)"), "/usr/lib/python3.11/random.py"


@pytest.mark.parametrize(
    ("frames", "function", "packages"),
    [  # who gave the keyword is further out than who hands it on
        ([("right_pad/a.py", "left.go(loud=1)"), ("left/b.py", "loop.go(**options)")], "Loop.go", ["right-pad", "left"]),
        ([("right_pad/a.py", "Left(loud=1)"), ("left/b.py", "return make(*args, **options)")], "__init__",
         ["right-pad", "left"]),
        ([("right_pad/a.py", "left.go()"), ("left/b.py", "loop.go(loud=1)")], "go", ["left", "right-pad"]),
        # what is called by another name is a callback, and nobody's method
        ([("right_pad/a.py", "left.go()"), ("left/b.py", "hook(*args, **options)")], "go", ["left", "right-pad"]),
    ],
)  # fmt: skip
def test_a_keyword_that_is_handed_on_was_given_by_whoever_is_further_out(frames, function, packages):
    (found,) = derived(stacked(*frames, error=f"TypeError: {function}() got an unexpected keyword argument 'loud'"))
    assert (found.rule, list(found.packages)) == ("derived-signature", packages)


def test_a_function_that_the_statement_does_not_name_is_not_taken_from_a_history_of_names():
    said = "TypeError: concatenate() got an unexpected keyword argument 'dtype'"
    frames = [("left/a.py", "stack(all)"), ("right_pad/b.py", "helper(*args, **options)")]
    holders = {"holders": {said.partition(": ")[2]: ["far-away"]}}
    (found,) = derived(stacked(*frames, error=said), seen=holders)
    assert list(found.packages) == ["right-pad", "left"]
    near = derived(stacked(frames[0], ("right_pad/b.py", "x.concatenate(**options)"), error=said), seen=holders)
    assert list(near[0].packages) == ["right-pad", "far-away"]


LESS_GO = "TypeError: {}.go() got an unexpected keyword argument 'loud'"


@pytest.mark.parametrize(
    ("code", "error", "seen", "packages"),
    [
        # whose it is says the name under which a module is imported by convention
        (
            "rp.read(x).go()",
            "AttributeError: 'Frame' object has no attribute 'go'",
            {"exact": ["near", "far"]},
            ["far"],
        ),
        # the class of that name that the vocabulary knows has not lost this
        ("x.go()", "AttributeError: 'Frame' object has no attribute 'go'", {"exact": ["near"]}, ["near"]),
        ("x.go()", "AttributeError: 'Frame' object has no attribute 'go'", {"exact": ["near", "left"]}, ["left"]),
        ("x.go()", "AttributeError: 'Frame' object has no attribute 'go'", {}, ["left"]),
        # a name of several words is hardly that of a class of the user's own
        ("x.go(loud=1)", LESS_GO.format("FigureBase"), {"holders": ["far"], "words": ["near"]}, ["far"]),
        ("x.go(loud=1)", LESS_GO.format("Figure"), {"holders": ["far"], "words": ["near"]}, []),
    ],
)
def test_whose_a_class_without_a_module_is_that_own_code_uses(code, error, seen, packages):
    said = error.partition(": ")[2]
    seen = {"holders": seen.get("exact", ()), **seen}
    found = derived(
        stacked(("/home/u/run.py", code), error=error), seen={kind: {said: one} for kind, one in seen.items()}
    )
    assert [name for one in found for name in one.packages] == packages


def test_what_a_library_says_of_itself_is_no_wish_to_install_it():
    error = "AttributeError: go is no longer a top-level attribute of the rightmod package."
    (found,) = derived(stacked(("/home/u/run.py", "rightmod.go()"), error=error))
    assert (found.rule, list(found.packages)) == ("derived-announced-change", ["right-pad"])
    assert "install right-pad" not in remedies(found)


def test_a_class_that_an_installed_distribution_has_is_that_one():
    error = LESS_GO.format("Figure")
    seen = {kind: {error.partition(": ")[2]: [name]} for kind, name in (("holders", "left"), ("words", "near"))}
    (found,) = derived(stacked(("/home/u/run.py", "x.go(loud=1)"), error=error), snapshot({"left": "2.0"}), seen)
    assert list(found.packages) == ["left"]


def test_a_file_that_is_not_there_is_of_the_distribution_that_its_path_is_in():
    error = (
        "FileNotFoundError: [Errno 2] No such file or directory: '/venv/lib/python3.11/site-packages/left/x/pad.json'"
    )
    (found,) = derived(
        stacked(("rightmod/a.py", "load('pad.json')"), ("/usr/lib/python3.11/pkgutil.py", "open()"), error=error)
    )
    assert (found.rule, list(found.packages), found.severity) == (
        "derived-missing-file",
        ["right-pad", "left"],
        "warning",
    )
    (other,) = derived(stacked(("rightmod/a.py", "load('pad.json')"), error=error.replace("site-packages", "data")))
    assert other.rule == "derived-raised-in"


def test_what_the_standard_library_raises_for_own_code_is_information_about_both():
    error = "TypeError: 'float' object cannot be interpreted as an integer"
    (found,) = derived(stacked(OWN, (LIBRARY, "istop = _index(stop)"), error=error))
    assert (found.rule, found.severity, found.packages) == ("derived-raised-in", "info", [])
    assert found.title.startswith("the failure was raised in the standard library of Python 3.11, which your own code")
    assert {"python", "source"} <= {*found.facts}
    assert found.remedies == []
    assert derived(stacked(OWN, error=error)) == []


def test_frames_that_only_carry_a_call_on_are_not_the_other_side():
    error = "AttributeError: 'Strange' object has no attribute 'old'"
    frames = [
        ("left/a.py", "self.hook.go(node)"),
        ("pluggy/hooks.py", "call(*args)"),
        ("rightmod/plugin.py", "node.old"),
    ]
    assert list(derived(stacked(*frames, error=error))[0].packages) == ["right-pad", "left"]


def test_one_that_is_called_after_another_is_taken_to_ask_it_where_nobody_else_is_in_sight():
    error = "AttributeError: 'Strange' object has no attribute 'old'"
    assert list(derived(stacked(("left_plug/a.py", "node.old"), error=error))[0].packages) == ["left-plug", "left"]
    assert list(derived(stacked(("leftover/a.py", "node.old"), error=error))[0].packages) == ["leftover"]


def test_the_interface_version_of_a_generated_client_is_no_part_of_its_name():
    found = derived(stacked(("ns/cloud/pad_v1beta2/a.py", "x"), error="ValueError: gone"))
    assert list(found[0].packages) == ["ns-cloud-pad"]
