"""Entries of configuration files: what each format says, and what hostile files cost."""

import json
import math
import sys

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from envdoctor.facts import CONFIG, Answer
from envdoctor.file_keys import config_file
from envdoctor.probes.project import Project, config_text, config_yaml
from envdoctor.probes.project.config import format_of


def lookup(files, pattern, key):
    return Project.of(files).ask(CONFIG, (pattern, key))


def found(files, pattern, key):
    return [(one["file"], one["line"], one["key"], one["value"]) for one in lookup(files, pattern, key).found]


def entries(form, text):
    reader = config_yaml.read if form == "yaml" else getattr(config_text, form)
    read, gap = reader(text if isinstance(text, bytes) else text.encode())
    assert gap is None
    return list(read)


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("configs.yaml", ["a/b/configs.yaml", "a/configs.yaml", "configs.yaml"]),
        ("**/configs.yaml", ["a/b/configs.yaml", "a/configs.yaml", "configs.yaml"]),
        ("*/configs.yaml", ["a/configs.yaml"]),
        ("a/**/configs.yaml", ["a/b/configs.yaml", "a/configs.yaml"]),
        ("a/**", ["a/b/configs.yaml", "a/configs.yaml"]),
        ("./configs.yaml", ["configs.yaml"]),
        ("./a/*.yaml", ["a/configs.yaml"]),
        ("c?nf*.yaml", ["a/b/configs.yaml", "a/configs.yaml", "configs.yaml"]),
        ("[ab]/**/[!x]*.yaml", ["a/b/configs.yaml", "a/configs.yaml"]),
        ("**", ["a/b/configs.yaml", "a/configs.yaml", "configs.yaml"]),
    ],
)
def test_globs(pattern, names):
    files = dict.fromkeys(["configs.yaml", "a/configs.yaml", "a/b/configs.yaml"], "x: 1\n")
    assert [one["file"] for one in lookup(files, pattern, "x").found] == names


def test_a_file_beside_which_another_counts_is_left_out():
    lint = "[tool.ruff.lint]\nselect = ['E']\n"
    files = {"pyproject.toml": lint, "a/pyproject.toml": lint, "a/ruff.toml": "", "b/pyproject.toml": lint}
    key = config_file("pyproject.toml", [".ruff.toml", "ruff.toml"])
    assert [one["file"] for one in lookup(files, key, "select.*").found] == ["b/pyproject.toml", "pyproject.toml"]


@pytest.mark.parametrize(
    ("name", "is_one"),
    [
        *[
            (name, True)
            for name in ("Dockerfile", "Dockerfile.prod", "Dockerfile.gpu.v2", "Dockerfile-dev", "Dockerfile.test")
        ],
        *[(name, True) for name in ("dockerfile", "a/api.Dockerfile", "a/prod.dockerfile")],
        *[
            (name, False)
            for name in ("Dockerfile.j2", "Dockerfile.template", "Dockerfile.md", "Dockerfile.dockerignore")
        ],
        *[
            (name, False)
            for name in ("Dockerfile_a", "Dockerfile.py", "my-dockerfile", "Containerfile", "Containerfile.a")
        ],
    ],
)
def test_a_glob_for_dockerfiles_means_those_of_other_names(name, is_one):
    found = lookup({name: "FROM a\n"}, "Dockerfile", "FROM").found
    assert [one["file"] for one in found] == [name] * is_one


@pytest.mark.parametrize(
    ("key", "keys"),
    [
        ("driver_parallel", ["defaults.run.driver_parallel", "small.run.driver_parallel"]),
        ("run.driver_parallel", ["defaults.run.driver_parallel", "small.run.driver_parallel"]),
        ("defaults.run.driver_parallel", ["defaults.run.driver_parallel"]),
        ("*.driver_*", ["defaults.run.driver_parallel", "small.run.driver_parallel"]),
        ("more.defaults.run.driver_parallel", []),
        ("parallel", []),
        ("envs.1", ["defaults.envs.1"]),
        ("envs.*", ["defaults.envs.0", "defaults.envs.1"]),
    ],
)
def test_keys_are_matched_from_their_end(key, keys):
    text = "defaults:\n  run: {driver_parallel: true}\n  envs: [1, 2]\nsmall:\n  run:\n    driver_parallel: false\n"
    for pattern in ("configs.yaml", "*.yaml"):
        assert [one["key"] for one in lookup({"configs.yaml": text}, pattern, key).found] == keys


