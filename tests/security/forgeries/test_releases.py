"""Attacks on releases and on their published files, by a forger who computes every digest again."""

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from memeval import api
from memeval.archive.ledger import Ledger
from memeval.archive.rows import indented
from memeval.archive.runs import sealed_runs
from memeval.archive.signatures import RELEASE_NAMESPACE, Signers, sign, signed_bytes
from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.run.running import RunOptions, run_system
from memeval.evaluation.verify.findings import Check, CheckStatus
from memeval.leaderboard.board import build_board
from memeval.leaderboard.release_checks import check_release, check_results
from memeval.leaderboard.releases import completed, frozen, keep, state_of
from memeval.records.base import digest_bytes
from memeval.records.errors import BadInput, CheckFailed
from memeval.records.ledger import LedgerEvent
from memeval.site.release.checking import check_published
from memeval.site.release.publish import publish
from memeval.site.release.roots import selector
from memeval.site.release.staging import manifest
from memeval.site.release.targets import FolderTarget
from memeval.systems.source import find_system
from tests.site.conftest import converted_guide as converted_guide
from tests.support.commands import memeval
from tests.support.signing import make_key, needs_ssh_keygen, signer
from tests.support.tiny import TinyBenchmark

pytestmark = needs_ssh_keygen

Json = dict[str, Any]
NOWHERE = Path("no-results-here")


@dataclass(frozen=True)
class Published:
    """Two published releases, ``1`` and ``2``, both signed by Ada."""

    results: Path
    to: Path
    signers: Signers
    keys: dict[str, Path]

    @property
    def page(self) -> Path:
        return self.to / "2"

    @property
    def release(self) -> Path:
        return self.results / "releases" / "2.json"

    def check(self, results: Path | None = None, version: str | None = None) -> dict[str, Check]:
        """Check the published folder."""
        found = check_published(FolderTarget(self.to), results or self.results, self.signers, version)
        return {check.name: check for check in found}

    def verify(self, version: str = "2") -> dict[str, Check]:
        """Check one stored release."""
        return {check.name: check for check in check_release(self.results, version, self.signers)}


def freeze_by_hand(results: Path, target: Path, key: Path) -> None:
    """Publish a release whose site is one page: to build a whole one takes seconds."""
    target.mkdir(parents=True)
    (target / "index.html").write_text("<!doctype html><title>A board</title>")
    draft, _ = frozen(build_board(sealed_runs(results), Ledger(results)), results, target.name, "0.1.0")
    release = completed(draft, manifest(target), key)
    keep(release, results, key, "Ada")
    (target / "release.json").write_bytes(indented(release.data()))


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Published:
    folder = tmp_path_factory.mktemp("published")
    results, to = folder / "results", folder / "public"
    keys = {name: make_key(folder / "keys", name) for name in ("ada", "eve")}
    (folder / "allowed_signers").write_text(signer("ada@example.org", keys["ada"]))
    session = BenchmarkSession.open(TinyBenchmark())
    run_system(find_system("no-memory"), session, RunOptions(results=results))
    freeze_by_hand(results, to / "1", keys["ada"])
    run_system(find_system("always-hedge"), session, RunOptions(results=results))
    list(publish(results, FolderTarget(to), version="2", key=keys["ada"], by="Ada"))
    return Published(results, to, Signers(folder / "allowed_signers"), keys)


@pytest.fixture
def published(original: Published, tmp_path: Path) -> Published:
    """A copy that a test may edit: its files are links, so a test replaces them and never writes into them."""
    for name in ("results", "public"):
        shutil.copytree(original.to.parent / name, tmp_path / name, symlinks=True, copy_function=os.link)
    return Published(tmp_path / "results", tmp_path / "public", original.signers, original.keys)


def replace(path: Path, content: bytes) -> None:
    """Give a path other bytes, without touching the file that it links to."""
    path.unlink(missing_ok=True)
    path.write_bytes(content)


def forge(path: Path, edit: Callable[[Json], None], key: Path | None = None) -> None:
    """Edit a release, and compute its state and its signature again."""
    data = json.loads(path.read_bytes())
    edit(data)
    data |= {"state": state_of(data), "signature": None}
    if key is not None:
        data["signature"] = sign(signed_bytes(data), key, RELEASE_NAMESPACE)
    replace(path, indented(data))


