"""Symptoms against small error texts: what matches, what ranks first, and that no text takes for ever."""

import re
from types import SimpleNamespace as Record

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from envdoctor.engine import symptoms as module
from envdoctor.engine.symptoms import MOST_TEXT, WINDOWS, rank
from envdoctor.errors import RuleError


def frame(name, file=None, *, installed=True, standard_library=False):
    file = file or f"/opt/site-packages/{name.replace('.', '/')}.py"
    return Record(module=name, file=file, installed=installed, standard_library=standard_library)


def failure(exception, message, *frames, chained=None, complete=True, exit_signal=None):
    return Record(
        exception=exception, message=message, frames=frames, chained=chained, complete=complete, exit_signal=exit_signal
    )


def error(*failures, text=None):
    said = "\n".join(f"{item.exception}: {item.message}" if item.exception else item.message for item in failures)
    return Record(failures=failures, text=said if text is None else text)


def symptom(rule="r", consumer=None, **fields):
    return {"rule": rule, "consumer": consumer, **{key.rstrip("_"): value for key, value in fields.items()}}


def names(matches):
    return [match.rule for match in matches]


TUPLE = error(failure("IndexError", "tuple index out of range", frame("pkg_a.core")))


# -- what matches ---


@pytest.mark.parametrize(
    ("exception", "frames", "found"),
    [("AssertionError", (), []), ("AssertionError", ("pkg_a.core",), ["r"]), ("PkgAError", (), ["r"])],
)
def test_an_exception_of_pythons_own_without_its_frame_tells_nothing(exception, frames, found):
    seen = error(failure(exception, "", *map(frame, frames), complete=bool(frames)))

    assert names(rank([symptom(raises=exception, in_="pkg_a")], seen)) == found


@pytest.mark.parametrize(("frames", "found"), [((), []), (("pkg_a.core",), ["r"])])
def test_endless_recursion_without_its_frame_tells_nothing(frames, found):
    words = "maximum recursion depth exceeded"
    seen = error(failure("RecursionError", words, *map(frame, frames), complete=bool(frames)))

    assert names(rank([symptom(raises="RecursionError", message=words, in_="pkg_a")], seen)) == found


def test_a_match_says_what_matched():
    (match,) = rank([symptom(raises="IndexError", message="tuple index out of range", in_="pkg_a")], TUPLE)
    assert match.matched == ("raises IndexError", 'message "tuple index out of range"', "a frame in pkg_a")
    assert (match.rule, match.consumer) == ("r", None)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"raises": "IndexError"}, True),
        ({"raises": "KeyError"}, False),
        ({"raises": "LookupError"}, True),
        ({"message": "tuple .* range"}, True),
        ({"message": "^tuple index"}, True),
        ({"message": "list index"}, False),
        ({"raises": "IndexError", "message": "list index"}, False),
        ({"raises": "KeyError", "message": "tuple index out of range"}, False),
        ({"raises": "IndexError", "in_": "pkg_a.core"}, True),
        ({"raises": "IndexError", "in_": "pkg_a.other"}, False),
        ({"raises": "IndexError", "in_": "pkg"}, False),
        ({"message": "tuple index", "in_": "pkg_b"}, False),
        ({}, False),
        ({"in_": "pkg_a"}, False),
    ],
)
def test_every_part_of_a_symptom_must_hold(fields, expected):
    assert bool(rank([symptom(**fields)], TUPLE)) is expected


def test_only_the_last_part_of_a_dotted_name_counts():
    text = error(failure("_pickle.PicklingError", "Can't pickle it"))
    assert rank([symptom(raises="PicklingError", message="Can't pickle")], text)
    assert rank([symptom(raises="pickle.PicklingError", message="Can't pickle")], text)


def test_a_signal_is_raised_too():
    text = error(failure(None, "Segmentation fault", frame("pkg_a"), exit_signal="SIGSEGV"))
    (match,) = rank([symptom(raises="SIGSEGV", in_="pkg_a")], text)
    assert match.matched == ("raises SIGSEGV", "a frame in pkg_a")


