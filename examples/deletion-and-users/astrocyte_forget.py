"""Astrocyte with a store of documents for keywords: what a recall returns after a memory was forgotten."""

import asyncio

from astrocyte import Astrocyte
from astrocyte.config import AstrocyteConfig
from astrocyte.pipeline.orchestrator import PipelineOrchestrator
from astrocyte.testing.in_memory import InMemoryDocumentStore, InMemoryVectorStore, MockLLMProvider


async def main() -> None:
    """Retain a text, forget it, and recall it."""
    config = AstrocyteConfig()
    config.provider_tier = "storage"
    vectors, documents = InMemoryVectorStore(), InMemoryDocumentStore()
    astrocyte = Astrocyte(config)
    astrocyte.set_pipeline(PipelineOrchestrator(vectors, MockLLMProvider(), document_store=documents))
    kept = await astrocyte.retain("Ana: My cat is called Biscotti.", "ana")
    print("forgotten:", (await astrocyte.forget("ana", memory_ids=[kept.memory_id])).deleted_count)
    print("vectors:", [each.text for each in await vectors.list_vectors("ana")])
    print("recalled:", [hit.text for hit in (await astrocyte.recall("What is the cat called?", "ana")).hits])


asyncio.run(main())
