"""``memeval data``: benchmark data on this machine."""

from __future__ import annotations

import shutil
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from enum import Enum, auto
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memeval.cli.fields import command
from memeval.cli.shared import AsJson, Parameter, Tier, aligned, counted, megabytes, print_json
from memeval.records.errors import BadInput, CheckFailed, MemevalError
from memeval.storage import writable

if TYPE_CHECKING:
    from memeval.benchmarks.base import Benchmark
    from memeval.benchmarks.data import Licence
    from memeval.benchmarks.session import BenchmarkSession
    from memeval.download import Progress

app = typer.Typer(help="List, download, check or generate benchmark data.", no_args_is_help=True)

LINE_SECONDS = 10.0
"""Seconds between progress lines of a download without a terminal."""

Name = Annotated[str, typer.Argument(help="Benchmark id, such as deepmemeval.")]
File = Annotated[
    str | None, typer.Option("--file", help="Which file, if the benchmark has several. See 'memeval data list NAME'.")
]


@command(app, "list")
def list_(
    name: Annotated[str | None, typer.Argument(help="Benchmark id. Default: all benchmarks.")] = None,
    as_json: AsJson = False,
) -> None:
    """List the benchmarks, and how to get their data.

    With a name, shows the benchmark's files with path, size and digest. With --json, prints everything about each
    benchmark.

    Example: memeval data list locomo
    """
    from memeval.benchmarks import all_benchmarks, find

    rows = [(benchmark, _row(benchmark)) for benchmark in (all_benchmarks() if name is None else [find(name)])]
    if as_json:
        print_json([row for _benchmark, row in rows])
        return
    if name is not None:
        _print_files(*rows[0])
        return
    print(f"{readiness(all_benchmarks())}\n")
    lines = [("benchmark", "items", "size", "licence", "state")]
    for benchmark, row in rows:
        accepted = " (accepted)" if row["accepted"] else ""
        sizes = " + ".join(megabytes(file["bytes"]) for file in row["files"])
        items = f"{row['items']:,}" if row["items"] else ""
        lines.append((row["id"], items, sizes, row["licence"] + accepted, _state(benchmark, row)))
    for line in aligned(lines, right=(1,)):
        print(line.removeprefix("  "))


def readiness(benchmarks: Iterable[Benchmark]) -> str:
    """Return how many benchmarks are ready, and what the others need."""
    counts = Counter(_need(benchmark) for benchmark in benchmarks)
    ready = f"{counted(counts[_Need.NOTHING], 'benchmark')} ready to run"
    pull = f", {counts[_Need.DATA]} need data: memeval data pull NAME" if counts[_Need.DATA] else ""
    parts = [f"{ready}{pull}."]
    if counts[_Need.OWN_FILE]:
        parts.append(f"{counts[_Need.OWN_FILE]} need your own file: --data FILE.")
    if counts[_Need.BY_HAND]:
        parts.append(f"{counts[_Need.BY_HAND]} have no direct download: memeval data list NAME.")
    return " ".join(parts)


class _Need(Enum):
    """What a benchmark needs before it can run on this machine."""

    NOTHING = auto()
    DATA = auto()
    OWN_FILE = auto()
    BY_HAND = auto()


def _need(benchmark: Benchmark) -> _Need:
    if benchmark.info.brought:
        return _Need.OWN_FILE
    if benchmark.available():
        return _Need.NOTHING
    return _Need.DATA if benchmark.info.sources else _Need.BY_HAND


def state_of(benchmark: Benchmark) -> str:
    """Return whether a benchmark is ready on this machine, or how to get its data."""
    name = benchmark.info.name
    return {
        _Need.NOTHING: "ready",
        _Need.DATA: f"no data: memeval data pull {name}",
        _Need.OWN_FILE: "needs your own file: --data FILE",
        _Need.BY_HAND: f"no data: memeval data list {name}",
    }[_need(benchmark)]


