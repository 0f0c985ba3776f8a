"""What an argument is as it is written, one of several values, and an expression that a text has to match."""

import pytest
from engine.real_projects import judged

CALL = "import lib\n%s"


def verdict(source, **test):
    return judged({"source": {"calls": ["lib.call"], "arguments": [{"at": 0, **test}]}}, {"a.py": CALL % source})[0]


@pytest.mark.parametrize(
    ("source", "form"),
    [
        ("lib.call([1, x])", "list"),
        ("names = [n for n in y]\nlib.call(names)", "list"),
        ("lib.call({1, 2})", "set"),
        ("names = {1, 2}\nlib.call(names)", "set"),
        ("lib.call(set(y))", "set"),
        ("names = {1, 2}\nlib.call(sorted(names))", "list"),
        ("names = sorted({1, 2})\nlib.call(names)", "list"),
        ("names = set(y) - set(x)\nlib.call(sorted(names))", "list"),
        ("names = {1} | y\nrest = sorted(names)\nlib.call(rest + [2])", "list"),
        ("names = set()\nlib.call(names)", "set"),
        ("names = {1} | y\nlib.call(names)", "set"),
        ("lib.call(y - set(x))", "set"),
        (
            "class A:\n    def __init__(self):\n        self.names = set()\n    def go(self):\n        lib.call(self.names)",
            "set",
        ),
        ("lib.call((1, 2))", "tuple"),
        ("lib.call({'a': 1})", "dictionary"),
        ("lib.call(dict(a=1))", "dictionary"),
        ("lib.call('a')", "text"),
        ("lib.call(f'{y}')", "text"),
        ("name = f'a/{y}'\nlib.call(name)", "text"),
        ("lib.call('a/{}'.format(y))", "text"),
        ("name = '{}/b'.format(y)\nlib.call(name)", "text"),
        ("lib.call('a/%s' % y)", "text"),
        ("name = '%s/b' % y\nlib.call(name)", "text"),
        ("async def work(): pass\nlib.call([work()])", "coroutine"),
        ("async def work(): pass\nwhole = [work() for _ in y]\nlib.call(whole)", "coroutine"),
    ],
)
def test_an_argument_is_of_the_form_that_it_is_written_in_alone(source, form):
    assert verdict(source, **{"is": [form]}) is True
    others = {"list", "set", "tuple", "dictionary", "text"} - {form}
    assert [other for other in others if verdict(source, **{"is": [other]})] == (
        ["list"] if form == "coroutine" else []
    )


@pytest.mark.parametrize(
    "source",
    ["def work(): pass\nlib.call([work()])", "async def work(): pass\nlib.call(work)", "lib.call(3)", "lib.call(y)"],
)
def test_what_is_not_written_out_has_no_form(source):
    assert not any(verdict(source, **{"is": [form]}) for form in ("coroutine", "set", "text", "dictionary", "tuple"))


def test_one_of_several_values():
    assert verdict("lib.call('en')", equals=["de", "en"]) is True
    assert verdict("lib.call('english')", equals=["de", "en"]) is False
    assert verdict("lib.call(True)", equals=[1, 2]) is False


def test_an_expression_is_searched_in_a_text_or_in_those_of_a_list_and_only_what_it_matches_is_shown():
    assert verdict("lib.call('postgres://u:secret@h/db')", matches="^postgres://") is True
    assert verdict("lib.call('postgresql://h/db')", matches="^postgres://") is False
    assert verdict("lib.call(['http://a:1', 'b:9200'])", matches=r"^\w+:\d+$") is True
    assert verdict("lib.call(['http://a:1'])", matches=r"^\w+:\d+$") is False
    assert verdict("lib.call(3)", matches="3") is False

    when = {"source": {"calls": ["lib.call"], "arguments": [{"at": 0, "matches": "^postgres://"}]}}
    assert "secret" not in str(judged(when, {"a.py": CALL % "lib.call('postgres://u:secret@h/db')"}))
    whole = {"source": {"calls": ["lib.call"], "arguments": [{"at": 0, "matches": "^r?U$"}]}}
    assert judged(whole, {"a.py": CALL % "lib.call('rU')"}) == (True, ["source.lib.call=lib.call('rU') a.py:2"])


