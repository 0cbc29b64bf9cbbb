"""A small synthetic file of the released form; every word of it is made up."""

import json
from pathlib import Path
from typing import Any

from memeval.benchmarks.base import Dataset
from memeval.keys import ItemKey

Row = dict[str, Any]

KINDS = (
    "single-session-user",
    "single-session-preference",
    "single-session-assistant",
    "multi-session",
    "temporal-reasoning",
    "knowledge-update",
)


def turn(role: str, content: str, has_answer: bool | None = None) -> Row:
    """Return a turn; the mark stands there only where it is given."""
    return {"role": role, "content": content} | ({} if has_answer is None else {"has_answer": has_answer})


def row(question_id: str = "1a2b3c4d", kind: str = "multi-session", **changes: Any) -> Row:
    """Return a question over four sessions: out of order, two of them at one time, two of them evidence."""
    return {
        "question_id": question_id,
        "question_type": kind,
        "question": "How many kites have I built?",
        "answer": "Three",
        "question_date": "2024/05/30 (Thu) 23:40",
        "haystack_session_ids": ["ultrachat_7", "answer_9f_2", "answer_9f_1", "sharegpt_x_0"],
        "haystack_dates": [
            "2024/05/20 (Mon) 10:00",
            "2024/05/22 (Wed) 08:05",
            "2024/05/03 (Fri) 17:30",
            "2024/05/20 (Mon) 10:00",
        ],
        "haystack_sessions": [
            [turn("user", "What is a rhombus?"), turn("assistant", "A quadrilateral with equal sides.")],
            [
                turn("assistant", "Good morning.", False),
                turn("user", "The red kite is done as well.", True),
                turn("assistant", "", False),
            ],
            [turn("user", "I built two kites.", True), turn("assistant", "Well done.", False)],
            [],
        ],
        "answer_session_ids": ["answer_9f_2", "answer_9f_1"],
        **changes,
    }


def rows() -> list[Row]:
    """Return one question of each type and one that cannot be answered."""
    return [*(row(f"{n:08x}", kind) for n, kind in enumerate(KINDS, 1)), row("00000004_abs", answer="Nothing is said.")]


def written(folder: Path, value: object, name: str = "copy.json") -> Path:
    """Write a value as JSON, and return where."""
    path = folder / name
    path.write_text(json.dumps(value), "utf-8")
    return path


def keys_of(dataset: Dataset) -> list[ItemKey]:
    """Return the keys, in the order of the file."""
    return list(dataset.answer_keys())
