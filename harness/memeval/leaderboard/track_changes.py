"""Why two runs of a system cannot share a line of a chart: the settings that changed between them, as sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from memeval.records.run import Isolation, Run, View
from memeval.records.track import CategoryPlan, Track, differing_parts


class ChangedPart(StrEnum):
    BENCHMARK = "benchmark"
    DATA = "data"
    PROTOCOL = "protocol"
    GRADING = "grading"
    READER = "reader"
    JUDGE = "judge"
    PROMPTS = "prompts"
    LIMITS = "limits"
    TOKENIZER = "tokenizer"
    SESSIONS = "sessions"
    PRICES = "prices"
    MACHINE = "machine"
    COUNTER = "token counter"


@dataclass(frozen=True)
class Change:
    part: ChangedPart
    sentence: str


_ISOLATION = {
    Isolation.FILES_REACHABLE: "not sandboxed",
    Isolation.SANDBOXED: "sandboxed",
    Isolation.ELSEWHERE: "unknown (imported)",
}
_SESSIONS = {View.ALL: "all", View.EVIDENCE: "those with evidence", View.TURNS: "only the turns with evidence"}


def track_changes(before: Run, after: Run) -> tuple[Change, ...]:
    """Return what keeps the scores of two runs from being compared; empty if both are on one track."""
    found = list(_sessions(before, after))
    for part in differing_parts(before.track, after.track):
        described = _DESCRIBED.get(part)
        if described is None:
            found.append(_changed(ChangedPart.PROTOCOL, part.replace("_", " ").capitalize()))
        else:
            found += described(before.track, after.track)
    if not found and before.track_id != after.track_id:
        found.append(Change(ChangedPart.PROTOCOL, f"Track changed from {before.track_id} to {after.track_id}."))
    return tuple(dict.fromkeys(found))


def price_changes(before: Run, after: Run) -> tuple[Change, ...]:
    if before.prices is None or after.prices is None or before.prices == after.prices:
        return ()
    return (_changed(ChangedPart.PRICES, "Price list", before.prices, after.prices),)


def token_changes(before: Run, after: Run) -> tuple[Change, ...]:
    if before.tokens.source is after.tokens.source:
        return ()
    return (_changed(ChangedPart.COUNTER, "Token counts", before.tokens.source.value, after.tokens.source.value),)


def machine_changes(before: Run, after: Run) -> tuple[Change, ...]:
    values = (
        ("Platform", before.harness.platform, after.harness.platform),
        ("Concurrency", str(before.timing.concurrency), str(after.timing.concurrency)),
        ("Isolation", *(_ISOLATION[run.isolation] for run in (before, after))),
    )
    return tuple(_changed(ChangedPart.MACHINE, name, old, new) for name, old, new in values if old != new)


def _changed(part: ChangedPart, name: str, old: object = None, new: object = None) -> Change:
    if old is None and new is None:
        return Change(part, f"{name} changed.")
    return Change(part, f"{name} changed from {_shown(old)} to {_shown(new)}.")


def _shown(value: object) -> str:
    return "none" if value in (None, "") else str(value)


def _sessions(before: Run, after: Run) -> Iterator[Change]:
    one, two = (_SESSIONS[run.system.view] for run in (before, after))
    if one != two:
        yield _changed(ChangedPart.SESSIONS, "Ingested sessions", one, two)


def _value(part: ChangedPart, name: str, field: str) -> Callable[[Track, Track], Iterator[Change]]:
    def read(before: Track, after: Track) -> Iterator[Change]:
        yield _changed(part, name, getattr(before, field), getattr(after, field))

    return read


def _named(part: ChangedPart, name: str) -> Callable[[Track, Track], Iterator[Change]]:
    """Return a function for a part whose values are digests, which tell a reader nothing."""

    def read(_before: Track, _after: Track) -> Iterator[Change]:
        yield _changed(part, name)

    return read


def _mapping(
    part: ChangedPart, name: str, values: Callable[[Track], Mapping[str, object]], *, digests: bool = False
) -> Callable[[Track, Track], Iterator[Change]]:
    def read(before: Track, after: Track) -> Iterator[Change]:
        one, two = values(before), values(after)
        for key in sorted(one.keys() | two.keys()):
            old, new = one.get(key), two.get(key)
            if old != new:
                yield _changed(part, f"{name} {key}", *(() if digests else (_shown(old), _shown(new))))

    return read


def _grading(before: Track, after: Track) -> Iterator[Change]:
    one = {category.name: category for category in before.categories}
    two = {category.name: category for category in after.categories}
    for name in (name for name in one if name not in two):
        yield Change(ChangedPart.GRADING, f"Category {name} was removed.")
    for name in (name for name in two if name not in one):
        yield Change(ChangedPart.GRADING, f"Category {name} was added.")
    found = [change for name in one if name in two for change in _category(one[name], two[name])]
    yield from found
    if not found and one.keys() == two.keys():
        yield _changed(ChangedPart.GRADING, "Order of categories")


def _category(old: CategoryPlan, new: CategoryPlan) -> Iterator[Change]:
    if old.grader != new.grader:
        yield _changed(ChangedPart.GRADING, "Grader", old.grader, new.grader)
    if (old.weight, old.shared) != (new.weight, new.shared):
        weights = (f"{100 * plan.weight:.3g} %" for plan in (old, new))
        yield _changed(ChangedPart.GRADING, f"Weight of {old.name}", *weights)
    if old.items != new.items:
        yield _changed(ChangedPart.DATA, f"Number of items of {old.name}", old.items, new.items)


_DESCRIBED: Mapping[str, Callable[[Track, Track], Iterator[Change]]] = {
    "benchmark": _value(ChangedPart.BENCHMARK, "Benchmark", "benchmark"),
    "data_digest": _named(ChangedPart.DATA, "Data of the benchmark"),
    "parameters": _mapping(ChangedPart.DATA, "Parameter", lambda track: track.parameters),
    "protocol": _value(ChangedPart.PROTOCOL, "Protocol", "protocol"),
    "tier": _value(ChangedPart.DATA, "Tier", "tier"),
    "categories": _grading,
    "reader": _value(ChangedPart.READER, "Reader", "reader"),
    "reader_endpoint": _value(ChangedPart.READER, "Endpoint of the reader", "reader_endpoint"),
    "judge": _value(ChangedPart.JUDGE, "Judge", "judge"),
    "judge_endpoint": _value(ChangedPart.JUDGE, "Endpoint of the judge", "judge_endpoint"),
    "judge_label": _value(ChangedPart.JUDGE, "Label of the judge", "judge_label"),
    "prompts": _mapping(ChangedPart.PROMPTS, "Prompt", lambda track: track.prompts, digests=True),
    "tokenizer": _value(ChangedPart.TOKENIZER, "Tokenizer", "tokenizer"),
    "limits": _mapping(ChangedPart.LIMITS, "Limit", lambda track: track.limits.data()),
    "sample": _named(ChangedPart.DATA, "Sample of items"),
    "errata": _named(ChangedPart.DATA, "List of known data errors"),
    "released": _named(ChangedPart.DATA, "Origin of the data"),
}
