"""Writes the table of the control ``seed-table``: the answers and turns of the public data.

``python -m memeval.benchmarks.beliefs.seed_table`` writes it again after a change of the public packs.
"""

import gzip
import json

from memeval.benchmarks.beliefs.benchmark import INFO, PARAMETERS
from memeval.benchmarks.beliefs.controls.seed_table import TABLE, key_of
from memeval.benchmarks.beliefs.generate import generate
from memeval.benchmarks.beliefs.items import Made
from memeval.benchmarks.beliefs.wording.editions import wording
from memeval.keys import FactsKey, Stance, StanceKey
from memeval.storage import write_whole


def seed_table() -> dict[str, list[str]]:
    """Return answer and turns of each question of the public data by its key; a blank answer stands for doubt."""
    found: dict[str, list[str]] = {}
    for life in generate(*PARAMETERS.chosen(INFO.id, None, None), wording(INFO.tiers[0].name)):
        opening = next(life.scenario.each_session()).turns[0].content
        for item in life.items:
            found[key_of(item.question, opening)] = [_answer(item), *item.evidence.relevant_turns]
    return found


def packed(table: dict[str, list[str]]) -> bytes:
    return gzip.compress(json.dumps(table, sort_keys=True, separators=(",", ":")).encode(), mtime=0)


def _answer(item: Made) -> str:
    match item.answer:
        case StanceKey(stance=Stance.DOUBT):
            return ""
        case StanceKey(dependent=fact):
            return f"Yes, it is {fact.phrases[0]}"
        case FactsKey() as key:
            return f"It is {key.right.phrases[0]}"
    raise TypeError(f"no answer follows from a key of kind {item.answer.kind!r}.")


if __name__ == "__main__":
    write_whole(TABLE, packed(seed_table()))
