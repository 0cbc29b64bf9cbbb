"""Any flipped bit of a journal is found, with its file and line."""

import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memeval.execution.contexts import TurnTexts
from memeval.execution.journal import Journal
from memeval.execution.steps import FinishedItems
from memeval.gateway.record import CallRecord
from memeval.records.call import Api, Call, ModelRequest, Phase, Traffic
from memeval.records.errors import BadInput
from memeval.records.journal import LogLine, Plan
from memeval.records.response import Outcome, Response, Timings
from tests.support.audits import make_call
from tests.support.forging import stored_run
from tests.support.runs import plan_of
from tests.support.tiny import scenario

AT = "2026-11-22T08:00:00.000+00:00"
NAMES = ("plan.json", "responses.jsonl", "contexts.jsonl", "log.jsonl", "traffic.jsonl", "calls.jsonl")


def plan() -> Plan:
    return plan_of(stored_run("beliefs/no-memory").run, started=AT)


def finished(number: int) -> FinishedItems:
    context = TurnTexts(scenario(number)).context(f"[2025-01-05] Ada: I like soup {number}.\nand more")
    response = Response(
        item_id=f"item-{number}",
        scenario_id=context.scenario_id,
        question_id=f"question-{number}",
        outcome=Outcome.OK,
        answer=f"Lima {number}",
        context_digest=context.digest,
        timings=Timings(started=AT),
    )
    return FinishedItems((response.item_id,), (response,), (context,))


def call(number: int) -> Call:
    request = ModelRequest(endpoint="http://127.0.0.1/v1", api=Api.CHAT, body={"model": "m", "seed": number})
    return make_call(request, f"reply {number}")


def everything_in(folder: Path) -> Any:
    """Read all that a resumed run reads."""
    with Journal(folder) as journal, CallRecord(journal.path / "calls.jsonl") as calls:
        contexts = sorted(journal.contexts, key=lambda each: each.scenario_id)
        return (
            Journal.plan(folder),
            journal.responses,
            contexts,
            journal.log_lines,
            journal.exchanges,
            list(calls.rows()),
        )


@cache
def written() -> dict[str, bytes]:
    """Return the files of a journal with three rows in each."""
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as name:
        folder = Path(name) / "run"
        Journal.start(folder, plan())
        with Journal(folder) as journal, CallRecord(journal.path / "calls.jsonl") as calls:
            journal.write(map(finished, range(3)))
            journal.log(*(LogLine(at=AT, event="printed", detail=str(number)) for number in range(3)))
            for number in range(3):
                journal.exchanged(
                    Traffic(
                        at=AT,
                        host="api.example",
                        method="GET",
                        path=f"/{number}",
                        sent_bytes=1,
                        received_bytes=2,
                        seconds=0.5,
                        phase=Phase.ASK,
                    )
                )
            calls.append_all([call(number) for number in range(3)])
        return {file: (folder / "journal" / file).read_bytes() for file in NAMES}


def laid_out(folder: Path, files: dict[str, bytes]) -> Path:
    """Write the files of a journal into a folder of a run."""
    journal = folder / "journal"
    journal.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (journal / name).write_bytes(data)
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("run")


@given(name=st.sampled_from(NAMES), place=st.integers(min_value=0), bit=st.integers(0, 7))
def test_any_flipped_bit_is_found_with_file_and_line(folder: Path, name: str, place: int, bit: int) -> None:
    files = dict(written())
    data = bytearray(files[name])
    place %= len(data)
    data[place] ^= 1 << bit
    line = written()[name].count(b"\n", 0, place) + 1
    damaged = bytes(data)
    laid_out(folder, files | {name: damaged})
    where = name if name == "plan.json" else rf"{name}:{line}"
    with pytest.raises(BadInput, match=rf"{re.escape(name)}.*: the line is damaged.*checksum\. \w+ the ") as refused:
        everything_in(folder)
    assert where in str(refused.value)
    assert (folder / "journal" / name).read_bytes() == damaged, "nothing is removed"


@pytest.mark.parametrize("name", NAMES[1:])
def test_without_the_damaged_line_all_other_rows_are_read(tmp_path: Path, name: str) -> None:
    files = dict(written())
    before = everything_in(laid_out(tmp_path, files))
    lines = files[name].splitlines(keepends=True)
    after = everything_in(laid_out(tmp_path, files | {name: lines[0] + lines[2]}))
    assert after[0] == before[0]
    place = {"responses.jsonl": 1, "contexts.jsonl": 1, "log.jsonl": 3, "traffic.jsonl": 4, "calls.jsonl": 5}[name]
    assert len(after[place]) == 2, "an item without its context is asked again"
    others = {1, 3, 4, 5} - {place}
    assert [after[each] for each in others] == [before[each] for each in others]
