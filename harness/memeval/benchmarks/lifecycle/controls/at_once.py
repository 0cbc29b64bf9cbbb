"""Two memories that take several texts at the same time: one keeps all of them, and one loses some."""

from __future__ import annotations

import asyncio
import importlib.util
import sys
from pathlib import Path
from typing import Any

WRITING_SECONDS = 0.05
"""How long it takes to store a text. Those that arrive meanwhile are stored at the same time."""


def stores() -> Any:
    """Return the module with the control careful-store."""
    spec = importlib.util.spec_from_file_location("stores", Path(__file__).with_name("stores.py"))
    if spec is None or spec.loader is None:
        raise RuntimeError("the control careful-store is not there.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


class CarefulAtOnce:
    """Is careful-store, and takes texts while it still stores others."""

    def __init__(self) -> None:
        self.module = stores()
        self.reset()

    def reset(self) -> None:
        self.store = self.module.CarefulStore()

    async def retain(self, content: str, bank: str = "", source_id: str = "") -> None:
        await asyncio.sleep(WRITING_SECONDS)
        self.store.retain(content, bank, source_id)

    def recall(self, query: str, k: int, bank: str = "") -> Any:
        return self.store.recall(query, k, bank)


class LostWrites:
    """Reads all texts, adds one, and writes all of them back: what others have written meanwhile is lost."""

    def __init__(self) -> None:
        self.module = stores()
        self.reset()

    def reset(self) -> None:
        self.store = self.module.CarefulStore()

    async def retain(self, content: str, bank: str = "", source_id: str = "") -> None:
        texts = [*self.store.texts.kept, self.module.Kept(bank, content, source_id)]
        await asyncio.sleep(WRITING_SECONDS)
        self.store.texts.kept = texts

    def recall(self, query: str, k: int, bank: str = "") -> Any:
        return self.store.recall(query, k, bank)
