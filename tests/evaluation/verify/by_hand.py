"""Edits of sealed folders by hand, as a careful forger makes them."""

import gzip
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

Json = dict[str, Any]


def edit_rows(head: Path, name: str, edit: Callable[[list[Json]], object], *, forge: bool = False) -> None:
    """Edit rows beside a head, in place or to the list returned; ``forge`` writes the new digest into the head."""
    path = head.with_name(f"{name}.gz")
    rows = [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]
    edited = edit(rows)
    rows = edited if isinstance(edited, list) else rows
    lines = (json.dumps(row, sort_keys=True, ensure_ascii=False, separators=(",", ":")) + "\n" for row in rows)
    data = "".join(lines).encode()
    path.write_bytes(gzip.compress(data, mtime=0))
    if forge:
        digest = {"digest": "sha256:" + hashlib.sha256(data).hexdigest(), "rows": len(rows)}
        edit_head(head, lambda told: told["files"].update({name: digest}))


def edit_head(head: Path, edit: Callable[[Json], object]) -> None:
    told = json.loads(head.read_bytes())
    edit(told)
    head.write_text(json.dumps(told, sort_keys=True, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
