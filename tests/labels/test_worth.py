"""Labels are checked, decided and counted; what they say about graders follows from the drawn rows alone."""

from pathlib import Path

import pytest

from memeval.archive.rows import pack
from memeval.claims.store import stored_regraded, stored_rows, write_regraded
from memeval.labels.reading import final_labels, read_labels
from memeval.labels.sampling import CELLS, draw
from memeval.labels.store import (
    label_checks,
    sample_rows,
    stored_readings,
    stored_reports,
    write_reading,
    write_sample,
    write_verdicts,
)
from memeval.labels.worth import style_of
from memeval.records.base import digest_bytes
from memeval.records.errors import BadInput
from memeval.records.label import (
    AnswerLabel,
    LabelReason,
    LabelReport,
    LabelSample,
    PassedRows,
    ReaderKind,
    Reading,
    ReadLabel,
    RulesVerdicts,
    SampleRow,
)
from tests.claims.conftest import BY_ID, ROWS, Grade
from tests.labels.conftest import GUIDE, sample_of

RIGHT, VAGUE, WRONG = (
    (AnswerLabel.RIGHT, LabelReason.SAME),
    (AnswerLabel.IMPRECISE, LabelReason.VAGUE),
    (AnswerLabel.WRONG, LabelReason.OTHER),
)


def label(label_id: str, kind: tuple[AnswerLabel, LabelReason], *, doubt: bool = False) -> ReadLabel:
    return ReadLabel(label_id=label_id, label=kind[0], reason=kind[1], doubt=doubt)


def reading_of(name: str, labels: list[ReadLabel], *, decides: bool = False) -> Reading:
    return Reading(
        sample="small",
        reader=name,
        kind=ReaderKind.MODEL,
        model="model",
        decides=decides,
        read_at="2026-11-23",
        guide_digest=digest_bytes(GUIDE),
        rows=len(labels),
        rows_digest=pack(labels)[1].digest,
    )


@pytest.fixture
def rows(graded: Grade, tmp_path: Path) -> dict[str, SampleRow]:
    """A stored sample of four rows, by item: q1 and q2 both right, q3 right by the judge only, q4 both wrong."""
    done = graded(ROWS, BY_ID)
    write_regraded(tmp_path, done)
    texts = {(row.item_id, row.trial): "It." for row in done.rows}
    strata, drawn = draw([(done.summary, done.rows, texts)], dict.fromkeys(CELLS, 9), 0)
    write_sample(tmp_path, sample_of(done.summary, strata, drawn), drawn, GUIDE)
    return {row.item_id: row for row in drawn}


def add(results: Path, name: str, labels: list[ReadLabel], *, decides: bool = False) -> None:
    labels.sort(key=lambda each: each.label_id)
    write_reading(results, reading_of(name, labels, decides=decides), labels)


@pytest.fixture
def report(rows: dict[str, SampleRow], tmp_path: Path) -> LabelReport:
    """Two readers agree that q1 and q3 are right and q4 is wrong; a third decides that q2 is imprecise."""
    ids = {item: row.label_id for item, row in rows.items()}
    common = [label(ids["q1"], RIGHT), label(ids["q3"], RIGHT), label(ids["q4"], WRONG)]
    add(tmp_path, "first", [*common, label(ids["q2"], RIGHT, doubt=True)])
    add(tmp_path, "second", [*common, label(ids["q2"], WRONG)])
    add(tmp_path, "third", [label(ids["q2"], VAGUE)], decides=True)
    (found,) = stored_reports(tmp_path)
    return found


def test_readers_are_compared_and_a_difference_is_decided(report: LabelReport) -> None:
    (pair,) = report.pairs
    assert (pair.first, pair.second, pair.equal, pair.rows) == ("first", "second", 3, 4)
    assert pair.kappa == pytest.approx((3 / 4 - 1 / 2) / (1 - 1 / 2))
    assert (report.labelled, report.open, report.doubted) == (4, 0, 1)


def test_errors_are_counted_by_grader_and_part(report: LabelReport) -> None:
    errors = {(each.grader, each.part): each for each in report.errors}
    rules, judge = errors["rules@3", "all"], errors["judge", "all"]
    assert [(count.label.value, count.accepted, count.rejected) for count in rules.table] == [
        ("right", 1, 1),
        ("imprecise", 1, 0),
        ("wrong", 0, 1),
    ]
    assert rules.false_rejects is not None and rules.false_rejects.value == 0.5
    assert rules.false_accepts is not None and rules.false_accepts.value == 0.5
    assert rules.wrong_accepted is not None and rules.wrong_accepted.value == 0.0
    assert rules.imprecise_accepted is not None and rules.imprecise_accepted.value == 1.0
    assert rules.useful_rejected is not None and rules.useful_rejected.value == pytest.approx(1 / 3, abs=1e-6)
    assert judge.false_rejects is not None and judge.false_rejects.value == 0.0
    assert judge.false_accepts is not None and judge.false_accepts.value == 0.5
    assert {each.part for each in report.errors} == {"all", "single-session-user", "up to 6 words", "acme/answers"}


