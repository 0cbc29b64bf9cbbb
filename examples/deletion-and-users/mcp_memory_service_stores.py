"""mcp-memory-service: what a store learns of another one, and what a deletion leaves in the file."""

import asyncio
import logging
import os
import sys
import tempfile

import pysqlite3

sys.modules["sqlite3"] = pysqlite3  # many builds of Python load no extensions of SQLite
os.environ |= {"HOME": tempfile.mkdtemp(), "MCP_MEMORY_ONNX_ALLOW_DOWNLOAD": "0"}
logging.disable()

from mcp_memory_service.services.memory_service import MemoryService  # noqa: E402
from mcp_memory_service.storage.sqlite_vec import SqliteVecMemoryStorage  # noqa: E402


async def main() -> None:
    file, text = f"{tempfile.mkdtemp()}/memory.db", "The door has the code 4711."
    storage = SqliteVecMemoryStorage(file)
    await storage.initialize()
    service = MemoryService(storage)
    await service.store_memory(text, store="ana")
    print("store ben is told:", (await service.store_memory(text, store="ben"))["error"])
    print("store ben finds:", await storage.retrieve(text, store="ben"))
    (of_ana,) = await storage.get_all_memories(store="ana")
    print("deleted:", (await storage.delete_memories(content_hash=of_ana.content_hash, store="ana"))["deleted_count"])
    print("the file still has:", pysqlite3.connect(file).execute("select content from memories").fetchall())


asyncio.run(main())
