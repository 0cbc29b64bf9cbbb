"""A thousand made runs in the archive, each step beside the bare work that no archive can do without."""

from __future__ import annotations

import gzip
import hashlib
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from bench.measure import PYTHON, Cost, Ratio, cost_of, in_turn, ratio
from memeval.archive.runs import RunFolder

RUNS, IN_BUCKET = 1000, 100
"""Runs in the folder, and runs in the bucket of moto's server, which takes most of the time there."""

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "results" / "astrocyte-basic" / "bm25s"
"""The stored run that the made ones are copied from."""


def measure(scratch: Path) -> list[Ratio]:
    """Measure on made runs, which go with the scratch folder."""
    from tests.support.made_history import made_history

    results, store = scratch / "results", scratch / "archive"
    made_history(results, RunFolder(sorted(SOURCE.iterdir())[-1]), RUNS, own_rows=True)
    files = [path for path in results.rglob("*") if path.is_file()]
    size = sum(path.stat().st_size for path in files) / 1e6
    what = f"{RUNS:,} made runs, {len(files):,} files, {size:.0f} MB"
    memeval = [PYTHON, "-m", "memeval", "archive"]

    def pushed() -> Cost:
        shutil.rmtree(store, ignore_errors=True)
        return cost_of([*memeval, "push", "--all", "--to", str(store)], scratch)

    def pulled() -> Cost:
        shutil.rmtree(scratch / "pulled", ignore_errors=True)
        return cost_of([*memeval, "pull", "--all", "--from", str(store), "--results", "pulled/results"], scratch)

    bare = partial(_bare, scratch, results)
    found = [
        ratio(
            f"{what}: pushed into a folder, digests checked",
            in_turn(pushed, partial(bare, "copied"), 1),
            target=4.0,
            peak_target_mb=250,
            reference="each file digested and copied once, with fsync",
        ),
        ratio(
            f"the same archive: index rebuilt ({(store / 'index.jsonl.gz').stat().st_size / 1e6:.1f} MB)",
            in_turn(partial(_bare, scratch, store, "indexed"), partial(bare, "parsed"), 1),
            target=4.0,
            peak_target_mb=250,
            reference="every run.json read and parsed by memeval, once",
        ),
        ratio(
            "the same archive: listed",
            in_turn(partial(cost_of, [*memeval, "list", "--from", str(store)], scratch), partial(bare, "parsed"), 1),
            target=2.5,
            peak_target_mb=250,
            reference="every run.json read and parsed by memeval, once",
        ),
        ratio(
            "the same archive: pulled, digests checked",
            in_turn(pulled, partial(bare, "copied"), 1),
            target=4.0,
            peak_target_mb=250,
            reference="each file digested and copied once, with fsync",
        ),
    ]
    return [*found, _in_bucket(scratch)]


def _in_bucket(scratch: Path) -> Ratio:
    """Measure a push into a bucket of moto's server, in this process's thread."""
    from tests.support.bucket_server import BUCKET, bucket_server
    from tests.support.made_history import made_history

    results = scratch / "few" / "results"
    made_history(results, RunFolder(sorted(SOURCE.iterdir())[-1]), IN_BUCKET, own_rows=True)
    with bucket_server() as bucket:
        count = iter(range(100))
        variables = {**bucket.environment, "MEMEVAL_BENCH_ENDPOINT": bucket.endpoint}

        def pushed() -> Cost:
            place = f"s3://{BUCKET}/ours-{next(count)}"
            return cost_of(
                [PYTHON, "-m", "memeval", "archive", "push", "--all", "--to", place], results.parent, variables
            )

        def put() -> Cost:
            return _bare(scratch, results, "put", {**variables, "MEMEVAL_BENCH_PREFIX": f"bare-{next(count)}"})

        return ratio(
            f"{IN_BUCKET} made runs pushed into a bucket of moto's server on this machine",
            in_turn(pushed, put, 1),
            target=3.0,
            peak_target_mb=250,
            reference="boto3 puts every file, one after the other",
        )


def _bare(scratch: Path, folder: Path, way: str, more: Mapping[str, str] | None = None) -> Cost:
    """Run one of the functions below in a process of its own."""
    return cost_of(
        [PYTHON, "-m", "bench.archive", way, str(folder)], scratch, {"PYTHONPATH": str(ROOT), **(more or {})}
    )


def copied(folder: Path) -> None:
    """Digest every file, and copy it into another folder with an fsync."""
    with tempfile.TemporaryDirectory(dir=folder.parent) as other:
        for number, path in enumerate(path for path in folder.rglob("*") if path.is_file()):
            content = path.read_bytes()
            hashlib.sha256(gzip.decompress(content) if path.suffix == ".gz" else content).hexdigest()
            with Path(other, str(number)).open("wb") as stream:
                stream.write(content)
                stream.flush()
                os.fsync(stream.fileno())


def parsed(folder: Path) -> None:
    """Parse every ``run.json``."""
    from memeval.records.run import Run

    for path in folder.rglob("run.json"):
        Run.parse(path.read_bytes(), path)


def indexed(folder: Path) -> None:
    """Write the index of an archive from its runs alone."""
    from memeval.archive.remote.index import refresh_index
    from memeval.archive.remote.layout import INDEX
    from memeval.objects import open_store, parse_place

    (folder / INDEX).unlink()
    refresh_index(open_store(parse_place(str(folder))))


def put(folder: Path) -> None:
    """Send every file to a bucket."""
    import boto3

    client = boto3.client(
        "s3",
        endpoint_url=os.environ["MEMEVAL_BENCH_ENDPOINT"],
        region_name="us-east-1",
        aws_access_key_id=os.environ["MEMEVAL_S3_KEY"],
        aws_secret_access_key=os.environ["MEMEVAL_S3_SECRET"],
    )
    for path in folder.rglob("*"):
        if path.is_file():
            key = f"{os.environ['MEMEVAL_BENCH_PREFIX']}/{path.relative_to(folder)}"
            client.put_object(Bucket="memeval-test", Key=key, Body=path.read_bytes())


WAYS: Mapping[str, Callable[[Path], None]] = {each.__name__: each for each in (copied, parsed, indexed, put)}

if __name__ == "__main__":
    WAYS[sys.argv[1]](Path(sys.argv[2]))
