"""Values are counted from stored rows; verdicts follow from claim and count alone, and say no more than the files."""

from pathlib import Path
from typing import Any

import pytest

from memeval.claims.findings import claim_verdict, read_findings
from memeval.claims.store import read_sources, write_regraded
from memeval.records.errors import BadInput
from memeval.records.finding import ClaimUnit, ClaimVerdict, FileCount, PublishedClaim, Recount, RecountedClaim
from tests.claims.conftest import BY_ID, ROWS, Grade

ROOT = Path(__file__).parents[2]
LINKED = {"link": "see results.json", "commit": "abc"}

CLAIM = """[[claim]]
id = "one"
system = "Acme"
benchmark = "Benchmark"
metric = "accuracy"
claimed = "75"
repository = "acme/memory"
commit = "abc"
stated = "README.md"
link = "see rows.json"
licence = "MIT"
[claim.recount]
files = ["acme/answers"]
"""


def claim_of(**fields: Any) -> PublishedClaim:
    basis: dict[str, Any] = {
        "id": "one",
        "system": "System",
        "benchmark": "Benchmark",
        "metric": "accuracy by an LLM judge",
        "claimed": "50.0",
        "repository": "owner/name",
        "stated": "README.md",
        "licence": "MIT",
    }
    return PublishedClaim(**(basis | fields))


def counted(value: float) -> Recount:
    file = FileCount(name="a/b", value=value, rows=1, counted=1, signs=0)
    return Recount(value=value, files=(file,), counted_at="2026-11-23")


def recounted(folder: Path, claims: str) -> tuple[RecountedClaim, Recount]:
    """Return the only claim, counted from the files stored in a folder, and its recount."""
    report = read_findings(board(folder, claims))
    assert report is not None
    (finding,) = report.findings
    assert finding.recount is not None
    return finding, finding.recount


def board(folder: Path, claims: str) -> Path:
    (folder / "sources/findings").mkdir(parents=True, exist_ok=True)
    (folder / "sources/findings/claims.toml").write_text(claims)
    (folder / "sources/findings/corrections.toml").write_text("")
    return folder / "results"


@pytest.mark.parametrize(
    ("claimed", "value", "fields", "verdict"),
    [
        ("78.05", 0.7805194805, LINKED, ClaimVerdict.HOLDS),
        ("78.05", 0.7805194805, {}, ClaimVerdict.HOLDS),
        ("78.05", 0.78056, LINKED, ClaimVerdict.DIFFERS),
        ("78", 0.7849, LINKED, ClaimVerdict.HOLDS),
        ("78.0", 0.7849, LINKED, ClaimVerdict.DIFFERS),
        ("75.14", 0.7513, {"margin": "0.17"}, ClaimVerdict.HOLDS),
        ("0.8388", 0.83876, {"unit": ClaimUnit.SHARE}, ClaimVerdict.HOLDS),
        ("93.05", 0.9245, {}, ClaimVerdict.NOT_ATTRIBUTABLE),
        ("93.05", 0.9245, {"commit": "abc"}, ClaimVerdict.NOT_ATTRIBUTABLE),
        ("93.05", 0.9245, {"link": "see results.json"}, ClaimVerdict.NOT_ATTRIBUTABLE),
        ("100.00", 1.0, LINKED, ClaimVerdict.HOLDS),
    ],
)
def test_a_claim_differs_with_the_chain(
    claimed: str, value: float, fields: dict[str, Any], verdict: ClaimVerdict
) -> None:
    assert claim_verdict(claim_of(claimed=claimed, **fields), counted(value)) is verdict


def test_a_half_unit_in_the_last_digit_holds_either_way() -> None:
    for value in (0.7805, 0.7815):
        assert claim_verdict(claim_of(claimed="78.1", **LINKED), counted(value)) is ClaimVerdict.HOLDS


def test_a_claim_without_a_file_is_not_attributable_and_a_missing_file_is_said() -> None:
    assert claim_verdict(claim_of(), None) is ClaimVerdict.NOT_ATTRIBUTABLE
    assert claim_verdict(claim_of(absent="data/x.json", **LINKED), None) is ClaimVerdict.FILE_ABSENT


