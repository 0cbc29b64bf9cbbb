"""A small release of two histories, with invented people who share a tractor."""

import gzip
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from memeval.benchmarks.vehiclemembench.dataset import VehicleMemBenchDataset
from memeval.benchmarks.vehiclemembench.released import Release
from memeval.records.base import digest_bytes

FIRST = """\
[2026-03-04 07:50] Nora Vik: The wheel is ice, so heat it: level two is enough for me.
[2026-03-04 07:50] Teo: Did you feed the hens before we left?
[2026-03-04 07:52] Teo Vik: I fed them.
[2026-03-04 07:58] Nora Vik: Here is the field.
[2026-03-09 18:15] [2026-03-09 18:15] Teo: Level two burns my fingers, one is plenty: when I drive.
[2026-03-09 18:20] Teo Vik: Uncle, I would take three.
"""
SECOND = """\
[2026-01-01 23:58] Ada: Mute the radio.
[2026-01-02 00:01] Bo: Thanks, it was loud.
[2026-01-02 09:00] Cy: The radio at nine, please.
[2026-01-02 09:01] Di: Fine.
"""


def query(
    *events: str, calls: Sequence[str] = ("wheel_set_heating(level=1)",), text: str = "Warm hands.", **fields: Any
) -> dict[str, Any]:
    """Return a query of the file. ``events``: the times of its events, such as ``March 4, 2026] At 7:50 AM``."""
    return {
        "gold_memory": "\n".join(f"[{event}, somebody spoke." for event in events),
        "reasoning_type": "preference_conflict",
        "query": text,
        "new_answer": list(calls),
        **fields,
    }


WHEEL, FINGERS = "March 4, 2026] At 7:50 AM", "March 9, 2026] At 6:15 PM"
SILENT, STRAY = "March 9, 2026] At 6:14 PM", "March 9, 2026] 'At 6:15 PM"
QUERIES = (
    query(WHEEL, FINGERS, text="Teo drives: 'Warm hands, as I like it.'"),
    query(SILENT, WHEEL, reasoning_type="state_shift"),
    query(STRAY, reasoning_type="error_correction"),
    query(WHEEL, text="Set it to 2.", calls=["wheel_set_heating(level=2)"], reasoning_type="coreference_resolution"),
)
OTHERS = (query("January 2, 2026] At 9:00 AM", calls=['radio_set(on=true, name="nine")', "radio_louder()"]),)
FUNCTIONS = [
    {
        "name": "wheel_set_heating",
        "description": "Heat the\nwheel (1-3).",
        "parameters": {"properties": {"level": {"type": "integer"}, "zone": {"type": "string"}}},
    },
    {"name": "radio_louder", "description": "Louder.", "parameters": {"properties": {}}},
]


def queries(*rows: dict[str, Any]) -> bytes:
    return json.dumps({"related_to_vehicle_preference": rows}).encode()


def files(**changed: bytes) -> dict[str, bytes]:
    """Return the files of the release by name, some of them with other bytes (``history_1``)."""
    made = {
        "history_1.txt": FIRST.encode(),
        "qa_1.json": queries(*QUERIES),
        "history_2.txt": SECOND.encode(),
        "qa_2.json": queries(*OTHERS),
        "functions_schema.json": json.dumps(FUNCTIONS).encode(),
    }
    return {name: changed.get(name.partition(".")[0], data) for name, data in made.items()}


def release(folder: Path, made: Mapping[str, bytes] | None = None, *, upstream: bool = False) -> Release:
    """Write the files, and return the release of which they are. ``upstream``: plain, in folders of the repository."""
    made = files() if made is None else made
    for name, data in made.items():
        place = folder
        if upstream:
            kind = name.partition("_")[0]
            place = folder / {"history": "benchmark/history", "qa": "benchmark/qa_data"}.get(kind, "evaluation")
        place.mkdir(parents=True, exist_ok=True)
        packed = name.endswith(".txt") and not upstream
        (place / f"{name}{'.gz' if packed else ''}").write_bytes(gzip.compress(data) if packed else data)
    return Release(folder, "Clone it.", {name: digest_bytes(data) for name, data in made.items()})


def dataset(folder: Path, *, calls: bool = False, **changed: bytes) -> VehicleMemBenchDataset:
    return VehicleMemBenchDataset(release(folder, files(**changed)), calls=calls)
