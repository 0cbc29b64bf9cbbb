"""Verdicts follow from claim and recount alone, and never say more than the files show."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from memeval.analysis.findings import claim_verdict, read_findings
from memeval.records.errors import BadInput
from memeval.records.finding import ClaimUnit, ClaimVerdict, FileCount, Recount
from tests.analysis.test_recounts import claim_of

ROOT = Path(__file__).parents[2]
LINKED = {"link": "see results.json", "commit": "abc"}


def counted(value: float) -> Recount:
    return Recount(value=value, files=(FileCount(digest=f"sha256:{'0' * 64}", rows=1, counted=1, points=value),))


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
def test_a_claim_differs_only_with_the_whole_chain(
    claimed: str, value: float, fields: dict[str, Any], verdict: ClaimVerdict
) -> None:
    assert claim_verdict(claim_of(None, claimed=claimed, **fields), counted(value)) is verdict


def test_a_half_unit_in_the_last_digit_holds_either_way() -> None:
    for value in (0.7805, 0.7815):
        assert claim_verdict(claim_of(None, claimed="78.1", **LINKED), counted(value)) is ClaimVerdict.HOLDS


def test_a_claim_without_a_file_is_not_attributable_and_a_missing_file_is_said() -> None:
    assert claim_verdict(claim_of(None), None) is ClaimVerdict.NOT_ATTRIBUTABLE
    assert claim_verdict(claim_of(None, absent="data/x.json", **LINKED), None) is ClaimVerdict.FILE_ABSENT


def test_the_stored_findings_are_complete_and_judge_nobody() -> None:
    report = read_findings(ROOT / "sources/findings")
    assert report is not None and len(report.findings) > 30
    assert all(finding.recount for finding in report.findings if finding.claim.recount)
    words = " ".join(finding.claim.note or "" for finding in report.findings).lower()
    assert not [word for word in ("refuted", "false", "inflated", "cheat", "dishonest") if word in words]
    assert [one.date for one in report.corrections] == sorted((one.date for one in report.corrections), reverse=True)


def test_claims_that_changed_after_the_count_are_refused(tmp_path: Path) -> None:
    for file in (ROOT / "sources/findings").iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    claims = (tmp_path / "claims.toml").read_text()
    digest = claims.partition('digest = "sha256:')[2][:64]
    (tmp_path / "claims.toml").write_text(claims.replace(digest, "0" * 64))
    with pytest.raises(BadInput, match="was not counted from the files"):
        read_findings(tmp_path)
    (tmp_path / "recounts.json").unlink()
    with pytest.raises(BadInput, match=r"recounts\.json.*--keep"):
        read_findings(tmp_path)


def test_an_unknown_key_and_a_repeated_id_are_named(tmp_path: Path) -> None:
    for file in (ROOT / "sources/findings").iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    claims = (tmp_path / "claims.toml").read_text()
    (tmp_path / "claims.toml").write_text(claims.replace("claimed =", "claimd =", 1))
    with pytest.raises(BadInput, match="Did you mean 'claimed'"):
        read_findings(tmp_path)
    (tmp_path / "claims.toml").write_text(claims.replace('id = "mirix-mem0"', 'id = "mirix-langmem"', 1))
    with pytest.raises(BadInput, match="'mirix-langmem' occurs twice"):
        read_findings(tmp_path)
    (tmp_path / "claims.toml").write_text(claims.replace('values = ["llm_score"]', "values = []", 1))
    with pytest.raises(BadInput, match=r"claims\.toml:\d+: the recount of 'mirix-langmem' has no values"):
        read_findings(tmp_path)


def test_a_board_without_findings_has_none(tmp_path: Path) -> None:
    assert read_findings(tmp_path / "sources/findings") is None