def test_a_value_is_counted_from_the_stored_rows_unmatched_ones_included(graded: Grade, tmp_path: Path) -> None:
    stranger = {"id": "q99", "said": "?", "ok": True}
    write_regraded(tmp_path / "results", graded([*ROWS, stranger], BY_ID))
    finding, found = recounted(tmp_path, CLAIM)
    assert found.value == pytest.approx(4 / 5)
    assert found.files[0].model_dump(exclude={"value"}) == {
        "name": "acme/answers",
        "rows": 5,
        "questions": 4,
        "of": 4,
        "counted": 5,
        "signs": 0,
    }
    assert finding.verdict is ClaimVerdict.DIFFERS


def test_recall_and_the_files_own_score_are_counted_over_rows_that_have_them(graded: Grade, tmp_path: Path) -> None:
    rows = [
        {"id": "q1", "got": ["s_a", "s_b"], "want": ["s_a", "s_c", "s_a"], "s": 0.5},
        {"id": "q2", "got": ["s_a"], "want": [], "s": 1},
        {"id": "q3", "got": ["s_a"], "want": []},
        {"id": "q99", "got": ["s_a"], "want": ["s_a"], "s": 0.25},
    ]
    mapping = {"rows": "$[*]", "item": "id", "retrieved": "got", "evidence": "want", "scores": {"mine": "s"}}
    write_regraded(tmp_path / "results", graded(rows, mapping, protocol="retrieval"))
    values = {}
    for extra in ('value = "recall"', 'value = "score"\nscore = "mine"'):
        _finding, found = recounted(tmp_path, f"{CLAIM}{extra}\n")
        values[extra] = (found.value, found.files[0].counted)
    assert list(values.values()) == [(0.75, 2), (pytest.approx(1.75 / 3), 3)]


def test_several_files_count_equally_whatever_their_rows(graded: Grade, tmp_path: Path) -> None:
    write_regraded(tmp_path / "results", graded(ROWS, BY_ID))
    write_regraded(tmp_path / "results", graded(ROWS[3:], BY_ID, name="short"))
    _finding, found = recounted(tmp_path, CLAIM.replace('["acme/answers"]', '["acme/answers", "acme/short"]'))
    assert found.value == pytest.approx((0.75 + 0) / 2)


@pytest.mark.parametrize(
    ("claims", "problem"),
    [
        (CLAIM.replace("acme/answers", "acme/other"), "names the file 'acme/other', which is not stored"),
        (f'{CLAIM}value = "recall"\n', "has no value 'recall'"),
        (f'{CLAIM}value = "score"\nscore = "bleu"\n', "has no value 'score'"),
        (f'{CLAIM}judge = "other"\n', "has no value 'judge' for the claim 'one'.*Its judges: judge"),
        (CLAIM.replace('["acme/answers"]', "[]"), "files"),
        (CLAIM.replace("claimed =", "claimd ="), "Did you mean 'claimed'"),
        (CLAIM + CLAIM, "the id 'one' occurs twice"),
    ],
)
def test_a_claim_that_cannot_be_counted_is_refused(graded: Grade, tmp_path: Path, claims: str, problem: str) -> None:
    write_regraded(tmp_path / "results", graded(ROWS, BY_ID))
    with pytest.raises(BadInput, match=problem):
        read_findings(board(tmp_path, claims))


def test_the_stored_findings_are_complete_and_judge_nobody() -> None:
    report = read_findings(ROOT / "results")
    assert report is not None and len(report.findings) > 30
    assert all(finding.recount for finding in report.findings if finding.claim.recount)
    words = " ".join(finding.claim.note or "" for finding in report.findings).lower()
    assert not [word for word in ("refuted", "false", "inflated", "cheat", "dishonest") if word in words]
    assert [one.date for one in report.corrections] == sorted((one.date for one in report.corrections), reverse=True)


def test_a_claim_and_the_source_of_its_rows_name_the_same_commit_and_licence() -> None:
    report = read_findings(ROOT / "results")
    assert report is not None
    sources = {source.name: source for source in read_sources(ROOT / "sources")}
    for finding in report.findings:
        for name in finding.claim.recount.files if finding.claim.recount else ():
            source = sources[name.split("/")[0]]
            stated = (finding.claim.repository, finding.claim.commit, finding.claim.licence)
            assert stated == (source.repository, source.commit, source.licence or "none"), name


def test_a_board_without_findings_has_none(tmp_path: Path) -> None:
    assert read_findings(tmp_path / "results") is None
