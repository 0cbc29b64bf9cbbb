"""Answers are drawn at random within strata, with probabilities that add up, and sheets show no system."""

import json
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memeval.claims.copies import Copies
from memeval.claims.regrading import Sessions
from memeval.labels.sampling import draw, shuffled
from memeval.labels.sheets import PublishedAnswers, reading_sheet
from memeval.labels.store import guide_of, sample_rows, stored_samples, write_sample
from memeval.records.base import digest_bytes
from memeval.records.errors import BadInput
from memeval.records.label import LabelSample
from memeval.records.regraded import RegradedFile, RegradedRow
from tests.claims.conftest import BY_ID, ROWS, Grade, graded, keys, source_of

__all__ = ["graded", "keys"]

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


@pytest.fixture
def file(graded: Grade) -> RegradedFile:
    return graded(ROWS, BY_ID).summary


@given(st.integers(0, 6), st.integers(0, 6), st.integers(0, 6), st.integers(0, 6), st.integers(0, 99))
def test_drawn_rows_stand_for_all_rows_of_their_stratum(a: int, b: int, c: int, d: int, seed: int) -> None:
    numbers = dict(zip(CELLS, (a, b, c, d), strict=True))
    rows = rows_of(numbers)
    if not rows:
        return
    file = NAMED
    strata, drawn = draw([(file, rows, {(row.item_id, 0): "It." for row in rows})], CELLS, seed)
    found = Counter((row.judge, row.rules) for row in drawn)
    assert found == Counter({cell: min(number, CELLS[cell]) for cell, number in numbers.items() if number})
    for cell, number in numbers.items():
        weights = sum(1 / row.probability for row in drawn if (row.judge, row.rules) == cell)
        assert weights == pytest.approx(number)
    assert sum(stratum.rows for stratum in strata) == len(rows)


def test_the_draw_can_be_repeated_and_depends_on_the_seed() -> None:
    rows = rows_of({(True, True): 50})
    texts = {(row.item_id, 0): "It." for row in rows}
    file = NAMED
    first, again, other = (draw([(file, rows, texts)], CELLS, seed)[1] for seed in (1, 1, 2))
    assert first == again
    assert {row.item_id for row in first} != {row.item_id for row in other}


def test_a_file_without_verdicts_is_refused() -> None:
    rows = [row.model_copy(update={"verdict": None}) for row in rows_of({(True, True): 3})]
    file = NAMED
    with pytest.raises(BadInput, match="no row has a verdict of a judge and of the rules"):
        draw([(file, rows, {})], CELLS, 0)


def answers_at(tmp_path: Path, keys: Path) -> PublishedAnswers:
    (tmp_path / "sources").mkdir(exist_ok=True)
    source = source_of(json.dumps(ROWS).encode(), BY_ID)
    lines = [
        *(f"{name} = {json.dumps(getattr(source, name))}" for name in ("name", "title", "repository", "licence")),
        'schema_version = 1\nlooked_at = "2026-11-22"',
        '[mappings.main]\nrows = "$[*]"\nitem = "id"\nanswer = "said"\nverdicts = { judge = "ok" }',
        '[[files]]\nname = "answers"\nsystem = "Acme"\nbenchmark = "longmemeval@1"\nprotocol = "judge"',
        f'[[files.parts]]\npath = "runs/answers.json"\ndigest = "{source.files[0].parts[0].digest}"\nmapping = "main"',
    ]
    (tmp_path / "sources/acme.toml").write_text("\n".join(lines))
    return PublishedAnswers(tmp_path / "sources", Copies(tmp_path / "published"), Sessions({"longmemeval@1": keys}))


def test_a_sheet_shows_question_and_answers_but_no_system_or_verdict(graded: Grade, keys: Path, tmp_path: Path) -> None:
    done = graded(ROWS, BY_ID)
    answers = answers_at(tmp_path, keys)
    _strata, drawn = draw([(done.summary, done.rows, answers.texts("acme/answers"))], CELLS, 0)
    lines = list(reading_sheet(shuffled(drawn, "first"), answers, "longmemeval@1"))
    assert {line["answer"] for line in lines} == {row["said"] for row in ROWS}
    assert all(line.keys() == {"label_id", "question", "expected", "answer", "evidence"} for line in lines)
    assert "acme" not in json.dumps(lines).lower()
    one, two = ([row.label_id for row in shuffled(drawn, name)] for name in ("first", "second reader"))
    assert sorted(one) == sorted(two)
    assert one != two


def test_an_answer_that_was_changed_after_the_draw_is_refused(graded: Grade, keys: Path, tmp_path: Path) -> None:
    done = graded(ROWS, BY_ID)
    answers = answers_at(tmp_path, keys)
    _strata, drawn = draw([(done.summary, done.rows, answers.texts("acme/answers"))], CELLS, 0)
    changed = drawn[0].model_copy(update={"answer_digest": DIGEST})
    with pytest.raises(BadInput, match="is not the one that was drawn"):
        list(reading_sheet([changed], answers, "longmemeval@1"))
    with pytest.raises(BadInput, match="has no file 'other'"):
        answers.of("acme/other")


def sample_of(done: RegradedFile, strata: object, digest: str) -> LabelSample:
    return LabelSample.model_validate(
        {
            "name": "small",
            "benchmark": done.benchmark,
            "data_digest": done.data_digest,
            "judge": done.judge,
            "seed": 0,
            "files": {"acme/answers": done.rows_digest},
            "strata": strata,
            "rows_digest": digest,
            "guide_digest": digest_bytes(b"Read."),
            "drawn_at": "2026-11-23",
        }
    )


def test_a_stored_sample_comes_back_and_changes_are_found(graded: Grade, tmp_path: Path) -> None:
    from memeval.archive.rows import pack

    done = graded(ROWS, BY_ID)
    texts = {(row.item_id, 0): "It." for row in done.rows}
    strata, drawn = draw([(done.summary, done.rows, texts)], CELLS, 0)
    sample = sample_of(done.summary, tuple(strata), pack(drawn)[1].digest)
    folder = write_sample(tmp_path, sample, drawn, b"Read.")
    assert stored_samples(tmp_path) == [sample]
    assert sample_rows(tmp_path, sample) == drawn
    assert guide_of(tmp_path, sample) == "Read."
    with pytest.raises(BadInput, match="there is a sample of this name"):
        write_sample(tmp_path, sample, drawn, b"Read.")
    (folder / "guide.md").write_text("Read more.")
    with pytest.raises(BadInput, match="not the guide that readers followed"):
        guide_of(tmp_path, sample)
    (folder / "rows.jsonl.gz").write_bytes(pack(drawn[:-1])[0])
    with pytest.raises(BadInput, match="do not match their digest"):
        sample_rows(tmp_path, sample)
