"""The page of what graders are worth, with made-up labels of the stored samples, and without labels."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from memeval.archive.rows import pack
from memeval.labels.store import sample_rows, stored_samples, write_reading
from memeval.records.label import AnswerLabel, LabelReason, ReaderKind, Reading, ReadLabel, SampleRow, SampleShare
from memeval.site.pages.graders import GradersPage, is_lower_bound
from memeval.site.pages.published import PublishedPages
from tests.site.conftest import draw
from tests.site.reading import said

ROOT = Path(__file__).parents[3]
PAGES = GradersPage(), PublishedPages()

RIGHT, VAGUE, WRONG = (
    (AnswerLabel.RIGHT, LabelReason.SAME),
    (AnswerLabel.IMPRECISE, LabelReason.VAGUE),
    (AnswerLabel.WRONG, LabelReason.OTHER),
)

Reads = Callable[[SampleRow], tuple[AnswerLabel, LabelReason]]


def generous(row: SampleRow) -> tuple[AnswerLabel, LabelReason]:
    """Label what both graders pass right, and what one passes imprecise."""
    return RIGHT if row.judge and row.rules else VAGUE if row.judge or row.rules else WRONG


def strict(row: SampleRow) -> tuple[AnswerLabel, LabelReason]:
    """Label as ``generous`` does, but for one row of 16."""
    return WRONG if row.label_id.endswith("0") else generous(row)


def unfair(row: SampleRow) -> tuple[AnswerLabel, LabelReason]:
    """Label all answers of one file right, of which the rules pass few, and elsewhere what the rules pass."""
    return RIGHT if row.file == "mirix/mem0" or row.rules else WRONG


def add(results: Path, name: str, reads: Reads, model: str | None, *, decides: bool = False) -> None:
    for sample in stored_samples(results):
        labels = []
        for row in sample_rows(results, sample):
            label, reason = reads(row)
            labels.append(ReadLabel(label_id=row.label_id, label=label, reason=reason))
        reading = Reading(
            sample=sample.name,
            reader=name,
            kind=ReaderKind.MODEL if model else ReaderKind.HUMAN,
            model=model,
            decides=decides,
            read_at="2026-11-24",
            guide_digest=sample.guide_digest,
            rows=len(labels),
            rows_digest=pack(labels)[1].digest,
        )
        write_reading(results, reading, labels)


def board(folder: Path) -> Path:
    shutil.copytree(ROOT / "results/imported", folder / "results/imported")
    shutil.copytree(ROOT / "sources/findings", folder / "sources/findings")
    for sample in stored_samples(ROOT / "results"):
        target = folder / "results/labels" / sample.name
        target.mkdir(parents=True)
        for name in ("sample.json", "rows.jsonl.gz", "guide.md"):
            shutil.copy(ROOT / "results/labels" / sample.name / name, target)
        shutil.copytree(ROOT / "results/labels" / sample.name / "verdicts", target / "verdicts")
    return folder / "results"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("graders")
    results = board(folder)
    add(results, "one", generous, "<b>model</b>")
    add(results, "two", strict, "model")
    draw(results, folder / "site", *PAGES)
    return folder / "site"


def test_readers_are_named_with_their_agreement_and_called_language_models(site: Path) -> None:
    page = said(site, "graders")
    assert "every label is model-read" in page and "human" not in page
    assert "Reader one <b>model</b> , 637 labels, 2026-11-24" in page
    assert "<b>model</b>" not in (site / "graders/index.html").read_text()
    assert "one and two: 9" in page and "Cohen’s κ 0.9" in page
    assert "all shares below are preliminary" in page, "the readers differ on some rows"


def test_errors_stand_by_category_length_and_file(site: Path) -> None:
    page = said(site, "graders")
    for part in ("All answers", "By category", "open-domain", "up to 6 words", "By file", "Mem0"):
        assert part in page
    assert "rules (rules@1) right" in page and "judge imprecise" in page


def test_versions_of_the_rules_are_compared_where_they_were_tuned_and_where_not(site: Path) -> None:
    page = said(site, "graders")
    assert "tuned on the answers about conv-26, conv-30, conv-41, conv-42, conv-43" in page
    first, second = page.index("Not used for tuning Part Grader"), page.index("Used for tuning Part Grader")
    assert first < second, "the reported part comes first"
    assert "rules@2, not used for tuning: " in page and "rules@3, not used for tuning: " in page
    data = json.loads((site / "graders.json").read_text())
    found = [[each["judge"] for each in versions["verdicts"]] for report in data for versions in report["versions"]]
    assert found == [["rules@2", "rules@3"]] * 2


def test_scores_are_shown_beside_labels_and_orders_are_compared(site: Path) -> None:
    page = said(site, "graders")
    assert "trust the labels" in page and "By labels and by rules: τ = " in page
    raw = (site / "graders/index.html").read_text()
    assert 'href="../published/mirix/mem0/"' in raw


def test_vague_answers_are_labelled_on_the_page_of_judges(site: Path) -> None:
    page = said(site, "judges")
    assert "of the 1,540 vague answers" in page
    assert "The judge passes 100.0 % of those with the label right" in page


def test_the_data_file_has_both_samples_and_no_text_of_answers(site: Path) -> None:
    data = json.loads((site / "graders.json").read_text())
    assert [report["sample"]["name"] for report in data] == ["locomo-answers", "locomo-vague"]
    assert not {"answer", "question", "expected"} & {key for report in data for key in report}


def test_rules_that_reject_one_system_more_often_do_not_rank(tmp_path: Path) -> None:
    results = board(tmp_path)
    add(results, "one", unfair, None, decides=True)
    draw(results, tmp_path / "site", *PAGES)
    page = said(tmp_path / "site", "graders")
    assert "Rules (rules@1), false rejects: they differ between systems (p = 0.000). It does not rank these" in page
    assert "model-read" not in page and "a person" in page
    assert "The rules do not rank the systems of locomo-answers" in said(tmp_path / "site", "published")


def test_only_a_small_upper_limit_makes_a_lower_bound() -> None:
    assert is_lower_bound(SampleShare(value=0.0, low=0.0, high=0.02, rows=300))
    assert not is_lower_bound(SampleShare(value=0.0, low=0.0, high=0.021, rows=300))
    assert not is_lower_bound(None)


def test_a_board_without_labels_says_so(tmp_path: Path) -> None:
    draw(board(tmp_path), tmp_path / "site", *PAGES)
    assert "This board has no labels." in said(tmp_path / "site", "graders")
    assert not (tmp_path / "site/graders.json").exists()
    assert "what the graders are worth" not in said(tmp_path / "site", "published")
