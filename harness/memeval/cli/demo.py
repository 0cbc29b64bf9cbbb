"""``make demo``: the controls and the light systems through the built-in benchmark, and the site from what came out."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from memeval.archive.ledger import Ledger
from memeval.archive.runs import RunFolder
from memeval.records.errors import BadInput, CheckFailed, MemevalError
from memeval.records.ledger import Deed

RESULTS = Path("build/results")
SITE = Path("build/site")


def run_all(results: Path, benchmarks: list[str], light_only: bool) -> list[RunFolder]:
    """Run every control, under each reader it is made for, and the submissions that need no key, on some benchmarks.

    Args:
        results: folder the runs are stored under.
        benchmarks: ids of the benchmarks.
        light_only: leave out submissions that are not marked ``light``.
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
    for benchmark in benchmarks:
        for slug, reader in systems:
            options = api.RunOptions(results=results, reader=reader)
            began = time.monotonic()
            try:
                with Bar() as progress:
                    folders += api.run(find_system(slug), benchmark, options=options, progress=progress)
            except BadInput as refusal:
                if light_only:
                    raise
                print(f"{slug} left out: {refusal}", file=sys.stderr)  # a program it needs is not on this machine
                continue
            print(f"{folders[-1].path}  {time.monotonic() - began:.1f} s", file=sys.stderr)
    return folders


def witness(results: Path, folders: list[RunFolder], by: str) -> None:
    """Verify runs, grade them again, and put into the ledger that every byte was equal, once a run.

    Raises:
        CheckFailed: a run does not hold, or does not reproduce.
    """
    from memeval import api
    from memeval.evaluation.provenance import memeval_version
    from memeval.evaluation.verification import verify_run

    ledger = Ledger(results)
    known = {(entry.run_id, entry.run_digest) for entry in ledger.entries() if entry.deed is Deed.REPRODUCED}
    for folder in folders:
        if (folder.run.run_id, folder.digest) in known:
            continue
        findings = verify_run(folder) or list(api.reproduce(folder).findings)
        if findings:
            raise CheckFailed(str(findings[0]))
        reason = f"{folder.run.coverage.done} grades equal, by memeval {memeval_version()}"
        ledger.append(Deed.REPRODUCED, folder, by=by, reason=reason)


def demo(every: bool = False) -> None:
    """Run, check and show everything that needs no key; with ``every``, on all benchmarks whose data is here."""
    from memeval.benchmarks import all_benchmarks
    from memeval.site import build

    began = time.monotonic()
    whole = [b for b in all_benchmarks() if not (b.info.by_name_only or b.info.brought)]
    benchmarks = [b.info.id for b in whole if b.available()] if every else ["beliefs@1"]
    folders = run_all(RESULTS, benchmarks, light_only=not every)
    witness(RESULTS, folders, by="make demo")
    build(RESULTS, SITE)
    print(
        f"{len(folders)} runs on {', '.join(benchmarks)}, verified and reproduced, in {time.monotonic() - began:.0f} s."
    )
    print(f"The board is in {SITE}. Look at it with 'make serve', then open http://127.0.0.1:8000/")


if __name__ == "__main__":
    try:
        demo("--all" in sys.argv[1:])
    except MemevalError as refusal:
        print(f"memeval: {refusal}", file=sys.stderr)
        sys.exit(refusal.exit_code)
    except KeyboardInterrupt:
        print("memeval: interrupted; 'make demo' goes on from there.", file=sys.stderr)
        sys.exit(130)
