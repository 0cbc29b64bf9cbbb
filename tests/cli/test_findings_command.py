"""``memeval sources findings`` prints what the stored rows say about published scores."""

import json
from pathlib import Path

import pytest

from memeval.claims.store import write_regraded
from tests.claims.conftest import BY_ID, ROWS, Grade, graded, keys
from tests.claims.test_findings import CLAIM, board
from tests.support.calling import Call

__all__ = ["graded", "keys"]


@pytest.fixture
def call(call: Call, tmp_path: Path) -> Call:
    return lambda *words: call("sources", "findings", *words, "--results", str(tmp_path / "results"))


def test_claims_and_counts_are_printed_and_exported(call: Call, graded: Grade, tmp_path: Path) -> None:
    write_regraded(tmp_path / "results", graded(ROWS, BY_ID))
    board(tmp_path, CLAIM)
    code, out, _err = call()
    assert code == 0 and "one 75 % 75.0 % 4 of 4 holds" in " ".join(out.split())
    data = json.loads(call("--json")[1])
    assert data["findings"][0]["recount"]["value"] == 0.75


def test_a_folder_without_findings_and_a_claim_without_its_file_are_refused(call: Call, tmp_path: Path) -> None:
    assert call().fails("no findings here")
    board(tmp_path, CLAIM)
    assert call().fails("'acme/answers', which is not stored")
