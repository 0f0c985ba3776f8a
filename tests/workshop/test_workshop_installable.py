"""Where remedies can be installed: on the Pythons that a release is for, out of those on which a rule may hold."""

import json
import re

import pytest
from wheel_index import serving, wheel

from envdoctor.rulebase import record
from envdoctor.rulebase.syntax import parse
from envdoctor.workshop.every_release import PYTHONS, Published, everything
from envdoctor.workshop.installable import complaints, recorded
from envdoctor.workshop.lint import lint

VOCABULARY = {"families": {"left": ["left-cpu"]}}


def since(minor, *, until=15):
    return frozenset(one for one in PYTHONS if minor <= int(one[2:]) < until)


INDEX = {
    "left": [
        Published(version="1.0", pythons=since(6, until=12)),
        Published(version="2.0", pythons=since(7)),
        Published(version="3.0rc1", pythons=since(6)),
    ],
    "left-cpu": [Published(version="1.0", pythons=since(6))],
    "right": [
        Published(version="1.0", pythons=since(6)),
        Published(version="1.4", pythons=since(9)),
        Published(version="1.5", pythons=since(6), yanked=True),
    ],
    "wrong": [Published(version="1.0", pythons=since(6)), Published(version="2.0", pythons=since(10, until=14))],
}


def rule(remedies, when=None, **fields):
    text = {
        "id": "left-breaks-right",
        "title": "left 2 breaks right",
        "severity": "error",
        "impact": "crash",
        "when": when or {"packages": {"left": ">=2", "right": "<1.4"}},
        "why": "left 2 removed a name.",
        "remedies": remedies,
        "references": ["https://example.org/1"],
        "proof": {"script": "import right", "bad": [{"python": "3.10", "packages": {"left": "2.0"}}]},
        **fields,
    }
    found, wrong = parse(json.dumps(text), "left-breaks-right.yaml", VOCABULARY)
    assert not wrong, [str(one) for one in wrong]
    return found


def alone(written):
    """The Pythons on which nothing is left, and the first of what cannot be installed there."""
    found = [one.message for one in complaints(written, VOCABULARY, INDEX.get)]
    pattern = r"on Python ([\d., ]+), where .*: (\S+)(?: and \d+ more)? cannot be installed; add"
    return {match[2]: match[1] for text in found for match in [re.match(pattern, text)]}


def test_a_release_is_for_the_pythons_that_its_files_admit_and_are_made_for(monkeypatch, tmp_path):
    names = {
        "left-1.0-py3-none-any.whl": "<3.8,>=3.6.2",
        "left-2.0-cp39-cp39-win_amd64.whl": ">=3.6",
        "left-2.0-cp311-cp311-win_amd64.whl": ">=3.6",
        "left-3.0-cp312-abi3-win_amd64.whl": "",
        "left-4.0-py2-none-any.whl": "",
        "left-5.0.tar.gz": "!=3.7.*",
        "left-6.0-py310-none-any.whl": "a nonsense",
    }
    files = {name: wheel({}) for name in names}
    with serving(monkeypatch, tmp_path, files, pythons=names):
        found = {one.version: " ".join(sorted(one.pythons, key=lambda one: int(one[2:]))) for one in everything("left")}

    assert found == {
        "1.0": "3.6 3.7",
        "2.0": "3.9 3.11",
        "3.0": "3.12 3.13 3.14",
        "4.0": "",
        "5.0": "3.6 3.8 3.9 3.10 3.11 3.12 3.13 3.14",
        "6.0": "3.10 3.11 3.12 3.13 3.14",
    }


