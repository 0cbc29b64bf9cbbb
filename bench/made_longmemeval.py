"""A made-up file of LongMemEval's form and size: every word of it is drawn from a seed, and none is from the data."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path

QUESTIONS = 500
TURNS = 10
"""Turns of a session."""

POOL = 500
"""Different turns that sessions are put together from; writing gigabytes of different ones would take minutes."""

KINDS = (
    "single-session-user",
    "single-session-assistant",
    "single-session-preference",
    "multi-session",
    "temporal-reasoning",
    "knowledge-update",
)


def write(path: Path, size: int, seed: int = 1) -> None:
    """Write a file of 500 questions.

    Args:
        path: the file.
        size: about how many bytes.
        seed: of the draw.
    """
    rng = random.Random(seed)
    pool = [list(_turns(rng, role)) for role in ("user", "assistant")]
    with path.open("w", encoding="utf-8") as file:
        for number in range(QUESTIONS):
            file.write("[\n" if number == 0 else ",\n")
            file.write(_question(rng, pool, number, size // QUESTIONS))
        file.write("\n]\n")


def _turns(rng: random.Random, role: str) -> Iterator[str]:
    """Yield turns as JSON; in every third stand signs that JSON writes as escapes, as real chats have them."""
    words = [f"synthetic{number}" for number in range(2000)]
    for number in range(POOL):
        content = " ".join(rng.choices(words, k=rng.randint(60, 130))) + ("" if number % 3 else " naïve “quoted” — 🙂")
        yield json.dumps({"role": role, "content": content}, indent=1)


def _question(rng: random.Random, pool: list[list[str]], number: int, size: int) -> str:
    """Return a question with as many sessions as its size asks for; the first of them is its evidence."""
    sessions: list[str] = []
    while sum(map(len, sessions)) < size:
        turns = [rng.choice(pool[place % 2]) for place in range(TURNS)]
        sessions.append("[\n" + ",\n".join(turns) + "\n]")
    ids = [f"synthetic_{number}_{place}" for place in range(len(sessions))]
    fields = {
        "question_id": f"synthetic_{number:03}",
        "question_type": KINDS[number % len(KINDS)],
        "question": "What was said first in this made-up history?",
        "answer": "Something synthetic",
        "question_date": "2024/12/31 (Tue) 12:00",
        "haystack_session_ids": ids,
        "haystack_dates": [f"2024/{1 + place % 12:02}/{1 + place % 28:02} (Mon) 10:00" for place in range(len(ids))],
        "answer_session_ids": ids[:1],
    }
    head = json.dumps(fields, indent=1).removesuffix("\n}")
    return f'{head},\n "haystack_sessions": [\n' + ",\n".join(sessions) + "\n]\n}"
