"""The keys of the archive.

======================================================  =====================================================
``rows/<2 digits>/<64 digits>.jsonl.gz``                rows, by the digest of their uncompressed bytes
``runs/<benchmark>/<slug>/<run_id>/<64 digits>.json``   ``run.json``, by its digest; written after all its rows
``releases/<version>.json``                             copies of frozen releases
``index.jsonl.gz``                                      copies of all ``run.json``; saves requests, decides nothing
======================================================  =====================================================
"""

import re
from dataclasses import dataclass

from memeval.archive.runs import ROW_FILES
from memeval.records.base import SLUG, Digest
from memeval.records.errors import BadInput
from memeval.records.run import Run

ROWS, RUNS, RELEASES, INDEX = "rows/", "runs/", "releases/", "index.jsonl.gz"

RUN_ID = re.compile(r"[0-9]{8}T[0-9]{6}Z?-[0-9a-f]{8}")
_RUN = re.compile(rf"({SLUG.pattern})/({SLUG.pattern})/({RUN_ID.pattern})")
_HEAD = re.compile(rf"{RUNS}(?P<run>[^/]+/[^/]+/[^/]+)/(?P<hex>[0-9a-f]{{64}})\.json")
_ROW = re.compile(rf"{ROWS}(?P<start>[0-9a-f]{{2}})/(?P<hex>[0-9a-f]{{64}})\.jsonl\.gz")
_RELEASE = re.compile(rf"{RELEASES}(?P<version>[0-9A-Za-z][0-9A-Za-z._-]*)\.json")


@dataclass(frozen=True, order=True)
class HeadKey:
    benchmark: str
    slug: str
    run_id: str
    digest: Digest

    @property
    def run(self) -> str:
        return f"{self.benchmark}/{self.slug}/{self.run_id}"

    @property
    def prefix(self) -> str:
        return f"{RUNS}{self.run}/"

    @property
    def key(self) -> str:
        return f"{self.prefix}{_hex(self.digest)}.json"

    @property
    def day(self) -> str:
        return f"{self.run_id[:4]}-{self.run_id[4:6]}-{self.run_id[6:8]}"


def is_run(path: str) -> bool:
    """Return whether a path has the form benchmark/system/run id, and so leads nowhere else."""
    return _RUN.fullmatch(path) is not None


def head_key(run: Run, digest: Digest, where: object) -> HeadKey:
    benchmark = run.track.benchmark.partition("@")[0]
    key = HeadKey(benchmark, run.system.slug, run.run_id, digest)
    if not is_run(key.run):
        raise BadInput(f"{key.run!r} is not the name of a run.", where=where, remedy="Restore the file.")
    for name in run.files:
        if name not in ROW_FILES:
            raise BadInput(f"lists an unknown file {name!r}.", where=where, remedy="Restore the file.")
    return key


def parse_head_key(key: str) -> HeadKey | None:
    found = _HEAD.fullmatch(key)
    if found is None or not is_run(found["run"]):
        return None
    benchmark, slug, run_id = found["run"].split("/")
    return HeadKey(benchmark, slug, run_id, f"sha256:{found['hex']}")


def row_key(digest: Digest) -> str:
    digits = _hex(digest)
    return f"{ROWS}{digits[:2]}/{digits}.jsonl.gz"


def parse_row_key(key: str) -> Digest | None:
    found = _ROW.fullmatch(key)
    return f"sha256:{found['hex']}" if found and found["hex"].startswith(found["start"]) else None


def release_key(version: str) -> str:
    key = f"{RELEASES}{version}.json"
    if parse_release_key(key) is None:
        raise BadInput(f"{version!r} is not a version.", remedy="Use letters, digits, dots, dashes and underscores.")
    return key


def parse_release_key(key: str) -> str | None:
    found = _RELEASE.fullmatch(key)
    return found["version"] if found else None


def _hex(digest: Digest) -> str:
    return digest.removeprefix("sha256:")
