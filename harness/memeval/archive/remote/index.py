"""Reads archived runs. The listing decides what is there; the index only saves a request for each run."""

import gzip
import io
import random
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from memeval.archive.remote.layout import INDEX, RUNS, HeadKey, head_key, parse_head_key
from memeval.archive.rows import LONGEST_LINE
from memeval.objects import Headers, ObjectStore
from memeval.objects.base import in_threads
from memeval.records.base import digest_bytes
from memeval.records.errors import BadInput
from memeval.records.journal import ArchivedHead
from memeval.records.run import Run

GZIP = Headers("application/gzip")

READ_SINGLY = 8
"""Up to this many runs are read without the index."""

_TRIES = 8
_WAIT_SECONDS = 0.25
"""Longest wait before the second try to write the index; it grows with each try."""


@dataclass(frozen=True)
class ArchivedRun:
    key: HeadKey
    content: bytes
    where: str

    @cached_property
    def run(self) -> Run:
        return Run.parse(self.content, self.where)


def listed_heads(store: ObjectStore) -> list[HeadKey]:
    return [key for each in store.list(RUNS) if (key := parse_head_key(each.key)) is not None]


def archived_runs(
    store: ObjectStore, wanted: Iterable[HeadKey], *, by_index: bool = True
) -> Iterator[ArchivedRun | BadInput]:
    """Yield the runs with these names, in their order, each checked; for a damaged run, what is wrong with it.

    ``by_index``: whether the index may save requests; a verification reads the objects themselves. Raises BadStore: the
    archive does not answer.
    """
    keys = list(wanted)
    known = _read(store)[0] if by_index and len(keys) > READ_SINGLY else {}
    yield from in_threads(lambda key: _checked(store, key, known.get(key.key)), keys)


def _checked(store: ObjectStore, key: HeadKey, content: bytes | None) -> ArchivedRun | BadInput:
    where = f"{store.url}/{key.key}"
    if content is None:
        try:
            content = store.read(key.key)
        except KeyError:
            return BadInput("was deleted meanwhile.", where=where)
        if digest_bytes(content) != key.digest:
            return BadInput("does not match the digest in its name.", where=where, remedy=REPLACE)
    found = ArchivedRun(key, content, where)
    try:
        named = head_key(found.run, key.digest, where)
    except BadInput as error:
        return error
    if named != key:
        return BadInput(f"holds run {named.run}, which is not the run in its name.", where=where, remedy=REPLACE)
    return found


REPLACE = "Delete the object, then push the run again from a machine that has it."


def refresh_index(store: ObjectStore) -> None:
    """Write the index again, unless it holds all runs. If other writers are always faster, it stays as it is.

    Raises BadStore: the archive does not answer.
    """
    for attempt in range(_TRIES):
        state = store.info(INDEX)
        known, former = _read(store) if state is not None else ({}, b"")
        keys = [key.key for key in listed_heads(store)]
        if list(known) == keys:
            return
        missing = (parse_head_key(key) for key in keys if key not in known)
        read = in_threads(lambda key: _checked(store, key, None), [key for key in missing if key is not None])
        known |= {each.key.key: each.content for each in read if isinstance(each, ArchivedRun)}
        content = _packed({key: known[key] for key in keys if key in known})
        if content == former:
            return
        seen = None if state is None else state.etag
        if store.create(INDEX, content, GZIP) if seen is None else store.replace(INDEX, content, GZIP, seen=seen):
            return
        time.sleep(random.uniform(0, _WAIT_SECONDS * (attempt + 1)))  # noqa: S311 (spreads writers, nothing secret)


def _packed(heads: Mapping[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", mtime=0, filename="", compresslevel=6) as stream:
        for key, content in heads.items():
            stream.write((ArchivedHead(key=key, head=content.decode()).to_json() + "\n").encode())
    return packed.getvalue()


def _read(store: ObjectStore) -> tuple[dict[str, bytes], bytes]:
    """Return the heads in the index by their keys, and its bytes. Lines that are damaged are left out."""
    try:
        content = store.read(INDEX)
    except KeyError:
        return {}, b""
    heads: dict[str, bytes] = {}
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as stream:
            lines = iter(lambda: stream.readline(LONGEST_LINE), b"")
            for number, line in enumerate(lines, start=1):
                if (found := _line(line, f"{store.url}/{INDEX}:{number}")) is not None:
                    heads[found[0]] = found[1]
    except (OSError, EOFError, zlib.error):
        pass  # what was read until here is checked
    return heads, content


def _line(line: bytes, where: str) -> tuple[str, bytes] | None:
    try:
        entry = ArchivedHead.parse(line, where)
    except BadInput:
        return None
    key, content = parse_head_key(entry.key), entry.head.encode("utf-8", "replace")
    return (entry.key, content) if key is not None and digest_bytes(content) == key.digest else None
