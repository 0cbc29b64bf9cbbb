"""Contexts are stored as turn ids where they quote the history, and spell out the same text again."""

from hypothesis import given
from hypothesis import strategies as st

from memeval.execution.contexts import Contexts, TurnTexts, digest_of_text
from memeval.records.response import Outcome, Response, Timings
from memeval.records.scenario import dated_line
from memeval.tokens import count_tokens
from tests.support.tiny import scenario

MADE = scenario(0)
LINES = [dated_line(session, turn) for session in MADE.sessions() for turn in session.turns]
TEXTS = TurnTexts(MADE)
CONTENTS = [turn.content for session in MADE.sessions() for turn in session.turns]


@given(st.lists(st.one_of(st.sampled_from(LINES + CONTENTS), st.text(alphabet=st.characters(codec="utf-8")))))
def test_any_stored_context_gives_the_original_text(lines: list[str]) -> None:
    text = "\n".join(lines)
    texts = TurnTexts(MADE)
    stored = texts.context(text)
    assert "\n".join(texts.text(part) for part in stored.parts) == text
    assert stored.digest == digest_of_text(text)


@given(st.lists(st.one_of(st.sampled_from(LINES + CONTENTS), st.text(alphabet=st.characters(codec="utf-8")))))
def test_the_tokens_of_turns_add_up_to_those_of_the_text(lines: list[str]) -> None:
    text = "\n".join(lines)
    stored = TEXTS.context(text)
    assert [TEXTS.tokens(stored), TEXTS.tokens(stored)] == [count_tokens(text)] * 2


def test_a_quoted_turn_is_stored_by_id() -> None:
    stored = TurnTexts(MADE).context("\n".join(LINES))
    assert [part.turn_id for part in stored.parts] == ["s001:t01", "s001:t02", "s002:t01", "s002:t02"]
    assert all(part.text is None and part.dated for part in stored.parts)


def test_other_lines_are_one_part() -> None:
    stored = TurnTexts(MADE).context("\n".join([*["a line"] * 9, "", LINES[0], "", ""]))
    assert [part.text for part in stored.parts] == ["a line\n" * 9, None, "\n"]


def test_an_item_equal_to_a_turn_is_stored_by_id_and_others_as_text() -> None:
    texts = TurnTexts(MADE)
    quoted = texts.item(CONTENTS[0], ("s001:t01",), 0.50000049)
    own = texts.item("Ada lives in Lima", (), None)
    assert (quoted.turn_id, quoted.text) == ("s001:t01", None)
    assert (own.turn_id, own.text) == (None, "Ada lives in Lima")
    assert (texts.text(quoted), texts.text(own)) == (CONTENTS[0], "Ada lives in Lima")
    assert (quoted.score, own.score) == (0.5, None)


def test_equal_texts_of_two_scenarios_are_two_contexts() -> None:
    one, other = (TurnTexts(scenario(number)).context(CONTENTS[2]) for number in (0, 1))
    assert one.digest == other.digest
    contexts = Contexts([one])
    asked = Response(
        item_id="item",
        scenario_id=other.scenario_id,
        question_id="question",
        outcome=Outcome.OK,
        answer="Lima",
        context_digest=other.digest,
        timings=Timings(started="2025-01-01T00:00:00+00:00"),
    )
    assert not contexts.has(asked)
    assert (contexts.of(asked), [contexts.add(other), contexts.add(other)]) == (None, [True, False])
    assert contexts.has(asked)
    assert contexts.of(asked) == other


def test_of_two_forms_of_one_text_the_same_counts_whichever_comes_first() -> None:
    """A turn of the evidence of two items, with equal words: each pass over the scenario names its own."""
    first, second = (
        TurnTexts(MADE.only(frozenset({session}))).context("Good to know.") for session in ("s001", "s002")
    )
    assert first != second
    assert list(Contexts([first, second])) == list(Contexts([second, first])) == [first]
