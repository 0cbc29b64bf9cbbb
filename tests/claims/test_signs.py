"""Signs of a broken run are found where they are, and not where they are not."""

from memeval.benchmarks.formats.mapped_rows import MappedRow
from memeval.claims.signs import signs_of
from memeval.records.regraded import Sign


def looked_at(answers: list[str], verdicts: list[bool] | None = None, scenarios: int = 1) -> dict[str, Sign]:
    """Return the signs in these answers, by kind; the questions are spread over the conversations in turn."""
    rows, scenarios_of = {}, {}
    for place, text in enumerate(answers):
        item = f"c{place % scenarios}:{place}"
        given = {} if verdicts is None else {"judge": verdicts[place]}
        rows[item, 0] = MappedRow(place + 1, item=item, gold=str(place), answer=text, verdicts=given)
        scenarios_of[item] = item.partition(":")[0]
    return {
        sign.kind: sign for sign in signs_of(rows, scenarios_of, {f"c{number}": 2023 for number in range(scenarios)})
    }


def plain(count: int) -> list[str]:
    return [f"The cup number {place} stands on the shelf." for place in range(count)]


def test_a_sound_file_shows_no_sign() -> None:
    assert not [
        sign for sign in looked_at(plain(100), [place % 3 == 0 for place in range(100)], 2).values() if sign.flagged
    ]


def test_a_collapsed_conversation_is_named() -> None:
    verdicts = [place % 4 != 0 for place in range(120)]
    sign = looked_at(plain(120), verdicts, 4)["collapsed conversation"]
    assert (sign.flagged, sign.count, sign.detail) == (True, 30, "c0: 0%, others 100%")


def test_answers_that_name_a_later_year_are_counted() -> None:
    sign = looked_at([*plain(97), "In June 2025.", "Before 2025.", "In 2023."])["late year"]
    assert (sign.count, sign.flagged, sign.detail) == (2, False, "2025: 2")
    assert looked_at([*plain(17), "In June 2025.", "Before 2025.", "In 2024."])["late year"].flagged


def test_one_answer_to_many_questions_is_counted_unless_it_abstains() -> None:
    same, abstains = "She went to the old market.", "The history does not say that."
    assert looked_at([*plain(10), *[same] * 5])["same answer"].count == 5
    assert looked_at([*plain(10), *[abstains] * 5])["same answer"].count == 0
    assert looked_at([*plain(10), same, same])["same answer"].count == 0


def test_answers_cut_at_one_length_are_counted() -> None:
    cut = [f"{place:03} " + "x" * 46 for place in range(30)]
    sign = looked_at([*plain(70), *cut])["cut"]
    assert (sign.count, sign.flagged, sign.detail) == (30, True, "at 50 characters")
    assert looked_at([*plain(70), *(text + "." for text in cut)])["cut"].count == 0


def test_empty_answers_errors_and_evidence_ids_are_counted() -> None:
    signs = looked_at([*plain(7), " ", "Traceback (most recent call last)", "See answer_280352e9."])
    assert [signs[kind].count for kind in ("empty", "error text", "evidence id")] == [1, 1, 1]