def test_a_share_by_labels_stands_beside_those_of_judge_and_rules(report: LabelReport) -> None:
    (system,) = report.systems
    assert (system.right.value, system.at_least_imprecise.value) == (0.5, 0.75)
    assert (system.judge, system.rules) == (0.75, 0.5)
    assert system.right.low < 0.5 < system.right.high
    assert system.corrected_rules is None, "rules that are right half of the time cannot be corrected"


def test_without_two_equal_labels_or_a_decision_a_row_stays_open() -> None:
    one, two = [label("a", RIGHT), label("b", RIGHT)], [label("a", WRONG)]
    assert final_labels([(reading_of("x", one), one)]) == {}
    assert final_labels([(reading_of("x", one), one), (reading_of("y", two), two)]) == {}
    third = [label("a", VAGUE)]
    given = [(reading_of("x", one), one), (reading_of("y", two), two), (reading_of("z", third, decides=True), third)]
    assert final_labels(given) == {"a": AnswerLabel.IMPRECISE}


def csv(tmp_path: Path, text: str | bytes) -> Path:
    path = tmp_path / "labels.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


HEAD = "label_id,label,reason,doubt\n"


def test_a_file_of_labels_is_read_without_rows_of_other_samples(rows: dict[str, SampleRow], tmp_path: Path) -> None:
    first, second = sorted(row.label_id for row in rows.values())[:2]
    text = f"{HEAD}{second},imprecise,part,doubt\nelsewhere,right,same,\n{first},right,more,\n"
    found = read_labels([csv(tmp_path, text)], list(rows.values()), frozenset({"elsewhere"}))
    assert [(each.label_id, each.label.value, each.reason.value, each.doubt) for each in found] == [
        (first, "right", "more", False),
        (second, "imprecise", "part", True),
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("id,label\n", "the first line needs 'label_id'"),
        ("label_id,label\nID,right\n", "the first line must be label_id,label,reason,doubt"),
        (HEAD, "no row of this sample"),
        (f"{HEAD}nobody,right,same,\n", "'nobody' is no row of a sample"),
        (f"{HEAD}ID,right,same,\nID,right,same,\n", "is labelled twice"),
        (f"{HEAD}ID,good,same,\n", "'good' is not a valid AnswerLabel"),
        (
            f"{HEAD}ID,right,vague,\n",
            "the reason 'vague' does not belong to the label 'right'. Its reasons: more, same",
        ),
        (f"{HEAD}ID,right,same,maybe\n", "must be empty or 'doubt'"),
        (f"{HEAD}ID,right\n", "has fewer fields"),
        (f"{HEAD}ID,right,same,,x\n", "has more fields"),
        (f'{HEAD}ID,"right,same,\n', "a quote is not closed"),
        (b"\xff\xfe", "not UTF-8"),
    ],
)
def test_bad_labels_are_refused(rows: dict[str, SampleRow], tmp_path: Path, text: str | bytes, problem: str) -> None:
    known = rows["q1"].label_id
    content = text.replace("ID", known) if isinstance(text, str) else text
    with pytest.raises(BadInput) as error:
        read_labels([csv(tmp_path, content)], list(rows.values()), frozenset())
    assert problem in str(error.value)
    with pytest.raises(BadInput, match="file not found"):
        read_labels([tmp_path / "gone.csv"], list(rows.values()), frozenset())


def test_a_second_reading_of_one_name_is_refused(rows: dict[str, SampleRow], tmp_path: Path) -> None:
    labels = [label(rows["q1"].label_id, RIGHT)]
    add(tmp_path, "first", labels)
    for name in ("first", "sample", "rows"):
        with pytest.raises(BadInput, match=f"the name '{name}' is taken"):
            write_reading(tmp_path, reading_of(name, labels), labels)


def problems(results: Path) -> list[str]:
    return [finding.problem for check in label_checks(results) for finding in check.findings]