def fix_ledger(results: Path) -> None:
    """Let the last line of the ledger name the forged release 2."""
    path = results / "ledger.jsonl"
    *lines, last = path.read_bytes().splitlines(keepends=True)
    digest = digest_bytes((results / "releases" / "2.json").read_bytes())
    forged = json.dumps(json.loads(last) | {"release_digest": digest, "signature": None})
    replace(path, b"".join(lines) + forged.encode() + b"\n")


def flip(path: Path) -> None:
    """Flip one bit in the middle of a file."""
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    replace(path, bytes(content))


def said(check: Check) -> str:
    return "\n".join(map(str, check.findings))


def statuses(checks: dict[str, Check]) -> dict[str, CheckStatus]:
    return {name: check.status for name, check in checks.items()}


def test_an_honest_release_is_ok_everywhere(original: Published) -> None:
    ok = CheckStatus.OK
    assert statuses(original.check()) == dict.fromkeys(["1", "2", "versions", "signature"], ok)
    assert statuses(original.check(NOWHERE)) == dict.fromkeys(["1", "2", "versions", "signature"], ok)
    assert statuses(original.verify()) == dict.fromkeys(["state", "ledger", "runs", "rows", "signature"], ok)
    assert statuses(original.verify("1")) == statuses(original.verify())
    assert [check.status for check in check_results(original.results, original.signers)] == [ok, ok]


# -- the release ---------------------------------------------------------------------------------------------------


def score_99(data: Json) -> None:
    data["rows"][0] |= {"composite": 0.99, "best_rank": 1, "worst_rank": 1, "answers": "repeated"}


def test_an_edited_row_is_found_by_the_state(published: Published) -> None:
    content = published.release.read_bytes()
    replace(published.release, content.replace(b'"answers": "control"', b'"answers": "repeated"'))
    assert "2.json: state: is sha256:" in said(published.verify()["state"])
    assert any("the release was edited" in str(finding) for finding in api.verify(published.results))
    with pytest.raises(BadInput, match="the release was edited"):
        list(publish(published.results, FolderTarget(published.to), version="3"))


def test_an_edited_row_with_a_new_state_is_found_by_computing_it_again(published: Published) -> None:
    forge(published.release, score_99)
    fix_ledger(published.results)
    found = published.verify()
    assert found["state"].status is found["ledger"].status is CheckStatus.OK
    assert "2.json: rows.0: " in said(found["rows"])
    assert "but the runs and the ledger give" in said(found["rows"])
    with pytest.raises(CheckFailed, match="the runs and the ledger give"):
        list(publish(published.results, FolderTarget(published.to), version="3"))


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("rows", lambda rows: rows[:1], "rows.1: is no row, but the runs and the ledger give the row of"),
        ("weights", lambda _: {}, "weights: differs from that of the runs."),
        ("price_lists", lambda _: ["free"], "price_lists: differs from that of the runs."),
        ("ranks_method", lambda _: "ranks@9", "ranks_method: is ranks@9, and this memeval has ranks@2."),
        ("ranks_method", lambda _: "ranks@1", "ranks_method: ranks@1 was removed: its t-tests needed "),
    ],
)
def test_an_edited_part_is_found(published: Published, name: str, value: Callable[[Any], object], problem: str) -> None:
    forge(published.release, lambda data: data.update({name: value(data[name])}))
    fix_ledger(published.results)
    assert said(published.verify()["rows"]).startswith(f"{published.release}: {problem}")


def test_a_run_that_the_release_forgets_is_found(published: Published) -> None:
    forge(published.release, lambda data: data["runs"].pop(data["rows"][0]["run_id"]))
    fix_ledger(published.results)
    found = published.verify()
    assert "rows.0: its run_digest is not the one in 'runs'." in said(found["runs"])
    assert "rows.0: " in said(found["rows"])


def test_a_changed_run_is_found(published: Published) -> None:
    head = sealed_runs(published.results)[0].path / "run.json"
    replace(head, head.read_bytes().replace(b'"argv"', b'"argv" '))
    assert "run.json has another digest." in said(published.verify()["runs"])


