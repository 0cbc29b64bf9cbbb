"""Quoting is reversible for any text, and no stretch of the source stays in the stored text."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memeval.benchmarks.locomo.keys import LocomoCategory, LocomoKey
from memeval.evaluation.withhold.marks import STYLES, unquoted, written
from memeval.evaluation.withhold.quoter import Quoter
from memeval.keys import ItemKey
from memeval.records.errors import BadInput
from memeval.records.scenario import Ask, Ingest, Scenario, Session, Turn

LAKE = "We rowed across the lake, Jo and I; the <b>red</b> boat leaked & sank near Ünterstraße."
SHOUT = 'He wrote: "Never again ⟦5⟧!"\nand then\tleft for good'
CHINESE = "我搬到利马了因为工作"
QUESTION = "Which lake did they row across?"


def scenario() -> Scenario:
    """Return a scenario of five turns, made up for these tests, and a question about it."""
    turns = (LAKE, SHOUT, "Yes", CHINESE, "the boat was never found")
    session = Session(
        session_id="s001",
        date="2023-05-08T13:56:00Z",
        turns=tuple(
            Turn(turn_id=f"s001:t{number:02}", role="user", speaker="Jo", content=text)
            for number, text in enumerate(turns, start=1)
        ),
    )
    ask = Ask(question_id="lake 1", question=QUESTION, timestamp="2023-05-09T10:00:00Z")
    return Scenario(scenario_id="lake", steps=(Ingest(session=session, source_id="x"), ask))


def key() -> ItemKey:
    return ItemKey(
        item_id="lake 1",
        scenario_id="lake",
        question_ids=("lake 1",),
        category="single-hop",
        cluster="lake",
        key=LocomoKey(category=LocomoCategory.SINGLE_HOP, answer="Lake Ohrid", evidence=("D1:1",)),
    )


def quoter_of(*texts: str) -> Quoter:
    """Return a quoter of a scenario with these turns."""
    turns = (Turn(turn_id=f"s001:t{n:02}", role="user", content=text) for n, text in enumerate(texts, start=1))
    session = Session(session_id="s001", date="", turns=tuple(turns))
    return Quoter(Scenario(scenario_id="other", steps=(Ingest(session=session, source_id="x"),)))


QUOTER = Quoter(scenario(), [key()])


def decoded(quoter: Quoter, text: str, keep: frozenset[str] = frozenset()) -> str:
    return unquoted(text, quoter.spell, keep)


SOURCES = (LAKE, SHOUT, QUESTION, "the boat was never found", "Lake Ohrid", "2023-05-08T13:56:00Z")


def stored_words(text: str) -> list[list[str]]:
    """Return the words of a stored text, in the stretches that its marks leave."""
    return [re.findall(r"[^\W_]+", part.lower()) for part in re.split("⟦[^⟧]*⟧", text)]


def threes(words: list[str]) -> set[tuple[str, ...]]:
    return {tuple(words[at : at + 3]) for at in range(len(words) - 2)}


KNOWN = set().union(*(threes(words) for source in SOURCES for words in [re.findall(r"[^\W_]+", source.lower())]))

SIGNS = ("⟦", "⟧", "⟦⟧", "⟦s001:t01⟧", "⟦json 3⟧", "⟦text⟧", "{", "}", "[", "]", '"', "\\", "\\n", "\ud800", ",", "\n")
CUTS = st.tuples(st.sampled_from(SOURCES), st.integers(0, 60), st.integers(0, 60))
PIECES = (
    st.sampled_from((*SOURCES, CHINESE))
    | CUTS.map(lambda cut: cut[0][min(cut[1:]) : max(cut[1:])])
    | st.sampled_from(SIGNS)
    | st.text(max_size=6)
)
CASES = st.sampled_from((str, str.lower, str.upper, str.title, str.swapcase, json.dumps))
TEXTS = st.builds(
    lambda between, parts: between.join(case(part) for case, part in parts),
    st.sampled_from(("", " ", "\n")),
    st.lists(st.tuples(CASES, PIECES), max_size=7),
)
VALUES = st.recursive(
    TEXTS | TEXTS.map(lambda text: json.dumps([text])) | st.integers(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=4,
)


@given(TEXTS)
def test_any_text_comes_back(text: str) -> None:
    assert decoded(QUOTER, QUOTER.encode(text)) == text
    assert decoded(QUOTER, QUOTER.encode(text, "lake 1")) == text
    assert decoded(QUOTER, QUOTER.encode(text, wholes=False)) == text


@given(st.lists(VALUES, max_size=3) | st.dictionaries(TEXTS, VALUES, max_size=3), st.booleans(), st.booleans())
def test_any_json_comes_back_and_stays_json(value: object, ascii_only: bool, indented: bool) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=1 if indented else None)
    stored = QUOTER.encode(text)
    assert decoded(QUOTER, stored) == text
    json.loads(stored)


@given(
    st.lists(st.tuples(st.sampled_from((str, str.lower, str.upper, str.swapcase)), PIECES), max_size=7),
    st.sampled_from((" ", "\n", " - ", "_")),
)
def test_no_three_words_of_the_source_stay_in_a_row(parts: list[tuple[type[str], str]], between: str) -> None:
    text = between.join(case(part) for case, part in parts).replace("\\", "/").replace("%", "/")
    for words in stored_words(QUOTER.encode(text)):
        assert not threes(words) & KNOWN


@given(
    TEXTS | st.recursive(TEXTS, lambda inner: st.dictionaries(TEXTS, inner, max_size=3), max_leaves=4).map(json.dumps)
)
def test_any_text_comes_back_that_has_every_word_quoted(text: str) -> None:
    stored = QUOTER.encode_every_word(text)
    assert decoded(QUOTER, stored) == text
    assert not QUOTER.spills(stored)


NESTED = json.dumps({"across": {"the": {"lake": {"Jo": 1}}}})


@pytest.mark.parametrize(
    "text", [json.dumps(LAKE.split()), NESTED, "across the lake", '["it was","across"]\n["the lake"]']
)
def test_words_that_make_a_stretch_together_are_noticed_and_quoted_each(text: str) -> None:
    assert QUOTER.spills(text)
    stored = QUOTER.encode_every_word(text)
    assert not re.findall("across|lake", stored)
    assert decoded(QUOTER, stored) == text


@pytest.mark.parametrize(
    "text", ["", "across the", "a lake across the", "across ⟦s001:t02 1-4⟧ the lake", "lake the across"]
)
def test_words_that_make_no_stretch_are_let_be(text: str) -> None:
    assert not QUOTER.spills(text)


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        (LAKE, "⟦s001:t01⟧"),
        (f"[2023-05-08T13:56:00Z] Jo: {LAKE}", "⟦s001:t01 dated⟧"),
        ("Yes", "⟦s001:t03⟧"),
        ("Yes, they did", "Yes, they did"),
        ("I say: across the lake!", "I say: ⟦s001:t01 9-24⟧!"),
        ("ACROSS THE LAKE", "⟦s001:t01 9-24 upper⟧"),
        ("across  the_lake", "⟦s001:t01 9-15⟧  ⟦s001:t01 16-19⟧_⟦s001:t01 20-24⟧"),
        ("across the Lake", "⟦s001:t01 9-20⟧⟦s001:t01 20-21 upper⟧⟦s001:t01 21-24⟧"),
        ("across the", "across the"),
        ("It was 5 or ⟦5⟧.", "It was 5 or ⟦⟧5⟧."),
        (f"before\nYes\n{CHINESE[2:6]}", "before\n⟦s001:t03⟧\n⟦s001:t04 2-6⟧"),
        (QUESTION, "⟦q lake%201⟧"),
        ("asked on 2023-05-09T10:00", "asked on ⟦t lake%201 0-16⟧"),
        ("Lake Ohrid", "⟦k lake%201 answer⟧"),
        ("On Lake Ohrid, I think", "On Lake Ohrid, I think"),
        ("", ""),
    ],
)
def test_a_text_is_stored_as(text: str, stored: str) -> None:
    assert QUOTER.encode(text) == stored
    assert decoded(QUOTER, stored) == text


def test_what_belongs_to_an_item_holds_nothing_of_its_key_however_short() -> None:
    assert QUOTER.encode("On lake Ohrid, I think.", "lake 1") == (
        "On ⟦k lake%201 answer 0-5 lower⟧⟦k lake%201 answer 5-10⟧, I think."
    )


def test_a_stretch_is_one_mark_though_others_begin_as_it_does() -> None:
    quoter = quoter_of("we saw the sea today", "so we saw the sea and the town", "and the town was quiet")
    assert quoter.encode("yes: we saw the sea and the town.") == "yes: ⟦s001:t02 3-30⟧."
    assert quoter.encode("the sea and the town was quiet") == "⟦s001:t02 10-30⟧ ⟦s001:t03 13-22⟧", "none is left over"


@pytest.mark.parametrize("style", range(len(STYLES)))
def test_json_comes_back_as_it_was_written(style: int) -> None:
    text = '{"a/b": ' + written(f"{LAKE} {CHINESE}/<i>", style) + ', "n": 1.50}'
    stored = QUOTER.encode(text)
    assert decoded(QUOTER, stored) == text
    assert "rowed" not in stored
    assert json.loads(stored)["n"] == 1.5


def test_strings_within_json_within_json_are_quoted() -> None:
    inner = json.dumps({"query": SHOUT})
    text = json.dumps({"arguments": inner, "role": "user"})
    stored = QUOTER.encode(text)
    assert json.loads(json.loads(stored)["arguments"])["query"] == "⟦json 1⟧⟦s001:t02⟧"
    assert decoded(QUOTER, stored) == text


def test_names_of_models_and_of_values_stay_in_json() -> None:
    text = json.dumps({"model": "never-again-5", "content": "Yes", "Yes": 1})
    stored = QUOTER.encode(text, keep=frozenset({"never-again-5"}))
    assert json.loads(stored) == {"model": "never-again-5", "content": "⟦s001:t03⟧", "Yes": 1}
    assert decoded(QUOTER, stored, keep=frozenset({"never-again-5"})) == text


def test_what_only_looks_like_json_when_it_is_quoted_comes_back() -> None:
    text = '{"a": "' + SHOUT + '"}'
    assert decoded(QUOTER, QUOTER.encode(text)) == text


@pytest.mark.parametrize("escaped", [SHOUT.replace("\n", "\\n").replace("\t", "\\t"), LAKE.replace(" ", "%20")])
def test_what_is_escaped_is_found(escaped: str) -> None:
    stored = QUOTER.encode(f"GET {escaped} cut")
    assert decoded(QUOTER, stored) == f"GET {escaped} cut"
    assert not any(word in stored.lower() for word in ("again", "left", "rowed", "boat"))


def test_a_text_that_names_no_scenario_is_quoted_from_each() -> None:
    stored = QUOTER.refine(QUOTER.refine("⟦⟧ across the lake ⟦@sea s001:t01 0-9⟧ never again 5"))
    assert stored == "⟦⟧ ⟦@lake s001:t01 9-24⟧ ⟦@sea s001:t01 0-9⟧ ⟦@lake s001:t02 11-22 lower⟧ ⟦@lake s001:t02 24-25⟧"


@pytest.mark.parametrize(
    "mark",
    [
        "s009",
        "s001:t01 0-0",
        "s001:t01 9-2",
        "s001:t01 0-999",
        "s001:t01 0-5 title",
        "k lake%201 trap",
        " ",
        "dated",
        "json 3",
    ],
)
def test_a_mark_that_stands_for_nothing_is_refused(mark: str) -> None:
    with pytest.raises(BadInput, match="refers to nothing in scenario lake"):
        decoded(QUOTER, f"so ⟦{mark}⟧ it is")


def test_marks_that_spell_out_more_than_any_run_has_are_refused() -> None:
    with pytest.raises(BadInput, match="restored text exceeds"):
        decoded(quoter_of("word " * 200_000), "⟦s001:t01⟧" * 300)


def test_a_source_that_says_one_thing_over_and_over_takes_no_longer() -> None:
    assert quoter_of("la " * 20_000).encode("la " * 5_000) == f"⟦s001:t01 0-{3 * 5_000 - 1}⟧ "
