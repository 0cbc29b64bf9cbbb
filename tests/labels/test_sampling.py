"""Answers are drawn at random within strata, with probabilities that add up, and sheets show no system."""

import json
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memeval.archive.rows import pack
from memeval.claims.copies import Copies
from memeval.claims.regrading import Sessions
from memeval.labels.sampling import draw, shuffled
from memeval.labels.sheets import PublishedAnswers, reading_sheet
from memeval.labels.store import guide_of, sample_rows, stored_samples, write_sample
from memeval.records.base import digest_bytes
from memeval.records.errors import BadInput
from memeval.records.regraded import RegradedFile, RegradedRow
from tests.claims.conftest import BY_ID, ROWS, Grade, described
from tests.labels.conftest import GUIDE, sample_of

DIGEST = digest_bytes(b"It.")
NAMED = cast("RegradedFile", SimpleNamespace(source="acme", file="answers"))
CELLS = {(True, True): 2, (True, False): 3, (False, True): 1, (False, False): 2}


def rows_of(cells: dict[tuple[bool, bool], int]) -> list[RegradedRow]:
    """Return rows with these verdicts of judge and rules."""
    verdicts = [cell for cell, number in cells.items() for _ in range(number)]
    return [
        RegradedRow(
            item_id=f"i{number}",
            category="c",
            cluster="k",
            place=number + 1,
            answer_digest=DIGEST,
            verdicts={"judge": judge},
            verdict=rules,
        )
        for number, (judge, rules) in enumerate(verdicts)
    ]


@given(st.integers(0, 6), st.integers(0, 6), st.integers(0, 6), st.integers(0, 6), st.integers(0, 99))
def test_drawn_rows_stand_for_all_rows_of_their_stratum(a: int, b: int, c: int, d: int, seed: int) -> None:
    numbers = dict(zip(CELLS, (a, b, c, d), strict=True))
    rows = rows_of(numbers)
    if not rows:
        return
    strata, drawn = draw([(NAMED, rows, {(row.item_id, 0): "It." for row in rows})], CELLS, seed)
    found = Counter((row.judge, row.rules) for row in drawn)
    assert found == Counter({cell: min(number, CELLS[cell]) for cell, number in numbers.items() if number})
    for cell, number in numbers.items():
        weights = sum(1 / row.probability for row in drawn if (row.judge, row.rules) == cell)
        assert weights == pytest.approx(number)
    assert sum(stratum.rows for stratum in strata) == len(rows)


def test_the_draw_can_be_repeated_and_depends_on_the_seed() -> None:
    rows = rows_of({(True, True): 50})
    texts = {(row.item_id, 0): "It." for row in rows}
    first, again, other = (draw([(NAMED, rows, texts)], CELLS, seed)[1] for seed in (1, 1, 2))
    assert first == again
    assert {row.item_id for row in first} != {row.item_id for row in other}


def test_a_file_without_verdicts_is_refused() -> None:
    rows = [row.model_copy(update={"verdict": None}) for row in rows_of({(True, True): 3})]
    with pytest.raises(BadInput, match="no row has a verdict of a judge and of the rules"):
        draw([(NAMED, rows, {})], CELLS, 0)


@pytest.fixture
def answers(keys: Path, tmp_path: Path) -> PublishedAnswers:
    sources = described(tmp_path / "sources", json.dumps(ROWS).encode())
    return PublishedAnswers(sources, Copies(tmp_path / "published"), Sessions({"longmemeval@1": keys}))


def test_a_sheet_shows_question_and_answers_but_no_system_or_verdict(graded: Grade, answers: PublishedAnswers) -> None:
    done = graded(ROWS, BY_ID)
    _strata, drawn = draw([(done.summary, done.rows, answers.texts("acme/answers"))], CELLS, 0)
    lines = list(reading_sheet(shuffled(drawn, "first"), answers, "longmemeval@1"))
    assert {line["answer"] for line in lines} == {row["said"] for row in ROWS}
    assert all(line.keys() == {"label_id", "question", "expected", "answer", "evidence"} for line in lines)
    assert "acme" not in json.dumps(lines).lower()
    one, two = ([row.label_id for row in shuffled(drawn, name)] for name in ("first", "second reader"))
    assert sorted(one) == sorted(two)
    assert one != two


def test_an_answer_that_was_changed_after_the_draw_is_refused(graded: Grade, answers: PublishedAnswers) -> None:
    done = graded(ROWS, BY_ID)
    _strata, drawn = draw([(done.summary, done.rows, answers.texts("acme/answers"))], CELLS, 0)
    changed = drawn[0].model_copy(update={"answer_digest": DIGEST})
    with pytest.raises(BadInput, match="is not the one that was drawn"):
        list(reading_sheet([changed], answers, "longmemeval@1"))
    with pytest.raises(BadInput, match="has no file 'other'"):
        answers.of("acme/other")


def test_a_stored_sample_comes_back_and_changes_are_found(graded: Grade, tmp_path: Path) -> None:
    done = graded(ROWS, BY_ID)
    texts = {(row.item_id, 0): "It." for row in done.rows}
    strata, drawn = draw([(done.summary, done.rows, texts)], CELLS, 0)
    sample = sample_of(done.summary, strata, drawn)
    folder = write_sample(tmp_path, sample, drawn, GUIDE)
    assert stored_samples(tmp_path) == [sample]
    assert sample_rows(tmp_path, sample) == drawn
    assert guide_of(tmp_path, sample) == "Read."
    with pytest.raises(BadInput, match="there is a sample of this name"):
        write_sample(tmp_path, sample, drawn, GUIDE)
    (folder / "guide.md").write_text("Read more.")
    with pytest.raises(BadInput, match="not the guide that readers followed"):
        guide_of(tmp_path, sample)
    (folder / "rows.jsonl.gz").write_bytes(pack(drawn[:-1])[0])
    with pytest.raises(BadInput, match="do not match their digest"):
        sample_rows(tmp_path, sample)