def test_a_message_is_searched_in_the_whole_text_where_nothing_is_raised():
    text = error(text="the module was compiled for 1.x\nand cannot be run in 2.0\n")
    assert rank([symptom(message=r"compiled for 1\.x")], text)
    assert rank([symptom(message=r"^and cannot be run in 2\.0$")], text)


@pytest.mark.parametrize("broken", ["was compiled\nfor 1.x", "was com\npiled for 1.x", "was   compiled for\n    1.x"])
def test_a_message_broken_at_the_edge_of_a_window(broken):
    assert rank([symptom(message=r"was compiled for 1\.x")], error(failure("ImportError", broken)))


def test_a_dot_stays_within_its_line():
    assert not rank([symptom(message="one.*zzz")], error(text="one\n" + "zz"))
    assert rank([symptom(message="^two")], error(text="one\ntwo"))


# -- what the text is too short to tell ---


def test_without_any_frame_a_place_is_unproven():
    bare = error(failure("IndexError", "tuple index out of range"))
    stated = symptom(raises="IndexError", message="tuple index out of range", in_="pkg_a")
    (unproven,), (proven,) = rank([stated], bare), rank([stated], TUPLE)
    assert unproven.score < proven.score
    assert unproven.matched == ("raises IndexError", 'message "tuple index out of range"')


def test_the_frames_of_a_cut_traceback_prove_nothing_absent():
    cut = error(failure("IndexError", "tuple index out of range", frame("pkg_b"), complete=False))
    assert rank([symptom(raises="IndexError", message="tuple", in_="pkg_a")], cut)


def test_a_place_is_told_by_its_path_where_the_path_has_no_known_root():
    shown = frame("core", ".../pkg_a/core.py", installed=False)
    (loose,) = rank([symptom(raises="IndexError", in_="pkg_a")], error(failure("IndexError", "x", shown)))
    (strict,) = rank([symptom(raises="IndexError", in_="pkg_a")], TUPLE)
    assert loose.score < strict.score
    assert loose.matched == ("raises IndexError", "a frame in pkg_a")
    known = frame("other.pkg_a", "/opt/site-packages/other/pkg_a/core.py")
    assert not rank([symptom(raises="IndexError", in_="pkg_a")], error(failure("IndexError", "x", known)))


def test_a_place_may_be_shown_by_another_failure_of_the_text():
    remote = failure("ValueError", "x", frame("pkg_a"))
    local = failure("ValueError", "y", frame("pool"), chained="cause")
    assert rank([symptom(raises="ValueError", message="y", in_="pkg_a")], error(remote, local))


def test_a_message_without_the_name_of_its_exception_counts_half():
    stated = symptom(raises="IndexError", message="tuple index out of range")
    (half,) = rank([stated], error(text="and then it said tuple index out of range"))
    (whole,) = rank([stated], TUPLE)
    assert half.score < whole.score / 2
    assert half.matched == ('message "tuple index out of range"',)


def test_a_message_that_another_exception_quotes_counts_half():
    stated = symptom(raises="ImportError", message="cannot import name 'x'")
    quoting = failure("RuntimeError", "Failed because of the following error:\ncannot import name 'x' from 'y'")
    assert rank([stated], error(quoting))
    assert not rank([stated], error(failure("RuntimeError", "cannot import name 'x' from 'y'")))


# -- what ranks first ---


def test_the_more_specific_rule_ranks_first():
    ranked = rank(
        [
            symptom("message", message="tuple index"),
            symptom("both", raises="IndexError", message="tuple index"),
            symptom("all", raises="IndexError", message="tuple index", in_="pkg_a"),
            symptom("long", raises="IndexError", message="tuple index out of range", in_="pkg_a"),
            symptom("raises", raises="IndexError"),
        ],
        TUPLE,
    )
    assert names(ranked) == ["long", "all", "both", "raises", "message"]


