"""``memeval site`` and ``memeval publish``: build the site, and publish releases."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memeval.cli.archive import fetch_for
from memeval.cli.ledger import warn_of_incomplete_line
from memeval.cli.shared import (
    DEFAULT_RESULTS,
    Jobs,
    OldTo,
    Results,
    SignersFile,
    SignWith,
    counted,
    print_json,
    renamed,
    visible,
)
from memeval.records.errors import BadInput, CheckFailed

if TYPE_CHECKING:
    from memeval.evaluation.verify.findings import Check

site = typer.Typer(help="Build or serve the site.", no_args_is_help=True)

DEFAULT_SITE = Path("build/site")

SHOWN = 10
"""Maximum number of printed problems per check."""


@site.command("build")
def build_site(
    results: Results = DEFAULT_RESULTS,
    to: Annotated[Path, typer.Option("--to", help="Folder of the built site.")] = DEFAULT_SITE,
    out: OldTo = None,
    jobs: Jobs = None,
    require_rows: Annotated[
        bool, typer.Option("--require-rows", help="Exit with 1 if rows of a run are neither here nor in the archive.")
    ] = False,
) -> None:
    """Build the site from stored runs.

    Example: memeval site build
    """
    warn_of_incomplete_line(results)
    from memeval.archive.runs import RunFolder, sealed_runs
    from memeval.evaluation.verify.many_runs import processes
    from memeval.processes import without_garbage_collection
    from memeval.site import build

    to = renamed("--out", "--to", out, to)
    with without_garbage_collection(ends_here=True):
        runs = sealed_runs(results)
        fetch_for(runs)
        lacking = [each for each in runs if not RunFolder(each.path).has_rows] if require_rows else []
        if lacking:
            raise CheckFailed(
                f"rows of {len(lacking)} of {len(runs)} runs are missing.",
                where=lacking[0].path,
                remedy="Name the archive, with its credentials, or restore the rows.",
            )
        build(results, to, jobs=processes(jobs, len(runs)), sealed=runs)
    print(to)


@site.command("serve")
def serve(
    folder: Annotated[Path, typer.Option("--site", help="A built site.")] = DEFAULT_SITE,
    port: Annotated[int, typer.Option("--port", help="Port on 127.0.0.1.")] = 8000,
) -> None:
    """Serve a built site on this machine only.

    Example: memeval site serve
    """
    from functools import partial
    from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

    if not (folder / "index.html").is_file():
        raise BadInput("no site here.", where=folder, remedy="Build one: memeval site build.")
    try:
        server = ThreadingHTTPServer(("127.0.0.1", port), partial(SimpleHTTPRequestHandler, directory=str(folder)))
    except OSError as error:
        raise BadInput(f"port {port} cannot be used ({error.strerror}).", remedy="Give another --port.") from None
    print(f"http://127.0.0.1:{server.server_port}/", flush=True)
    with server:
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print("stopped.", file=sys.stderr)


def publish(
    to: Annotated[
        str | None,
        typer.Option(
            "--to",
            metavar="TARGET",
            help="DIR, s3://BUCKET/PREFIX or git:BRANCH. Default: 'to' in section [publish] of memeval.toml.",
        ),
    ] = None,
    release: Annotated[
        str | None, typer.Option("--release", help="Version of the release. Default: today's date.")
    ] = None,
    results: Results = DEFAULT_RESULTS,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Verify, print the plan with files and bytes, and publish nothing.")
    ] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing. Compare every published file with its release.")
    ] = False,
    remote: Annotated[
        str | None, typer.Option("--remote", metavar="NAME", help="With git:BRANCH: the Git remote to push it to.")
    ] = None,
    by: Annotated[str | None, typer.Option("--by", help="Author of the entry in the ledger.")] = None,
    sign_with: SignWith = None,
    signers: SignersFile = None,
) -> None:
    """Verify all runs, and publish them as a release.

    Freezes the release, builds its site, publishes it next to earlier ones, and switches 'latest' as the last step. If
    it is interrupted, the old board stays as it was: run the same command again. Publishing the same state again
    changes nothing. Runs that are not accepted are named, and published with that mark.

    With --check, compares a published or downloaded copy with its releases, byte for byte. Without --release, checks
    all versions, 'versions.json' and 'latest'.

    Example: memeval publish --to public --release 2026.12
    """
    from memeval.site.release.targets import open_target

    target = open_target(results.absolute().parent, to, remote)
    if check:
        from memeval.archive.signatures import signers_of
        from memeval.site.release.checking import check_published

        report(check_published(target, results, signers_of(signers), release))
        return
    warn_of_incomplete_line(results)
    from memeval.archive.runs import sealed_runs
    from memeval.site.release.publish import publish as publish_site

    fetch_for(sealed_runs(results))
    for line in publish_site(results, target, version=release, dry_run=dry_run, key=sign_with, by=by):
        print(line, flush=True)


def report(checks: Sequence[Check], as_json: bool = False) -> None:
    """Print one line per check, and its first problems; as JSON, all problems.

    Raises ``CheckFailed`` if a check failed.
    """
    problems = sum(len(check.findings) for check in checks)
    if as_json:
        print_json(
            [{**vars(check), "status": check.status, "findings": list(map(vars, check.findings))} for check in checks]
        )
    for check in () if as_json else checks:
        count = len(check.findings)
        detail = counted(count, "problem") if count else check.not_checked
        print(visible(f"{check.name:12} {check.status}" + (f": {detail}" if detail else "")))
        for finding in check.findings[:SHOWN]:
            print(visible(f"  {finding}"))
        if count > SHOWN:
            print(f"  … and {counted(count - SHOWN, 'more problem')}.")
    sys.stdout.flush()
    if problems:
        raise CheckFailed(f"{counted(problems, 'problem')}.")