@pytest.mark.parametrize(
    ("remedies", "found", "left_alone"),
    [
        ([{"upgrade": "right>=1.4"}], {"right>=1.4": ">=3.9"}, {"right>=1.4": "3.7, 3.8"}),
        ([{"upgrade": "right>=1.4"}, {"install": "wrong<2"}], {"right>=1.4": ">=3.9"}, {}),
        ([{"upgrade": "right>=1.4", "when": {"python": ">=3.9"}}, {"install": "wrong<2"}], {}, {}),
        (
            [{"upgrade": "right>=1.4"}, {"install": "wrong<2", "when": {"python": "<3.8"}}],
            {"right>=1.4": ">=3.9"},
            {"right>=1.4": "3.8"},
        ),
        (
            [{"upgrade": "right>=1.4"}, {"install": "wrong<2", "when": {"env": {"A": "1"}}}],
            {"right>=1.4": ">=3.9"},
            {"right>=1.4": "3.7, 3.8"},
        ),
        ([{"upgrade": "right>=1.4"}, {"change": "do it by hand"}], {"right>=1.4": ">=3.9"}, {}),
        ([{"upgrade": "right>=1.4"}, {"upgrade": "python>=3.9"}], {"right>=1.4": ">=3.9"}, {}),
        ([{"upgrade": ["python>=3.9", "right>=1.4"]}], {}, {}),
        ([{"downgrade": "left<2"}], {"left<2": "<3.12"}, {"left<2": "3.12, 3.13, 3.14"}),
        ([{"install": "wrong>=2"}], {"wrong>=2": ">=3.10,<3.14"}, {"wrong>=2": "3.7, 3.8, 3.9, 3.14"}),
        (
            [{"replace": "right", "with": ["wrong==2.*", "left"]}],
            {"wrong==2.*": ">=3.10,<3.14"},
            {"wrong==2.*": "3.7, 3.8, 3.9, 3.14"},
        ),
        ([{"install": "nobody-knows>=1"}], {}, {}),
    ],
)
def test_what_cannot_be_installed_where_a_rule_may_hold(remedies, found, left_alone):
    written = rule(remedies)

    assert recorded(written, VOCABULARY, lambda name: INDEX.get(name, [])) == found
    assert alone(rule(remedies)) == left_alone


@pytest.mark.parametrize(
    ("when", "pythons"),
    [
        ({"packages": {"right": "<1.4"}}, "3.6, 3.7, 3.8"),
        ({"packages": {"right": "<1.4"}, "python": ">=3.8"}, "3.8"),
        ({"packages": {"right": "<1.4"}, "not": {"python": "<3.8"}}, "3.8"),
        ({"packages": {"right": "<1.4"}, "not": {"packages": {"left": "present"}}}, "3.6, 3.7, 3.8"),
        ({"any": [{"python": ">=3.12"}, {"packages": {"left": ">=2"}}], "packages": {"right": "<1.4"}}, "3.7, 3.8"),
        ({"packages": {"right": "<1.4"}, "python": ">=3.9"}, ""),
    ],
)
def test_a_rule_may_hold_where_what_it_is_about_can_be_installed(when, pythons):
    assert alone(rule([{"upgrade": "right>=1.4"}], when)) == ({"right>=1.4": pythons} if pythons else {})


def test_each_consumer_has_a_release_of_its_own():
    written = rule(
        [{"upgrade": "{consumer}>={works}"}],
        {"packages": {"left": ">=2"}},
        consumers={
            "right": {"bad": "<1.4", "works": "1.4"},
            "wrong": {"bad": "<2", "works": "2.0"},
            "odd": {"bad": "<2", "works": None},
        },
    )

    assert recorded(written, VOCABULARY, INDEX.get) is None, "nobody knows of odd"
    assert recorded(written, VOCABULARY, lambda name: INDEX.get(name, [])) == {
        "right>=1.4": ">=3.9", "wrong>=2.0": ">=3.10,<3.14",
    }  # fmt: skip


def test_lint_tells_it_and_writes_it_into_the_proof(tmp_path):
    written = rule([{"upgrade": "right>=1.4"}])
    (tmp_path / "vocabulary.yaml").write_text("families: {left: [left-cpu]}\n")
    file, proof = tmp_path / "left-breaks-right.yaml", tmp_path / "left-breaks-right.proof.json"
    stated = {key: getattr(written, key) for key in ("id", "title", "severity", "impact", "when", "why", "references")}
    cells = {"script": "import right", "bad": [{"python": "3.10", "packages": {"left": "2.0", "right": "1.0"}}]}
    file.write_text(json.dumps({**stated, "remedies": [{"upgrade": "right>=1.4"}], "proof": cells}))
    proof.write_text(record.dump(record.document(written, VOCABULARY, [], {})))

    def notes(**how):
        found = lint([str(file)], None, None, INDEX.get, **how)
        return [one.message.partition(", where")[0] for one in found if one.note]

    barred = "on Python 3.7, 3.8"
    unsaid = (
        "the proof does not record on which Pythons the remedies can be installed; run: envdoctor rules lint --write"
    )
    assert notes() == [barred, unsaid]
    assert notes(write=True) == [barred]
    assert notes() == [barred]
    kept = record.read(str(proof))
    assert (kept["installable"], kept["edited"]) == ({"right>=1.4": ">=3.9"}, False)
