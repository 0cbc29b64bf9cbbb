"""Attacks on the ledger by a forger who computes the whole chain again."""

import json
from pathlib import Path
from typing import Any

import pytest

from memeval import api
from memeval.archive.ledger import Ledger
from memeval.archive.runs import RunFolder, sealed_runs
from memeval.archive.signatures import LEDGER_NAMESPACE, Signers, sign, signed_bytes
from memeval.evaluation.verify.findings import Check, CheckStatus
from memeval.leaderboard.board import build_board
from memeval.leaderboard.release_checks import check_results
from memeval.leaderboard.releases import completed, frozen, keep
from memeval.records.base import canonical_json, digest_bytes
from memeval.records.ledger import LedgerEvent, Runner
from tests.support.commands import memeval
from tests.support.runs import make_run
from tests.support.signing import make_key, needs_ssh_keygen, signer

pytestmark = needs_ssh_keygen

Line = dict[str, Any]


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("keys")
    return {name: make_key(folder, name) for name in ("ada", "eve")}


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    return make_run(tmp_path / "results", "acme", {"kept": 10})


@pytest.fixture
def signers(tmp_path: Path, keys: dict[str, Path]) -> Signers:
    """The signers file of whoever verifies: Ada's key."""
    path = tmp_path / "allowed_signers"
    path.write_text(signer("ada@example.org", keys["ada"]))
    return Signers(path)


@pytest.fixture
def results(run: RunFolder, keys: dict[str, Path], tmp_path: Path) -> Path:
    """Results with a signed ledger of three lines."""
    ledger = Ledger(tmp_path / "results", keys["ada"])
    ledger.append(LedgerEvent.ACCEPTED, run, by="Ada", reason="a pull request", runner=Runner.SUBMITTER)
    ledger.append(LedgerEvent.REPRODUCED, run, by="Ada", reason="grades equal")
    ledger.append(LedgerEvent.INVALIDATED, run, by="Ada", reason="it read the answers")
    return tmp_path / "results"


def release(results: Path, key: Path) -> None:
    """Freeze a signed release of the results, without a site."""
    board = build_board(sealed_runs(results), Ledger(results))
    keep(completed(frozen(board, results, "2026.11", "0.1.0")[0], {}, key), results, key)


def lines_of(results: Path) -> list[Line]:
    return [json.loads(line) for line in (results / "ledger.jsonl").read_bytes().splitlines()]


def rewrite(results: Path, lines: list[Line], key: Path | None = None) -> None:
    """Write a ledger whose chain is right; sign every line with a key if there is one."""
    written: list[bytes] = []
    for line in lines:
        data = line | {"previous": digest_bytes(written[-1]) if written else None}
        if key is not None:
            data["signature"] = sign(signed_bytes(data), key, LEDGER_NAMESPACE)
        written.append(canonical_json(data).encode())
    (results / "ledger.jsonl").write_bytes(b"".join(line + b"\n" for line in written))
    Ledger(results).entries()


def checks(results: Path, signers: Signers) -> dict[str, Check]:
    return {check.name: check for check in check_results(results, signers)}


def said(check: Check) -> str:
    return "\n".join(map(str, check.findings))


def test_an_honest_signed_ledger_is_ok(results: Path, signers: Signers, keys: dict[str, Path]) -> None:
    release(results, keys["ada"])
    found = checks(results, signers)
    assert {name: check.status for name, check in found.items()} == {
        "release": CheckStatus.OK,
        "signature": CheckStatus.OK,
    }


@pytest.mark.parametrize("kept", [0, 1, 2, 3])
def test_a_ledger_cut_after_a_release_is_found(
    results: Path, signers: Signers, keys: dict[str, Path], kept: int
) -> None:
    release(results, keys["ada"])
    rewrite(results, lines_of(results)[:kept])
    found = said(checks(results, signers)["release"])
    assert ("no line of" if kept == 3 else "lines that release 2026.11 depends on were changed or removed.") in found


def test_a_chain_rewritten_after_a_release_is_found_without_any_signature(
    results: Path, signers: Signers, keys: dict[str, Path]
) -> None:
    release(results, keys["ada"])
    lines = [line | {"signature": None} for line in lines_of(results)]
    rewrite(results, [lines[0] | {"runner": "maintainer"}, *lines[1:]])
    found = checks(results, signers)
    assert "lines that release 2026.11 depends on were changed or removed." in said(found["release"])
    assert found["signature"].not_checked == "4 of 5 not signed"


@pytest.mark.parametrize(
    ("edit", "bad"),
    [
        (lambda lines: [lines[0] | {"runner": "maintainer"}, *lines[1:]], {1, 2, 3}),
        (lambda lines: [lines[1], lines[0], lines[2]], {1, 2, 3}),
        (lambda lines: [lines[0], lines[2]], {2}),
        (lambda lines: [*lines[:2], lines[2] | {"reason": "nothing"}], {3}),
    ],
    ids=["edited", "swapped", "removed", "last edited"],
)
def test_a_rewritten_chain_has_bad_signatures(results: Path, signers: Signers, edit: Any, bad: set[int]) -> None:
    rewrite(results, edit(lines_of(results)))
    found = checks(results, signers)["signature"]
    assert {int(finding.where.rpartition(":")[2]) for finding in found.findings} == bad
    assert said(found).startswith(f"{results}/ledger.jsonl:{min(bad)}: bad signature. Restore it")


