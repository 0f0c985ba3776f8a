"""Rules that distributions bring, from a real wheel beside a real envdoctor, and what is said of packs that disagree."""

import json
import os
import shutil
import sys
from pathlib import Path

import pytest
from conftest import CHECKOUT, environment, new_cache, run

from envdoctor.errors import RuleError
from envdoctor.rulebase import load, packs

ACME = Path(CHECKOUT, "tests", "data", "acme-rules")


@pytest.fixture(scope="module")
def pack(tmp_path_factory):
    """The wheel of the example."""
    source = shutil.copytree(ACME, tmp_path_factory.mktemp("source") / "acme-rules")
    folder = tmp_path_factory.mktemp("pack")
    done = run("uv", "build", "--quiet", "--wheel", "--python", sys.executable, "--out-dir", folder, source)
    assert done.returncode == 0, done.stderr
    (path,) = folder.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def beside(wheel, pack, tmp_path_factory):
    """``envdoctor`` with the pack in its own environment, as ``uv tool install --with acme-rules`` makes it."""
    folder = tmp_path_factory.mktemp("beside") / "venv"
    assert run("uv", "venv", "--quiet", "--python", sys.executable, folder).returncode == 0
    done = run("uv", "pip", "install", "--quiet", "--compile-bytecode", "--python", folder, wheel, pack)
    assert done.returncode == 0, done.stderr
    return folder / ("Scripts" if os.name == "nt" else "bin") / ("envdoctor.exe" if os.name == "nt" else "envdoctor")


def drawn(tree):
    """The files of a tree that is drawn by indentation, a directory with a slash behind its name."""
    parts = []
    for line in tree.splitlines():
        name, depth = line.split()[0], (len(line) - len(line.lstrip())) // 2
        parts[depth:] = [name]
        if not name.endswith("/"):
            yield "".join(parts)


def test_the_page_draws_the_files_of_the_example():
    tree = Path(CHECKOUT, "docs", "packs.md").read_text("utf-8").split("```\n")[1]

    assert sorted(drawn(tree)) == sorted(
        path.relative_to(ACME.parent).as_posix() for path in ACME.rglob("*") if path.is_file()
    )


def told(program, tmp_path, *words):
    (tmp_path / "requirements.txt").write_text("acme-client-gpu==3.1\nflask==2.3.3\n")
    there = [] if words and words[0] == "rules" else ["-r", "requirements.txt", "--python-version", "3.11"]
    done = run(program, *words, *there, "-f", "json", cwd=tmp_path, env=environment(XDG_CACHE_HOME=str(tmp_path)))
    assert done.stderr == ""
    return json.loads(done.stdout)


def test_a_pack_beside_envdoctor_is_asked_and_not_executed(beside, installed, tmp_path):
    with_pack, without = told(beside, tmp_path), told(installed, tmp_path)

    assert with_pack["rules"] == without["rules"] + 1
    (finding,) = [
        one for one in with_pack["findings"] if one["rule"] not in {two["rule"] for two in without["findings"]}
    ]
    assert (finding["rule"], finding["severity"]) == ("acme/client-old-flask", "error")
    assert "acme-client-gpu" in json.dumps(finding["evidence"])


def test_the_list_says_where_rules_come_from(beside, tmp_path):
    own, acme = told(beside, tmp_path, "rules", "list", "--packs")

    assert (own["pack"], own["left_out"]) == ("envdoctor", [])
    assert (acme["pack"], acme["from"], acme["rules"], acme["left_out"]) == ("acme", "acme-rules 1.0", 1, [])


def test_an_error_text_is_explained_by_a_pack(beside, tmp_path):
    (tmp_path / "error.log").write_text("AttributeError: '_AppCtxGlobals' object has no attribute 'acme_tenant'\n")

    found = told(beside, tmp_path, "explain", "error.log")

    assert found["findings"][0]["rule"] == "acme/client-old-flask"


def test_a_pack_in_the_examined_environment_has_no_say(installed, make_environment, pack, tmp_path):
    """What is examined may not decide how it is examined."""
    folder = make_environment(sys.executable, pack)

    done = run(
        installed, "rules", "list", "--packs", "-f", "json", cwd=tmp_path, env=environment(VIRTUAL_ENV=str(folder))
    )

    assert [one["pack"] for one in json.loads(done.stdout)] == ["envdoctor"]


