"""``make demo``: runs some controls and the light systems on the built-in quick tier, and builds the site."""

from __future__ import annotations

import gc
import shutil
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from memeval.archive.ledger import Ledger
from memeval.archive.runs import RunFolder, sealed_runs
from memeval.cli.results import FILE, verify_and_record
from memeval.records.base import digest_bytes
from memeval.records.errors import BadInput, MemevalError

if TYPE_CHECKING:
    from memeval.evaluation.plan.executing import PlannedRun

TIER = "quick"
"""The tier of the built-in benchmark."""
CONTROLS = ("no-memory", "full-context", "recency-window", "bm25", "oracle", "always-hedge")
"""The controls it runs: floor, ceiling and simple baselines. The board shows the stored runs of the others."""
STORED = Path("results")
"""The stored board of this checkout."""
RESULTS = Path("build/results")
"""The runs of the demo."""
BOARD = Path("build/board")
"""Both together, rebuilt by each demo."""
BESIDE_RUNS = ("audits", "conformance")
"""Folders of stored results that say something about a board or its systems, and are quickly shown."""
SITE = Path("build/site")

NEXT_STEPS = (
    ("make serve", "shows the board at http://127.0.0.1:8000/"),
    (". .venv/bin/activate", "puts memeval on your PATH; it is installed as .venv/bin/memeval"),
    ("memeval submit new", "creates a submission to replace with your own system"),
)


def quick_runs() -> list[PlannedRun]:
    """Return the runs of some controls and the light systems on the quick tier, without models."""
    from memeval.benchmarks import quick_benchmark
    from memeval.evaluation.plan.reading import planned_runs
    from memeval.local import is_local

    benchmark = quick_benchmark().info.id
    runs = [run for run in planned_runs(FILE) if (run.benchmark, run.tier) == (benchmark, TIER)]
    offline = [run for run in runs if not is_local(run.reader or "")]
    sources = [(run, run.system) for run in offline if not isinstance(run.system, str)]
    return [run for run, source in sources if (source.slug in CONTROLS if source.control else source.light)]


def all_runs() -> list[PlannedRun]:
    """Return the runs of every system that needs no key, with each of its readers, on every benchmark that is here."""
    from memeval.cli.evaluations import plan_of
    from memeval.evaluation.plan.executing import runnable
    from memeval.options import RunOptions

    return plan_of("controls, all", runnable(), RunOptions())


def run_all(results: Path, runs: Sequence[PlannedRun]) -> list[RunFolder]:
    """Make runs. One that cannot be made, such as for a missing program, is skipped with a message.

    Raises ``MemevalError`` if a run failed otherwise.
    """
    from memeval.evaluation.plan.executing import run_plan
    from memeval.execution.progress import Bar
    from memeval.options import RunOptions

    folders: list[RunFolder] = []
    with Bar() as progress:
        for outcome in run_plan(runs, RunOptions(results=results), progress):
            if outcome.error is not None and not isinstance(outcome.error, BadInput):
                raise outcome.error
            folders += outcome.folders
    return folders


def assemble(stored: Path, own: Path, board: Path, tracks: set[str]) -> None:
    """Merge the stored runs of some boards and the runs of the demo into a new results folder.

    Files are linked, or copied if the disk supports no links. The ledger has the entries of both about these runs.
    """
    shutil.rmtree(board, ignore_errors=True)
    for source in (stored, own):
        folders = [run.path for run in sealed_runs(source) if run.run.track_id in tracks]
        for folder in [*folders, *(source / name for name in BESIDE_RUNS if (source / name).is_dir())]:
            shutil.copytree(
                folder,
                board / folder.relative_to(source),
                copy_function=_link,
                ignore=shutil.ignore_patterns(".*", "journal"),
                dirs_exist_ok=True,
            )
    present = {run.run.run_id for run in sealed_runs(board)}
    ledger = b""
    previous = None
    for entry in [*Ledger(stored).entries(), *Ledger(own).entries()]:
        if entry.run_id in present and entry.other_run_id in {None, *present}:
            # A line signs the one before it, so the lines of the stored ledger lose their signatures here.
            line = entry.model_copy(update={"previous": previous, "signature": None}).to_json().encode()
            ledger += line + b"\n"
            previous = digest_bytes(line)
    (board / "ledger.jsonl").write_bytes(ledger)


def _link(source: str, target: str) -> None:
    try:
        Path(target).hardlink_to(source)
    except OSError:  # another file system, or a run that is in both folders
        shutil.copyfile(source, target)


def demo(every: bool = False) -> None:
    """Run and check every system that needs no key, and build the site with the stored runs.

    ``every``: run on all benchmarks whose data is on this machine, not only on the built-in one.
    """
    from memeval.evaluation.verify.many_runs import processes
    from memeval.site import build

    began = time.monotonic()
    folders = run_all(RESULTS, all_runs() if every else quick_runs())
    print("Checking the runs and building the site", file=sys.stderr)
    verify_and_record(RESULTS, folders, by="make demo")
    assemble(STORED, RESULTS, BOARD, {run.run.track_id for run in folders})
    runs = len(sealed_runs(BOARD))
    build(BOARD, SITE, jobs=processes(None, runs))
    names = ", ".join(dict.fromkeys(run.run.track.benchmark for run in folders))
    print(f"\n{len(folders)} runs on {names}, verified, in {time.monotonic() - began:.0f} s.")
    print(f"The board is in {SITE}: these runs and the {runs - len(folders)} stored ones of the same tables.")
    if every_stored := len(sealed_runs(STORED)):
        print(f"To build it of all {every_stored} stored runs, in minutes: .venv/bin/memeval site build")
    print("Next steps:")
    for command, purpose in NEXT_STEPS:
        print(f"  {command:24}# {purpose}")


if __name__ == "__main__":
    gc.set_threshold(300_000, 20, 100)  # as the command line sets it
    try:
        demo("--all" in sys.argv[1:])
    except MemevalError as error:
        print(f"memeval: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        print("memeval: interrupted. Progress saved. Run 'make demo' again to resume.", file=sys.stderr)
        sys.exit(130)