@pytest.mark.parametrize("name", [".flake8", ".pylintrc", "pylintrc", "sub/.coveragerc"])
def test_hidden_files_of_tools_are_configuration(name):
    (found,) = lookup({name: "[main]\nignore = E1\n"}, f"**/{name}", "main.ignore").found
    assert (found["file"], found["value"]) == (name, "E1")


@pytest.mark.parametrize(
    ("name", "form"),
    [
        *[("a.yaml", "yaml"), ("b/a.YML", "yaml"), ("pyproject.toml", "toml"), ("a.json", "json"), ("tox.ini", "ini")],
        *[("setup.cfg", "ini"), (".env", "env"), ("b/.env.local", "env"), ("prod.env", "env"), (".env.json", "json")],
        *[
            ("a/poetry.lock", "toml"),
            ("Pipfile.lock", "json"),
            (".envrc", "env"),
            ("app.service", "ini"),
            ("a.ipynb", "json"),
        ],
        *[
            (f"b/{name}", "dockerfile")
            for name in ("dockerfile", "Dockerfile.prod", "Dockerfile-dev", "api.Dockerfile")
        ],
        *[("b/Dockerfile", "dockerfile"), ("logging.conf", "ini"), ("Pipfile", "toml")],
    ],
)
def test_formats_go_by_name(name, form):
    assert format_of(name) == form


YAML_TYPES = [
    ("true", True), ("False", False), ("yes", True), ("off", False), ("y", "y"), ("'true'", "true"), ("1", 1), ("0x1f", 31),
    ("0o17", "0o17"), ("017", 15), ("1_000", 1000), ("1.5", 1.5), ("1e3", "1e3"), ("1.0e+3", 1000.0), (".inf", math.inf),
    ("null", None), ("~", None), ("", None), ("2020-01-02", "2020-01-02"), ("a b", "a b"), ("!!str 1", "1"),
    ("!!int '3'", 3), ("!!int x", "x"), ("!!python/name:os.system x", "x"), ("!mine 5", "5"), ("1:30", 90), ("=", "="),
    ("|\n   a\n   b", "a\nb\n"), ("9" * 5000, "9" * 5000),
]  # fmt: skip


@pytest.mark.parametrize(("text", "value"), YAML_TYPES)
def test_yaml_scalars_have_the_types_of_the_safe_loader(text, value):
    ((key, read, line),) = entries("yaml", f"x: {text}\n")
    assert (key, line) == ("x", 1)
    assert (read, type(read)) == (value, type(value))


def test_yaml_paths_and_lines():
    text = "# first\na:\n  - b: 1\n  - [2, {c: 3}]\n? [x, y]\n: 4\n1: 6\n---\na: 7\n"
    assert entries("yaml", text) == [
        ("a.0.b", 1, 3), ("a.1.0", 2, 4), ("a.1.1.c", 3, 4), ("?", 4, 6), ("1", 6, 7), ("a", 7, 9),
    ]  # fmt: skip


def test_yaml_aliases_repeat_their_anchors():
    text = "base: &b {x: 1, y: &l [2, 3]}\none: *b\ntwo: {z: *l}\nlist: [*b]\ns: &s 5\nt: *s\n"
    assert [entry[:2] for entry in entries("yaml", text)[3:]] == [
        ("one.x", 1), ("one.y.0", 2), ("one.y.1", 3), ("two.z.0", 2), ("two.z.1", 3),
        ("list.0.x", 1), ("list.0.y.0", 2), ("list.0.y.1", 3), ("s", 5), ("t", 5),
    ]  # fmt: skip


def test_yaml_merge_keys_give_what_is_not_stated():
    assert entries("yaml", "b: &b {x: 1}\nc: {<<: *b, y: 2}\n")[1:] == [("c.x", 1, 1), ("c.y", 2, 2)]
    assert entries("yaml", "b: &b {x: 1}\nc: {x: 3, <<: [*b]}\n")[1:] == [("c.x", 3, 2)]


def test_the_last_of_two_equal_keys_counts():
    assert entries("yaml", "a: 1\na: 2\n") == [("a", 2, 2)]
    assert entries("json", '{"a": 1,\n"a": 2}') == [("a", 2, 2)]
    assert entries("ini", "[s]\na = 1\n[s]\na = 2\n") == [("s.a", "2", 4)]
    assert entries("env", "A=1\nA=2\n") == [("A", "2", 2)]


def flat(value, path=""):
    if isinstance(value, dict):
        return [one for key, item in value.items() for one in flat(item, f"{path}.{key}" if path else str(key))]
    if isinstance(value, list):
        return [one for key, item in enumerate(value) for one in flat(item, f"{path}.{key}" if path else str(key))]
    return [(path, value)]


