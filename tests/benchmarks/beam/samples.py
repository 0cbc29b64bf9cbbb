"""Made-up chats in the layout of BEAM."""

import gzip
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from memeval.benchmarks.beam.keys import Ability
from memeval.benchmarks.beam.released import released_chats

Json = Any

ABILITIES = [ability.value.replace("-", "_") for ability in Ability]


def message(number: int, content: str, **rest: Json) -> Json:
    """Return a message: of the user if its number is even, else of the assistant."""
    return {"role": "assistant" if number % 2 else "user", "id": number, "content": content} | rest


def chat() -> Json:
    """Return a chat of three batches: the second has no date, the third has two."""
    return [
        {
            "batch_number": 1,
            "time_anchor": None,
            "turns": [
                [
                    message(0, "My kayak is red. ->-> 1,1", time_anchor="March-15-2024", index="1,1"),
                    message(1, "Red is easy to see.", question_type="main_question"),
                ],
                [message(2, "I paddle on Tuesdays. ->-> 1,2)"), message(3, "Noted.\n->->  1,3")],
            ],
        },
        {"batch_number": 2, "turns": [[message(4, "I sold the oar. ->-> 2,N/A"), message(5, "For how much?")]]},
        {
            "batch_number": 3,
            "turns": [
                [
                    message(6, "The kayak is green now. ->-> 3,", time_anchor="April-02-2024"),
                    message(7, "A good colour."),
                ],
                [
                    message(8, "I paddle on Fridays. ->-> 3,2, 4", time_anchor="April-09-2024"),
                    message(9, "Arrows as in f: x -> y stay."),
                ],
            ],
        },
    ]


def questions() -> Json:
    """Return two questions per ability; of one, the evidence is a list of lists, of another an object of lists."""
    made: Json = {
        name: [
            {
                "question": f"Which kayak, in {name}, {number}?",
                "difficulty": "easy",
                "rubric": ["LLM response should state: a green kayak"],
                "source_chat_ids": [[6, 6], [0]],
                "answer": "The kayak is green.",
                "plan_reference": "Batch 3",
            }
            for number in (1, 2)
        ]
        for name in ABILITIES
    }
    for number, question in enumerate(made["abstention"], 1):
        del question["source_chat_ids"], question["answer"]
        question["ideal_response"] = "The chat does not say."
        question["rubric"] = [f"Based on the provided chat, there is no information related to the price {number}"]
    made["knowledge_update"][0] |= {
        "source_chat_ids": {"original_info": [2], "updated_info": [8]},
        "rubric": ["LLM response should state: Fridays"],
        "answer": "On Fridays.",
    }
    made["summarization"][1]["source_chat_ids"] = []
    made["event_ordering"][0]["rubric"] = ["The colour of the kayak", "The day of paddling", "Selling the oar"]
    return made


def write_chat(folder: Path, *, packed: bool = False, nested: bool = False, **files: Json) -> Path:
    """Write the files of a chat; ``chat`` and ``questions`` replace the made-up ones, bytes as they are."""
    names = {"chat": "chat.json", "questions": "probing_questions.json"}
    if nested:
        names["questions"] = "probing_questions/probing_questions.json"
    made = {"chat": chat(), "questions": questions()} | files
    for name, path in names.items():
        content = made[name]
        data = content if isinstance(content, bytes) else json.dumps(content).encode()
        file = folder / (path + ".gz" if packed else path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(gzip.compress(data) if packed else data)
    return folder


def write_size(folder: Path, size: str = "100K", chats: Mapping[str, Mapping[str, Json]] | None = None) -> Path:
    """Write all chats of a size; ``chats``: files that replace the made-up ones, by number of the chat."""
    for number in released_chats()[size]:
        write_chat(folder / size / number, **(chats or {}).get(number, {}))
    return folder
