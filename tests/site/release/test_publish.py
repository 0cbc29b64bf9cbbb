"""Publishing: whole or not at all, the same state once, and nothing published is ever changed."""

import json
import re
import shutil
from pathlib import Path

import pytest

from memeval import api
from memeval.archive.ledger import Ledger
from memeval.archive.runs import sealed_runs
from memeval.archive.signatures import signers_of
from memeval.leaderboard.release_checks import check_results
from memeval.records.errors import BadInput, CheckFailed
from memeval.records.ledger import LedgerEvent, Runner
from memeval.site import build
from memeval.site.release import checking, roots, staging
from memeval.site.release.checking import check_published
from memeval.site.release.publish import publish
from memeval.site.release.targets import FolderTarget
from tests.support.archives import contents
from tests.support.boards import add_run, small_build


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    results = tmp_path_factory.mktemp("stored") / "results"
    add_run(results, "no-memory")
    return results


@pytest.fixture
def whole(stored: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(stored, tmp_path / "results"))


@pytest.fixture
def results(whole: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same, with a site of a few files where it is published."""
    monkeypatch.setattr(staging, "build", small_build)
    return whole


def tree(folder: Path) -> dict[str, tuple[float, bytes]]:
    return {
        str(path.relative_to(folder)): (path.stat().st_mtime, path.read_bytes())
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_a_release_is_frozen_built_and_pointed_at(whole: Path, tmp_path: Path) -> None:
    to = tmp_path / "public"
    list(publish(whole, FolderTarget(to), version="2026.1"))
    assert (to / "2026.1" / "index.html").is_file()
    assert json.loads((to / "versions.json").read_bytes()) == [
        {"version": "2026.1", "title": "2026.1", "aliases": ["latest"]}
    ]
    assert (to / "latest" / "index.html").read_bytes() == (to / "2026.1" / "index.html").read_bytes()
    assert 'url=latest/"' in (to / "index.html").read_text()
    (release,) = (whole / "releases").glob("*.json")
    frozen = json.loads(release.read_bytes())
    assert [row["system"] for row in frozen["rows"]] == ["no-memory"]


def test_runs_that_nobody_accepted_are_counted_and_marked(whole: Path, tmp_path: Path) -> None:
    add_run(whole, "always-hedge")
    for run, runner in zip(sealed_runs(whole), (Runner.SUBMITTER, None), strict=True):
        if runner:
            Ledger(whole).append(LedgerEvent.ACCEPTED, run, by="tester", reason="a test", runner=runner)
            accepted = run
        else:
            other = run
    said = list(publish(whole, FolderTarget(tmp_path / "public"), version="1"))
    assert said[0] == "verified: 0. Not checked against their benchmark: 2."
    assert "  not checked: track of 2: the benchmark tiny@1 is not installed here" in said[1]
    warned = next(number for number, line in enumerate(said) if line.startswith("warning"))
    assert said[warned + 1] == f"  not accepted: {other.path}"
    assert said[warned] == (
        "warning: 1 of 2 runs are not accepted, and are published with that mark. "
        "Accept a run: memeval ledger accept RUN --reason TEXT"
    )
    pages = tmp_path / "public" / "1"
    assert "not accepted</span>" in (pages / "runs" / other.run.run_id / "index.html").read_text()
    assert "not accepted</span>" not in (pages / "runs" / accepted.run.run_id / "index.html").read_text()
    boards = "".join(page.read_text() for page in pages.glob("benchmarks/*/index.html"))
    assert boards.count("not accepted</span>") == 1
    Ledger(whole).append(LedgerEvent.ACCEPTED, other, by="tester", reason="a test", runner=Runner.SUBMITTER)
    assert not [line for line in publish(whole, FolderTarget(tmp_path / "public"), version="2") if "warning" in line]


def test_an_acceptance_of_other_bytes_accepts_nothing(results: Path) -> None:
    (run,) = sealed_runs(results)
    Ledger(results).append(LedgerEvent.ACCEPTED, run, by="tester", reason="a test", runner=Runner.SUBMITTER)
    head = run.path / "run.json"
    head.write_bytes(head.read_bytes().replace(b'"argv"', b'"argv" '))
    (row,) = api.board(results).runs
    assert not row.accepted


def test_publishing_the_same_state_again_changes_nothing(whole: Path, tmp_path: Path) -> None:
    to = tmp_path / "public"
    list(publish(whole, FolderTarget(to)))
    before = tree(tmp_path)
    said = list(publish(whole, FolderTarget(to)))
    assert tree(tmp_path) == before
    assert "nothing has changed" in said[-1]


def test_a_new_run_is_a_new_version_and_the_old_one_stays_as_it_was(results: Path, tmp_path: Path) -> None:
    to = tmp_path / "public"
    list(publish(results, FolderTarget(to), version="1"))
    before = tree(to / "1")
    add_run(results, "always-hedge")
    list(publish(results, FolderTarget(to), version="2"))
    assert tree(to / "1") == before
    assert [each["version"] for each in json.loads((to / "versions.json").read_bytes())] == ["2", "1"]
    assert (to / "latest").resolve() == (to / "2").resolve()


def test_a_word_in_the_ledger_is_a_new_state(results: Path, tmp_path: Path) -> None:
    list(publish(results, FolderTarget(tmp_path / "public"), version="1"))
    (run,) = sealed_runs(results)
    Ledger(results).append(LedgerEvent.INVALIDATED, run, by="tester", reason="a test")
    list(publish(results, FolderTarget(tmp_path / "public"), version="2"))
    assert (tmp_path / "public" / "2").is_dir()


def test_a_line_cut_off_the_ledger_after_a_release_is_caught(results: Path, tmp_path: Path) -> None:
    (run,) = sealed_runs(results)
    Ledger(results).append(LedgerEvent.INVALIDATED, run, by="tester", reason="a test")
    list(publish(results, FolderTarget(tmp_path / "public"), version="1"))
    assert api.verify(results) == []
    (results / "ledger.jsonl").write_bytes(b"")
    assert "lines that release 1 depends on" in "".join(map(str, api.verify(results)))
    with pytest.raises(BadInput, match="lines that release 1 depends on"):
        list(publish(results, FolderTarget(tmp_path / "public"), version="2"))


def test_a_version_stands_for_one_board_only(results: Path, tmp_path: Path) -> None:
    list(publish(results, FolderTarget(tmp_path / "public"), version="1"))
    add_run(results, "always-hedge")
    before = tree(tmp_path)
    said = "\n".join(publish(results, FolderTarget(tmp_path / "public"), version="1"))
    assert "note: release 1 is frozen, and the board has changed since. The frozen release is published." in said
    assert tree(tmp_path) == before


def test_a_frozen_release_is_finished_on_any_target_after_the_board_has_changed(results: Path, tmp_path: Path) -> None:
    list(publish(results, FolderTarget(tmp_path / "public"), version="1"))
    (run,) = sealed_runs(results)
    Ledger(results).append(LedgerEvent.REPLIED, run, by="vendor", reason="a line more")
    add_run(results, "always-hedge")
    for unfinished in ("pages", "all"):
        to = tmp_path / f"second {unfinished}"
        if unfinished == "pages":  # a publication that was killed
            shutil.copytree(tmp_path / "public" / "1", to / "1")
            for page in sorted((to / "1").rglob("*.html"))[::2]:
                page.unlink()
        list(publish(results, FolderTarget(to), version="1"))
        assert contents(to / "1") == contents(tmp_path / "public" / "1")
    list(publish(results, FolderTarget(tmp_path / "public"), version="2"))
    checks = check_published(FolderTarget(tmp_path / "public"), results, signers_of(None))
    assert not [finding for check in checks for finding in check.findings]


def test_a_board_that_another_memeval_published_is_checked_against_its_own_manifest(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    to = FolderTarget(tmp_path / "public")
    list(publish(results, to, version="1"))
    monkeypatch.setattr(roots, "NOT_FOUND_PAGE", b"a page of tomorrow")
    monkeypatch.setattr(roots, "ROOT_PAGE", b"a page of tomorrow")
    monkeypatch.setattr(checking, "latest_page", lambda _version: b"a page of tomorrow")
    assert not [each for check in check_published(to, results, signers_of(None)) for each in check.findings]
    (tmp_path / "public" / "404.html").write_bytes(b"a page of somebody else")
    (found,) = (each for check in check_published(to, results, signers_of(None)) for each in check.findings)
    assert "it is another page" in found.problem


def test_two_releases_on_one_day_have_two_versions(results: Path, tmp_path: Path) -> None:
    list(publish(results, FolderTarget(tmp_path / "public")))
    add_run(results, "always-hedge")
    list(publish(results, FolderTarget(tmp_path / "public")))
    first, second = sorted(path.stem for path in (results / "releases").glob("*.json"))
    assert second == f"{first}.2"


def test_a_publication_that_was_cut_off_is_finished_by_the_same_call(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    to = tmp_path / "public"

    def cut(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    for step in ("build", "create", "point"):
        with monkeypatch.context() as patch:
            patch.setattr(*(staging, "build", cut) if step == "build" else (FolderTarget, step, cut))
            with pytest.raises(KeyboardInterrupt):
                list(publish(results, FolderTarget(to), version="1"))
        assert not (to / "latest").exists() and not (to / "index.html").exists()
    list(publish(results, FolderTarget(to), version="1"))
    assert (to / "latest" / "index.html").is_file()
    assert len(list((results / "releases").glob("*.json"))) == 1
    assert not list((tmp_path / "build").rglob("*.html")), "nothing is left of the built site"


def test_a_version_that_was_claimed_and_never_stored_can_be_freed(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cut(*_: object) -> None:
        raise KeyboardInterrupt

    to = tmp_path / "public"
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr("memeval.site.release.publish.keep", cut)
        list(publish(results, FolderTarget(to), version="1"))
    add_run(results, "always-hedge")
    with pytest.raises(BadInput, match=r"releases/1\.json is missing") as refused:
        list(publish(results, FolderTarget(to), version="1"))
    assert "Only release.json is there: delete it" in str(refused.value.remedy)
    shutil.rmtree(to / "1")
    list(publish(results, FolderTarget(to), version="1"))
    (results / "releases/1.json").unlink()
    add_run(results, "bm25")
    with pytest.raises(BadInput, match=r"releases/1\.json is missing") as refused:
        list(publish(results, FolderTarget(to), version="1"))
    assert "Restore the release" in str(refused.value.remedy)


def test_a_dry_run_writes_nothing(results: Path, tmp_path: Path) -> None:
    before = tree(tmp_path)
    said = list(publish(results, FolderTarget(tmp_path / "public"), version="1", dry_run=True))
    assert tree(tmp_path) == before
    [plan] = [line for line in said if "would be" in line]
    assert plan == f"{tmp_path / 'public'}: release 1 would be frozen and published."
    assert re.search(r"  data: [1-9]\d* new files, \d+\.\d MB; 0 already there, 0\.0 MB\.", "\n".join(said))


def test_a_run_that_does_not_hold_stops_everything(results: Path, tmp_path: Path) -> None:
    (run,) = sealed_runs(results)
    run.file("grades.jsonl").write_bytes(b"")
    with pytest.raises(CheckFailed, match=r"grades\.jsonl\.gz"):
        list(publish(results, FolderTarget(tmp_path / "public"), version="1"))
    assert not (tmp_path / "public").exists()
    assert not (results / "releases").exists()


@pytest.mark.parametrize("version", ["", "../up", "a b", ".hidden", "latest", "data", "versions.json", 65 * "9"])
def test_a_version_that_is_no_safe_name_is_refused(results: Path, tmp_path: Path, version: str) -> None:
    with pytest.raises(BadInput):
        list(publish(results, FolderTarget(tmp_path / "public"), version=version))
    assert not (results / "releases").exists()


@pytest.mark.parametrize("error", [KeyError("getpwuid(): uid not found: 1234"), OSError("No username set")])
def test_without_a_login_name_nothing_is_published_and_the_author_is_asked_for(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def unknown() -> str:
        raise error

    monkeypatch.setattr("getpass.getuser", unknown)
    with pytest.raises(BadInput, match=r"^this user has no login name\. Name the author with --by\.$"):
        list(publish(results, FolderTarget(tmp_path / "public"), version="1"))
    assert not (tmp_path / "public").exists() and not (results / "releases").exists()
    list(publish(results, FolderTarget(tmp_path / "public"), version="1", by="Ada"))
    assert [entry.by for entry in Ledger(results).entries()][-1] == "Ada"


@pytest.mark.parametrize("place", [".", "public"])
def test_nothing_is_published_among_the_runs(results: Path, place: str) -> None:
    before = tree(results)
    with pytest.raises(BadInput, match="inside the results folder"):
        list(publish(results, FolderTarget(results / place), version="1"))
    with pytest.raises(BadInput, match="inside the results folder"):
        build(results, results / place / "site")
    assert tree(results) == before


def test_a_place_that_cannot_be_taken_is_refused_before_anything_is_frozen(results: Path, tmp_path: Path) -> None:
    file, foreign, taken = tmp_path / "file", tmp_path / "foreign", tmp_path / "taken"
    file.write_text("x")
    (foreign / "1").mkdir(parents=True)
    (foreign / "1" / "thesis.tex").write_text("x")
    (taken / "latest").mkdir(parents=True)
    for to, said in (
        (file, "this is a file"),
        (file / "below", "cannot be created"),
        (foreign, "not part of release 1"),
        (taken, "exists and is not a symlink"),
    ):
        with pytest.raises(BadInput, match=said):
            list(publish(results, FolderTarget(to), version="1"))
    assert not (results / "releases").exists()
    assert [path.name for path in foreign.iterdir()] == ["1"]


def test_a_file_behind_a_link_is_not_put_on_the_site(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMEVAL_CACHE", str(tmp_path / "cache"))  # rows of an empty log may be in another one
    (run,) = sealed_runs(results)
    secret = tmp_path / "secret"
    secret.write_text("private")
    run.file("log.jsonl").unlink()
    run.file("log.jsonl").symlink_to(secret)
    build(results, tmp_path / "site")
    assert not list((tmp_path / "site").rglob("*log.jsonl.gz"))


def test_a_site_is_built_where_the_caller_stands(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    build(Path("results"), Path("out/site"))
    assert (tmp_path / "out" / "site" / "index.html").is_file()


def test_changed_settings_are_a_new_release_and_equal_ones_are_not(whole: Path, tmp_path: Path) -> None:
    to, settings = tmp_path / "public", tmp_path / "memeval.toml"
    list(publish(whole, FolderTarget(to), version="1"))
    settings.write_text('title = "memeval"\n[check]\noverall_points = 1.0\n')
    assert "nothing has changed" in list(publish(whole, FolderTarget(to)))[-1]
    settings.write_text('title = "Ours"\n')
    assert "note: release 1 is frozen" in "".join(publish(whole, FolderTarget(to), version="1"))
    list(publish(whole, FolderTarget(to), version="2"))
    assert "nothing has changed" in list(publish(whole, FolderTarget(to)))[-1]
    titles = [json.loads((to / version / "board.json").read_bytes()).get("title") for version in ("1", "2", "latest")]
    assert titles == [None, "Ours", "Ours"]
    assert not [check for check in check_results(whole, signers_of(None)) if check.findings]


def test_runs_of_benchmarks_that_the_board_does_not_show_are_not_published(results: Path, tmp_path: Path) -> None:
    (tmp_path / "memeval.toml").write_text('benchmarks = ["beliefs@2"]\n')
    with pytest.raises(BadInput, match="no finished run to publish"):
        list(publish(results, FolderTarget(tmp_path / "public")))
    (tmp_path / "memeval.toml").write_text("benchmarks = 1\n")
    with pytest.raises(BadInput, match=r"memeval\.toml:1: 'benchmarks': a list belongs here"):
        list(publish(results, FolderTarget(tmp_path / "public")))
    assert not (tmp_path / "public").exists()