def _state(benchmark: Benchmark, row: dict[str, Any]) -> str:
    state = state_of(benchmark)
    others = len(row["files"]) - 1
    if row["package"]:
        state += f" (package {row['package']})"
    if row["by_hand"] and not row["released_digests"]:
        state += "; unverified, runs are not ranked"
    return f"{state} ({others + 1} files: memeval data list {benchmark.info.name})" if others > 0 else state


def _print_files(benchmark: Benchmark, row: dict[str, Any]) -> None:
    """Print the protocols, tiers and files of one benchmark; files with size, digest, and path or download command."""
    print(f"{row['id']}: {row['title']}, {row['items']:,} items, licence {row['licence']}")
    if row["package"]:
        print(f"  package {row['package']}")
    print(f"  {state_of(benchmark)}")
    for option, entries, text in (("protocol", row["protocols"], "title"), ("tier", row["tiers"], "how")):
        for number, entry in enumerate(entries):
            print(f"  --{option} {entry['name']}{'' if number else ' (default)'}: {entry[text]}")
    for file in row["files"]:
        print(f"  file {file['name']}: {megabytes(file['bytes'])}, {file['digest']}")
        print(f"    {'on this machine: ' + file['path'] if file['here'] else 'get it: ' + file['pull']}")
    if row["remedy"] and not row["files"]:
        print(f"  {row['remedy']}")
    if row["by_hand"] and not row["released_digests"]:
        print("  unverified: its authors publish no digest, so runs are not ranked")


def _row(benchmark: Benchmark) -> dict[str, Any]:
    """Return the catalogue entry of a benchmark, with the state of its files on this machine."""
    from memeval.benchmarks.data import Licence, locate
    from memeval.benchmarks.registry import origin

    info, source = benchmark.info, benchmark.info.source()
    files: list[dict[str, Any]] = []
    for each in info.sources:
        path = locate(info, None, each.name)
        pull = f"memeval data pull {info.name}" + ("" if each is source else f" --file {each.name}")
        files.append(each.data() | {"here": path.is_file(), "path": str(path), "pull": pull})
    package = origin(info.id)
    return info.data() | {
        "items": info.items,
        "package": None if package.is_own else str(package),
        "bytes": source.bytes if source else None,
        "digest": source.digest if source else None,
        "url": source.url if source else None,
        "here": benchmark.available(),
        "remedy": None if benchmark.available() else benchmark.remedy(),
        "accepted": Licence(info).accepted if files else None,
        "files": files,
    }


@command(app, "pull")
def pull(
    name: Name,
    file: File = None,
    accept_licence: Annotated[
        bool, typer.Option("--accept-licence", help="Accept the licence of the data, without a prompt.")
    ] = False,
) -> None:
    """Download a benchmark's data, and check its digest.

    An interrupted download resumes. memeval shows the licence; you accept it once.

    Example: memeval data pull longmemeval --file oracle
    """
    from memeval.benchmarks import find
    from memeval.benchmarks.data import Licence, locate, pull

    benchmark = find(name)
    info = benchmark.info
    if (fetched := benchmark.pull()) is not None:
        print(fetched)
        return
    if info.generated:
        raise BadInput(f"{info.id} needs no download.", remedy=f"Run it: memeval run SYSTEM --benchmark {info.id}.")
    if not info.sources:
        remedy = info.by_hand or f"Give your own file: memeval run SYSTEM --benchmark {info.id} --data FILE."
        raise BadInput(f"{info.id} has no file to download.", remedy=remedy)
    folder = locate(info, None, file).parent
    source = info.source(file)
    assert source is not None, "locate found it"  # noqa: S101
    _accept_licence(Licence(info), accept_licence)
    print(f"{info.id}: {info.licence}, {megabytes(source.bytes)} from {source.url}", file=sys.stderr)
    with download_progress(source.filename) as progress:
        path = pull(source, folder, progress)
    print(path)