def test_a_missing_run_is_found(published: Published) -> None:
    run = sealed_runs(published.results)[0]
    shutil.rmtree(run.path)
    assert f"2.json: runs.{run.path.name}: the run is missing." in said(published.verify()["runs"])


def test_a_deleted_release_is_named_by_the_ledger(published: Published) -> None:
    published.release.unlink()
    number = len(Ledger(published.results).entries())
    sentence = f"ledger.jsonl:{number}: names release 2, whose file is missing. Restore the release"
    assert any(sentence in str(finding) for finding in api.verify(published.results))
    (check,) = check_release(published.results, "2", published.signers)
    assert "2.json: the release cannot be read (No such file or directory)." in said(check)
    assert published.check()["2"].status is CheckStatus.OK, "the copy's own release is signed, and in the ledger"
    forge(published.page / "release.json", score_99)
    assert "2/release.json: differs from its digest in" in said(published.check()["2"])


def test_a_release_deleted_with_its_line_is_found_in_the_published_folder(published: Published) -> None:
    published.release.unlink()
    lines = (published.results / "ledger.jsonl").read_bytes().splitlines(keepends=True)
    replace(published.results / "ledger.jsonl", b"".join(lines[:-1]))
    assert api.verify(published.results) == []
    with pytest.raises(BadInput, match=r"this is a published release 2, and .*2\.json is missing"):
        list(publish(published.results, FolderTarget(published.to), version="2"))


def test_a_release_that_replaces_another_differs_from_the_ledger(published: Published) -> None:
    forge(published.release, lambda data: data.update(date="2026-01-01"))
    assert "names release 2, whose file has changed." in said(published.verify()["ledger"])


def test_a_release_signed_with_a_fresh_key_is_signed_by_an_unknown_key(published: Published) -> None:
    forge(published.release, score_99, published.keys["eve"])
    assert "2.json: signed by an unknown key." in said(published.verify()["signature"])


def test_a_signature_of_another_release_is_bad(published: Published) -> None:
    data = json.loads(published.release.read_bytes())
    data["signature"] = json.loads((published.results / "releases" / "1.json").read_bytes())["signature"]
    replace(published.release, indented(data))
    assert "2.json: bad signature." in said(published.verify()["signature"])


def test_an_old_release_holds_after_later_decisions(published: Published) -> None:
    run = sealed_runs(published.results)[0]
    replace(published.results / "ledger.jsonl", (published.results / "ledger.jsonl").read_bytes())
    Ledger(published.results).append(LedgerEvent.INVALIDATED, run, by="Ada", reason="later")
    assert published.verify("1")["rows"].status is CheckStatus.OK


# -- the published files -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "pattern",
    [
        *("2/index.html", "2/releases/index.html", "2/assets/**/*.js", "2/**/*.css", "2/**/*.csv"),
        *("2/harness/*.whl", "2/feed.xml"),
    ],
)
@pytest.mark.parametrize("results", [None, NOWHERE], ids=["checkout", "copy alone"])
def test_one_flipped_bit_in_a_published_file_is_found(published: Published, pattern: str, results: Path | None) -> None:
    path = sorted(published.to.glob(pattern))[-1]
    flip(path)
    found = published.check(results)
    assert said(found["2"]) == f"{path}: differs from the release. Download it again, or publish it again."
    assert found["1"].status is CheckStatus.OK


@pytest.mark.parametrize("pattern", ["*.json.gz", "*-responses.jsonl.gz"])
@pytest.mark.parametrize("results", [None, NOWHERE], ids=["checkout", "copy alone"])
def test_one_flipped_bit_in_a_shared_file_is_found(published: Published, pattern: str, results: Path | None) -> None:
    path = sorted((published.to / "data" / "sha256").rglob(pattern))[-1]
    flip(path)
    found = published.check(results)
    assert said(found["2"]) == f"{path}: differs from its digest. Download it again, or publish it again."
    path.unlink()
    assert said(published.check(results)["2"]).startswith(f"{path}: is missing.")
    stray = path.with_name("0" * 64 + ".json")
    stray.write_text("{}")
    assert said(published.check(results)["versions"]) == f"{stray}: is not part of a release. Delete it."


