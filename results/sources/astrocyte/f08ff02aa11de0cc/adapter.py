"""Astrocyte's storage tier, with the in-memory stores and the mock provider that it ships for tests."""

from __future__ import annotations

import logging
from datetime import UTC, datetime, time
from typing import Any

from astrocyte import Astrocyte
from astrocyte.config import AstrocyteConfig
from astrocyte.pipeline.orchestrator import PipelineOrchestrator
from astrocyte.testing.in_memory import InMemoryDocumentStore, InMemoryVectorStore, MockLLMProvider

BANK = "memory"

LONGEST = 50_000
"""Characters that one retain may have; Astrocyte refuses more."""

BEGINNING = datetime(1, 1, 1, tzinfo=UTC)
END = datetime(9999, 1, 1, tzinfo=UTC)


class AstrocyteMemory:
    """Retains each turn with its time and its place; everything but the barrier against personal data is as shipped."""

    def __init__(self) -> None:
        logging.getLogger("astrocyte").setLevel(logging.WARNING)
        self.start()

    def start(self) -> None:
        """Make a new Astrocyte over new stores: what another instance holds is out of its reach."""
        config = AstrocyteConfig()
        config.provider_tier = "storage"
        config.barriers.pii.mode = "disabled"
        self.astrocyte = Astrocyte(config)
        self.astrocyte.set_pipeline(
            PipelineOrchestrator(
                vector_store=InMemoryVectorStore(),
                document_store=InMemoryDocumentStore(),
                llm_provider=MockLLMProvider(),
            )
        )
        self.stored: dict[tuple[str, str], list[str]] = {}
        """Astrocyte's own ids, by bank and memeval's id."""

    def reset(self) -> None:
        self.start()

    async def ingest_session(self, session: dict[str, Any], timestamp: str) -> None:
        for turn in session["turns"]:
            said = f"{turn.get('speaker') or turn['role']}: {turn['content']}"
            await self.retain(said, timestamp=session["date"], id=turn["turn_id"])

    async def retain(
        self,
        content: str,
        bank: str = BANK,
        timestamp: str | None = None,
        tags: list[str] | None = None,
        id: str | None = None,
    ) -> None:
        for start in range(0, len(content), LONGEST):
            result = await self.astrocyte.retain(
                content[start : start + LONGEST],
                bank,
                metadata={"ext_id": id, "date": timestamp},
                tags=tags,
                occurred_at=moment(timestamp),
            )
            if result.error and not result.deduplicated:
                raise RuntimeError(f"Astrocyte stored nothing: {result.error}")
            if id and result.memory_id:
                self.stored.setdefault((bank, id), []).append(result.memory_id)

    async def search(self, query: str, k: int, timestamp: str = "now") -> list[dict[str, Any]]:
        return await self.recall(query, k, until=None if timestamp == "now" else timestamp)

    async def recall(
        self,
        query: str,
        k: int,
        bank: str = BANK,
        timestamp: str | None = None,
        tags: list[str] | None = None,
        since: str | None = None,
        until: str | None = None,
    ) -> list[dict[str, Any]]:
        between = (moment(since) or BEGINNING, moment(until, last=True) or END) if since or until else None
        found = await self.astrocyte.recall(
            query, bank, max_results=k, tags=tags, time_range=between, query_reference_date=moment(timestamp or until)
        )
        return items(found.hits)

    async def query(self, question: str, timestamp: str = "now") -> dict[str, Any]:
        return await self.reflect(question, timestamp=None if timestamp == "now" else timestamp)

    async def reflect(self, query: str, bank: str = BANK, timestamp: str | None = None) -> dict[str, Any]:
        result = await self.astrocyte.reflect(query, bank, query_reference_date=moment(timestamp))
        used = items(result.sources or [])
        return {"answer": result.answer, "context": "\n".join(item["text"] for item in used), "items": used}

    async def forget(self, bank: str = BANK, ids: list[str] | None = None, query: str | None = None) -> int:
        """Forget a whole bank, or what was retained under some ids."""
        if query is not None:
            raise NotImplementedError("Astrocyte forgets by id or by bank, not by a query.")
        if ids is None:
            return int((await self.astrocyte.clear_bank(bank)).deleted_count)
        own = [one for id in ids for one in self.stored.pop((bank, id), [])]
        return int((await self.astrocyte.forget(bank, memory_ids=own)).deleted_count) if own else 0


def moment(date: str | None, last: bool = False) -> datetime | None:
    """Return an ISO 8601 date, or date and time, as Astrocyte takes it: with a time zone; ``last`` ends a whole day."""
    if date is None:
        return None
    parsed = datetime.fromisoformat(date)
    if last and len(date) == len("2024-02-01"):
        parsed = datetime.combine(parsed, time.max)
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)


def items(hits: list[Any]) -> list[dict[str, Any]]:
    """Return hits as memeval takes them, best first, each turn once: long turns are kept in several chunks."""
    found: dict[Any, dict[str, Any]] = {}
    for hit in hits:
        about = hit.metadata or {}
        source, date = about.get("ext_id"), about.get("date")
        text = f"[{date}] {hit.text}" if date else hit.text
        found.setdefault(source or text, {"text": text, "source_ids": [source] if source else [], "score": hit.score})
    return list(found.values())
