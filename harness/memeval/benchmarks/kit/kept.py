"""Keeps generated data in the user's cache folder, so that the next process need not generate it again.

A file belongs to one state of memeval's code, one Python and one set of parameters. Its first line has the digest of
the rest; a file that does not match it is not used. The data is as secret as the code that generates it, and no sandbox
shows the folder.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from memeval.benchmarks.base import Dataset
from memeval.keys import AnswerKey, ItemKey
from memeval.records.base import Digest, digest_bytes, digest_of
from memeval.records.errors import BadInput
from memeval.records.scenario import Scenario
from memeval.storage import cache_home, code_digest, write_whole

MOST_STATES = 4
"""Files kept of the same data, each of another state of the code: several installations share the folder."""

LEAST_BYTES = 1_000_000
"""Smaller data is generated in no time, and is not kept."""

Generation = tuple[Sequence[Scenario], Sequence[ItemKey]]


class KeptScenarios:
    """Scenarios in order; those from a file are parsed when they are first needed."""

    def __init__(self, ids: Sequence[str], made: Sequence[Scenario | bytes]) -> None:
        self._places = {scenario_id: place for place, scenario_id in enumerate(ids)}
        self._made = list(made)

    def __iter__(self) -> Iterator[Scenario]:
        return map(self._at, range(len(self._made)))

    def ids(self) -> Iterator[str]:
        return iter(self._places)

    def one(self, scenario_id: str) -> Scenario:
        return self._at(self._places[scenario_id])

    def _at(self, place: int) -> Scenario:
        made = self._made[place]
        if isinstance(made, bytes):
            made = self._made[place] = Scenario.model_validate_json(made)
        return made


class Generated(NamedTuple):
    scenarios: KeptScenarios
    keys: tuple[ItemKey, ...]
    digest: Digest
    """Digest of scenarios and keys as lines of canonical JSON."""


def generated(
    name: str, parameters: Mapping[str, str | int], kinds: Iterable[type[AnswerKey]], generate: Callable[[], Generation]
) -> Generated:
    """Return the data that an earlier process kept, or generate and keep it.

    ``name``: what is generated, as part of a file name. ``generate``: generates the data; equal parameters give equal
    data.
    """
    names = f"{name}-{digest_of(dict(parameters))[7:15]}-"
    path = cache_home() / "benchmarks" / f"{names}{code_digest()[:16]}.jsonl"
    with suppress(OSError, ValueError, KeyError, TypeError):
        return _read(path, kinds)
    scenarios, keys = generate()
    lines = (f"{record.to_json()}\n" for record in (*scenarios, *keys))
    rows = "".join(lines).encode()
    ids = [scenario.scenario_id for scenario in scenarios]
    digest = digest_bytes(rows)
    if len(rows) < LEAST_BYTES:
        return Generated(KeptScenarios(ids, scenarios), tuple(keys), digest)
    with suppress(OSError, BadInput):
        path.parent.mkdir(parents=True, exist_ok=True)
        former = sorted(path.parent.glob(f"{names}*.jsonl"), key=lambda each: each.stat().st_mtime)
        for oldest in former[: 1 - MOST_STATES]:
            oldest.unlink(missing_ok=True)
        write_whole(path, json.dumps({"digest": digest, "scenarios": ids}).encode() + b"\n" + rows)
    return Generated(KeptScenarios(ids, scenarios), tuple(keys), digest)


def _read(path: Path, kinds: Iterable[type[AnswerKey]]) -> Generated:
    first, _, rows = path.read_bytes().partition(b"\n")
    head = json.loads(first)
    if digest_bytes(rows) != head["digest"]:
        raise ValueError(f"{path} is damaged")
    lines, ids = rows.split(b"\n")[:-1], head["scenarios"]
    named = {kind.model_fields["kind"].default: kind for kind in kinds}
    keys = tuple(_key(line, named) for line in lines[len(ids) :])
    return Generated(KeptScenarios(ids, lines[: len(ids)]), keys, head["digest"])


def _key(line: bytes, kinds: Mapping[str, type[AnswerKey]]) -> ItemKey:
    row = json.loads(line)
    kind = row["key"]["kind"]
    key = kinds[kind].model_validate_json(json.dumps(row["key"]))
    return ItemKey.model_validate_json(json.dumps(row | {"key": {"kind": kind}})).model_copy(update={"key": key})


class GeneratedDataset(Dataset):
    def __init__(self, parameters: Mapping[str, str | int], data: Generated) -> None:
        self.parameters = dict(parameters)
        self._scenarios, self._keys, self.digest = data

    def scenarios(self) -> Iterator[Scenario]:
        return iter(self._scenarios)

    def scenario(self, scenario_id: str) -> Scenario:
        return self._scenarios.one(scenario_id)

    def scenario_ids(self) -> Iterator[str]:
        return self._scenarios.ids()

    def answer_keys(self) -> Iterator[ItemKey]:
        return iter(self._keys)