def test_a_deleted_and_an_added_page_are_found(published: Published) -> None:
    (published.page / "ledger" / "index.html").unlink()
    (published.page / "evil.js").write_text("alert(1)")
    assert said(published.check()["2"]).splitlines() == [
        f"{published.page}/evil.js: is not part of the release. Delete it.",
        f"{published.page}/ledger/index.html: is missing. Download it again, or publish it again.",
    ]


def test_a_link_in_place_of_a_page_is_found_and_not_followed(published: Published) -> None:
    page = published.page / "ledger"
    shutil.copytree(page, published.to.parent / "outside")
    shutil.rmtree(page)
    page.symlink_to(published.to.parent / "outside")
    os.mkfifo(published.page / "pipe")
    found = said(published.check()["2"])
    assert f"{page}: is a symlink." in found
    assert f"{published.page}/pipe: is not a plain file." in found


@pytest.mark.parametrize("edit", [lambda path: flip(path), lambda path: path.unlink()], ids=["flipped", "deleted"])
@pytest.mark.parametrize("name", ["versions.json", "index.html", "2/release.json"])
def test_an_edited_file_around_the_pages_is_found(published: Published, name: str, edit: Any) -> None:
    edit(published.to / name)
    checks = published.check().values()
    assert any(finding.where.startswith(str(published.to / name)) for check in checks for finding in check.findings)


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("versions.json", selector(["1"]), "differs from what memeval publishes: the releases here are 2, 1."),
        ("CNAME", b"evil.example\n", "has 'evil.example', but the board's address has"),
        (".nojekyll", b"{% include evil %}", "has"),
        ("3", None, "is not part of a release. Delete it."),
    ],
)
def test_what_does_not_belong_around_the_versions_is_found(
    published: Published, name: str, content: bytes | None, problem: str
) -> None:
    path = published.to / name
    path.mkdir() if content is None else replace(path, content)
    (finding,) = published.check()["versions"].findings
    assert str(finding).startswith(f"{path}: {problem}")


def test_a_copy_without_the_newest_release_is_not_called_complete(published: Published) -> None:
    shutil.rmtree(published.page)
    replace(published.to / "versions.json", selector(["1"]))
    (published.to / "latest").unlink()
    (published.to / "latest").symlink_to("1")
    assert published.check()["versions"].not_checked == "not in this copy: 2"


def test_an_alias_that_points_at_an_old_release_is_found(published: Published) -> None:
    (published.to / "latest").unlink()
    (published.to / "latest").symlink_to("1")
    assert said(published.check()["versions"]) == (
        f"{published.to}/latest: points at 1, but the newest release is 2. Point it at 2: publish again."
    )


def test_a_downloaded_copy_may_have_the_alias_as_a_folder(published: Published) -> None:
    (published.to / "latest").unlink()
    shutil.copytree(published.page, published.to / "latest")
    assert published.check(NOWHERE)["versions"].status is CheckStatus.OK
    flip(published.to / "latest" / "index.html")
    assert said(published.check(NOWHERE)["versions"]).startswith(f"{published.to}/latest/index.html: differs from")


def test_a_copy_that_was_forged_as_a_whole_differs_from_the_checkout(published: Published) -> None:
    page = published.page / "index.html"
    replace(page, page.read_bytes() + b"<p>99.0</p>")
    forge(published.page / "release.json", lambda data: data["files"].update({"index.html": digest_of_file(page)}))
    alone = published.check(NOWHERE)
    assert alone["2"].not_checked == (
        f"the list of files is the copy's own word: it is not signed, and {NOWHERE}/releases/2.json is not here"
    )
    assert alone["signature"].not_checked == "1 of 2 not signed"
    assert said(published.check()["2"]).splitlines() == [
        f"{published.page}/release.json: differs from {published.release}. Download it again, or publish it again.",
        f"{page}: differs from the release. Download it again, or publish it again.",
    ]


def digest_of_file(path: Path) -> str:
    return digest_bytes(path.read_bytes())