def test_the_last_failure_ranks_above_earlier_ones():
    text = error(failure("ValueError", "same"), failure("KeyError", "same"))
    ranked = rank(
        [symptom("a", raises="ValueError", message="same"), symptom("b", raises="KeyError", message="same")], text
    )
    assert names(ranked) == ["b", "a"]


@pytest.mark.parametrize(("chained", "first"), [("cause", "a"), ("context", "b"), ("group", "b"), (None, "b")])
def test_a_direct_cause_ranks_above_what_came_of_it(chained, first):
    text = error(failure("ValueError", "same"), failure("KeyError", "same", chained=chained))
    ranked = rank(
        [symptom("a", raises="ValueError", message="same"), symptom("b", raises="KeyError", message="same")], text
    )
    assert names(ranked)[0] == first


def test_what_python_ignored_and_what_tools_add_is_not_the_root():
    text = error(
        failure("KeyError", "same"),
        failure("ValueError", "same", chained="ignored"),
        failure("UserWarning", "same"),
        failure(None, "the build failed"),
    )
    stated = [symptom(name, raises=name, message="same") for name in ("ValueError", "UserWarning", "KeyError")]
    assert names(rank(stated, text))[0] == "KeyError"


def test_each_rule_and_consumer_once_in_a_fixed_order():
    stated = [
        symptom("b", message="tuple"),
        symptom("a", "two", message="tuple"),
        symptom("a", "one", message="tuple"),
        symptom("a", "one", message="tuple index"),
        symptom("b", raises="IndexError", message="tuple"),
    ]
    ranked = [(match.rule, match.consumer) for match in rank(stated, TUPLE)]
    assert ranked == [("b", None), ("a", "one"), ("a", "two")]
    assert rank(reversed(stated), TUPLE) == rank(stated, TUPLE)


# -- expressions ---


@pytest.mark.parametrize("message", ["(", "a(?P<b", "*", "[z-a]", "a{3,1}"])
def test_a_broken_expression_names_its_rule(message):
    with pytest.raises(RuleError, match="rule pkg-a-broken: the message"):
        rank([symptom("pkg-a-broken", message=message)], error(text="not a thing"))


def test_an_expression_is_compiled_once():
    message = "a message that no other test has"
    module._compiled.cache_clear()
    rank([symptom(str(number), message=message) for number in range(50)], error(text=message))
    assert module._compiled.cache_info().misses == 1


@pytest.mark.parametrize(
    ("message", "literals"),
    [
        ("plain words", ["plain words"]),
        (r"code\(\) argument 13", ["code() argument 13"]),
        ("a.*b", ["a", "b"]),
        ("ab?c+d", ["a", "c", "d"]),
        ("ab{2}c", ["a", "c"]),
        ("x(y|z)w", ["x", "w"]),
        ("one|two", []),
        (r"\d+ items\b", [" items"]),
        ("[abc]d", ["d"]),
        ("(?i)abc", []),
        ("(?:ab)?c", ["c"]),
    ],
)
def test_what_every_match_must_hold(message, literals):
    expression = module._Expression(message)
    assert expression.literal == max(literals, key=len, default="")
    if literals:
        assert expression.weight == sum(map(len, literals))


pieces = st.lists(
    st.sampled_from(
        [*"abc .", "a|b", "(a|b)", "(?:ab)?", "a*", "b+", "c?", "a{2}", "[ab]", r"\.", r"\(", r"\d", "(?i)", "^", "$"]
    ),
    max_size=8,
).map("".join)


@given(pieces, st.text(alphabet="abcABC .(1\n", max_size=20))
@example("ab?", "a")
def test_the_literal_is_never_a_reason_to_miss(message, text):
    try:
        found = re.search(message, text, re.MULTILINE)
    except re.error:
        assume(False)  # noqa: FBT003
    assert bool(module._Expression(message).find([text], module._Clock())) is bool(found)


# -- bounds ---


