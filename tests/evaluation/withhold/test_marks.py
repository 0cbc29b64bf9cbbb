"""Restoring of quoted texts: which texts are returned as they are, and which have marks."""

import json

import pytest

from memeval.evaluation.withhold.marks import unquoted
from memeval.evaluation.withhold.rows import context_with
from memeval.records.response import Context, ContextPart


def _spell(mark: str) -> str:
    return f"<{mark}>"


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("as_ascii", [True, False])
def test_a_mark_is_restored_in_json_at_any_depth_however_it_is_escaped(depth: int, as_ascii: bool) -> None:
    made, expected = "⟦t 1⟧", "<t 1>"
    for _ in range(depth):
        made = json.dumps([made], ensure_ascii=as_ascii)
        expected = json.dumps([expected])
    assert json.loads(unquoted(made, _spell)) == json.loads(expected)


@pytest.mark.parametrize("text", ["", "She moved.", '{"a": [1, "u27e5"]}', '["\\u00e9"]'])
def test_a_text_without_marks_is_returned_unchanged(text: str) -> None:
    assert unquoted(text, _spell) == text


def test_each_part_with_text_is_restored_and_parts_that_name_turns_stay() -> None:
    parts = (ContextPart(turn_id="s001:t01"), ContextPart(text="⟦t 1⟧"), ContextPart(text="plain"))
    row = Context(digest="sha256:" + "0" * 64, scenario_id="s", parts=parts)
    full = context_with(row, lambda text, *, keep=frozenset(): unquoted(text, _spell, keep))
    assert full.parts == (parts[0], ContextPart(text="<t 1>"), parts[2])
