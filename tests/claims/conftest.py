"""A small benchmark of keys, and a source with published answers to it. All of it is made up."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from memeval.claims.copies import Copies
from memeval.claims.regrading import Sessions, regrade
from memeval.claims.summaries import Regraded
from memeval.records.base import digest_bytes
from memeval.records.source import PublishedSource

KEYS: tuple[dict[str, Any], ...] = (
    {"question_id": "q1", "question": "What colour is the door?", "answer": "green", "answer_session_ids": ["s_a"]},
    {"question_id": "q2", "question": "Who called?", "answer": "Ada", "answer_session_ids": ["s_b", "s_c"]},
    {"question_id": "q3", "question": "Who called?", "answer": "Grace", "answer_session_ids": ["s_d"]},
    {"question_id": "q4", "question": "How many cups?", "answer": 7, "answer_session_ids": ["s_a"]},
)
"""Four questions; two have the same text."""

ROWS: tuple[dict[str, Any], ...] = (
    {"id": "q1", "q": "What colour is the door?", "gold": "green", "said": "It is green.", "ok": "CORRECT"},
    {"id": "q2", "q": "Who called?", "gold": "Ada", "said": "Ada called.", "ok": 1},
    {"id": "q3", "q": "Who called?", "gold": "Grace", "said": "Nobody knows.", "ok": True},
    {"id": "q4", "q": "How many cups?", "gold": "7", "said": "Three cups.", "ok": "no"},
)
"""An answer to each, with verdicts in four spellings."""

BY_TEXT: dict[str, Any] = {
    "rows": "$[*]",
    "question": "q",
    "gold": "gold",
    "answer": "said",
    "verdicts": {"judge": "ok"},
}
BY_ID: dict[str, Any] = {"rows": "$[*]", "item": "id", "answer": "said", "verdicts": {"judge": "ok"}}

Grade = Callable[..., Regraded]


def source_of(data: bytes, mapping: dict[str, Any], **fields: Any) -> PublishedSource:
    return PublishedSource.model_validate_json(
        json.dumps(
            {
                "schema_version": 1,
                "name": "acme",
                "title": "Acme",
                "repository": "acme/memory",
                "commit": "0" * 40,
                "licence": "MIT",
                "looked_at": "2026-11-22",
                "mappings": {"main": mapping},
                "files": [
                    {
                        "name": "answers",
                        "system": "Acme",
                        "benchmark": "longmemeval@1",
                        "protocol": "judge",
                        "parts": [{"path": "runs/answers.json", "digest": digest_bytes(data), "mapping": "main"}],
                        **fields,
                    }
                ],
            }
        )
    )


def described(folder: Path, published: bytes) -> Path:
    """Write the source of the small file, and return the folder of sources."""
    folder.mkdir()
    (folder / "acme.toml").write_text(
        'schema_version = 1\nname = "acme"\ntitle = "Acme"\nrepository = "acme/memory"\n'
        f'commit = "{"0" * 40}"\nlicence = "MIT"\nlooked_at = "2026-11-22"\n'
        '[mappings.main]\nrows = "$[*]"\nitem = "id"\nanswer = "said"\nverdicts = {judge = "ok"}\n'
        '[[files]]\nname = "answers"\nsystem = "Acme"\nbenchmark = "longmemeval@1"\nprotocol = "judge"\n'
        f'parts = [{{path = "runs/answers.json", digest = "{digest_bytes(published)}", mapping = "main"}}]\n'
    )
    return folder


def write_keys(folder: Path) -> Path:
    path = folder / "keys.jsonl"
    rows = [{**each, "question_type": "single-session-user", "question_day": "2023-05-30"} for each in KEYS]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    return write_keys(tmp_path)


@pytest.fixture
def graded(tmp_path: Path, keys: Path) -> Grade:

    def grade(rows: Sequence[Any] | bytes, mapping: dict[str, Any], **fields: Any) -> Regraded:
        data = rows if isinstance(rows, bytes) else json.dumps(rows).encode()
        place = tmp_path / "published" / "acme__memory" / "runs"
        place.mkdir(parents=True, exist_ok=True)
        (place / "answers.json").write_bytes(data)
        source = source_of(data, mapping, **fields)
        copies = Copies(tmp_path / "published")
        return regrade(source, source.files[0], copies, Sessions({"longmemeval@1": keys}))

    return grade
