"""Astrocyte's storage tier, with the in-memory stores and the mock provider that it ships for tests."""

from __future__ import annotations

import logging
import sys
from datetime import UTC, datetime, time, timedelta
from typing import Any

from astrocyte import Astrocyte
from astrocyte.config import AstrocyteConfig, ExtractionProfileConfig
from astrocyte.pipeline.extraction import merged_extraction_profiles
from astrocyte.pipeline.orchestrator import PipelineOrchestrator
from astrocyte.testing.in_memory import InMemoryVectorStore, MockLLMProvider
from astrocyte.types import Dispositions
from features import Features

BANK = "memory"

LONGEST = 50_000
"""Characters that one retain may have; Astrocyte refuses more."""

INSTANT = timedelta(microseconds=1)
"""Astrocyte's ranges of time hold their end, and memeval's do not."""

BEGINNING = datetime(1, 1, 1, tzinfo=UTC)
END = datetime(9999, 1, 1, tzinfo=UTC)


class AstrocyteMemory:
    """Retains each turn with its time and its place; everything but the barrier against personal data is as shipped.

    Args:
        features: what is switched on and off; see ``features.py``.
    """

    def __init__(self, **features: bool) -> None:
        logging.getLogger("astrocyte").setLevel(logging.ERROR if features else logging.WARNING)
        self.features = Features(features)
        self.start()

    def start(self) -> None:
        """Make a new Astrocyte over new stores: what another instance holds is out of its reach."""
        config = AstrocyteConfig()
        config.provider_tier = "storage"
        config.barriers.pii.mode = "disabled"
        self.features.configure(config)
        self.config = config
        self.vectors = InMemoryVectorStore()
        self.astrocyte = Astrocyte(config)
        self.pipeline = PipelineOrchestrator(
            vector_store=self.vectors, llm_provider=MockLLMProvider(), **self.features.arguments()
        )
        self.astrocyte.set_pipeline(self.pipeline)
        self.stored: dict[str, dict[str | None, list[str]]] = {}
        """Astrocyte's own ids, by bank and memeval's id."""

    def reset(self) -> None:
        self.start()

    async def ingest_session(self, session: dict[str, Any], timestamp: str) -> None:
        for turn in session["turns"]:
            said = f"{turn.get('speaker') or turn['role']}: {turn['content']}"
            about = {"ext_id": turn["turn_id"], "date": session["date"]}
            await self.store(said, BANK, session["date"], about)

    async def retain(
        self,
        content: str,
        bank: str = BANK,
        timestamp: str | None = None,
        tags: list[str] | None = None,
        id: str | None = None,
        fact_type: str | None = None,
        metadata: dict[str, Any] | None = None,
    ) -> None:
        await self.store(content, bank, timestamp, {**(metadata or {}), "ext_id": id}, tags, fact_type)

    async def store(
        self,
        content: str,
        bank: str,
        timestamp: str | None,
        about: dict[str, Any],
        tags: list[str] | None = None,
        fact_type: str | None = None,
    ) -> None:
        """Retain a text, one that is too long in parts."""
        for start in range(0, len(content), LONGEST):
            result = await self.astrocyte.retain(
                content[start : start + LONGEST],
                bank,
                metadata=about,
                tags=tags,
                occurred_at=moment(timestamp),
                extraction_profile=self.profile(fact_type),
            )
            if result.error and not result.deduplicated:
                raise RuntimeError(f"Astrocyte stored nothing: {result.error}")
            if result.memory_id:
                self.stored.setdefault(bank, {}).setdefault(about["ext_id"], []).append(result.memory_id)

    def profile(self, fact_type: str | None) -> str | None:
        """Return the name of a profile that gives texts a type; the type of a text cannot be said otherwise."""
        if fact_type is None:
            return None
        known = self.config.extraction_profiles or {}
        name = f"type-{fact_type}"
        if name not in known:
            profile = ExtractionProfileConfig(fact_type=fact_type)
            self.config.extraction_profiles = {**known, name: profile}
            self.pipeline.extraction_profiles = merged_extraction_profiles(self.config)
        return name

    async def search(self, query: str, k: int, timestamp: str = "now") -> list[dict[str, Any]]:
        if timestamp == "now":
            return await self.find(query, k, BANK)
        end = moment(timestamp, last=True)
        return await self.find(query, k, BANK, between=(BEGINNING, end or END), at=moment(timestamp))

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
        end = moment(until)
        between = (moment(since) or BEGINNING, end - INSTANT if end else END) if since or until else None
        return await self.find(query, k, bank, tags, between, moment(timestamp))

    async def find(
        self,
        query: str,
        k: int,
        bank: str,
        tags: list[str] | None = None,
        between: tuple[datetime, datetime] | None = None,
        at: datetime | None = None,
    ) -> list[dict[str, Any]]:
        """Recall, of what happened between two moments, both included, as asked at a time."""
        found = await self.astrocyte.recall(
            query, bank, max_results=k, tags=tags, time_range=between, query_reference_date=at
        )
        return items(found.hits)

    async def query(self, question: str, timestamp: str = "now") -> dict[str, Any]:
        return await self.reflect(question, timestamp=None if timestamp == "now" else timestamp)

    async def reflect(
        self,
        query: str,
        bank: str = BANK,
        timestamp: str | None = None,
        dispositions: dict[str, int] | None = None,
    ) -> dict[str, Any]:
        traits = Dispositions(**dispositions) if dispositions else None
        result = await self.astrocyte.reflect(query, bank, dispositions=traits, query_reference_date=moment(timestamp))
        used = items(result.sources or [])
        return {"answer": result.answer, "context": "\n".join(item["text"] for item in used), "items": used}

    async def forget(self, bank: str = BANK, ids: list[str] | None = None, query: str | None = None) -> int:
        """Forget a whole bank, or what was retained under some ids."""
        if query is not None:
            raise NotImplementedError("Astrocyte forgets by id or by bank, not by a query.")
        held = self.stored.setdefault(bank, {})
        if ids is None:
            held.clear()
            return int((await self.astrocyte.clear_bank(bank)).deleted_count)
        own = [one for id in ids for one in held.pop(id, [])]
        return int((await self.astrocyte.forget(bank, memory_ids=own)).deleted_count) if own else 0

    async def export_memories(self) -> list[dict[str, Any]]:
        """Return what the vector store keeps of what was retained, a chunk each."""
        banks = [await self.vectors.list_vectors(bank, limit=sys.maxsize) for bank in self.stored]
        return [told(one) for kept in banks for one in kept]


def moment(date: str | None, last: bool = False) -> datetime | None:
    """Return an ISO 8601 date, or date and time, as Astrocyte takes it: with a time zone; ``last`` ends a whole day."""
    if date is None:
        return None
    parsed = datetime.fromisoformat(date)
    if last and len(date) == len("2024-02-01"):
        parsed = datetime.combine(parsed, time.max)
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)


def told(hit: Any) -> dict[str, Any]:
    """Return a memory as memeval takes it: a turn of a session behind its date."""
    about = hit.metadata or {}
    source, date = about.get("ext_id"), about.get("date")
    return {"text": f"[{date}] {hit.text}" if date else hit.text, "source_ids": [source] if source else []}


def items(hits: list[Any]) -> list[dict[str, Any]]:
    """Return hits as memeval takes them, best first, each turn once: long turns are kept in several chunks."""
    found: dict[Any, dict[str, Any]] = {}
    for hit in hits:
        item = {**told(hit), "score": hit.score}
        found.setdefault(item["source_ids"][0] if item["source_ids"] else item["text"], item)
    return list(found.values())
