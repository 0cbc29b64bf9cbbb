"""Chooses the reader of a run: those for every benchmark, those of single benchmarks, and model readers."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress

from memeval.benchmarks import all_benchmarks
from memeval.execution.model_reader import PREFIXES
from memeval.execution.readers import NATIVE, OFFLINE, READERS, NoReader
from memeval.reading import Reader
from memeval.records.benchmark import BenchmarkInfo, ProtocolInfo
from memeval.records.errors import BadInput, NotApplicable
from memeval.removed import why_removed
from memeval.systems.channel import visible


def reader_named(name: str) -> Reader | None:
    """Return a reader without a model by its name, with or without its version; ``None`` if unknown."""
    return next((each for each in _readers() if name in (each.name, each.name.partition("@")[0])), None)


def _readers() -> Iterator[Reader]:
    yield from READERS
    for benchmark in all_benchmarks():
        yield from benchmark.readers


def protocols_for(capabilities: Sequence[str], info: BenchmarkInfo) -> list[str]:
    """Return the protocols of a benchmark that a system supports with the default reader."""
    found = []
    for protocol in info.protocols:
        with suppress(NotApplicable):
            choose_reader(None, capabilities, "", lambda name: NoReader(), protocol)
            found.append(protocol.name)
    return found


def choose_reader(
    asked: str | None,
    capabilities: Sequence[str],
    slug: str,
    make_model_reader: Callable[[str], Reader],
    protocol: ProtocolInfo,
) -> Reader | None:
    """Return the reader; ``None`` if the system answers.

    ``asked``: ``native`` or a reader's name; ``None`` for the default: native if the system has ``query``.
    ``protocol``: the protocol, which may require a reader and methods. Raises ``BadInput`` if the reader does not
    exist, or the protocol requires another one. Raises ``NotApplicable`` if the system lacks a method.
    """
    fixed, offline = protocol.reader, protocol.offline_reader or OFFLINE
    if fixed is not None and asked is not None and asked.partition("@")[0] != fixed:
        raise BadInput(f"this protocol needs the reader '{fixed}'.", remedy="Remove --reader.")
    name = asked or fixed or (NATIVE if "query" in capabilities else offline)
    if name == OFFLINE:
        name = offline
    reader = None
    if name.startswith(PREFIXES):
        reader = make_model_reader(name)
    elif name != NATIVE and (reader := reader_named(name)) is None:
        problem = why_removed(name) or f"there is no reader '{visible(name)}'."
        raise BadInput(problem, remedy=f"Readers: {NATIVE}, {OFFLINE}, local:NAME, openai:MODEL.")
    if missing := [need for need in protocol.needs if need not in capabilities]:
        *first, last = map(repr, missing)
        methods = f"{', '.join(first)} or {last}" if first else last
        raise NotApplicable(
            f"{slug} has no {methods}, which the protocol '{protocol.name}' needs.",
            remedy="Add what is missing to the adapter, or choose another protocol.",
        )
    needed = "search" if name != NATIVE else None if fixed and protocol.needs else "query"
    if needed is not None and needed not in capabilities:
        if fixed is not None:
            raise NotApplicable(
                f"{slug} has no '{needed}', which the protocol '{protocol.name}' needs.",
                remedy="Add the method to the adapter, or choose another protocol.",
            )
        raise NotApplicable(
            f"{slug} has no method '{needed}'. The reader '{name}' needs it.", remedy="Choose another reader."
        )
    return reader