class Counting:
    """A compiled expression that counts what it is shown."""

    def __init__(self, pattern):
        self.pattern, self.flags, self.shown = pattern, pattern.flags, []

    def search(self, text, start, end):
        self.shown.append(min(end, len(text)) - start)
        return self.pattern.search(text, start, end)


@pytest.mark.parametrize("message", ["needle (a+)x", r"\w+\d"])
def test_a_search_sees_a_bounded_part_at_a_time(message):
    expression = module._Expression(message)
    expression.pattern = counting = Counting(expression.pattern)
    text = "needle aaa " * (MOST_TEXT // 11)
    assert expression.find([text], module._Clock()) is None
    assert max(counting.shown) <= WINDOWS[1]
    assert sum(counting.shown) <= 3 * len(text)


def test_a_literal_far_into_a_text_is_found_in_one_look():
    expression = module._Expression("the needle is here")
    expression.pattern = counting = Counting(expression.pattern)
    assert expression.find(["hay " * 400_000 + "the needle is here" + " hay" * 1000], module._Clock())
    assert len(counting.shown) == 1


def test_a_match_near_the_edge_of_a_window_is_found():
    for window, message in zip(WINDOWS, (r"\w\w\d\d", r"\w{2}\d\d", r"\w{2}\d{2}")):
        for place in (0, window - 3, window // 2, window, window + window // 2 - 3, 3 * window):
            text = "-" * place + "ab12" + "-" * (4 * window - place)
            assert module._Expression(message).find([text], module._Clock()), (place, message)


@pytest.mark.parametrize(("message", "window"), [
    ("plain words", 0), (r"one\?", 0), ("a [bc]* d", 1), ("a{2,9}", 1), (r"(.*)\1b", 2), ("(?P<x>a+)(?P=x)", 2), (".*a.*b", 2), ("(?s).+a.*b.*c", 2),
])  # fmt: skip
def test_the_more_quantifiers_the_less_a_search_sees(message, window):
    assert module._Expression(message).window == WINDOWS[window]


def test_a_rule_whose_search_takes_too_long_is_given_up_and_named(monkeypatch):
    """An expression that lint lets pass: one look at a window takes a while, and there are thousands."""
    monkeypatch.setattr(module, "MOST_SECONDS", 0.2)
    text = "a" * MOST_TEXT
    slow = []

    ranked = rank(
        [symptom("hostile", message="(?s).*a.*b|.*c"), symptom("good", message="a{9}$")], error(text=text), slow
    )

    assert slow == ["hostile"]
    assert names(ranked) == ["good"]


def test_of_a_long_text_the_head_and_the_tail_are_searched():
    text = "head " + "x " * MOST_TEXT + "tail"
    ranked = rank([symptom("head", message="^head x"), symptom("tail", message="x tail$")], error(text=text))
    assert sorted(names(ranked)) == ["head", "tail"]


fields = st.fixed_dictionaries(
    {"rule": st.sampled_from("ab"), "consumer": st.sampled_from([None, "c"])},
    optional={"raises": st.sampled_from(["ValueError", "x.Y"]), "message": pieces, "in": st.sampled_from(["a", "a.b"])},
)
failures = st.builds(
    failure,
    st.sampled_from([None, "ValueError", "x.Y", "Warning"]),
    st.text(alphabet="abc.\n ", max_size=10),
    st.builds(frame, st.sampled_from(["a", "a.b", None]), st.just("x/a/b.py")),
    chained=st.sampled_from([None, "cause", "context", "group", "ignored"]),
    complete=st.booleans(),
)


@given(st.lists(fields, max_size=6), st.lists(failures, max_size=5), st.text(alphabet="abc.\n ", max_size=30))
def test_any_symptoms_and_any_text_are_ranked(stated, shown, text):
    try:
        ranked = rank(stated, error(*shown, text=text))
    except RuleError:
        return
    assert [match.score for match in ranked] == sorted((match.score for match in ranked), reverse=True)
    assert len({(match.rule, match.consumer) for match in ranked}) == len(ranked)


# -- what each part is worth ---


def scores(stated, said):
    return [match.score for match in rank([stated], said)]


@pytest.mark.parametrize(
    ("fields", "score"),
    [
        ({"raises": "IndexError"}, 30), ({"raises": "IndexError", "in_": "pkg_a"}, 90),
        ({"raises": "IndexError", "message": "tuple"}, 45), ({"raises": "IndexError", "message": "t.*out of"}, 47),
        ({"raises": "IndexError", "message": "tuple", "in_": "pkg_a"}, 105), ({"message": "tuple"}, 15),
        ({"raises": "IndexError", "message": "(tuple|list)"}, 44), ({"raises": "IndexError", "message": r"\w+"}, 40),
    ],
)  # fmt: skip
def test_each_part_that_is_there_adds_to_the_score(fields, score):
    assert scores(symptom(**fields), TUPLE) == [score]


@pytest.mark.parametrize(("length", "score"), [(99, 109), (100, 110), (101, 110), (300, 110)])
def test_so_many_literal_characters_count(length, score):
    assert scores(symptom(message="a" * length), error(failure("ValueError", "a" * length))) == [score]


@pytest.mark.parametrize(
    ("frames", "complete", "score"),
    [
        ([frame("pkg_a.core")], True, 90), ([frame("pkg_a")], True, 90), ([frame("pkg_ab")], True, None),
        ([frame("core", "/work/pkg_a/core.py", installed=False)], True, 35),
        ([frame("core", "C:\\work\\pkg_a\\core.py", installed=False)], True, 35),
        ([frame("core", "pkg_a.py", installed=False)], True, 35), ([frame("core", "/x/my_pkg_a.py", installed=False)], True, None),
        ([frame("core", "/x/pkg_a.pyc", installed=False)], True, None), ([frame("core", "/x/pkg_ab/c.py", installed=False)], True, None),
        ([frame("core", "/lib/pkg_a/core.py", standard_library=True, installed=False)], True, None),
        ([frame(None, "/work/pkg_a/core.py", installed=False)], True, 35),
        ([], True, None), ([], False, None), ([frame("other")], False, None), ([frame("other")], True, None),
        ([frame("other"), frame("pkg_a")], True, 90),
    ],
)  # fmt: skip
def test_how_near_a_frame_is(frames, complete, score):
    said = error(failure("ValueError", "x", *frames, complete=complete))
    assert scores(symptom(raises="ValueError", in_="pkg_a"), said) == [score] * (score is not None)


def test_a_deeper_name_is_a_deeper_path():
    shown = frame("core", "/work/pkg_a/sub/core.py", installed=False)
    said = error(failure("ValueError", "x", shown))
    found = {
        name: scores(symptom(raises="ValueError", in_=name), said)
        for name in ("pkg_a.sub", "pkg_a.sub.core", "sub.pkg_a")
    }
    assert found == {"pkg_a.sub": [35], "pkg_a.sub.core": [35], "sub.pkg_a": []}


def test_a_frame_of_another_failure_counts_less_than_one_of_its_own():
    there, here = failure("KeyError", "x", frame("pkg_a")), failure("ValueError", "y", frame("other"))
    assert scores(symptom(raises="ValueError", in_="pkg_a"), error(there, here)) == [45]
    assert scores(symptom(raises="KeyError", in_="pkg_a"), error(here, there)) == [90]
    loose = failure("KeyError", "x", frame("core", "/work/pkg_a/core.py", installed=False))
    assert scores(symptom(raises="ValueError", in_="pkg_a"), error(loose, here)) == [35]


@pytest.mark.parametrize(
    ("chain", "expected"),
    [
        ((None,), [30]), ((None, None), [21, 30]), ((None, "cause"), [30, 27]), ((None, "context"), [27, 30]),
        ((None, "context", "cause"), [27, 30, 27]), ((None, "cause", "cause"), [30, 27, 27]), ((None, None, "cause"), [21, 30, 27]),
        ((None, "ignored"), [30, 18]), ((None, "cause", None), [21, 21, 30]), ((None, "cause", "context"), [27, 27, 30]),
    ],
)  # fmt: skip
def test_how_near_each_failure_is_to_the_one_that_began_it_all(chain, expected):
    kinds = ("ValueError", "KeyError", "OSError")
    said = error(*(failure(kind, f"m{kind}", chained=how) for kind, how in zip(kinds, chain)))
    assert [scores(symptom(raises=kind), said)[0] for kind, _ in zip(kinds, chain)] == expected


@pytest.mark.parametrize(
    ("last", "exit_signal", "first", "second"),
    [
        ("UserWarning", None, 30, 18),
        ("MyWarning", None, 30, 18),
        (None, None, 30, None),
        (None, "SIGSEGV", 21, 30),
        ("WarningError", None, 21, 30),
    ],
)
def test_a_warning_after_an_error_did_not_begin_it(last, exit_signal, first, second):
    said = error(failure("ValueError", "x"), failure(last, "y", exit_signal=exit_signal))
    assert scores(symptom(raises="ValueError"), said) == [first]
    found = scores(symptom(raises=last or exit_signal or "Other"), said)
    assert found == [second] * (second is not None)


def test_only_warnings_are_worth_what_a_warning_is():
    said = error(failure("UserWarning", "x"), failure("DeprecationWarning", "y"))
    assert scores(symptom(raises="UserWarning"), said) == scores(symptom(raises="DeprecationWarning"), said) == [18]
    assert scores(symptom(raises="Warning"), said) == [18]


def test_of_the_text_around_a_part_counts():
    said = error(failure("ValueError", "x"), text="before: needle\nValueError: x")
    assert scores(symptom(message="needle"), said) == [round(16 * 0.8, 3)]
    assert scores(symptom(raises="KeyError", message="needle"), said) == [round(16 * 0.8 * 0.5, 3)]
    assert scores(symptom(message="needle", in_="pkg_a"), said) == [round(16 * 0.8 * 0.9, 3)]


@pytest.mark.parametrize(("length", "shown"), [(119, "a" * 119), (120, "a" * 120), (121, "a" * 117 + "...")])
def test_a_long_text_is_cut(length, shown):
    assert module.short("a" * length) == shown
    assert module.short(" a \n b\t c ", 5) == "a b c"
    assert module.short("a b c d", 5) == "a ..."
    (match,) = rank([symptom(message="a+")], error(failure("ValueError", "a" * length)))
    assert match.matched == (f'message "{shown}"',)


@pytest.mark.parametrize(
    ("quoting", "found"),
    [
        ("cannot import x", False), ("failed: cannot import x", True), ("failed\ncannot import x", True),
        ("failed:cannot import x", False), ("so cannot import x", False),
    ],
)  # fmt: skip
def test_the_own_words_of_another_exception_contradict(quoting, found):
    assert (
        bool(rank([symptom(raises="ImportError", message="cannot import x")], error(failure("OSError", quoting))))
        is found
    )


@pytest.mark.parametrize(
    ("name", "shown", "known"),
    [
        ("OSError", "ConnectionError", True), ("ConnectionError", "OSError", False), ("IOError", "OSError", True),
        ("print", "ValueError", False), ("ValueError", "print", False), ("lib.OSError", "x.PermissionError", True),
    ],
)  # fmt: skip
def test_an_exception_of_python_is_known_by_its_bases(name, shown, known):
    assert bool(rank([symptom(raises=name)], error(failure(shown, "x")))) is known


def test_the_time_of_a_rule_is_its_own(monkeypatch):
    monkeypatch.setattr(module, "MOST_SECONDS", 1.0)
    clock = module._Clock()
    for rule, seconds, over in (
        ("a", 0.75, False),
        ("b", 0.5, False),
        ("a", 0.25, False),
        ("a", 0.25, True),
        ("b", 0.25, False),
    ):
        clock.turn(rule)
        clock.add(seconds)
        assert clock.over() is over
    assert list(clock.late) == ["a"]