@pytest.mark.parametrize("path", ["../x", "/etc/passwd", "a/../../x", "a//b", "./a", "..", "a\\b", "", "."])
def test_a_manifest_that_names_a_path_outside_is_refused(published: Published, path: str) -> None:
    forge(published.page / "release.json", lambda data: data["files"].update({path: "sha256:" + "0" * 64}))
    found = said(published.check(NOWHERE)["2"])
    assert f"release.json: files: names {path!r}, which is not a path inside the published folder." in found


def test_half_a_download_says_what_is_missing(published: Published) -> None:
    pages = sorted(path for path in published.page.rglob("*") if path.is_file() and path.name != "release.json")
    for path in pages[::2]:
        path.unlink()
    missing = len(pages[::2])
    shown = memeval("publish", "--check", "--to", "public", where=published.to.parent)
    assert shown.code == 1
    lines = shown.out.splitlines()
    start = lines.index(f"2            failed: {missing} problems")
    assert all(": is missing. Download it again" in line for line in lines[start + 1 : start + 11])
    assert lines[start + 11] == f"  … and {missing - 10} more problems."


def test_a_folder_without_a_release_is_refused(published: Published, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="there is no published release here"):
        check_published(FolderTarget(published.results), published.results / "beliefs", published.signers)
    with pytest.raises(BadInput, match="there is no release 9 here"):
        published.check(version="9")


def test_one_version_can_be_checked_alone(published: Published) -> None:
    flip(published.to / "1" / "index.html")
    assert published.check(version="2")["2"].status is CheckStatus.OK
    for name in ("1", "latest", "versions.json", "index.html"):
        path = published.to / name
        shutil.rmtree(path) if name == "1" else path.unlink()
    assert statuses(published.check(version="2")) == dict.fromkeys(["2", "signature"], CheckStatus.OK)


# -- publishing ----------------------------------------------------------------------------------------------------


def test_a_publication_that_was_interrupted_is_completed_by_the_same_call(published: Published) -> None:
    before = {path: path.read_bytes() for path in published.to.rglob("*") if path.is_file()}
    lines = (published.results / "ledger.jsonl").read_bytes().splitlines(keepends=True)
    replace(published.results / "ledger.jsonl", b"".join(lines[:-1]))
    (published.page / "release.json").unlink()
    (published.to / "latest").unlink()
    list(publish(published.results, FolderTarget(published.to), version="2", key=published.keys["ada"], by="Ada"))
    assert {path: path.read_bytes() for path in published.to.rglob("*") if path.is_file()} == before
    assert statuses(published.check())["versions"] is CheckStatus.OK
    assert api.verify(published.results) == []


def test_a_release_is_built_again_with_equal_bytes_in_another_folder(published: Published, tmp_path: Path) -> None:
    list(publish(published.results, FolderTarget(tmp_path / "other"), version="2"))
    found = {
        each.name: each
        for each in check_published(FolderTarget(tmp_path / "other"), published.results, published.signers)
    }
    assert found["2"].status is CheckStatus.OK
    assert (found["versions"].findings, found["versions"].not_checked) == ((), "not in this copy: 1")


def test_a_damaged_publication_is_not_called_published(published: Published) -> None:
    flip(published.page / "index.html")
    with pytest.raises(CheckFailed, match=r"2/index\.html: differs from the release\. Delete it, and publish again"):
        list(publish(published.results, FolderTarget(published.to), version="2"))


def test_the_command_line_checks_a_release_and_a_copy(published: Published) -> None:
    where = published.to.parent
    signers = ("--signers", str(published.signers.path))
    done = memeval("verify", "--release", "2", *signers, where=where)
    assert (done.code, done.out.splitlines()) == (
        0,
        [f"{name:12} ok" for name in ("state", "runs", "ledger", "rows", "signature")],
    )
    flip(published.page / "index.html")
    done = memeval("publish", "--check", "--to", "public", *signers, where=where)
    assert done.code == 1
    assert done.out.splitlines()[1:3] == [
        "2            failed: 1 problem",
        "  public/2/index.html: differs from the release. Download it again, or publish it again.",
    ]
