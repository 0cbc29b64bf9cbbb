"""A made-up user in the layout of LifeBench."""

import gzip
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from memeval.benchmarks.lifebench.released import QUESTIONS, UserFiles, unpacked_file
from memeval.records.base import digest_bytes

USER = "lumingqiang"
"""The user of the tier quick; nothing here is from the data but this name."""

Rows = list[dict[str, Any]]

LISTS: Mapping[str, Rows] = {
    "agent_chat": [
        {
            "event_id": 11,
            "phone_id": 1,
            "type": "agent_chat",
            "date": "2025-01-02",
            "conversation": {
                "turn 1": {
                    "user": {"action": "ask", "content": "How do I wax skis?"},
                    "assistant": {"action": "reply", "content": "Heat the wax and scrape it off."},
                },
                "turn 2": {"user": {"action": "ask", "content": "How often?"}, "assistant": {"content": " "}},
            },
        }
    ],
    "calendar": [
        {"event_id": 12, "phone_id": "1", "type": "calendar", "title": "Ski trip", "datetime": "2025-01-02 08:00:00"}
    ],
    "call": [
        {
            "phone_id": 1,
            "event_id": 13,
            "type": "call",
            "contactName": "Bo Lin",
            "phoneNumber": "+8613800001111",
            "datetime": "2025-02-01 10:00:00",
            "direction": 1,
        }
    ],
    "contact": [
        {
            "phone_id": 1,
            "name": "Bo Lin",
            "phoneNumber": "13800001111",
            "personalEmail": "bo@example.org",
            "workEmail": "lin@example.org",
            "idNumber": 110101199001011234,
        }
    ],
    "fitness_health": [{"日期": "2025-01-02", "步行": {"步数": "8000 steps", "天气": ""}}],
    "note": [
        {"phone_id": 5, "event_id": 14, "title": "Boots", "content": "Size 41.", "datetime": "2025-02-03 20:00:00"},
        {"phone_id": 5, "event_id": 14, "title": "Poles", "content": "120 cm.", "datetime": "2025-02-03 20:00:00"},
    ],
    "photo": [
        {
            "phone_id": 1,
            "event_id": 15,
            "caption": "Snow on a roof",
            "datetime": "2024-12-31 12:00:00",
            "location": {"city": "Harbin", "poi": ""},
            "imageTag": ["Snow", "Roof"],
            "faceRecognition": [],
        }
    ],
    "push": [
        {
            "phone_id": 1,
            "event_id": 16,
            "title": "Ski shop",
            "content": "Call 400-123-4567 or 13800001111, or write to shop@example.org.",
            "datetime": "2025-03-05 09:00:00",
        }
    ],
    "sms": [
        {
            "phone_id": 7,
            "event_id": 12,
            "type": "sms",
            "message_content": "Me: the train leaves at nine.",
            "contactName": "Bo Lin",
            "contact_phone_number": "+8613800001111",
            "datetime": "2025-01-02 09:00:00",
            "message_type": "Send",
            "something_new": "kept",
        }
    ],
}
"""The nine record lists."""

OPTIONS = [{"option": letter, "content": f"{letter.lower()} skis"} for letter in "ABCD"]

ROWS: Rows = [
    {
        "question": "When does the train leave?",
        "answer": "At nine.",
        "question_type": "Information Extraction",
        "ask_time": "2025-01",
        "evidence": [
            {"type": "sms", "id": "7"},
            {"type": "sms", "id": 7},
            {"type": "push", "id": 1},
            {"type": "note", "id": 99},
        ],
        "score_points": [
            {"description": "Names nine o'clock (originating from Event ID: 12).", "score": 6},
            {"description": "Names the train.", "score": 2},
        ],
        "required_events_id": ["12"],
    },
    {
        "question": "What does she wax?",
        "answer": "B",
        "question_type": "Nondeclarative",
        "ask_time": "2025-02",
        "evidence": [{"type": "agent_chat", "id": 1}],
        "options": OPTIONS,
    },
    {
        "question": "What did the boots cost?",
        "answer": "Unable to answer",
        "question_type": "Unanswerable",
        "type": "question_answer",
        "ask_time": "2025-02",
        "score_points": [],
    },
    {
        "question": "Which things did she note?",
        "answer": "Boots and poles.",
        "question_type": "Multi-hop reasoning",
        "ask_time": "2025-03-15",
        "evidence": [{"type": "note", "id": 5}, {"phone_id": 1, "type": "call", "contactName": "Bo Lin"}],
        "score_points": [{"description": "Names boots.", "score": 5}, {"description": "Names poles.", "score": 5}],
    },
    {
        "question": "What does the shop say?",
        "answer": "To call.",
        "question_type": "Temporal and Knowledge Updating",
        "ask_time": "2025-01",
        "evidence": [{"type": "push", "id": 1}],
        "score_points": [{"description": "Names the call.", "score": 10}],
    },
    {
        "question": "Which skis does she like?",
        "answer": "A, C",
        "question_type": "Nondeclarative",
        "ask_time": "2025-02",
        "evidence": [{"error": "no id", "type": "photo", "id": 1}],
        "options": OPTIONS,
    },
]
"""Six questions: one with late and unknown evidence, one with a doubled id, one with only late evidence."""


def write_user(
    folder: Path, rows: Rows = ROWS, lists: Mapping[str, Rows] = LISTS, *, user: str = USER, packed: bool = False
) -> Path:
    """Write the files of a user, and return the folder of the benchmark."""
    files = {f"phone_data/{name}.json": records for name, records in lists.items()} | {QUESTIONS: rows}
    for path, content in files.items():
        file = folder / "data_en" / user / path
        file.parent.mkdir(parents=True, exist_ok=True)
        data = json.dumps(content, ensure_ascii=False).encode()
        if packed:
            file.with_name(file.name + ".gz").write_bytes(gzip.compress(data))
        else:
            file.write_bytes(data)
    return folder


def questions_only(folder: Path, user: str) -> UserFiles:
    """Return a user whose questions alone are there."""
    path = folder / "data_en" / user / f"{QUESTIONS}.gz"
    return UserFiles(user, folder / "data_en" / user, {QUESTIONS: digest_bytes(unpacked_file(path))}, True)