def test_a_forged_acceptance_is_not_signed(results: Path, signers: Signers, run: RunFolder) -> None:
    Ledger(results).append(LedgerEvent.ACCEPTED, run, by="Ada", reason="a gift", runner=Runner.MAINTAINER)
    found = checks(results, signers)["signature"]
    assert (found.status, found.not_checked) == (CheckStatus.NOT_CHECKED, "1 of 4 not signed")
    shown = memeval("ledger", "show", "--results", str(results), "--signers", str(signers.path), where=results)
    assert [line.rpartition("[")[2] for line in shown.out.splitlines()] == [
        *["signed by ada@example.org]"] * 3,
        "not signed]",
    ]


def test_a_signature_of_another_line_is_bad(results: Path, signers: Signers, run: RunFolder) -> None:
    Ledger(results).append(LedgerEvent.ACCEPTED, run, by="Ada", reason="a gift", runner=Runner.MAINTAINER)
    lines = lines_of(results)
    rewrite(results, [*lines[:3], lines[3] | {"signature": lines[0]["signature"]}])
    assert said(checks(results, signers)["signature"]).startswith(f"{results}/ledger.jsonl:4: bad signature.")


def test_everything_signed_again_with_a_fresh_key_is_signed_by_an_unknown_key(
    results: Path, signers: Signers, keys: dict[str, Path]
) -> None:
    lines = lines_of(results)
    rewrite(results, [lines[0] | {"runner": "maintainer"}, *lines[1:]], keys["eve"])
    found = checks(results, signers)["signature"]
    assert len(found.findings) == 3
    assert said(found).startswith(f"{results}/ledger.jsonl:1: signed by an unknown key. Restore it")


def test_a_signers_file_among_the_results_is_never_used(
    results: Path, keys: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    rewrite(results, lines_of(results), keys["eve"])
    for place in (results, results.parent, results.parent / ".github"):
        place.mkdir(exist_ok=True)
        (place / "allowed_signers").write_text(signer("ada@example.org", keys["eve"]))
    shown = memeval("ledger", "show", "--results", "results", where=results.parent)
    assert shown.out.count("[signed by an unknown key]") == 3


def test_an_unknown_key_proves_nothing_where_no_key_is_known(
    results: Path, tmp_path: Path, keys: dict[str, Path]
) -> None:
    (tmp_path / "none").write_text("# nobody yet\n")
    found = checks(results, Signers(tmp_path / "none"))["signature"]
    assert found.not_checked == f"3 of 3 signed by an unknown key; {tmp_path / 'none'} lists no key"


def test_a_line_signed_after_the_key_expired_is_found(results: Path, signers: Signers, keys: dict[str, Path]) -> None:
    signers.path.write_text(signer("ada", keys["ada"], 'valid-before="20260101"'))
    found = checks(results, signers)["signature"]
    assert len(found.findings) == 3
    assert said(found).startswith(f"{results}/ledger.jsonl:1: key expired. Restore it from version control, or correct")


def test_an_expired_key_cannot_date_a_line_back_behind_a_later_one(
    results: Path, signers: Signers, keys: dict[str, Path], run: RunFolder
) -> None:
    signers.path.write_text(signer("ada", keys["ada"]) + signer("eve", keys["eve"], 'valid-before="20260101"'))
    lines = lines_of(results)
    forged = lines[0] | {"at": "2025-12-01T00:00:00+00:00", "previous": digest_bytes(canonical_json(lines[2]).encode())}
    forged["signature"] = sign(signed_bytes(forged), keys["eve"], LEDGER_NAMESPACE)
    rewrite(results, [*lines, forged])
    assert "ledger.jsonl:4: bad signature (its time is before that of an earlier line)." in said(
        checks(results, signers)["signature"]
    )


def test_a_half_written_released_line_is_found(results: Path, signers: Signers, keys: dict[str, Path]) -> None:
    release(results, keys["ada"])
    path = results / "ledger.jsonl"
    path.write_bytes(path.read_bytes()[:-30])
    assert "no line of" in said(checks(results, signers)["release"])


def test_a_syntax_error_of_the_signers_file_fails_the_check(results: Path, signers: Signers) -> None:
    signers.path.write_text(signers.path.read_text() + "junk\n")
    found = checks(results, signers)["signature"]
    assert said(found).startswith(f"{signers.path}:2: syntax error (missing key).")


def test_without_ssh_keygen_no_signature_is_checked(
    results: Path, signers: Signers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    found = checks(results, signers)["signature"]
    assert found.not_checked == "3 of 3 signature not checked (ssh-keygen is not installed)"


def test_the_command_line_signs_with_the_named_key(results: Path, signers: Signers, keys: dict[str, Path]) -> None:
    (run,) = sealed_runs(results)
    words = ("ledger", "review", run.run.run_id, "--reason", "looked at", "--results", "results")
    done = memeval(*words, where=results.parent, MEMEVAL_SIGNING_KEY=str(keys["ada"]))
    assert (done.code, done.out) == (0, f"reviewed {run.run.run_id}\n")
    assert [str(each) for each in Ledger(results).signatures(signers)] == ["signed by ada@example.org"] * 4
    done = memeval(*words, "--by", "Bob", "--sign-with", "nowhere", where=results.parent)
    assert (done.code, len(lines_of(results))) == (2, 4)
    assert "nowhere: there is no signing key here. Name the file of an SSH key: --sign-with." in done.err


def test_nothing_is_checked_against_a_damaged_ledger(results: Path, signers: Signers, keys: dict[str, Path]) -> None:
    release(results, keys["ada"])
    path = results / "ledger.jsonl"
    path.write_bytes(path.read_bytes().replace(b"grades equal", b"grades Equal"))
    assert {check.not_checked for check in checks(results, signers).values()} == {"the ledger is damaged"}
    (finding,) = api.verify(results, signers=signers.path)
    assert str(finding).startswith(f"{path}:3: the line does not follow from the one before it")
