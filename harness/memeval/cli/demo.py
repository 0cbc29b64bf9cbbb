"""``make demo``: runs the controls and the light systems on the built-in benchmark, and builds the site."""

from __future__ import annotations

import shutil
import sys
import time
from itertools import product
from pathlib import Path

from memeval.archive.ledger import Ledger
from memeval.archive.runs import RunFolder, sealed_runs
from memeval.records.base import digest_bytes
from memeval.records.errors import BadInput, CheckFailed, MemevalError
from memeval.records.ledger import LedgerEvent

STORED = Path("results")
"""The stored board of this checkout."""
RESULTS = Path("build/results")
"""The demo's own runs."""
BOARD = Path("build/board")
"""Both together, made anew by each demo."""
SITE = Path("build/site")

NEXT_STEPS = (
    ("make serve", "shows the board at http://127.0.0.1:8000/"),
    (". .venv/bin/activate", "puts memeval on your PATH; it is installed as .venv/bin/memeval"),
    ("memeval submit new", "creates a submission to replace with your own system"),
)


def run_all(results: Path, benchmarks: list[str], light_only: bool) -> list[RunFolder]:
    """Run the controls, with each of their readers, and the submissions that need no key.

    Args:
        results: folder for the runs.
        benchmarks: ids of the benchmarks.
        light_only: skip submissions that are not marked ``light``.
    """
    from memeval import api
    from memeval.execution.progress import Bar
    from memeval.systems.controls import CONTROLS
    from memeval.systems.source import MANIFEST, SUBMISSIONS, find_system, folder_source

    found = [folder_source(manifest.parent) for manifest in sorted(SUBMISSIONS.glob(f"*/{MANIFEST}"))]
    sources = [
        source
        for source in found
        if not (source.submission and (source.submission.declared_models or source.submission.hosts))
    ]
    systems: list[tuple[str, str | None]] = [
        *((slug, reader) for slug, control in CONTROLS.items() for reader in control.readers),
        *((source.slug, None) for source in sources if source.light or not light_only),
    ]
    folders: list[RunFolder] = []
    with Bar() as progress:
        for number, (benchmark, (slug, reader)) in enumerate(product(benchmarks, systems), 1):
            progress.note(f"{number}/{len(benchmarks) * len(systems)} {slug} on {benchmark}")
            options = api.RunOptions(results=results, reader=reader)
            try:
                folders += api.run(find_system(slug), benchmark, options=options, progress=progress)
            except BadInput as refusal:
                if light_only:
                    raise
                progress.note(f"{slug} skipped: {refusal}")  # such as a program that is not on this machine
    return folders


def verify_and_record(results: Path, folders: list[RunFolder], by: str) -> None:
    """Verify runs, grade them again, and record in the ledger that the grades are equal, once a run.

    Raises:
        CheckFailed: a run does not verify or reproduce.
    """
    from memeval import api
    from memeval.evaluation.provenance import memeval_version
    from memeval.evaluation.verification import verify_run

    ledger = Ledger(results)
    known = {(entry.run_id, entry.run_digest) for entry in ledger.entries() if entry.deed is LedgerEvent.REPRODUCED}
    for folder in folders:
        if (folder.run.run_id, folder.digest) in known:
            continue
        findings = verify_run(folder) or list(api.reproduce(folder).findings)
        if findings:
            raise CheckFailed(str(findings[0]))
        reason = f"{folder.run.coverage.done} grades equal, by memeval {memeval_version()}"
        ledger.append(LedgerEvent.REPRODUCED, folder, by=by, reason=reason)


def assemble(stored: Path, own: Path, board: Path) -> None:
    """Put stored runs and the demo's own runs side by side into a new results folder.

    Files are linked, not copied, where the disk allows it. The ledger is the stored one, followed by the demo's own
    entries.

    Args:
        stored: the stored results; may be missing.
        own: the demo's results.
        board: the folder to make; one from an earlier demo is replaced.
    """
    shutil.rmtree(board, ignore_errors=True)
    ledger = b""
    for source in (stored, own):
        if source.is_dir():
            names = shutil.ignore_patterns("ledger.jsonl", ".*", "journal")
            shutil.copytree(source, board, copy_function=_link, ignore=names, dirs_exist_ok=True)
    if (stored / "ledger.jsonl").is_file():
        ledger = (stored / "ledger.jsonl").read_bytes()
    for entry in Ledger(own).entries():
        last = ledger.splitlines()[-1:]
        chained = entry.model_copy(update={"previous": digest_bytes(last[0]) if last else None})
        ledger += chained.to_json().encode() + b"\n"
    (board / "ledger.jsonl").write_bytes(ledger)


def _link(source: str, target: str) -> None:
    try:
        Path(target).hardlink_to(source)
    except OSError:  # another file system, or a run that is in both folders
        shutil.copyfile(source, target)


def demo(every: bool = False) -> None:
    """Run and check everything that needs no key, and build the site from it and the stored runs.

    Args:
        every: run on all benchmarks whose data is on this machine, not on the built-in one alone.
    """
    from memeval.benchmarks import all_benchmarks
    from memeval.site import build

    began = time.monotonic()
    whole = [b for b in all_benchmarks() if not (b.info.by_name_only or b.info.brought)]
    benchmarks = [b.info.id for b in whole if b.available()] if every else ["beliefs@1"]
    folders = run_all(RESULTS, benchmarks, light_only=not every)
    print("Checking the runs and building the site", file=sys.stderr)
    verify_and_record(RESULTS, folders, by="make demo")
    assemble(STORED, RESULTS, BOARD)
    build(BOARD, SITE)
    stored = len(sealed_runs(BOARD)) - len(folders)
    print(f"\n{len(folders)} runs on {', '.join(benchmarks)}, verified, in {time.monotonic() - began:.0f} s.")
    print(f"The board is in {SITE}: these runs, beside {stored} stored ones. Next steps:")
    for command, what in NEXT_STEPS:
        print(f"  {command:24}# {what}")


if __name__ == "__main__":
    try:
        demo("--all" in sys.argv[1:])
    except MemevalError as refusal:
        print(f"memeval: {refusal}", file=sys.stderr)
        sys.exit(refusal.exit_code)
    except KeyboardInterrupt:
        print("memeval: interrupted. Progress saved. Run 'make demo' again to resume.", file=sys.stderr)
        sys.exit(130)
