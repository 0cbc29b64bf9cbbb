"""Where sources are described, and where regraded files are stored and checked."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from memeval.archive.rows import inner_digest, pack, read_rows
from memeval.claims.copies import Copies
from memeval.claims.figures import figures_of
from memeval.claims.regrading import Sessions, regrade
from memeval.claims.summaries import Regraded
from memeval.evaluation.verify.findings import Check, Finding
from memeval.records.errors import BadInput, NewerSchema
from memeval.records.regraded import RegradedFile, RegradedRow
from memeval.records.source import PublishedSource, SourceFile, with_defaults
from memeval.storage import listed, writable, write_whole
from memeval.toml import read_toml

SOURCES = Path("sources")

IMPORTED = "imported"
"""The folder of regraded files inside the results."""

LARGEST_SOURCE = 256_000

REMEDY = "Restore the file, or import the source again: memeval sources import."


def read_sources(folder: Path = SOURCES, names: Sequence[str] = ()) -> list[PublishedSource]:
    """Return the sources of a folder, by name.

    ``names``: only these; all if empty. Raises ``BadInput`` if the folder has no sources, a name is unknown, or a file
    is invalid.
    """
    paths = {path.stem: path for path in listed(folder, "*.toml")}
    if not paths:
        raise BadInput("there are no sources.", where=folder, remedy="Name their folder with --sources.")
    unknown = [name for name in names if name not in paths]
    if unknown:
        raise BadInput(f"there is no source '{unknown[0]}'.", where=folder, remedy=f"It has: {', '.join(paths)}.")
    return [_source(paths[name]) for name in names or sorted(paths)]


def _source(path: Path) -> PublishedSource:
    file = read_toml(path, LARGEST_SOURCE)
    source = replace(file, data=with_defaults(file.data)).record(PublishedSource)
    if problem := source.problem():
        raise BadInput(problem, where=path, remedy="Correct the source.")
    if source.name != path.stem:
        raise BadInput(f"has the name '{source.name}'.", where=path, remedy="Give file and source the same name.")
    return source


def summary_path(results: Path, source: str, file: str) -> Path:
    """Return where the summary of a regraded file is stored; its rows are beside it, with the suffix ``.jsonl.gz``."""
    return results / IMPORTED / source / f"{file}.json"


def write_regraded(results: Path, regraded: Regraded) -> Path:
    """Store a regraded file; an equal one stays as it is, and a damaged one is replaced.

    Returns the path of its summary. Raises ``BadInput`` if the folder cannot be written.
    """
    path = summary_path(results, regraded.summary.source, regraded.summary.file)
    if is_stored(results, regraded):
        return path
    packed, _digest = pack(regraded.rows)
    text = json.dumps(regraded.summary.data(), sort_keys=True, ensure_ascii=False, indent=1)
    with writable(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path.with_suffix(".jsonl.gz"), packed)
        write_whole(path, f"{text}\n".encode())
    return path


def is_stored(results: Path, regraded: Regraded) -> bool:
    """Return whether a regraded file is stored, its rows included, except for its day.

    Raises ``NewerSchema`` if a later memeval wrote the summary.
    """
    path = summary_path(results, regraded.summary.source, regraded.summary.file)
    try:
        return (
            path.is_file()
            and stored_equals(path, regraded)
            and inner_digest(path.with_suffix(".jsonl.gz")).digest == regraded.summary.rows_digest
        )
    except NewerSchema:
        raise
    except BadInput:
        return False


def stored_equals(path: Path, regraded: Regraded) -> bool:
    """Return whether a stored summary says the same, except for its day."""
    return regraded_at(path).comparable() == regraded.summary.comparable()


def file_name(file: RegradedFile) -> str:
    return f"{file.source}/{file.file}"


def stored_regraded(results: Path) -> list[RegradedFile]:
    """Return the stored summaries, by source and file. Raises ``BadInput`` if one is invalid."""
    return [regraded_at(path) for path in listed(results / IMPORTED, "*/*.json")]


def regraded_at(path: Path) -> RegradedFile:
    """Return a stored summary. Raises ``BadInput`` if it is invalid."""
    return RegradedFile.parse(path.read_bytes(), path)


def stored_rows(results: Path, summary: RegradedFile) -> list[RegradedRow]:
    """Return the rows of a regraded file. Raises ``BadInput`` if they are missing or invalid."""
    path = summary_path(results, summary.source, summary.file).with_suffix(".jsonl.gz")
    try:
        return list(read_rows(path, RegradedRow))
    except NewerSchema:
        raise
    except BadInput as error:
        raise BadInput(error.problem, where=error.where, remedy=REMEDY) from None


def check_regraded(results: Path, summary: RegradedFile) -> list[str]:
    """Return what does not agree between the rows of a regraded file and its summary, as sentences.

    Needs neither the published file nor the benchmark's data. Raises ``BadInput`` if the rows are missing or invalid.
    """
    rows = stored_rows(results, summary)
    problems = []
    _packed, digest = pack(rows)
    if digest.digest != summary.rows_digest:
        problems.append("the rows do not match their digest.")
    figures = figures_of(rows, summary.counts)
    problems += [
        f"'{name}' does not follow from the rows."
        for name, value in figures.data().items()
        if value != summary.figures.data()[name]
    ]
    if len(rows) != summary.counts.matched:
        problems.append(f"there are {len(rows)} rows, and the summary counts {summary.counts.matched}.")
    return problems


MAINTAINERS_WORD = "the published file, or the benchmark's data, is not here: its rows are the word of the maintainer"
"""Why the rows of a regraded file were not checked."""


def regraded_checks(
    results: Path, sources: Path = SOURCES, copies: Copies | None = None, sessions: Sessions | None = None
) -> Iterator[Check]:
    """Yield a check for each regraded file: its figures are counted again from its rows.

    The rows are compared with the published file where that is here. ``results``: a folder of results. One without
    regraded files gets no check. ``copies``: the published files; ``None`` for those that were pulled. ``sessions``:
    the benchmarks; ``None`` for those in memeval's data folder.
    """
    published, copies, sessions = _published(sources), copies or Copies(), sessions or Sessions()
    for path in listed(results / IMPORTED, "*/*.json"):
        not_checked = None
        try:
            summary = regraded_at(path)
            problems = check_regraded(results, summary)
            source, file = published.get((summary.source, summary.file), (None, None))
            if source is None or file is None or not all(copies.has(source, part) for part in file.parts):
                not_checked = MAINTAINERS_WORD
            elif not problems:
                problems = _compared(path, source, file, copies, sessions)
        except DataMissing:
            problems, not_checked = [], MAINTAINERS_WORD
        except BadInput as error:
            problems = [error.problem]
        yield Check("regraded", tuple(Finding(str(path), problem, REMEDY) for problem in problems), not_checked)


class DataMissing(Exception):
    """The data of the benchmark is not here."""


def _published(folder: Path) -> dict[tuple[str, str], tuple[PublishedSource, SourceFile]]:
    sources = read_sources(folder) if listed(folder, "*.toml") else []
    return {(source.name, file.name): (source, file) for source in sources for file in source.files}


def _compared(path: Path, source: PublishedSource, file: SourceFile, copies: Copies, sessions: Sessions) -> list[str]:
    """Return the problem of stored rows that the published file does not give."""
    if file.planned is None:
        try:
            sessions.session(file.benchmark, file.protocol, file.tier)
        except BadInput:
            raise DataMissing from None
    equal = stored_equals(path, regrade(source, file, copies, sessions))
    return [] if equal else ["is not what the published file gives."]