KEYS = st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=1, max_size=8).map(lambda key: "k" + key)
TREES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**12), 10**12) | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=12,
)


@given(tree=TREES, indent=st.sampled_from([None, 1]))
@example(tree='"', indent=None)
def test_json_says_what_the_parser_builds(tree, indent):
    text = json.dumps(tree, indent=indent)
    read = entries("json", text)
    assert [entry[:2] for entry in read] == flat(tree)
    assert all(1 <= line <= text.count("\n") + 1 for _, _, line in read)


@given(tree=st.dictionaries(KEYS, TREES, max_size=3))
def test_yaml_says_what_the_safe_loader_builds(tree):
    for style in (None, True, False):
        text = yaml.safe_dump(tree, default_flow_style=style, sort_keys=False)
        assert [entry[:2] for entry in entries("yaml", text)] == flat(yaml.safe_load(text))


def test_json_lines():
    text = '{\n "a": [1,\n  {"b": "x\\ny", "c": null}],\n "d": -1.5e3,\n "e": {}\n}\n'
    assert entries("json", text) == [("a.0", 1, 2), ("a.1.b", "x\ny", 3), ("a.1.c", None, 3), ("d", -1500.0, 4)]
    assert entries("json", b"\xef\xbb\xbf[true]") == [("0", True, 1)]
    assert entries("json", "3") == [("", 3, 1)]


def test_toml_values_and_lines():
    text = """# first
title = "x"
[a.b]
c = 1
'd e'.f = 2.5
list = [
  1,
  {g = true},
]
text = '''
h = 9
[z]
'''
[[many]]
x = 1
[many.sub]
y = 2020-01-02
[[many]]
x = 2
"""
    assert entries("toml", text) == [
        ("title", "x", 2), ("a.b.c", 1, 4), ("a.b.d e.f", 2.5, 5), ("a.b.list.0", 1, 6), ("a.b.list.1.g", True, 6),
        ("a.b.text", "h = 9\n[z]\n", 10), ("many.0.x", 1, 15), ("many.0.sub.y", "2020-01-02", 17), ("many.1.x", 2, 19),
    ]  # fmt: skip


def test_what_is_empty_in_toml_is_set_to_nothing():
    text = "files = []\n[tool.a]\n[tool.b]\nc = {}\n[[many]]\n"
    assert entries("toml", text) == [("files", "", 1), ("tool.a", "", 2), ("tool.b.c", "", 4), ("many.0", "", 5)]


def test_ini_values_and_lines():
    text = "top = 1\n# no\n[metadata]\ndescription-file = README\nKey: %(x)s ; kept\nbare\nlong =\n    a\n    b = c\n\n[DEFAULT]\nz = true\n[e f]\ng=\n"
    assert entries("ini", text) == [
        ("top", "1", 1), ("metadata.description-file", "README", 4), ("metadata.Key", "%(x)s ; kept", 5),
        ("metadata.bare", None, 6), ("metadata.long", "\na\nb = c", 7), ("DEFAULT.z", "true", 12), ("e f.g", "", 14),
    ]  # fmt: skip
    assert entries("ini", "[a]\r\nb = 1\r\n") == [("a.b", "1", 2)]


def test_env_values_and_lines():
    text = (
        '# first\nexport A=1\nB = two words # said\nC=\'x # y\'\nD="a\\n\\"b\\""\nE="one\ntwo"\nF=\nnothing\nG=a#b\n'
        "H=$A/${B}\nI='open\n"
    )
    assert entries("env", text) == [
        ("A", "1", 2), ("B", "two words", 3), ("C", "x # y", 4), ("D", 'a\n"b"', 5), ("E", "one\ntwo", 6), ("F", "", 8),
        ("G", "a#b", 10), ("H", "$A/${B}", 11), ("I", "'open", 12),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "text", "gap"),
    [
        ("a.yaml", "a: 1\nb: [1,\n", "a.yaml: line 3: it is not valid YAML"),
        ("a.yaml", b"a: \xff\xfe\xfd\n", "a.yaml: it is not valid YAML"),
        ("a.yaml", "a: \x00\n", "a.yaml: it is not valid YAML"),
        ("a.yaml", "a: *gone\n", "a.yaml: line 1: it is not valid YAML: nothing is called gone"),
        ("a.yaml", "a: {{ b }}\n", "a.yaml: line 1: a mapping is the key of another, as in a template"),
        ("a.toml", "a = 1\nb = \n", "a.toml: it is not valid TOML: Invalid value (at line 2"),
        ("a.toml", b"a = '\xff'\n", "a.toml: it is not valid UTF-8"),
        ("a.json", '{"a": 1,\n}', "a.json: line "),
        ("a.json", b'{"a": "\xff"}', "a.json: it is not valid text"),
        ("a.json", "", "a.json: line 1: it is not valid JSON"),
        ("a.ini", "[a]\n= 1\n", "a.ini: line 2: it is not a valid INI file"),
    ],
)
def test_what_cannot_be_read_is_a_gap_with_file_and_line(name, text, gap):
    gaps = lookup({name: text}, name, "x").gaps
    assert [one[: len(gap or "")] for one in gaps] == ([gap] if gap else [])