def _accept_licence(licence: Licence, accept: bool) -> None:
    """Accept a licence once, by the option or a prompt on the terminal."""
    if licence.accepted:
        return
    print(licence.shown, file=sys.stderr)
    if not accept:
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            raise licence.refused("this is not a terminal")
        if not typer.confirm("Do you accept this licence?", err=True):
            raise licence.refused("you did not accept it")
    licence.accept()


@contextmanager
def download_progress(title: str) -> Iterator[Progress]:
    """Show a download on standard error: a bar on a terminal, otherwise a line every few seconds."""
    if not sys.stderr.isatty():
        printed_at = time.monotonic()

        def print_line(done: int, total: int) -> None:
            nonlocal printed_at
            if time.monotonic() - printed_at >= LINE_SECONDS:
                printed_at = time.monotonic()
                print(f"{title}: {megabytes(done)} of {megabytes(total)}", file=sys.stderr)

        yield print_line
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, TextColumn, TimeRemainingColumn, TransferSpeedColumn
    from rich.progress import Progress as Bar

    columns = (DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    text = TextColumn("{task.description}", markup=False)
    with Bar(text, BarColumn(), *columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


@command(app, "verify")
def verify(
    name: Name,
    data: Annotated[Path | None, typer.Option("--data", help="Your own copy of the data.")] = None,
    file: File = None,
    protocol: Annotated[str | None, typer.Option("--protocol", help="Protocol that the data must work with.")] = None,
    tier: Tier = None,
) -> None:
    """Check a benchmark's data: shape, counts and digest.

    Prints the name of the released file. Other valid data fails this check: it can run, but is never ranked. For a
    question set, also prints the controls that pass its questions without the answer. Generates long histories again
    and compares them with the stored ones.

    Example: memeval data verify deepmemeval
    """
    from memeval.benchmarks import find
    from memeval.benchmarks.catalogue import check_slices
    from memeval.benchmarks.checking import check_counts, check_prompts
    from memeval.benchmarks.session import BenchmarkSession

    benchmark = find(name)
    if file is not None and benchmark.info.source(file) is None:
        known = ", ".join(each.name for each in benchmark.info.sources) or "none"
        raise BadInput(f"{benchmark.info.id} has no file '{file}'.", remedy=f"Choose one of: {known}.")
    if tier is not None and tier not in (tiers := [each.name for each in benchmark.info.tiers]):
        raise BadInput(f"{benchmark.info.id} has no tier '{tier}'.", remedy=f"Choose one of: {', '.join(tiers)}.")
    parameters = {"file": file} if file is not None and len(benchmark.info.sources) > 1 else None
    try:
        benchmark_session = BenchmarkSession.open(benchmark, data, parameters, protocol=protocol, tier=tier)
        keys, table = benchmark_session.keys, benchmark.table(benchmark_session.protocol, benchmark_session.tier)
        check_prompts(benchmark, table, keys)
        if benchmark_session.tier == benchmark.info.tiers[0].name:
            check_slices(benchmark.info, benchmark_session.protocol, keys)
            if benchmark.info.generated and benchmark_session.protocol == benchmark.info.protocols[0].name:
                check_counts(benchmark.info, benchmark_session.dataset.answer_keys())
        description = benchmark_session.dataset.verify() or _description(benchmark_session, data)
    except MemevalError as error:
        raise CheckFailed(error.problem, where=error.where, remedy=error.remedy) from None
    questions = sum(len(key.question_ids) for key in benchmark_session.keys)
    digest = benchmark_session.dataset.digest
    print(f"{benchmark.info.id}: {len(benchmark_session.keys)} items, {questions} questions, {digest}; {description}")
    if (controls := benchmark_session.dataset.controls()) is not None:
        print(controls)


def _parameters(benchmark_session: BenchmarkSession) -> str:
    return ", ".join(f"{name} {value}" for name, value in benchmark_session.dataset.parameters.items())


def _description(benchmark_session: BenchmarkSession, data: Path | None) -> str:
    """Return a description of the data, from its bytes and counts.

    Raises:
        CheckFailed: the data is not released, changed after it was read, or has other counts than the catalogue.
    """
    from memeval.download import digest_of_file

    info, digest = benchmark_session.benchmark.info, benchmark_session.dataset.digest
    if info.generated:
        return (
            f"generated with {parameters}" if (parameters := _parameters(benchmark_session)) else "needs no data file"
        )
    if info.brought:
        return "your own file: " + _parameters(benchmark_session)
    if info.unverified:
        raise CheckFailed(
            f"unverified: the authors of {info.id} publish no digest of their data; this has {digest}.",
            where=data,
            remedy="You can run it. The board does not rank runs on it.",
        )
    if not benchmark_session.dataset.released:
        raise CheckFailed(
            f"the data has the shape of {info.id}, but is not a released file: its digest is {digest}.",
            where=data,
            remedy="You can run it. The board does not rank runs on it.",
        )
    if not info.sources:
        return "released; its digest is in the catalogue"
    path = _released_file(benchmark_session, data)
    found = digest_of_file(path)
    if found != digest:
        raise CheckFailed(
            f"the file changed: its digest is {found}, and was {digest} when memeval first read it.", where=path
        )
    source = next((each for each in info.sources if each.digest == digest), None)
    if source is None:
        return f"a released file, but not one that 'memeval data pull {info.name}' downloads"
    counts = Counter(key.category for key in benchmark_session.dataset.answer_keys())
    for category in info.categories:
        if counts[category.name] != category.items:
            raise CheckFailed(
                f"{counts[category.name]} items of {category.name}; the catalogue has {category.items}.", where=path
            )
    return f"the released file '{source.name}', {source.filename}"


def _released_file(benchmark_session: BenchmarkSession, data: Path | None) -> Path:
    from memeval.benchmarks.data import locate

    if data is not None and not data.is_dir():
        return data
    named = benchmark_session.dataset.parameters.get("file")
    return locate(benchmark_session.benchmark.info, data, None if named is None else str(named))


@command(app, "generate")
def generate(
    name: Name,
    to: Annotated[Path, typer.Option("--to", help="Folder for scenarios.jsonl and keys.jsonl.")],
    parameter: Parameter = None,
    tier: Tier = None,
) -> None:
    """Write a generated benchmark to files.

    Writes two files: scenarios, which systems receive, and keys, which they never see.

    Example: memeval data generate beliefs --parameter seed=7 --to build/beliefs
    """
    from memeval.benchmarks import find
    from memeval.benchmarks.session import BenchmarkSession
    from memeval.cli.running import parse_parameters
    from memeval.storage import writing_whole

    benchmark = find(name)
    if not benchmark.info.generated:
        raise BadInput(f"{benchmark.info.id} is not generated.", remedy=benchmark.remedy())
    benchmark_session = BenchmarkSession.open(benchmark, None, parse_parameters(parameter), tier=tier)
    _check_disk_space(to, sum(benchmark_session.dataset.history_bytes or ()))
    with writable(to):
        to.mkdir(parents=True, exist_ok=True)
    with writing_whole(to / "scenarios.jsonl") as scenarios, writing_whole(to / "keys.jsonl") as keys:
        for scenario in benchmark_session.dataset.scenarios():
            for piece in chain(scenario.json_pieces(), ("\n",)):
                scenarios.write(piece.encode())
        for key in benchmark_session.keys:
            keys.write(f"{key.to_json()}\n".encode())
    dataset = benchmark_session.dataset
    print(f"{benchmark_session.benchmark.info.id}: {len(benchmark_session.keys)} items, {dataset.digest}")


def _check_disk_space(folder: Path, size: int) -> None:
    """Check that the disk has enough free space. Raises ``BadInput`` if there is not enough free space."""
    existing = next((path for path in (folder, *folder.absolute().parents) if path.is_dir()), None)
    free = size if existing is None else shutil.disk_usage(existing).free
    if free < size:
        raise BadInput(
            f"not enough disk space: {megabytes(size)} needed, {megabytes(free)} free.",
            where=folder,
            remedy="Free some space, choose another folder with --to, or choose a smaller --tier.",
        )
