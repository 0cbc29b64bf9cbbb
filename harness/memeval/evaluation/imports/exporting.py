"""Export of a run: all files are written, or none."""

import tempfile
from pathlib import Path

from memeval.archive.runs import RunFolder
from memeval.benchmarks.exchange_format import ExchangeFormat
from memeval.benchmarks.session import BenchmarkSession, session_of_run
from memeval.evaluation.withhold.decoding import decoded_run
from memeval.exchange.formats import write_run
from memeval.records.errors import BadInput
from memeval.storage import writable


def export_run(
    run: RunFolder, form: ExchangeFormat, to: Path, data: Path | None = None, *, force: bool = False
) -> tuple[Path, ...]:
    """Write a run in a format.

    The files are written to a temporary folder and moved when all are complete. ``to``: the file, or the folder if the
    format has several files. Some formats add files next to it. ``data``: a local copy of the benchmark's data;
    ``None`` for the stored or generated one. Returns the new files; first the one at ``to`` or the first one below it.
    Raises ``BadInput`` if the format does not support the run, its data is not available, or a file exists.
    """
    name = run.run.track.benchmark
    if form.benchmarks and name not in form.benchmarks:
        raise BadInput(
            f"format '{form.name}' does not support {name}.", remedy=f"It supports {', '.join(form.benchmarks)}."
        )
    benchmark_session: BenchmarkSession | None
    try:
        benchmark_session = session_of_run(run.run, data)
    except BadInput:
        if data is not None:
            raise
        benchmark_session = None  # no stored data is available
    whole = run if benchmark_session is None else decoded_run(run, benchmark_session)
    to = to.absolute()
    with writable(to, "Choose another --to."):
        to.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".memeval-", dir=to.parent) as temporary:
            written = write_run(form, whole, benchmark_session, Path(temporary) / to.name)
            targets = {path: to.parent / path.relative_to(temporary) for path in written}
            for target in targets.values():
                if target.is_dir():
                    raise BadInput("this is a folder.", where=target, remedy="Name a file with --to.")
                if target.exists() and not force:
                    remedy = "Choose another --to, or replace it with --force."
                    raise BadInput("the file already exists.", where=target, remedy=remedy)
            for path, target in targets.items():
                target.parent.mkdir(parents=True, exist_ok=True)
                path.replace(target)
    return tuple(targets.values())
