"""Runs go into the archive and come back with equal bytes, or not at all."""

import gzip
import json
import os
import resource
import signal
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from memeval.archive.remote.index import ArchivedRun, archived_runs, listed_heads, refresh_index
from memeval.archive.remote.layout import INDEX, parse_head_key, parse_row_key, row_key
from memeval.archive.remote.pruning import PrunePlan, prune
from memeval.archive.remote.pulling import PullState, Selection
from memeval.archive.remote.pushing import PushState
from memeval.archive.remote.verifying import verify_archive
from memeval.archive.runs import RunFolder
from memeval.objects import Headers, ObjectStore, open_store, parse_place
from memeval.objects.folder import FolderStore
from memeval.records.base import digest_of
from memeval.records.errors import BadInput
from memeval.records.history import PackageIndex, ProductVersion
from tests.support.archives import TRACK, contents, pull, push, small_run
from tests.support.runs import edit_head, make_run


@pytest.mark.parametrize("kind", ["store", "in_bucket"])
def test_pushed_runs_are_pulled_with_equal_bytes(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    store: ObjectStore = request.getfixturevalue(kind)
    runs = [small_run(tmp_path / "results", day=day) for day in (1, 2)]
    first = push(store, *runs)
    assert [each.state for each in first] == [PushState.PUSHED] * 2
    assert [each.state for each in push(store, *runs)] == [PushState.PRESENT] * 2
    outcomes = pull(store, tmp_path / "elsewhere")
    assert [each.state for each in outcomes] == [PullState.PULLED] * 2
    assert contents(tmp_path / "elsewhere") == contents(tmp_path / "results")
    assert [each.state for each in pull(store, tmp_path / "elsewhere")] == [PullState.PRESENT] * 2
    report = verify_archive(store)
    assert (len(report.runs), report.problems, report.orphans, report.foreign) == (2, [], [], [])


def test_equal_rows_of_two_runs_are_stored_once(store: ObjectStore, tmp_path: Path) -> None:
    push(store, *(small_run(tmp_path / "results", day=day) for day in (1, 2)))
    assert len(list(store.list("runs/"))) == 2
    assert len(list(store.list("rows/"))) == 6  # contexts and grades are equal; responses and logs have clocks


@pytest.mark.parametrize("kind", ["store", "in_bucket"])
def test_forty_writers_of_one_run_leave_one_object_each(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    store: ObjectStore = request.getfixturevalue(kind)
    run = small_run(tmp_path / "results")
    assert store.refuses_overwriting
    with ThreadPoolExecutor(40) as pool:
        outcomes = [each for some in pool.map(lambda _: push(store, run), range(40)) for each in some]
        list(pool.map(lambda _: refresh_index(store), range(4)))
    assert all(each.error is None for each in outcomes)
    assert sum(each.sent_bytes for each in outcomes) == sum(map(len, contents(run.path).values()))
    assert len(list(store.list())) == 1 + len(run.run.files) + 1
    assert verify_archive(store).problems == []


def test_rows_that_differ_from_run_json_are_refused_and_nothing_of_the_head_is_sent(
    store: ObjectStore, tmp_path: Path
) -> None:
    run = small_run(tmp_path / "results")
    path = run.file("grades.jsonl")
    path.write_bytes(gzip.compress(gzip.decompress(path.read_bytes()).replace(b'"verdict":false', b'"verdict":true')))
    (outcome,) = push(store, run)
    assert outcome.state is PushState.REFUSED
    assert str(outcome.error) == (
        f"{path}: does not match its digest in run.json. Restore the file, or record a new run."
    )
    assert list(store.list()) == []


def test_another_run_json_of_an_archived_run_is_refused_with_both_digests(
    store: ObjectStore, pushed: RunFolder, tmp_path: Path
) -> None:
    edited = edit_head(pushed, seeds={"seed": 7})
    (outcome,) = push(store, edited)
    assert outcome.state is PushState.REFUSED
    assert pushed.digest in str(outcome.error) and edited.digest in str(outcome.error)
    assert len(listed_heads(store)) == 1
    (outcome_here,) = pull(store, tmp_path / "results")
    assert outcome_here.state is PullState.REFUSED
    assert "has another run.json than the archive" in str(outcome_here.error)


def test_names_that_lead_elsewhere_are_no_keys(store: ObjectStore, tmp_path: Path) -> None:
    run = small_run(tmp_path / "results")
    stated = json.loads(run.head_bytes)["files"]["log.jsonl"]
    (outcome,) = push(store, edit_head(run, files={"../../x": stated}))
    assert "lists an unknown file '../../x'" in str(outcome.error)
    (outcome,) = push(store, edit_head(run, run_id="../../x"))
    assert "'made-up/tiny/../../x' is not the name of a run" in str(outcome.error)
    digits = "0" * 64
    for key in (
        f"runs/a/b/../{digits}.json",
        f"runs/../x/20261101T100000Z-00000000/{digits}.json",
        "runs/a/b/c/d.json",
    ):
        assert parse_head_key(key) is None
    for key in (f"rows/01/{digits}.jsonl.gz", f"rows/00/../{digits}.jsonl.gz"):
        assert parse_row_key(key) is None


def test_a_run_of_a_released_version_is_refused(store: ObjectStore, tmp_path: Path) -> None:
    stated = ProductVersion(
        package="tiny", version="1.0", index=PackageIndex.PYPI, released=None, form="adapter.py", lock=digest_of("lock")
    )
    run = edit_head(small_run(tmp_path / "results"), product_version=stated.data())
    (outcome,) = push(store, run)
    assert str(outcome.error) == (
        f"{run.path}: is a run of a released version, which an archive does not hold. Keep it in the repository."
    )
    assert list(store.list()) == []


def test_half_a_run_is_no_run(store: ObjectStore, tmp_path: Path) -> None:
    run = small_run(tmp_path / "results")
    stated = run.run.files["log.jsonl"]
    store.create(row_key(stated.digest), run.file("log.jsonl"))
    assert listed_heads(store) == []
    assert [each.key for each in verify_archive(store).orphans] == [row_key(stated.digest)]
    (outcome,) = push(store, run)
    assert outcome.state is PushState.PUSHED
    assert verify_archive(store).orphans == []


def test_a_row_file_that_was_lost_is_sent_again(store: ObjectStore, pushed: RunFolder, tmp_path: Path) -> None:
    lost = row_key(pushed.run.files["grades.jsonl"].digest)
    store.delete(lost)
    (problem,) = verify_archive(store).problems
    assert "the archive lacks rows of this run: grades.jsonl. Push the run again" in str(problem)
    (outcome,) = pull(store, tmp_path / "elsewhere")
    assert "the rows are missing in the archive" in str(outcome.error)
    (again,) = push(store, pushed)
    assert (again.state, again.sent_bytes) == (PushState.PUSHED, pushed.file("grades.jsonl").stat().st_size)
    assert verify_archive(store).problems == []


def test_of_a_hundred_runs_the_tampered_one_is_named_and_the_others_are_pulled(
    store: ObjectStore, tmp_path: Path
) -> None:
    results = tmp_path / "results"
    small_run(results)
    template = json.loads(RunFolder(next((results / "made-up" / "tiny").iterdir())).head_bytes)
    (source,) = (results / "made-up" / "tiny").iterdir()
    for number in range(1, 100):
        run_id = f"20261102T1000{number % 60:02}Z-{number:08x}"
        copy = source.with_name(run_id)
        copy.mkdir()
        for path in source.glob("*.gz"):
            os.link(path, copy / path.name)
        (copy / "run.json").write_text(json.dumps(template | {"run_id": run_id}))
    bad = make_run(results, "bad", {"kept": 2}, track=TRACK)
    runs = [RunFolder(path.parent) for path in sorted(results.glob("*/*/*/run.json"))]
    assert {each.state for each in push(store, *runs)} == {PushState.PUSHED}
    refresh_index(store)
    key = row_key(bad.run.files["responses.jsonl"].digest)
    content = gzip.decompress(store.read(key))
    store.replace(key, gzip.compress(content.replace(b"as far as I know", b"as everyone knows")))
    outcomes = pull(store, tmp_path / "elsewhere")
    (refused,) = [each for each in outcomes if each.state is not PullState.PULLED]
    assert refused.run.startswith("made-up/bad/")
    assert f"{key}: the rows are damaged: does not match its digest in run.json. Delete the object" in str(
        refused.error
    )
    assert len(outcomes) == 101 and len(list((tmp_path / "elsewhere").glob("*/*/*"))) == 100
    assert not list((tmp_path / "elsewhere" / "made-up" / "bad").iterdir())
    assert [each.where for each in verify_archive(store).problems] == [f"{store.url}/{key}"]


def test_rows_of_two_runs_that_were_swapped_in_the_archive_are_named(store: ObjectStore, tmp_path: Path) -> None:
    runs = [make_run(tmp_path / "results", name, {"kept": n}, track=TRACK) for name, n in (("good", 2), ("bad", 0))]
    push(store, *runs)
    keys = [row_key(run.run.files["grades.jsonl"].digest) for run in runs]
    contents_of = [store.read(key) for key in keys]
    for key, content in zip(keys, reversed(contents_of), strict=True):
        store.replace(key, content)
    assert {each.where for each in verify_archive(store).problems} == {f"{store.url}/{key}" for key in keys}
    assert [each.state for each in pull(store, tmp_path / "elsewhere")] == [PullState.REFUSED] * 2


def test_a_tampered_head_is_named(store: ObjectStore, pushed: RunFolder, tmp_path: Path) -> None:
    (head,) = listed_heads(store)
    store.replace(head.key, pushed.head_bytes.replace(b'"errors":0', b'"errors":1'))
    (outcome,) = pull(store, tmp_path / "elsewhere")
    assert f"{head.key}: does not match the digest in its name. Delete the object" in str(outcome.error)
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize("damage", ["missing", "old", "cut", "lies", "bomb"])
def test_a_bad_index_changes_no_result(damage: str, store: ObjectStore, tmp_path: Path) -> None:
    runs = [small_run(tmp_path / "results", day=day) for day in range(1, 12)]
    push(store, *runs[:4])
    refresh_index(store)
    old = store.read(INDEX)
    push(store, *runs)
    refresh_index(store)
    good = store.read(INDEX)
    lies = gzip.decompress(good).replace(b'\\"errors\\":0', b'\\"errors\\":9')
    bad = {
        "missing": b"",
        "old": old,
        "cut": good[:400],
        "lies": gzip.compress(lies),
        "bomb": gzip.compress(b"{" * 10**7),
    }
    assert gzip.decompress(good) != lies
    store.delete(INDEX)
    if damage != "missing":
        store.create(INDEX, bad[damage])
    found = list(archived_runs(store, listed_heads(store)))
    assert all(isinstance(each, ArchivedRun) and each.run.scores.overall.errors == 0 for each in found)
    assert len(found) == 11
    refresh_index(store)
    assert store.read(INDEX) == good


def test_runs_are_chosen_by_benchmark_system_and_day(store: ObjectStore, tmp_path: Path) -> None:
    push(store, *(small_run(tmp_path / "results", slug, day) for slug in ("one", "two") for day in (1, 2, 3)))
    heads = listed_heads(store)

    def chosen(**filters: str) -> list[str]:
        return [f"{head.slug}-{head.day}" for head in heads if Selection(**filters).takes(head)]  # type: ignore[arg-type]

    assert chosen(system="one", since="2026-11-02") == ["one-2026-11-02", "one-2026-11-03"]
    assert chosen(until="2026-11-01") == ["one-2026-11-01", "two-2026-11-01"]
    assert chosen(benchmark="made-up", since="2026-11-02", until="2026-11-02") == ["one-2026-11-02", "two-2026-11-02"]
    assert chosen(benchmark="beliefs") == []
    with pytest.raises(BadInput, match=r"invalid --since '2026-13-01'\. Write a day as 2026-11-22\."):
        Selection(since="2026-13-01").check()


def test_an_unfinished_run_is_not_replaced(store: ObjectStore, pushed: RunFolder, tmp_path: Path) -> None:
    (pushed.path / "run.json").unlink()
    (outcome,) = pull(store, tmp_path / "results")
    assert "an unfinished run is here. Finish or delete it" in str(outcome.error)


def test_a_full_disk_leaves_no_part_of_a_run(store: ObjectStore, tmp_path: Path) -> None:
    push(store, small_run(tmp_path / "results"))
    elsewhere = tmp_path / "elsewhere"
    pid = os.fork()
    if pid == 0:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (500, 500))
        try:
            pull(store, elsewhere)
        except BadInput as error:
            os._exit(17 if "cannot be written (File too large). Free disk space" in str(error) else 18)
        os._exit(19)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 17
    assert contents(elsewhere) == {}
    assert [each.state for each in pull(store, elsewhere)] == [PullState.PULLED]


def test_two_heads_of_one_run_are_a_problem_and_neither_is_pulled(
    store: ObjectStore, pushed: RunFolder, tmp_path: Path
) -> None:
    other = open_store(parse_place(str(tmp_path / "other")))
    push(other, edit_head(pushed, seeds={"seed": 7}))
    (head,) = listed_heads(other)
    store.create(head.key, other.read(head.key))
    (outcome,) = pull(store, tmp_path / "elsewhere")
    assert "the archive has two different run.json of this run" in str(outcome.error)
    assert "two different run.json of this run" in str(verify_archive(store).problems[0])


class Meanwhile(FolderStore):
    """A store in which something happens once, just before a method is called with a kind of key."""

    def __init__(self, root: Path, method: str, start: str, happens: Callable[[FolderStore], object]) -> None:
        super().__init__(root)
        self._method, self._start, self._happens = method, start, happens

    def _at(self, method: str, key: str) -> None:
        if method == self._method and key.startswith(self._start):
            self._method = ""
            self._happens(FolderStore(self.root))

    def create(self, key: str, content: bytes | Path, headers: Headers = Headers()) -> bool:  # noqa: B008
        self._at("create", key)
        return super().create(key, content, headers)

    def download(self, key: str, path: Path) -> None:
        self._at("download", key)
        super().download(key, path)


def test_rows_that_were_pruned_just_before_the_head_protects_them_are_sent_again(tmp_path: Path) -> None:
    first, second = (small_run(tmp_path / "results", day=day) for day in (1, 2))
    shared = row_key(first.run.files["grades.jsonl"].digest)
    store = Meanwhile(tmp_path / "archive", "create", "runs/", lambda inner: inner.delete(shared))
    push(FolderStore(tmp_path / "archive"), first)
    (outcome,) = push(store, second)
    assert (outcome.state, store.info(shared) is not None) == (PushState.PUSHED, True)


def test_a_head_that_another_machine_pushed_meanwhile_is_noticed(tmp_path: Path) -> None:
    run = small_run(tmp_path / "results")
    other = edit_head(small_run(tmp_path / "elsewhere"), seeds={"seed": 7})
    store = Meanwhile(tmp_path / "archive", "create", "runs/", lambda inner: push(inner, other))
    (outcome,) = push(store, run)
    assert outcome.state is PushState.REFUSED and other.digest in str(outcome.error)


def test_a_run_that_another_pull_brought_meanwhile_is_here(tmp_path: Path) -> None:
    push(FolderStore(tmp_path / "archive"), small_run(tmp_path / "results"))
    store = Meanwhile(tmp_path / "archive", "download", "rows/", lambda inner: pull(inner, tmp_path / "elsewhere"))
    assert [each.state for each in pull(store, tmp_path / "elsewhere")] == [PullState.PRESENT]


def test_rows_that_a_run_names_meanwhile_are_not_pruned(store: ObjectStore, tmp_path: Path) -> None:
    first, second = (small_run(tmp_path / "results", day=day) for day in (1, 2))
    push(store, first)
    (head,) = listed_heads(store)
    plan = PrunePlan(runs=[(head, "superseded")], rows=list(store.list("rows/")))
    push(store, second)
    prune(store, plan)
    assert [each.run_id for each in listed_heads(store)] == [second.run.run_id]
    assert verify_archive(store).problems == []
