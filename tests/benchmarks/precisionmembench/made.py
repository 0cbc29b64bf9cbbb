"""Small files in the released format, with invented beliefs."""

import json
from pathlib import Path
from typing import Any

from memeval.benchmarks.base import Dataset, Parameters
from memeval.benchmarks.precisionmembench import PrecisionBenchmark
from memeval.benchmarks.precisionmembench.dataset import PrecisionDataset
from memeval.benchmarks.precisionmembench.fixtures import BELIEFS, CASES, CONVERSATIONS, parse
from memeval.keys import ItemKey


def belief(name: str, **fields: Any) -> dict[str, Any]:
    """Return a belief of the test user about gardens."""
    return {
        "_id": name,
        "user_id": "test-user",
        "type": "preference",
        "canonical_name": name.replace("-", "_"),
        "aliases": [],
        "content": f"Ida cares for {name}.",
        "why_it_matters": "",
        "scope": ["garden"],
        "pinned": False,
        "superseded_by": None,
        "resolved_at": None,
        "provenance": {"never": "read"},
        **fields,
    }


def case(name: str, only: list[str], query: str = "What about the garden?", **fields: Any) -> dict[str, Any]:
    """Return a search that expects some beliefs."""
    return {
        "caseId": name,
        "category": "Alias resolution",
        "description": "made up",
        "scope": ["garden"],
        "query": query,
        "expect": {"relevantBeliefs": {"shouldOnlyInclude": only}},
        **fields,
    }


def turn(number: int, only: list[str], **fields: Any) -> dict[str, Any]:
    """Return a turn that expects some beliefs."""
    return {
        "turnIndex": number,
        "label": "drift",
        "scope": ["garden"],
        "userMessage": f"Message {number} about the garden.",
        "assistantMessage": "never sent",
        "expect": {"relevantBeliefs": {"shouldOnlyInclude": only}},
        **fields,
    }


NO_SECRET = {"relevantBeliefs": {"mustExclude": ["secret"]}}
ROSES_ALONE = {
    "relevantBeliefs": {"shouldOnlyInclude": ["roses"]},
    "noiseCheck": {"mustNotSurface": ["hedge"]},
}


def files() -> dict[str, list[dict[str, Any]]]:
    """Return the entries of the three files."""
    return {
        BELIEFS: [
            belief("roses", aliases=["Rosa", "thorns"], why_it_matters="Shapes advice."),
            belief("tulips"),
            belief("gate", pinned=True),
            belief("gate-old", pinned=True, superseded_by="gate"),
            belief("pond", type="open_question", pinned=True),
            belief("roses-near-pond", type="relation", participants=["roses", "pond"]),
            belief("tractor", scope=["farm"]),
            belief("secret", user_id="other-user", pinned=True),
        ],
        CASES: [
            case("find-roses", ["roses"]),
            case("find-both", ["roses", "tulips"], scope=["garden", "farm"]),
            case("find-relation", ["roses-near-pond", "roses"]),
            case("nothing", []),
            case("blank", [], "  "),
            case("no-budget", [], budget={"maxBeliefs": 0}),
            case("small-budget", [], budget={"maxBeliefs": 1}),
            case("new-user", [], userId="new-user", category="Cold start behavior"),
            case("isolated", [], category="Cross-user isolation", expect=NO_SECRET),
        ],
        CONVERSATIONS: [
            {
                "caseId": "talk",
                "turns": [
                    turn(0, ["roses"], createBeliefAtTurn=belief("hedge")),
                    turn(
                        1, ["hedge"], updateBeliefAtTurn={"beliefId": "roses", "addAliases": [" Petals ", "rosa", ""]}
                    ),
                ],
            },
            {
                "caseId": "later",
                "turns": [turn(0, ["roses"], expect=ROSES_ALONE)],
            },
        ],
    }


def encoded(entries: dict[str, list[dict[str, Any]]]) -> dict[str, bytes]:
    return {name: json.dumps(each).encode() for name, each in entries.items()}


def dataset() -> PrecisionDataset:
    """Return the files above, opened."""
    return PrecisionDataset(parse(encoded(files())))


def items() -> dict[str, ItemKey]:
    """Return the keys of these files, by item."""
    return {each.item_id: each for each in dataset().answer_keys()}


class Invented(PrecisionBenchmark):
    """The benchmark on invented beliefs."""

    def open(self, path: Path | None = None, parameters: Parameters | None = None) -> Dataset:
        return dataset()