def test_a_kept_pack_costs_a_plain_run_no_import(beside, tmp_path):
    code = (
        "import sys; from envdoctor.rulebase.load import further; (base,) = further(); "
        "print(base.asked.rules, base.name, *sys.modules)"
    )
    python = beside.parent / ("python.exe" if os.name == "nt" else "python")
    first, second = (
        run(python, "-c", code, env=environment(XDG_CACHE_HOME=str(tmp_path))).stdout.split() for _ in range(2)
    )

    assert first[:2] == second[:2] == ["1", "acme"]
    assert {"yaml", "importlib.metadata"} & {*first}
    assert not {"yaml", "importlib.metadata", "importlib_metadata", "json", "re", "hashlib", "acme_rules"} & {*second}


# --- packs by their files -------------------------------------------------------------------------------------------


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A directory of installed distributions that is searched, besides the others."""
    folder = tmp_path / "site-packages"
    folder.mkdir()
    monkeypatch.setattr(sys, "path", [*sys.path, str(folder)])
    monkeypatch.setenv("XDG_CACHE_HOME", new_cache(tmp_path / "cache"))
    return folder


RULE = """\
id: {id}
title: {title}
severity: error
impact: crash
when: {{packages: {{six: "<9"}}}}
why: It does.
remedies: [{{upgrade: six>=9}}]
references: ["https://example.org/1"]
proof: {{script: import six, bad: [{{python: "3.10", packages: {{six: "1.0"}}}}]}}
"""


def rule(folder, name, title="six breaks"):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.yaml").write_text(RULE.format(id=name, title=title))


def install(place, name, points, *, files=None):
    """A distribution as an installer leaves it; ``files`` are those that it records."""
    info = place / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[envdoctor.rules]\n" + points)
    every = [str(path.relative_to(place)) for path in (place / name).rglob("*.yaml")] if files is None else files
    (info / "RECORD").write_text("".join(f"{path},,\n" for path in every))


def installed_bases(place):
    return [base for base in load.further() if str(place) in str([base.source.declared])]


def test_two_distributions_share_a_name_as_long_as_their_rules_differ(place):
    for name, title in (("one", "first"), ("two", "second")):
        rule(place / name, f"{name}-breaks", title)
        install(place, name, f"acme = {name}\n")

    assert [sorted(base.ids) for base in installed_bases(place)] == [["acme/one-breaks"], ["acme/two-breaks"]]


def test_the_same_id_with_other_contents_names_both_files(place):
    for name, title in (("one", "first"), ("two", "second")):
        rule(place / name, "six-breaks", title)
        install(place, name, f"acme = {name}\n")

    with pytest.raises(RuleError, match=r"acme/six-breaks .*one.six-breaks\.yaml and in .*two.six-breaks\.yaml"):
        load.further()


def test_a_file_that_is_broken_is_left_out_and_the_others_count(place):
    rule(place / "one", "six-breaks")
    (place / "one" / "other.yaml").write_text("id: other\nseverity: grave\n")
    install(place, "one", "acme = one\n")

    (base,) = installed_bases(place)

    assert sorted(base.ids) == ["acme/six-breaks"]
    (reason,) = load.left_out(base)
    assert "other.yaml:1: the file lacks `title`" in reason
    assert load.left_out(*installed_bases(place)) == [reason], "said again when the rules come from the cache"


@pytest.mark.parametrize(
    ("points", "files", "reason"),
    [
        ("acme = one\n", ["one.pth"], "an editable install lists no files"),
        ("acme = one\n", ["../outside/six-breaks.yaml", "one/../../outside/six-breaks.yaml"], "no rule is installed"),
        ("Acme/web = one\n", None, "words joined by hyphens"),
        ("acme = other\n", None, "no rule is installed below other"),
    ],
    ids=["editable", "outside", "name", "elsewhere"],
)
def test_a_pack_that_cannot_be_used_is_left_out_and_said(place, points, files, reason):
    rule(place / "one", "six-breaks")
    rule(place.parent / "outside", "six-breaks")
    install(place, "one", points, files=files)

    (base,) = installed_bases(place)

    assert not base.ids
    assert reason in load.left_out(base)[0]


def test_a_pack_is_found_and_gone_with_its_installation(place):
    assert installed_bases(place) == []
    rule(place / "one", "six-breaks")
    install(place, "one", "acme = one\n")
    assert len(installed_bases(place)) == 1
    shutil.rmtree(place / "one-1.0.dist-info")

    assert installed_bases(place) == []


def test_a_project_that_looks_like_a_distribution_has_no_say(tmp_path, monkeypatch):
    rule(tmp_path / "one", "six-breaks")
    install(tmp_path, "one", "acme = one\n")
    monkeypatch.setattr(sys, "path", ["", str(tmp_path), *sys.path])
    monkeypatch.chdir(tmp_path)

    assert [one for one in packs.installed() if str(tmp_path) in one.declared] == []


# --- directories ----------------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", new_cache(tmp_path / "cache"))
    rule(tmp_path / "own", "six-breaks")
    return tmp_path / "own"


def base_of(folder):
    return load.further([str(folder)])[-1]


def test_a_directory_may_name_itself(folder):
    assert [*base_of(folder).ids] == ["six-breaks"]
    (folder / "vocabulary.yaml").write_text("pack: acme\n")

    assert [*base_of(folder).ids] == ["acme/six-breaks"]


def test_a_vocabulary_adds_to_the_shipped_one(folder):
    """A rule about a family that envdoctor declares goes on matching its members."""
    text = RULE.format(id="family", title="a family").replace("{six:", "{tensorflow:")
    (folder / "family.yaml").write_text(text)
    (folder / "vocabulary.yaml").write_text("families: {six: [six-ng]}\ncalls: {unpicklable: [acme.Handle]}\n")

    base = base_of(folder)

    assert base.left_out == []
    assert {"family"} <= {base.asked.texts(entry)["id"] for entry in base.asked.about("tensorflow-intel")}
    assert list(base.asked.about("six-ng"))
    assert load.words([base])["families"]["six"] == ["six-ng"]
    assert "tensorflow-intel" in load.words([base])["families"]["tensorflow"]


def test_a_family_that_is_declared_differently_names_both_files(folder):
    (folder / "vocabulary.yaml").write_text("families: {tensorflow: [tensorflow-acme]}\n")

    with pytest.raises(RuleError, match=r"families: tensorflow .*rules.vocabulary\.yaml and in .*own.vocabulary\.yaml"):
        base_of(folder)


def test_two_directories_that_declare_a_family_differently_name_both_files(folder, tmp_path):
    rule(tmp_path / "other", "seven-breaks")
    (folder / "vocabulary.yaml").write_text("families: {six: [six-ng]}\n")
    (tmp_path / "other" / "vocabulary.yaml").write_text("families: {six: [six-two]}\n")

    with pytest.raises(RuleError, match=r"families: six .*own.vocabulary\.yaml and in .*other.vocabulary\.yaml"):
        load.further([str(folder), str(tmp_path / "other")])


def test_an_expression_of_a_vocabulary_that_could_take_for_ever_is_refused(folder):
    (folder / "vocabulary.yaml").write_text('voices: {"(a+)+b": six}\n')

    with pytest.raises(RuleError, match=r"own.vocabulary\.yaml cannot be used: `\(a\+\)\+b`"):
        base_of(folder)


def test_a_shipped_rule_is_asked_once_and_not_stated_anew(folder):
    shipped = Path(CHECKOUT, "rules", "installed", "requirement-missing.yaml")
    shutil.copy(shipped, folder)
    base = base_of(folder)
    assert "requirement-missing" not in {base.asked.texts(entry)["id"] for entry in base.asked.all()}
    text = shipped.read_text(encoding="utf-8").replace("title: ", "title: another ")
    (folder / shipped.name).write_text(text, encoding="utf-8")

    with pytest.raises(
        RuleError, match=r"requirement-missing is stated differently in .*own.requirement-missing\.yaml"
    ):
        base_of(folder)


def test_a_rule_that_is_the_same_in_two_directories_is_asked_once_and_again_where_it_is_alone(folder, tmp_path):
    other = tmp_path / "other"
    rule(other, "six-breaks")
    rule(other, "six-breaks-too")

    def asked(*folders):
        bases = load.further(list(map(str, folders)))
        return [base.asked.texts(entry)["id"] for base in bases for entry in base.asked.all()]

    assert sorted(asked(folder, other)) == ["six-breaks", "six-breaks-too"]
    assert sorted(asked(other)) == ["six-breaks", "six-breaks-too"]
    rule(other, "six-breaks", "another cause")
    with pytest.raises(RuleError, match="six-breaks is stated differently"):
        asked(folder, other)


def test_the_same_id_twice_in_a_directory_is_asked_once_and_said(folder):
    rule(folder / "area", "six-breaks", "another cause")

    (reason,) = load.left_out(base_of(folder))

    assert "the id `six-breaks` is taken by" in reason
