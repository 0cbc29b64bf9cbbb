"""Findings about products: what is stored, and when it may be published."""

from pathlib import Path

import pytest

from memeval.claims.product_findings import MOST_LINES, read_product_findings, waiting
from memeval.records.errors import BadInput

ROOT = Path(__file__).parents[2]

ENTRY = """
[[finding]]
id = "loses"
product = "Store"
versions = "store 1.0"
statement = "It loses texts."
program = "loses.py"
output = "1 of 2"
reproduced = "2026-11-27"
"""


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """A results folder beside which a finding is stored."""
    folder = tmp_path / "sources" / "findings"
    (folder / "products").mkdir(parents=True)
    (folder / "products.toml").write_text(ENTRY, "utf-8")
    (folder / "products" / "loses.py").write_text("print('1 of 2')\n", "utf-8")
    return tmp_path / "results"


def test_stored_findings_name_versions_and_have_a_short_program() -> None:
    known = read_product_findings(ROOT / "results")
    assert known
    for finding, program in known:
        assert any(sign.isdigit() for sign in finding.versions)
        assert "memeval" not in program and len(program.splitlines()) <= MOST_LINES


def test_a_finding_waits_until_14_days_after_its_notice(results: Path) -> None:
    assert waiting(read_product_findings(results), "2027-01-01") == {"loses": "notice not sent"}
    file = results.parent / "sources" / "findings" / "products.toml"
    file.write_text(f'{ENTRY}[finding.notice]\nsent = "2026-12-01"\n', "utf-8")
    known = read_product_findings(results)
    assert waiting(known, "2026-12-14") == {"loses": "public from 2026-12-15"}
    assert waiting(known, "2026-12-15") == {}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("twice", "occurs twice"),
        ("absent", "does not exist"),
        ("long", "more than 20 lines"),
        ("key", "unknown key"),
        ("text", "is no readable UTF-8 text"),
    ],
)
def test_a_wrong_file_is_refused_with_the_reason(change: str, said: str, results: Path) -> None:
    folder = results.parent / "sources" / "findings"
    if change == "absent":
        (folder / "products" / "loses.py").unlink()
    elif change == "long":
        (folder / "products" / "loses.py").write_text("pass\n" * (MOST_LINES + 1), "utf-8")
    elif change == "text":
        (folder / "products" / "loses.py").write_bytes(b"print('\xe9')")
    else:
        (folder / "products.toml").write_text(ENTRY + (ENTRY if change == "twice" else 'severity = "high"\n'), "utf-8")
    with pytest.raises(BadInput, match=said):
        read_product_findings(results)


def test_without_a_file_there_are_no_findings(tmp_path: Path) -> None:
    assert read_product_findings(tmp_path / "results") == ()