def test_what_was_read_before_a_mistake_still_counts():
    answer = lookup({"a.yaml": "a: 1\n---\na: [\n"}, "a.yaml", "a")
    assert [one["value"] for one in answer.found] == [1]
    assert len(answer.gaps) == 1


BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{chr(98 + one)}: &{chr(98 + one)} [{', '.join(['*' + chr(97 + one)] * 9)}]\n" for one in range(12)
)
MUCH = 1 << 20
HOSTILE = [
    ("a.yaml", BOMB, "it has more than 100000 values, with those that its aliases repeat; the rest was not read"),
    ("a.yaml", "x: &a [*a]\n", "line 1: *a contains itself; the rest was not read"),
    ("a.yaml", "[" * 900, "line 1: it is nested deeper than 100 levels; the rest was not read"),
    ("a.yaml", "- " * MUCH, "line 1: it is nested deeper than 100 levels; the rest was not read"),
    ("a.yaml", "{a: " * (MUCH // 4), "line 1: it is nested deeper than 100 levels; the rest was not read"),
    (
        "a.yaml",
        "- a\n" * 200_000,
        "it has more than 100000 values, with those that its aliases repeat; the rest was not read",
    ),
    ("a.yaml", "- []\n" * 130_000, "it has more than 250000 parts; the rest was not read"),
    ("a.toml", "a = " + "[" * MUCH, "it has more than 100000 values, and was not read"),
    ("a.toml", "a = " + "[" * 90_000, "it is nested deeper than 100 levels, and was not read"),
    ("a.toml", "a." * (MUCH // 2) + "b = 1", "it has a key of more than 20 parts, and was not read"),
    (
        "a.toml",
        "a" + "\t" * 30 + "." + '"b".' * 40_000 + "b = 1",
        "it has a key of more than 20 parts, and was not read",
    ),
    ("a.json", "[" * MUCH, "it has more than 100000 values, and was not read"),
    ("a.json", "[" * 90_000 + "]" * 90_000, "it is nested deeper than 100 levels, and was not read"),
    ("a.json", '{"a":' * 90_000 + "1" + "}" * 90_000, "it is nested deeper than 100 levels, and was not read"),
    ("a.json", "[1," * MUCH + "1" + "]" * MUCH, "it is nested deeper than 100 levels, and was not read"),
    ("*.json", "[" + "1," * 200_000 + '"x", "y"]', "it has more than 100000 values, and was not read"),
    ("a.ini", "[a]\n" * 200_000, "it has more than 100000 values, and was not read"),
    (".env", "A=\n" * 200_000, "it has more than 100000 values, and was not read"),
]


@pytest.mark.parametrize(("name", "text", "gap"), HOSTILE)
def test_a_hostile_file_is_a_line(monkeypatch, name, text, gap):
    monkeypatch.setattr(config_yaml, "SECONDS", math.inf)  # the other limits are met first on any machine
    file = name.replace("*", "a")
    assert lookup({file: text}, name, "x.y").gaps == [f"{file}: {gap}"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        *[
            ("a.yaml", "a: " + "1:" * 45 + "1"),
            ("a.yaml", '"' + "\\n" * (MUCH // 2) + '"'),
            ("a.yaml", "[" * MUCH),
            ("a.ini", "a" + " " * MUCH + "b"),
        ],
        *[
            ("a.ini", (" " * 199 + "a") * 5000),
            ("a.json", '"' + "\\n" * (MUCH // 2) + '"'),
            (".env", 'A="' * (MUCH // 3)),
        ],
        *[(".env", "A='\"`\n" * (MUCH // 6)), ("a.toml", "a = 0." + "1" * 100_000), ("a.ini", "a\n b\n")],
        *[("a.toml", "a" + (" " * 21 + ".") * 40_000), ("a.toml", '"\\"' * (MUCH // 3)), ("a.json", "9" * MUCH)],
    ],
)
def test_what_invites_slow_reading_is_read_or_refused(name, text):
    answer = lookup({name: text}, name, "x.y")
    assert answer.found == []
    assert len(answer.gaps) <= 1


def test_reading_one_file_has_a_time_limit(monkeypatch):
    monkeypatch.setattr(config_yaml, "SECONDS", -1)
    assert lookup({"a.yaml": "a: 1"}, "a.yaml", "a").gaps == [
        "a.yaml: reading it took longer than -1 s; the rest was not read"
    ]


def test_no_tag_constructs_anything(tmp_path):
    text = f"x: !!python/object/apply:os.system ['touch {tmp_path}/ran']\ny: !!python/object/new:os._Environ {{z: 1}}\n"
    assert [entry[0] for entry in entries("yaml", text)] == ["x.0", "y.z"]
    assert not list(tmp_path.iterdir())


def test_an_exact_name_admits_a_larger_file():
    text = json.dumps({"pad": "x" * (3 << 20), "a": 1})
    assert lookup({"big.json": text}, "big.json", "a").found[0]["value"] == 1
    assert lookup({"big.json": text}, "*.json", "a") == Answer(
        found=[], gaps=[f"big.json is not read: it has {len(text)} bytes, and more than {2 << 20} are not read"]
    )


def test_where_many_files_match_only_those_that_can_hold_the_key_are_parsed():
    files = {"broken.yaml": "x: [", "good.yaml": "deep: {wanted: 1}", "mentions.yaml": "wanted: ["}
    answer = lookup(files, "*.yaml", "deep.wanted")
    assert [one["file"] for one in answer.found] == ["good.yaml"]
    assert answer.gaps == []
    assert len(lookup(files, "*.yaml", "wanted").gaps) == 1
    assert len(lookup(files, "broken.yaml", "wanted").gaps) == 1


def test_escaped_keys_are_found_in_many_files():
    assert found({"a.json": '{"w\\u0061nted": 1}'}, "*.json", "wanted") == [("a.json", 1, "wanted", 1)]


@pytest.mark.skipif(not hasattr(yaml, "CSafeLoader"), reason="needs PyYAML with its C library")
@given(text=st.text(st.sampled_from("ab:-[]{}?&*!|>'\"#%@, \n\t1.<~"), max_size=60))
def test_any_text_is_read_or_refused(text):
    data = text.encode()
    for reader in (config_yaml.read, config_text.toml, config_text.json, config_text.ini, config_text.env):
        read, gap = reader(data)
        assert gap or all(isinstance(path, str) and (line is None or line >= 1) for path, _, line in read)


@given(data=st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(data):
    for reader in (config_yaml.read, config_text.toml, config_text.json, config_text.ini, config_text.env):
        reader(data)


def test_the_python_loader_reads_alike():
    script = (
        "import sys, yaml; del yaml.CSafeLoader\nfrom envdoctor.probes.project import config_yaml as c\n"
        "print(c.read(b'a: &x [1, {b: yes}]\\nc: *x\\n'), c.read(b'[' * 1000)[1], c.read(b'a: [')[1])"
    )
    import subprocess

    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("([('a.0', 1, 1), ('a.1.b', True, 1), ('c.0', 1, 1), ('c.1.b', True, 1)], None)")
    assert "deeper than 100" in done.stdout


@pytest.mark.trials
def test_a_document_of_many_values_is_searched_for_what_is_asked():
    merges = [[f"a{number}", f"b{number}"] for number in range(80_000)]
    project = Project.of({"m/tokenizer.json": json.dumps({"model": {"merges": merges}})})
    assert project.ask(CONFIG, ("**/tokenizer.json", "model.merges.0.0")) == Answer(
        found=[{"file": "m/tokenizer.json", "line": None, "key": "model.merges.0.0", "value": "a0"}], gaps=[]
    )
    broken = Project.of({"tokenizer.json": "[" + "1," * 200_000})
    answer = broken.ask(CONFIG, ("**/tokenizer.json", "model.merges.0.0"))
    assert answer.found == []
    assert "tokenizer.json: it is not valid JSON" in answer.gaps[0]


def test_how_a_line_could_be_edited_is_found_out_for_the_first_entries_of_a_key():
    """Each parses its file twice, which for some thousand entries in a project's files took minutes."""
    comment = "# " + "x" * (300 << 10) + "\n"
    many = {f"{at}.yaml": f"{comment}a:\n  on: true\nb:\n  on: false\n" for at in range(3)}
    entries = lookup(many, "**/*.yaml", "on").found
    assert [one["written"] is not None for one in entries] == [True] * 4 + [False] * 2
