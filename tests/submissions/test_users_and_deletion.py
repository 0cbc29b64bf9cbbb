"""Products with users and deletion: banks are kept apart, and what is deleted is neither found nor exported."""

import pytest

from tests.support.products import LOAD_ADAPTER, drive

DRIVE = (
    LOAD_ADAPTER
    + """
import asyncio
made, loop = getattr(adapter, sys.argv[2])(), asyncio.new_event_loop()
class Memory:
    def __getattr__(self, name):
        def call(*args, **keywords):
            value = getattr(made, name)(*args, **keywords)
            return loop.run_until_complete(value) if asyncio.iscoroutine(value) else value
        return call
memory = Memory()
memory.reset()
banks = ["team/ana", "team/ana0", "ana 2", "*", "a.b", ""]
for number, bank in enumerate(banks):
    memory.retain(f"The code of my locker is {1000 + number}.", bank=bank, source_id=f"s00{number}")
memory.retain("My locker is blue.", bank="team/ana", source_id="s009")
def texts(bank):
    return sorted(item["text"] for item in memory.recall("Which code opens the locker?", 10, bank=bank))
def kept():
    return sorted(item["source_ids"][0] for item in memory.export_memories())
told = {"apart": [texts(bank) for bank in banks]}
memory.forget(bank="team/ana", ids=["s000", "s001", "missing"])
told["by_id"] = [texts("team/ana"), texts("team/ana0"), kept()]
memory.forget(bank="*")
told["by_bank"] = [texts("*"), kept()]
memory.retain("The code of my locker is 1000.", bank="team/ana", source_id="s000")
told["again"] = texts("team/ana")
memory.forget()
told["all"] = kept()
json.dump(told, sys.stdout)
"""
)


@pytest.mark.products
@pytest.mark.parametrize(
    ("slug", "name"),
    [
        ("langgraph-store", "LangGraphStore"),
        ("mem0-verbatim", "Mem0Verbatim"),
        ("mcp-memory-service", "McpMemoryService"),
    ],
)
def test_a_deletion_removes_what_it_names_and_nothing_else(slug: str, name: str) -> None:
    told = drive(slug, DRIVE, name)
    code = "The code of my locker is {}."
    own = [[code.format(1000 + number)] for number in range(6)]
    assert told["apart"] == [["My locker is blue.", *own[0]], *own[1:]]
    assert told["by_id"] == [
        ["My locker is blue."],
        [code.format(1001)],
        ["s001", "s002", "s003", "s004", "s005", "s009"],
    ]
    assert told["by_bank"] == [[], ["s001", "s002", "s004", "s005", "s009"]]
    assert (told["again"], told["all"]) == (sorted([code.format(1000), "My locker is blue."]), [])