@pytest.mark.parametrize(
    ("source", "wanted", "found"),
    [
        ("lib.call(f'postgres://{u}@h')", "^postgres://", True),
        ("url = 'postgres://' + u\nlib.call(url)", "^postgres://", True),
        ("lib.call('postgres://%s@h' % u)", "^postgres://", True),
        ("lib.call('%s://h' % u)", "^postgres://", False),
        ("lib.call(f'{u}postgres://')", "postgres://", False),
        ("lib.call(f'auto{u}')", "^auto$", False),
        ("lib.call(u + 'auto')", "auto", False),
    ],
)
def test_of_a_text_that_is_put_together_the_beginning_is_known(source, wanted, found):
    assert verdict(source, matches=wanted) is found


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("try:\n    lib.call(old=1)\nexcept TypeError:\n    lib.call()", False),
        ("try:\n    lib.call(old=1)\nexcept (KeyError, TypeError) as error:\n    print(error)", False),
        ("try:\n    lib.call(old=1)\nexcept TypeError:\n    raise", True),
        ("try:\n    lib.call(old=1)\nexcept ValueError:\n    pass", True),
        ("try:\n    lib.call(new=1)\nexcept TypeError:\n    lib.call(old=1)", False),
        ("try:\n    pass\nexcept KeyError:\n    lib.call(old=1)", True),
    ],
)
def test_who_catches_just_what_the_rule_says_provides_for_it(code, found):
    rule = {"source": {"calls": ["lib.call"], "arguments": [{"name": "old"}]}}
    symptoms = [{"raises": "TypeError", "message": "old"}, {"raises": "ValueError", "message": "old"}]
    assert judged(rule, {"a.py": CALL % code}, symptoms=symptoms)[0] is found


@pytest.mark.parametrize(
    ("caught", "uncaught", "found"),
    [
        ("OSError", True, False),
        ("(KeyError, OSError)", True, False),
        ("ImportError", True, True),
        ("OSError", False, True),  # which is caught for many reasons
    ],
)
def test_a_rule_about_calls_that_are_uncaught_spares_what_catches_its_own_symptom(caught, uncaught, found):
    rule = {"source": {"calls": ["lib.call"], **({"uncaught": True} if uncaught else {})}}
    code = CALL % f"try:\n    lib.call(1)\nexcept {caught}:\n    pass"
    assert judged(rule, {"a.py": code}, symptoms=[{"raises": "OSError", "message": "old"}])[0] is found


BELOW = "class B(A):\n    def __init__(self):\n        super().__init__(1)"


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("class A(lib.Base):\n    def __init__(self):\n        super().__init__(1)", True),
        ("class A(lib.Base):\n    def __init__(self):\n        super(A, self).__init__(1)", True),
        (f"class A(lib.Base): pass\n{BELOW}", True),
        ("class A(lib.Base):\n    def __init__(self):\n        super().__init__(2)", False),
        ("class A(lib.Base):\n    def __init__(self, *given):\n        super().__init__(*given)", None),
        ("class A(lib.Other):\n    def __init__(self):\n        super().__init__(1)", False),
        (f"class A(lib.Base):\n    def __init__(self, x): pass\n{BELOW}", False),
    ],
)
def test_a_constructor_may_be_called_by_a_class_that_is_derived(code, found):
    rule = {"source": {"calls": ["lib.Base"], "arguments": [{"at": 0, "equals": 1}]}}
    assert judged(rule, {"a.py": CALL % code})[0] is found


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("mode = 'old'", True),
        ("mode = 'old' if lib.__version__ < '2' else 'new'", False),
        ("if lib.__version__ < '2':\n    mode = 'old'\nelse:\n    mode = 'new'", False),
        ("mode = ['old'] if lib.__version__ < '2' else []", False),
        ("if lib.__version__ < '2':\n    mode = ['old']\nelse:\n    mode = []", False),
        ("mode = ['old']", True),
        ("if flag:\n    mode = 'old'\nelse:\n    mode = 'new'", True),
    ],
)
def test_a_value_that_is_chosen_by_the_release_is_right_for_it(code, found):
    rule = {"source": {"calls": ["lib.call"], "arguments": [{"name": "mode", "matches": "^old$"}]}}

    assert judged(rule, {"a.py": f"import lib\n{code}\nlib.call(mode=mode)\n"})[0] is found


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("[work()]", True),
        ("(work() for _ in range(3))", True),
        ("[asyncio.sleep(1)]", True),
        ("[asyncio.create_task(work())]", False),
        ("(asyncio.create_task(work()) for _ in range(3))", False),
    ],
)
def test_coroutines_are_known_however_they_are_made(given, found):
    rule = {"source": {"calls": ["asyncio.wait"], "arguments": [{"at": 0, "is": ["coroutine"]}]}}
    code = f"import asyncio\nasync def work(): ...\nasyncio.wait({given})\n"

    assert judged(rule, {"a.py": code})[0] is found
