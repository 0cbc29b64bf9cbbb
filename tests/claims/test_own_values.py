"""Without the benchmark's key, a file's own verdicts and scores are counted, and nothing is graded or ranked."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memeval.benchmarks.formats.mapped_rows import rows_of
from memeval.claims.copies import Copies
from memeval.claims.figures import figures_of
from memeval.claims.findings import read_findings
from memeval.claims.ranking import stored_ranks
from memeval.claims.regrading import Sessions
from memeval.claims.store import check_regraded, regraded_checks, write_regraded
from memeval.claims.summaries import OwnItems, row_counts, stored_row
from memeval.records.base import digest_bytes
from memeval.records.errors import BadInput
from memeval.records.finding import Evidence
from memeval.records.mapping import RowMapping
from tests.claims.conftest import Grade, described
from tests.claims.test_findings import CLAIM, board, recounted

QUESTIONS = ("Who called?", "Who called?", "How many cups?", "What colour is the door?")

ROWS: tuple[dict[str, Any], ...] = tuple(
    {"talk": talk, "kind": "recall", "q": question, "said": f"Answer {number}.", "ok": ok, "points": points}
    for number, (talk, question, ok, points) in enumerate(
        zip(("1", "2", "2", "2"), QUESTIONS, (True, False, True, True), (1, 0.5, 0, 0.25), strict=True)
    )
)
"""Answers to four questions of two conversations, with a verdict and a score of each."""

JUDGED = {
    "rows": "$[*]",
    "scenario": "talk",
    "category": "kind",
    "question": "q",
    "answer": "said",
    "verdicts": {"judge": "ok"},
}
SCORED = {**JUDGED, "verdicts": {}, "scores": {"points": "points"}}
OWN = {"benchmark": "Unknown", "protocol": None, "planned": 40, "scale": "yes-no"}


def test_the_values_of_the_file_are_counted_and_nothing_is_graded(graded: Grade) -> None:
    done = graded(ROWS, JUDGED, **OWN)
    summary = done.summary
    assert (summary.figures.judges["judge"].right, summary.figures.judges["judge"].rows) == (3, 4)
    assert (summary.figures.rules, summary.figures.metrics, summary.judge, summary.data_digest) == (
        None,
        {},
        None,
        None,
    )
    assert (summary.planned, summary.is_graded, summary.counts.missing, summary.graders) == (40, False, (), {})
    assert [row.cluster for row in done.rows] == ["1", "2", "2", "2"]
    assert {row.category for row in done.rows} == {"recall"}


def test_no_word_of_the_benchmark_or_the_answers_is_stored(graded: Grade) -> None:
    done = graded(ROWS, JUDGED, **OWN)
    stored = "".join(row.to_json() for row in done.rows) + done.summary.to_json()
    assert not any(text in stored for row in ROWS for text in (row["q"], row["said"]))
    assert len({row.item_id for row in done.rows}) == 4, "one text in two conversations is two questions"
    assert all(row.answer_digest for row in done.rows) and not done.summary.with_text


def test_one_question_twice_in_a_conversation_stays_two_rows_and_an_id_twice_is_counted_as_repeated(
    graded: Grade,
) -> None:
    done = graded([ROWS[0], ROWS[0]], JUDGED, **OWN)
    first, second = (row.item_id for row in done.rows)
    assert second == f"{first}-2"
    by_id = {"rows": "$[*]", "item": "id", "verdicts": {"judge": "ok"}}
    counts = graded([{"id": "a", "ok": 1}, {"id": "a", "ok": 0}, {"id": "b", "ok": 1}], by_id, **OWN).summary.counts
    assert (counts.matched, counts.unmatched) == (2, {"repeats an earlier row": (2,)})


def test_rows_without_question_and_id_are_numbered(graded: Grade) -> None:
    done = graded([{"ok": 1}, {"ok": 0}], {"rows": "$[*]", "verdicts": {"judge": "ok"}}, **OWN)
    assert [(row.item_id, row.category) for row in done.rows] == [
        ("row-1", "all questions"),
        ("row-2", "all questions"),
    ]


def test_a_file_without_a_key_has_no_rank_and_can_be_checked(graded: Grade, tmp_path: Any) -> None:
    group = {**OWN, "group": "acme", "answer_model": "model"}
    files = [graded(ROWS, JUDGED, **group, name=name) for name in ("one", "two")]
    for done in files:
        write_regraded(tmp_path, done)
        assert check_regraded(tmp_path, done.summary) == []
    assert stored_ranks(tmp_path, [done.summary for done in files]) == {}


def test_verify_compares_it_with_the_published_file_without_any_data(graded: Grade, tmp_path: Any) -> None:
    data = json.dumps(ROWS).encode()
    done = graded(data, JUDGED, **OWN)
    sources = described(tmp_path / "sources", data)
    text = (sources / "acme.toml").read_text()
    text = text.replace('item = "id"\n', 'scenario = "talk"\ncategory = "kind"\nquestion = "q"\n')
    text = text.replace(
        'benchmark = "longmemeval@1"\nprotocol = "judge"', 'benchmark = "Unknown"\nplanned = 40\nscale = "yes-no"'
    )
    (sources / "acme.toml").write_text(text)
    write_regraded(tmp_path / "results", done)
    copies, nowhere = Copies(tmp_path / "published"), Sessions({})
    assert [each.status for each in regraded_checks(tmp_path / "results", sources, copies, nowhere)] == ["ok"]
    turned = tuple(row.model_copy(update={"cluster": "1"}) for row in done.rows)
    write_regraded(tmp_path / "forged", type(done)(done.summary.model_copy(update={"planned": 41}), turned))
    [found] = regraded_checks(tmp_path / "forged", sources, copies, nowhere)
    assert found.findings


@pytest.mark.parametrize(
    ("rows", "mapping", "more", "problem"),
    [
        ([{**ROWS[0], "ok": 0.5}], JUDGED, {}, "an unreadable verdict, which is not on the scale 'yes-no': one yes or"),
        ([{**ROWS[0], "points": 85}], SCORED, {"scale": "rubric"}, "the value 85, which is not on the scale 'rubric'"),
        ([{**ROWS[0], "points": -1}], SCORED, {"scale": "order"}, "the value -1, which is not on the scale 'order'"),
        (ROWS, JUDGED, {"planned": 3}, "has 4 questions, and the source states 3"),
        ([{**ROWS[0], "kind": "word " * 20}], JUDGED, {}, "an id or category has more than 80 characters"),
        ([{**ROWS[0], "talk": "a\u202eb"}], JUDGED, {}, "or a control character"),
        (b'[{"talk": "1", "q": ', JUDGED, {}, "cut off"),
        ([{**ROWS[0], "kind": ["a"]}], JUDGED, {}, "'category' is not text"),
    ],
)
def test_a_file_that_does_not_fit_is_refused(
    graded: Grade, rows: Any, mapping: dict[str, Any], more: dict[str, Any], problem: str
) -> None:
    with pytest.raises(BadInput, match=problem):
        done = graded(rows, mapping, **OWN | more)
        pytest.fail(str(done.summary.counts))


@pytest.mark.parametrize("hostile", ["<script>alert(1)</script>", "../../etc", "{{ 7 * 7 }}", "'; drop table", "%s%n"])
def test_hostile_names_are_stored_as_they_are(graded: Grade, hostile: str) -> None:
    done = graded([{**ROWS[0], "talk": hostile, "kind": hostile}], JUDGED, **OWN)
    assert (done.rows[0].cluster, done.rows[0].category) == (hostile, hostile)


def test_a_claim_on_it_names_scale_questions_judge_rule_and_evidence(graded: Grade, tmp_path: Any) -> None:
    judges = {"points": "model-a"}
    data = json.dumps(ROWS).encode()
    part = {"path": "runs/answers.json", "mapping": "main"}
    parts = [{**part, "digest": digest_bytes(data), "trial": trial} for trial in (0, 1)]
    write_regraded(tmp_path / "results", graded(data, SCORED, **OWN | {"scale": "rubric"}, judges=judges, parts=parts))
    counted = 'value = "score"\nscore = "points"\n'
    finding, found = recounted(tmp_path, CLAIM.replace('"75"', '"43.75"') + counted)
    assert found.value == pytest.approx(1.75 / 4)
    assert (finding.questions, finding.of, finding.judges) == (4, 40, ("model-a",))
    assert finding.scale == "mean of rubric items, each 0, ½ or 1"
    assert finding.rule == "mean of the score ‘points’ in the file, repetitions averaged"
    assert (finding.evidence, finding.verdict.value) == (Evidence.COUNTED, "holds")


def test_a_claim_on_another_scale_than_its_file_is_refused(graded: Grade, tmp_path: Any) -> None:
    write_regraded(tmp_path / "results", graded(ROWS, JUDGED, **OWN))
    with pytest.raises(BadInput, match="the claim 'one' is on several scales: rubric, yes-no"):
        read_findings(board(tmp_path, CLAIM.replace("stated =", 'scale = "rubric"\nstated =')))


@given(st.lists(st.booleans(), min_size=1, max_size=30))
def test_the_share_is_that_of_the_verdicts(verdicts: list[bool]) -> None:
    rows = rows_of([{"ok": each} for each in verdicts], RowMapping(rows="$[*]", verdicts={"judge": "ok"}), "file")
    matched = OwnItems().match(rows)
    stored = [stored_row(slot, "one", slot[0], row, None, {}, keep=False) for slot, row in matched.rows.items()]
    share = figures_of(stored, row_counts(rows, matched)).judges["judge"]
    assert (share.right, share.rows) == (sum(verdicts), len(verdicts))
    assert share.interval.low <= share.share <= share.interval.high
