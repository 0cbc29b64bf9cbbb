"""Writing a run in someone else's format: all files of it, or none."""

from __future__ import annotations

import tempfile
from pathlib import Path

from memeval.archive.runs import RunFolder
from memeval.evaluation.exchange.formats import ExchangeFormat
from memeval.evaluation.plan import BenchmarkSession
from memeval.evaluation.reproduction import session_of_run
from memeval.records.errors import BadInput


def export_run(
    run: RunFolder, form: ExchangeFormat, to: Path, data: Path | None = None, *, force: bool = False
) -> tuple[Path, ...]:
    """Write a run in a format.

    Everything is written apart and takes its place at the end, so that a place is as it was until all is there.

    Args:
        run: the run.
        form: the format.
        to: the file, or the folder where the format is one of many files; some formats write further files beside it.
        data: a local copy of the benchmark's data; ``None`` for the copy memeval keeps, or generates.
        force: whether files that are in the way are replaced.

    Returns:
        The files, the one named ``to`` or the first below it at the front.

    Raises:
        BadInput: the format cannot hold this run, the data it needs is not here, or a file is in the way.
    """
    name = run.run.track.benchmark
    if form.benchmarks and name not in form.benchmarks:
        raise BadInput(f"'{form.name}' holds no runs of {name}.", remedy=f"It is of {', '.join(form.benchmarks)}.")
    benchmark_session = _benchmark_session(run, data)
    to = to.absolute()
    try:
        to.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".memeval-", dir=to.parent) as apart:
            written = form.write(run, benchmark_session, Path(apart) / to.name)
            places = {path: to.parent / path.relative_to(apart) for path in written}
            for place in places.values():
                _make_way(place, force)
            for path, place in places.items():
                place.parent.mkdir(parents=True, exist_ok=True)
                path.replace(place)
    except OSError as error:
        raise BadInput(
            f"cannot be written ({error.strerror or error}).", where=to, remedy="Name another --to."
        ) from None
    return tuple(places.values())


def _benchmark_session(run: RunFolder, data: Path | None) -> BenchmarkSession | None:
    """Open the data of a run; ``None`` where nobody named any and none is at hand."""
    try:
        return session_of_run(run.run, data)
    except BadInput:
        if data is not None:
            raise
        return None


def _make_way(place: Path, force: bool) -> None:
    if place.is_dir():
        raise BadInput("this is a folder.", where=place, remedy="Name a file with --to.")
    if place.exists() and not force:
        raise BadInput(
            "the file is there already.", where=place, remedy="Name another --to, or replace it with --force."
        )
