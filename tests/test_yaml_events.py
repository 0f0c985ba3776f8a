"""Values of YAML, with the places that a reader of them wants."""

import pytest

from envdoctor.yaml_events import TAG, EventReader, events, first_line, mistake, tag_of


class Plain(EventReader):
    """Texts, lists and pairs, each with its line; a place is the number of collections around it."""

    def scalar(self, event):
        return event.value, first_line(event)

    def key(self, event):
        return f"{event.value}:"

    def alias(self, event):
        return f"*{event.anchor}" + "?" * self.at_key()

    def begin(self, event):
        return len(self.open) - 1

    def end(self, done):
        return (done.where, done.items)

    def too_deep(self, event):
        raise ValueError(first_line(event))


def documents(text, deepest=3):
    reader = Plain(deepest)
    for event in events(text):
        reader.take(event)
    return reader.documents


def test_keys_values_and_aliases_come_to_the_collection_around_them():
    text = "a: &x [1,\n 2]\n? [b]\n: *x\n*x : {}\n--- c\n---\n"

    assert documents(text) == [
        (0, ["a:", (1, [("1", 1), ("2", 2)]), (1, [("b", 3)]), "*x", "*x?", (1, [])]),
        ("c", 6),
        ("", 8),
    ]
    assert documents("") == []


def test_no_collection_is_deeper_than_it_may_be():
    assert documents("[[[1]]]") == [(0, [(1, [(2, [("1", 1)])])])]
    with pytest.raises(ValueError, match="2"):
        documents("[[\n[[1]]]]")


def test_a_scalar_without_quotes_has_the_tag_of_yaml_1_1():
    texts = {"yes": "bool", "0x1f": "int", "1.5": "float", "~": "null", "a": "str"}

    assert {text: tag_of(text) for text in texts} == {text: TAG + tag for text, tag in texts.items()}


def test_a_mistake_has_its_line_where_the_parser_says_so():
    with pytest.raises(Exception, match="expected") as raised:
        documents("a: 1\nb: ]\n")
    assert mistake(raised.value)[0] == 2
    assert mistake(ValueError("what\nmore")) == (None, "what")
