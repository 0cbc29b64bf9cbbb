"""A small file in the released format, with invented facts about a village."""

import json
from typing import Any

from memeval.benchmarks.factconsolidation.dataset import FactConsolidationDataset
from memeval.benchmarks.factconsolidation.released import parse

FACTS = (
    "The keeper of Elmwick lighthouse is Odo Brand.",
    "Odo Brand speaks the language of Frisian.",
    "The baker of Sorrel Bay is Ines Holt.",
    "Elmwick lighthouse stands in the village of Sorrel Bay.",
    "Petra Lund plays the instrument of tuba.",
    "Ines Holt works in the village of Sorrel Bay.",
    "Odo Brand walked in the village of Sorrel Bay.",
    "The ferry of Sorrel Bay was built by Odo Brand.",
    "The keeper of Marram lighthouse is Ada Pike.",
    "Petra Lund speaks the language of Danish.",
    "The keeper of Elmwick lighthouse is Petra Lund.",
    "The baker of Sorrel Bay is Odo Brand.",
)
SINGLE = (
    ("Who is the keeper of Elmwick lighthouse?", "Petra Lund"),
    ("Which village does Ines Holt work in?", "Sorrel Bay"),
    ("Who is the baker of Sorrel Bay?", "Ines Holt"),
    ("Which colour is the moon?", "green"),
)
"""The second ends like two other facts; the third is replaced by the last fact; the fourth matches none."""
MULTI = (("Which instrument does the keeper of Elmwick lighthouse play?", "tuba"),)


def fact_set(
    hops: str = "sh",
    size: str = "6k",
    facts: tuple[str, ...] = FACTS,
    pairs: tuple[tuple[str, str], ...] = SINGLE,
    **fields: Any,
) -> dict[str, Any]:
    """Return a set of the file: a list of facts, questions and answers."""
    lines = "".join(f"{place}. {fact}\n" for place, fact in enumerate(facts))
    return {
        "context": f"Some facts:\n{lines}",
        "questions": [question for question, _ in pairs],
        "answers": [[answer] for _, answer in pairs],
        "metadata": {"source": f"factconsolidation_{hops}_{size}", "never": "read"},
        **fields,
    }


def file(*sets: dict[str, Any]) -> bytes:
    return json.dumps(sets or (fact_set(), fact_set("mh", pairs=MULTI))).encode()


def dataset(*, answers: bool = False) -> FactConsolidationDataset:
    return FactConsolidationDataset(parse(file(), "made.json"), answers=answers)
