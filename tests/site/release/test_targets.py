"""Publishing to a folder, a bucket of a real server, and a Git branch: the same board, and never half of one."""

import errno
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from typer.testing import CliRunner

from memeval.archive.rows import indented
from memeval.archive.signatures import signers_of
from memeval.cli.main import app
from memeval.evaluation.verify.findings import CheckStatus
from memeval.leaderboard.releases import ReleaseFile, keep, state_of
from memeval.objects import s3
from memeval.records.base import digest_bytes
from memeval.records.errors import BadInput, CheckFailed
from memeval.site.release import staging
from memeval.site.release.checking import check_published
from memeval.site.release.publish import publish
from memeval.site.release.targets import NewFile, Target, open_target
from memeval.storage import locked
from tests.support.boards import add_run, content_of, published, small_build
from tests.support.bucket_server import BUCKET, Bucket
from tests.support.faulty_bucket import Fault, FaultyBucket, faulty_bucket


@pytest.fixture
def faulty(bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> Iterator[FaultyBucket]:
    with faulty_bucket(bucket) as running:
        monkeypatch.setenv("MEMEVAL_S3_ENDPOINT", running.endpoint)
        monkeypatch.setattr(s3, "TRIES", 1)
        yield running


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two boards: the second has one more run."""
    folder = tmp_path_factory.mktemp("stored")
    add_run(folder / "one", "no-memory")
    shutil.copytree(folder / "one", folder / "two")
    add_run(folder / "two", "always-hedge")
    return folder


@pytest.fixture
def board(stored: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a board in a Git repository, whose sites are small."""
    monkeypatch.setattr(staging, "build", small_build)
    shutil.copytree(stored / "one", tmp_path / "board" / "results")
    return tmp_path / "board"


def grow(board: Path, stored: Path) -> None:
    """Add the second run."""
    shutil.copytree(stored / "two", board / "results", dirs_exist_ok=True)


def git(folder: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


def repository(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "-q", "-b", "main")
    git(folder, "config", "user.name", "Ada")
    git(folder, "config", "user.email", "ada@example.org")
    (folder / "notes.txt").write_text("mine\r\n")
    git(folder, "add", "notes.txt")
    git(folder, "commit", "-qm", "Begin")


@pytest.fixture
def place(board: Path) -> str:
    """Return a place in the bucket."""
    return f"s3://{BUCKET}/{board.parent.name}"


@pytest.fixture(params=["folder", "bucket", "git"])
def named(request: pytest.FixtureRequest, board: Path, bucket: Bucket, place: str) -> str:
    if request.param == "git":
        repository(board)
        return "git:gh-pages"
    return str(board / "public") if request.param == "folder" else place


def statuses(target: Target, results: Path) -> dict[str, CheckStatus]:
    checks = check_published(target, results, signers_of(None))
    assert not [finding for check in checks for finding in check.findings]
    return {check.name: check.status for check in checks}


def test_two_releases_share_their_data_and_the_old_one_stays(board: Path, stored: Path, named: str) -> None:
    results = board / "results"
    published(results, open_target(board, named), "1")
    first = content_of(open_target(board, named))
    assert statuses(open_target(board, named), results)["1"] is CheckStatus.OK
    grow(board, stored)
    said = published(results, open_target(board, named), "2")
    assert any("/data: 2 new files" in line and "2 already there" in line for line in said)
    second = content_of(open_target(board, named))
    assert {path: second[path] for path in first if path.startswith(("1/", "data/"))} == {
        path: content for path, content in first.items() if path.startswith(("1/", "data/"))
    }
    assert [each["version"] for each in json.loads(second["versions.json"])] == ["2", "1"]
    assert statuses(open_target(board, named), results) == {
        "1": CheckStatus.OK,
        "2": CheckStatus.OK,
        "versions": CheckStatus.OK,
        "signature": CheckStatus.NOT_CHECKED,
    }
    assert published(results, open_target(board, named))[-1].endswith(
        "release 2 is published, and nothing has changed."
    )
    assert content_of(open_target(board, named)) == second


def test_a_damaged_file_is_found_in_each_target(board: Path, named: str) -> None:
    published(board / "results", open_target(board, named), "1")
    target = open_target(board, named)
    pages = [path for path in target.entries() if path.startswith(("data/sha256/", "1/runs/"))]
    for path in (pages[0], pages[-1]):
        target.swap(NewFile(path, b"99.0"), target.read(path))
    target.finish("Damage")
    checks = check_published(open_target(board, named), board / "results", signers_of(None))
    found = {finding.where for check in checks for finding in check.findings}
    assert found == {f"{target.url}/{path}" for path in (pages[0], pages[-1])}


def test_a_dry_run_sends_nothing_and_names_files_and_bytes(board: Path, named: str) -> None:
    said = list(publish(board / "results", open_target(board, named), version="1", dry_run=True))
    assert open_target(board, named).entries() == {}
    assert not (board / "results" / "releases").exists()
    assert "  data: 2 new files, 0.0 MB; 0 already there, 0.0 MB." in said
    assert "  1: 4 new files, 0.0 MB; 0 already there, 0.0 MB." in said


def test_a_version_that_is_published_with_other_content_is_refused(board: Path, stored: Path, named: str) -> None:
    published(board / "results", open_target(board, named), "1")
    before = content_of(open_target(board, named))
    shutil.rmtree(board / "results")
    shutil.copytree(stored / "two", board / "results")
    with pytest.raises(BadInput, match=r"this is a published release 1, and .*1\.json is missing"):
        published(board / "results", open_target(board, named), "1")
    assert content_of(open_target(board, named)) == before
    assert not (board / "results" / "releases").exists()


def test_a_release_of_an_older_memeval_blocks_nothing(board: Path, named: str) -> None:
    results = board / "results"
    published(results, open_target(board, named), "1")
    path = results / "releases" / "1.json"
    data = json.loads(path.read_bytes())
    data["files"]["gone.html"] = digest_bytes(b"a page of another memeval")
    data["state"] = state_of(data)
    path.write_bytes(indented(data))
    (results / "ledger.jsonl").unlink()
    keep(ReleaseFile.read(path).release, results, by="tester")
    assert path.read_bytes() == indented(data)
    empty = open_target(board, str(board / "elsewhere"))
    with pytest.raises(CheckFailed, match="release 1 cannot be built again with equal bytes"):
        published(results, empty, "1")
    said = published(results, empty)
    assert any(line.startswith("note: release 1 cannot be built again") for line in said)
    assert len(json.loads(empty.read("versions.json"))) == 1


# -- a bucket ------------------------------------------------------------------------------------------------------


def test_servers_deliver_versions_for_ever_and_the_root_briefly(board: Path, place: str, bucket: Bucket) -> None:
    published(board / "results", open_target(board, place), "1")
    paths = open_target(board, place).entries()
    [rows] = [path for path in paths if path.endswith(".gz")]
    for path, kind, cache in (
        ("1/index.html", "text/html; charset=utf-8", "immutable"),
        ("1/assets/memeval.css", "text/css; charset=utf-8", "immutable"),
        (rows, "application/gzip", "immutable"),
        ("versions.json", "application/json", "max-age=60"),
        ("latest/index.html", "text/html; charset=utf-8", "max-age=60"),
        ("index.html", "text/html; charset=utf-8", "max-age=60"),
    ):
        reply = bucket.client().head_object(Bucket=BUCKET, Key=f"{board.parent.name}/{path}")
        assert reply["ContentType"] == kind
        assert cache in reply["CacheControl"]


def test_cut_at_any_request_the_old_board_is_whole_and_the_same_call_finishes(
    board: Path, place: str, stored: Path, bucket: Bucket, faulty: FaultyBucket
) -> None:
    published(board / "results", open_target(board, place), "1")
    old = content_of(open_target(board, place))
    grow(board, stored)
    total = requests_of_a_publication(board, stored, faulty)
    for number in (3, total // 2, total - 8):
        cut_and_finish(board, place, old, faulty, "request", number)
    for kind in ("headers", "body"):
        cut_and_finish(board, place, old, faulty, kind, total - 12)


def requests_of_a_publication(board: Path, stored: Path, faulty: FaultyBucket) -> int:
    """Publish the second board elsewhere, and return the number of requests."""
    copy = board.parent / "counted"
    shutil.copytree(stored / "one", copy / "results")
    place = f"s3://{BUCKET}/{board.parent.name}-counted"
    published(copy / "results", open_target(copy, place), "1")
    grow(copy, stored)
    before = len(faulty.lines)
    published(copy / "results", open_target(copy, place), "2")
    return len(faulty.lines) - before


def cut_and_finish(
    board: Path, place: str, old: dict[str, bytes], faulty: FaultyBucket, kind: str, number: int
) -> None:
    """Cut all requests from one on, look at the old board, then publish again."""
    results = board.parent / f"results-{kind}-{number}" / "results"
    shutil.copytree(board / "results", results)
    own = f"{place}-{kind}-{number}"
    before = open_target(board, own)
    for path, content in old.items():
        assert before.create(NewFile(path, content))
    fault = Fault(".*", after=number, reply_bytes=5 if kind == "body" else None, in_headers=kind == "headers")
    faulty.faults[:] = [fault]
    with pytest.raises(BadInput):
        published(results, open_target(results.parent, own), "2")
    faulty.faults.clear()
    target = open_target(results.parent, own)
    now = content_of(target)
    roots = ("versions.json", "latest/index.html", "index.html", "404.html")
    assert {path: now[path] for path in old if path not in roots} == {
        path: content for path, content in old.items() if path not in roots
    }
    for listed in json.loads(now["versions.json"]):
        check, *_ = check_published(target, results, signers_of(None), listed["version"])
        assert check.status is CheckStatus.OK
    assert b"../1/" in now["latest/index.html"] or listed_newest(now) == "2"
    published(results, target, "2")
    whole = content_of(target)
    assert set(statuses(target, results).values()) <= {CheckStatus.OK, CheckStatus.NOT_CHECKED}
    reference = board.parent / "reference.json"
    names = {path: content.hex() for path, content in whole.items()}
    if not reference.exists():
        reference.write_text(json.dumps(names))
    assert names == json.loads(reference.read_text()), "a publication that was never cut has the same bytes"


def listed_newest(board: dict[str, bytes]) -> str:
    return str(json.loads(board["versions.json"])[0]["version"])


def test_two_publishers_of_two_versions_both_succeed(board: Path, place: str, stored: Path, bucket: Bucket) -> None:
    other = board.parent / "other"
    shutil.copytree(stored / "two", other / "results")
    folders = {"1": board, "2": other}
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda each: published(folders[each] / "results", open_target(board, place), each), folders))
    target = open_target(board, place)
    assert [each["version"] for each in json.loads(target.read("versions.json"))] == ["2", "1"]
    assert b"../2/" in target.read("latest/index.html")


def test_of_two_publishers_of_one_version_one_wins(board: Path, place: str, stored: Path, bucket: Bucket) -> None:
    other = board.parent / "other"
    shutil.copytree(stored / "two", other / "results")

    def attempt(folder: Path) -> str | None:
        try:
            published(folder / "results", open_target(folder, place), "1")
        except (BadInput, CheckFailed) as error:
            return str(error)
        return None

    with ThreadPoolExecutor(2) as pool:
        errors = list(pool.map(attempt, [board, other]))
    assert sorted(error is None for error in errors) == [False, True]
    winner = (board, other)[errors.index(None)] / "results"
    assert statuses(open_target(board, place), winner)["1"] is CheckStatus.OK


def test_a_missing_bucket_and_a_forbidden_one_freeze_nothing(board: Path, faulty: FaultyBucket) -> None:
    with pytest.raises(BadInput, match="the bucket does not exist"):
        published(board / "results", open_target(board, "s3://not-here/x"), "1")
    faulty.faults[:] = [Fault("PUT", "AccessDenied")]
    with pytest.raises(BadInput, match="access is denied"):
        published(board / "results", open_target(board, f"s3://{BUCKET}/{board.parent.name}"), "1")
    assert not (board / "results" / "releases").exists()


def test_a_service_that_overwrites_is_named(board: Path, faulty: FaultyBucket) -> None:
    faulty.overwrites = True
    said = published(board / "results", open_target(board, f"s3://{BUCKET}/{board.parent.name}"), "1")
    assert any("this service overwrites objects. Publish from one machine at a time." in line for line in said)


# -- a folder ------------------------------------------------------------------------------------------------------


def test_a_full_disk_leaves_the_old_board_and_the_same_call_finishes(
    board: Path, stored: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    named = str(board / "public")
    published(board / "results", open_target(board, named), "1")
    before = content_of_old(board / "public")
    grow(board, stored)
    real, left = os.fsync, iter(range(9))

    def full(handle: int) -> None:
        if next(left, None) is None:
            raise OSError(errno.ENOSPC, "No space left on device")
        real(handle)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(BadInput, match="No space left on device"):
            published(board / "results", open_target(board, named), "2")
    assert content_of_old(board / "public") == before
    assert (board / "public" / "latest").readlink() == Path("1")
    published(board / "results", open_target(board, named), "2")
    assert statuses(open_target(board, named), board / "results")["2"] is CheckStatus.OK


def content_of_old(public: Path) -> dict[str, bytes]:
    names = [*(public / "1").rglob("*"), *public.glob("*.*")]
    return {str(path): path.read_bytes() for path in names if path.is_file()}


def test_without_symlinks_latest_is_a_page(board: Path, stored: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(Path, "symlink_to", refuse)
    target = open_target(board, str(board / "public"))
    published(board / "results", target, "1")
    grow(board, stored)
    published(board / "results", target, "2")
    assert 'url=../2/"' in (board / "public" / "latest" / "index.html").read_text()
    assert statuses(target, board / "results")["versions"] is CheckStatus.OK


def test_the_same_results_are_published_by_one_process_at_a_time(board: Path) -> None:
    (board / "build" / "publish").mkdir(parents=True)
    with (
        locked(board / "build" / "publish"),
        pytest.raises(BadInput, match="another process is publishing these results"),
    ):
        published(board / "results", open_target(board, "public"), "1")


# -- a Git branch --------------------------------------------------------------------------------------------------


def test_a_branch_is_written_without_touching_the_working_tree(board: Path) -> None:
    repository(board)
    (board / "notes.txt").write_text("changed\n")
    (board / "staged.txt").write_text("staged\n")
    git(board, "add", "staged.txt")
    before = git(board, "status", "--porcelain"), git(board, "rev-parse", "HEAD"), (board / ".git/index").read_bytes()
    published(board / "results", open_target(board, "git:gh-pages"), "1")
    after = git(board, "status", "--porcelain"), git(board, "rev-parse", "HEAD"), (board / ".git/index").read_bytes()
    assert after[1:] == before[1:]
    names = git(board, "ls-tree", "--name-only", "gh-pages").split()
    assert names == [".nojekyll", "1", "404.html", "data", "index.html", "latest", "versions.json"]
    assert git(board, "log", "-1", "--format=%s %an", "gh-pages") == "Publish release 1 Ada"


def test_a_branch_is_pushed_only_to_a_remote_that_is_named(board: Path, stored: Path) -> None:
    repository(board)
    git(board.parent, "init", "-q", "--bare", "remote.git")
    git(board, "remote", "add", "origin", "../remote.git")
    published(board / "results", open_target(board, "git:pages"), "1")
    assert git(board, "ls-remote", "origin") == ""
    published(board / "results", open_target(board, "git:pages", "origin"), "1")
    assert git(board, "rev-parse", "pages") in git(board, "ls-remote", "origin", "refs/heads/pages")
    clone = board.parent / "clone"
    shutil.copytree(stored / "two", clone / "results")
    repository(clone)
    git(clone, "remote", "add", "origin", "../remote.git")
    published(clone / "results", open_target(clone, "git:pages", "origin"), "2")
    grow(board, stored)
    with pytest.raises(BadInput, match=r"git push failed|different commits"):
        published(board / "results", open_target(board, "git:pages"), "3")
        published(board / "results", open_target(board, "git:pages", "origin"), "3")


def test_branches_without_a_common_commit_are_refused_with_what_to_do(board: Path, stored: Path) -> None:
    git(board.parent, "init", "-q", "--bare", "remote.git")
    for folder in (board, board.parent / "clone"):
        repository(folder)
        git(folder, "remote", "add", "origin", "../remote.git")
    published(board / "results", open_target(board, "git:pages", "origin"), "1")
    shutil.copytree(stored / "two", board.parent / "clone/results")
    published(board.parent / "clone/results", open_target(board.parent / "clone", "git:pages"), "1")
    with pytest.raises(BadInput, match="different commits") as refused:
        published(board.parent / "clone/results", open_target(board.parent / "clone", "git:pages", "origin"), "2")
    assert refused.value.remedy == "Fetch the branch: git fetch origin +pages:pages."


def test_what_git_refuses_is_said_without_its_hints_and_without_a_token(board: Path) -> None:
    repository(board)
    remote = "https://x-access-token:a-token@localhost:1/o/r"
    with pytest.raises(BadInput, match="git ls-remote failed: fatal: unable to access") as refused:
        published(board / "results", open_target(board, "git:pages", remote), "1")
    git(board.parent, "init", "-q", "--bare", "remote.git")
    git(board, "config", "url.../remote.git.insteadOf", remote)
    said = "\n".join(publish(board / "results", open_target(board, "git:board", remote), version="1"))
    assert "git:board: pushed to https://" in said and "a-token" not in said + str(refused.value)
    target = open_target(board, "git:pages", "../remote.git")
    list(target.entries())
    git(board, "push", "-q", "../remote.git", "main:pages")
    with pytest.raises(BadInput, match="git push failed: error: failed to push"):
        target.finish("Publish nothing")


def test_files_that_a_branch_had_before_its_first_publication_pass_the_check(board: Path) -> None:
    repository(board)
    git(board, "checkout", "-q", "--orphan", "pages")
    git(board, "rm", "-qrf", ".")
    for name in ("README.md", "LICENSE", ".gitignore"):
        (board / name).write_text("mine\n")
        git(board, "add", name)
    git(board, "commit", "-qm", "Describe")
    git(board, "checkout", "-q", "main")
    published(board / "results", open_target(board, "git:pages"), "1")
    checks = check_published(open_target(board, "git:pages"), board / "results", signers_of(None))
    assert not [finding for check in checks for finding in check.findings]


def test_branches_that_are_not_for_a_board_are_refused(board: Path) -> None:
    with pytest.raises(BadInput, match="not in a Git repository"):
        published(board / "results", open_target(board, "git:pages"), "1")
    repository(board)
    git(board, "branch", "other")
    for named, said in (("main", "checked out"), ("other", "not a board"), ("a..b", "check-ref-format failed")):
        with pytest.raises(BadInput, match=said):
            published(board / "results", open_target(board, f"git:{named}"), "1")
    for words in (
        ("git:", None),
        ("git:--all", None),
        ("git:pages", "--all"),
        ("public", "origin"),
        ("ftp://x/y", None),
    ):
        with pytest.raises(BadInput):
            open_target(board, *words)
    assert not (board / "results" / "releases").exists()


# -- the command ---------------------------------------------------------------------------------------------------


def test_the_target_comes_from_the_settings_of_the_board(board: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BadInput, match=r"no target is named\. Name it with --to"):
        open_target(board)
    (board / "memeval.toml").write_text('[publish]\nto = "public"\n')
    monkeypatch.chdir(board)
    said = CliRunner().invoke(app, ["publish", "--dry-run"])
    assert said.exit_code == 0, said.output
    assert "public: release" in said.output and "new files" in said.output
    assert not (board / "public").exists()