def test_verify_draws_the_sample_again_and_finds_changes(report: LabelReport, tmp_path: Path) -> None:
    assert len(list(label_checks(tmp_path))) == 1
    assert problems(tmp_path) == []
    sample = report.sample
    folder = tmp_path / "labels/small"
    reading, labels = stored_readings(tmp_path, sample)[0]
    turned = [labels[0].model_copy(update={"label": AnswerLabel.WRONG}), *labels[1:]]
    (folder / "first.jsonl.gz").write_bytes(pack(turned)[0])
    assert problems(tmp_path) == ["the labels do not match their digest."]
    repeated = [labels[0], *labels]
    changed = reading.model_copy(update={"rows_digest": pack(repeated)[1].digest})
    (folder / "first.jsonl.gz").write_bytes(pack(repeated)[0])
    (folder / "first.json").write_text(changed.to_json())
    assert problems(tmp_path) == ["the labels of 'first' are not those of the rows."]


def test_verify_finds_a_row_that_was_chosen_by_hand(rows: dict[str, SampleRow], tmp_path: Path) -> None:
    folder = tmp_path / "labels/small"
    (file,) = stored_regraded(tmp_path)
    changed = [row.model_copy(update={"rules": not row.rules}) for row in rows.values()]
    sample = LabelSample.parse((folder / "sample.json").read_bytes(), folder)
    (folder / "rows.jsonl.gz").write_bytes(pack(changed)[0])
    (folder / "sample.json").write_text(sample.model_copy(update={"rows_digest": pack(changed)[1].digest}).to_json())
    assert "the row of 'q1' in 'acme/answers' is not the drawn one." in problems(tmp_path)
    assert len(stored_rows(tmp_path, file)) == 4


def test_a_sample_by_removed_rules_is_checked_without_files(
    report: LabelReport, rows: dict[str, SampleRow], tmp_path: Path
) -> None:
    head = tmp_path / "labels/small/sample.json"
    old = report.sample.model_copy(update={"judge": "rules@1", "files": {"acme/answers": digest_bytes(b"before")}})
    head.write_text(old.to_json())
    (check,) = label_checks(tmp_path)
    assert check.findings == ()
    assert check.not_checked is not None and check.not_checked.startswith("rules@1 was removed")
    (kept,) = stored_reports(tmp_path)
    assert {each.grader for each in kept.errors} == {"rules@1", "judge"}
    assert [each.corrected_rules for each in kept.systems] == [None], "its files are graded by other rules"
    changed = [row.model_copy(update={"item_id": "q9"}) for row in rows.values()]
    (tmp_path / "labels/small/rows.jsonl.gz").write_bytes(pack(changed)[0])
    head.write_text(old.model_copy(update={"rows_digest": pack(changed)[1].digest}).to_json())
    assert "the row of 'q9' in 'acme/answers' is not the drawn one." in problems(tmp_path)


def test_the_style_of_an_answer_is_its_length(rows: dict[str, SampleRow]) -> None:
    row = rows["q1"]
    styles = [style_of(row.model_copy(update={"words": words})) for words in (1, 6, 7, 25, 26)]
    assert styles == ["up to 6 words"] * 2 + ["7 to 25 words"] * 2 + ["more than 25 words"]


def test_another_version_of_the_rules_is_compared_by_halves(report: LabelReport, tmp_path: Path) -> None:
    drawn = {row.item_id: row for row in sample_rows(tmp_path, report.sample)}
    verdicts = RulesVerdicts(
        sample="small",
        rows_digest=report.sample.rows_digest,
        judge="rules@4",
        tuned_on=(drawn["q1"].cluster,),
        accepted=tuple(sorted(drawn[item].label_id for item in ("q1", "q3"))),
        files={"acme/answers": PassedRows(tuned=1, tuned_rows=1, reported=1, reported_rows=3)},
    )
    write_verdicts(tmp_path, verdicts)
    assert problems(tmp_path) == []
    ((versions,),) = (each.versions for each in stored_reports(tmp_path))
    tuned, reported = (
        {each.grader: each for each in half if each.part == "all"} for half in (versions.tuned, versions.reported)
    )
    assert [sum(count.accepted + count.rejected for count in tuned[name].table) for name in tuned] == [1, 1]
    assert reported["rules@3"].false_rejects is not None and reported["rules@3"].false_rejects.value == 1.0
    assert reported["rules@4"].false_rejects is not None and reported["rules@4"].false_rejects.value == 0.0
    assert reported["rules@4"].false_accepts is not None and reported["rules@4"].false_accepts.value == 0.0
    write_verdicts(tmp_path, verdicts.model_copy(update={"accepted": ("stranger",)}))
    assert problems(tmp_path) == ["the verdicts of rules@4 are not about the rows."]
