"""The ledger only grows, and a line that was touched is found."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memeval.archive.ledger import Details, Ledger
from memeval.archive.runs import RunFolder
from memeval.records.base import digest_bytes
from memeval.records.errors import BadInput, NewerSchema
from memeval.records.ledger import LedgerEvent, Runner, Sample
from tests.support.runs import edit_head, make_run

LINES = 5


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    return make_run(tmp_path, "acme", {"kept": 10})


@pytest.fixture
def ledger(tmp_path: Path, run: RunFolder) -> Ledger:
    """A ledger of five lines."""
    made = Ledger(tmp_path)
    for number in range(LINES):
        made.append(LedgerEvent.REPRODUCED, run, by="Ada", reason=f"grades equal – {number}")
    return made


def test_there_is_no_entry_before_the_first(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    assert (ledger.entries(), ledger.states()) == ([], frozenset())
    assert not ledger.path.exists()


def test_an_entry_says_what_happened_to_which_bytes(tmp_path: Path, run: RunFolder) -> None:
    other = make_run(tmp_path, "zeta")
    made = Ledger(tmp_path).append(
        LedgerEvent.SUPERSEDED, run, by="Ada", reason="new version", runner=Runner.MAINTAINER, other=other
    )
    assert Ledger(tmp_path).entries() == [made]
    assert (made.event, made.run_id, made.run_digest) == (LedgerEvent.SUPERSEDED, run.run.run_id, run.digest)
    assert (made.by, made.reason, made.runner) == ("Ada", "new version", Runner.MAINTAINER)
    assert made.other_run_id == other.run.run_id
    assert made.at.endswith("+00:00")


def test_a_line_holds_the_digest_of_the_line_before_and_stays_as_it_is(ledger: Ledger, run: RunFolder) -> None:
    before = ledger.path.read_bytes()
    lines = before.splitlines()
    assert [json.loads(line)["previous"] for line in lines] == [None, *map(digest_bytes, lines[:-1])]
    ledger.append(LedgerEvent.INVALIDATED, run, by="Ada", reason="it read the answers")
    assert ledger.path.read_bytes().startswith(before)
    assert [entry.reason for entry in ledger.entries()][-2:] == ["grades equal – 4", "it read the answers"]


def test_the_states_of_a_ledger_are_all_that_it_has_ever_been(tmp_path: Path, run: RunFolder) -> None:
    ledger, seen = Ledger(tmp_path), set()
    for number in range(3):
        ledger.append(LedgerEvent.ACCEPTED, run, by="Ada", reason=str(number))
        seen.add(digest_bytes(ledger.path.read_bytes()))
    assert ledger.states() == seen
    assert len(seen) == 3


def removed(lines: list[bytes], n: int) -> list[bytes]:
    return lines[:n] + lines[n + 1 :]


def changed(lines: list[bytes], n: int) -> list[bytes]:
    return [*lines[:n], lines[n].replace(b"grades equal", b"grades Equal"), *lines[n + 1 :]]


def spaced(lines: list[bytes], n: int) -> list[bytes]:
    return [*lines[:n], lines[n].replace(b":", b": ", 1), *lines[n + 1 :]]


def swapped(lines: list[bytes], n: int) -> list[bytes]:
    return [*lines[:n], lines[n + 1], lines[n], *lines[n + 2 :]]


def doubled(lines: list[bytes], n: int) -> list[bytes]:
    return [*lines[: n + 1], *lines[n:]]


@pytest.mark.parametrize("line", range(LINES - 1))
@pytest.mark.parametrize(("edit", "named_after"), [(removed, 1), (changed, 2), (spaced, 2), (swapped, 1), (doubled, 2)])
def test_a_line_that_was_touched_is_found(
    ledger: Ledger, run: RunFolder, edit: Callable[[list[bytes], int], list[bytes]], named_after: int, line: int
) -> None:
    untouched = ledger.path.read_bytes()
    ledger.path.write_bytes(b"".join(edit(untouched.splitlines(keepends=True), line)))
    assert ledger.path.read_bytes() != untouched
    where = f"{ledger.path}:{line + named_after}: the line does not follow from the one before it"
    with pytest.raises(BadInput) as refused:
        ledger.entries()
    assert str(refused.value).startswith(where)
    edited = ledger.path.read_bytes()
    with pytest.raises(BadInput, match="does not follow"):
        ledger.append(LedgerEvent.ACCEPTED, run, by="Ada", reason="over a broken chain")
    assert ledger.path.read_bytes() == edited, "nothing is written after a broken line"


def test_the_last_line_doubled_is_found(ledger: Ledger) -> None:
    lines = ledger.path.read_bytes().splitlines(keepends=True)
    ledger.path.write_bytes(b"".join([*lines, lines[-1]]))
    with pytest.raises(BadInput, match=f"{ledger.path.name}:{LINES + 1}: the line does not follow"):
        ledger.entries()


def test_an_incomplete_last_line_is_ignored_named_and_removed_by_the_next_append(
    ledger: Ledger, run: RunFolder
) -> None:
    whole = ledger.path.read_bytes()
    kept = whole[: whole.rindex(b"\n", 0, -1) + 1]
    before = ledger.entries()
    ledger.path.write_bytes(whole[:-20])
    assert (ledger.entries(), ledger.digest()) == (before[:-1], digest_bytes(kept))
    tail = len(whole) - 20 - len(kept)
    assert ledger.incomplete() == f"{ledger.path}:{LINES}: the last line is incomplete ({tail} bytes)."
    ledger.append(LedgerEvent.INVALIDATED, run, by="Ada", reason="after the interruption")
    assert ledger.path.read_bytes().startswith(kept)
    assert [entry.reason for entry in ledger.entries()][-2:] == ["grades equal – 3", "after the interruption"]
    assert ledger.incomplete() is None


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(share=st.floats(0, 1))
def test_a_ledger_that_is_cut_at_any_byte_keeps_every_complete_line(
    ledger: Ledger, run: RunFolder, share: float
) -> None:
    whole = ledger.path.read_bytes()
    lines = whole.splitlines(keepends=True)
    before = ledger.entries()
    cut = round(share * len(whole))
    # The newline alone is missing where the cut is right before it: the line itself is complete.
    complete = sum(cut >= len(b"".join(lines[: n + 1])) - 1 for n in range(LINES))
    try:
        ledger.path.write_bytes(whole[:cut])
        assert ledger.entries() == before[:complete]
        assert ledger.digest() == (digest_bytes(b"".join(lines[:complete])) if complete else None)
        made = ledger.append(LedgerEvent.REPRODUCED, run, by="Ada", reason="again")
        assert ledger.entries() == [*before[:complete], made]
        assert ledger.path.read_bytes() == b"".join([*lines[:complete], made.to_json().encode() + b"\n"])
    finally:
        ledger.path.write_bytes(whole)


@pytest.mark.parametrize("line", range(LINES - 1))
def test_an_incomplete_line_in_the_middle_is_refused(ledger: Ledger, run: RunFolder, line: int) -> None:
    lines = ledger.path.read_bytes().splitlines(keepends=True)
    lines[line] = lines[line][:40] + b"\n"
    ledger.path.write_bytes(b"".join(lines))
    with pytest.raises(BadInput, match=f"{ledger.path.name}:{line + 1}: not valid JSON"):
        ledger.entries()
    with pytest.raises(BadInput, match="not valid JSON"):
        ledger.append(LedgerEvent.ACCEPTED, run, by="Ada", reason="over a damaged line")
    assert ledger.path.read_bytes() == b"".join(lines)


@pytest.mark.parametrize("reason", ["", "  ", "\n\t"])
def test_there_is_no_entry_without_a_reason(tmp_path: Path, run: RunFolder, reason: str) -> None:
    ledger = Ledger(tmp_path)
    with pytest.raises(BadInput, match=r"a ledger entry needs a reason\. Add --reason TEXT\."):
        ledger.append(LedgerEvent.INVALIDATED, run, by="Ada", reason=reason)
    assert not ledger.path.exists()


def test_a_newer_ledger_asks_for_a_newer_memeval_and_is_not_written_to(ledger: Ledger, run: RunFolder) -> None:
    lines = ledger.path.read_bytes().splitlines(keepends=True)
    newer: dict[str, Any] = json.loads(lines[2]) | {"schema_version": 3, "unheard_of": 1}
    ledger.path.write_bytes(b"".join([*lines[:2], json.dumps(newer).encode() + b"\n"]))
    held = ledger.path.read_bytes()
    with pytest.raises(NewerSchema, match=f"{ledger.path.name}:3: LedgerEntry has schema version 3"):
        ledger.entries()
    with pytest.raises(NewerSchema):
        ledger.append(LedgerEvent.ACCEPTED, run, by="Ada", reason="blindly")
    assert ledger.path.read_bytes() == held


@pytest.mark.parametrize("what", ["a file where the results should be", "a folder where the ledger should be"])
def test_a_place_that_cannot_be_written_is_refused_with_a_sentence(tmp_path: Path, run: RunFolder, what: str) -> None:
    results = tmp_path / "other"
    if what.startswith("a file"):
        results.write_text("in the way")
        sentence = "cannot be written"
    else:
        (results / "ledger.jsonl").mkdir(parents=True)
        sentence = "cannot be read"
    with pytest.raises(BadInput, match=sentence) as refused:
        Ledger(results).append(LedgerEvent.ACCEPTED, run, by="Ada", reason="because")
    assert "ledger.jsonl" in str(refused.value)


APPENDER = """
import sys
from pathlib import Path
from memeval.archive.ledger import Details, Ledger
from memeval.archive.runs import RunFolder
from memeval.records.ledger import LedgerEvent

results, run, name, count = sys.argv[1:]
print("ready", flush=True)
sys.stdin.readline()
for number in range(int(count)):
    Ledger(Path(results)).append(LedgerEvent.REPRODUCED, RunFolder(Path(run)), by=name, reason=f"{name} {number}")
"""


def test_processes_that_append_at_once_keep_one_whole_chain(tmp_path: Path, run: RunFolder) -> None:
    writers, each = 4, 15
    started = [
        subprocess.Popen(
            [sys.executable, "-c", APPENDER, str(tmp_path), str(run.path), f"writer-{n}", str(each)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for n in range(writers)
    ]
    for process in started:
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
    for process in started:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    for process in started:
        process.communicate(timeout=60)
    assert [process.returncode for process in started] == [0] * writers
    entries = Ledger(tmp_path).entries()
    for n in range(writers):
        mine = [entry.reason for entry in entries if entry.by == f"writer-{n}"]
        assert mine == [f"writer-{n} {number}" for number in range(each)]
    assert len(entries) == writers * each


def test_a_drawn_sample_and_a_release_have_lines_of_their_own(ledger: Ledger, run: RunFolder) -> None:
    sample = Sample(asked=50, agreed=49, differing=("made-up-kept-003",))
    asked = ledger.append(LedgerEvent.RE_ASKED, run, by="Ada", reason="asked again", sample=sample)
    digest = digest_bytes(b"a release")
    released = ledger.append(
        LedgerEvent.RELEASED, None, by="Ada", reason="frozen", release_version="1", release_digest=digest
    )
    assert ledger.entries()[-2:] == [asked, released]
    assert (asked.run_id, asked.sample) == (run.run.run_id, sample)
    assert (released.run_id, released.release_version, released.release_digest) == (None, "1", digest)
    found = ledger.earlier(
        LedgerEvent.RELEASED, None, by="Bob", reason="again", release_version="1", release_digest=digest
    )
    assert found == released
    assert ledger.earlier(LedgerEvent.RE_ASKED, run, by="Ada", reason="asked again", sample=sample) == asked
    other = Sample(asked=50, agreed=50)
    assert ledger.earlier(LedgerEvent.RE_ASKED, run, by="Ada", reason="asked again", sample=other) is None


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"run_id": None}, "an entry 'reproduced' needs run_id and run_digest."),
        ({"release_version": "1"}, "an entry 'reproduced' has no release_version and release_digest."),
        ({"event": "released"}, "an entry 'released' names no run."),
        ({"event": "rerun"}, "an entry 'rerun' needs 'sample'."),
        ({"sample": {"asked": 1, "agreed": 1}}, "an entry 'reproduced' has no 'sample'."),
        (
            {"event": "rerun", "sample": {"asked": 3, "agreed": 1, "differing": ["x"]}},
            "the items of 'sample' that agreed and that differ are not the items asked.",
        ),
    ],
)
def test_a_line_whose_fields_do_not_fit_its_event_is_refused(
    ledger: Ledger, changes: dict[str, Any], sentence: str
) -> None:
    lines = ledger.path.read_bytes().splitlines(keepends=True)
    lines[-1] = json.dumps(json.loads(lines[-1]) | changes).encode() + b"\n"
    ledger.path.write_bytes(b"".join(lines))
    with pytest.raises(BadInput) as refused:
        ledger.entries()
    assert str(refused.value).startswith(f"{ledger.path}:{LINES}: {sentence}")


def test_a_ledger_can_say_where_the_lines_before_it_are(tmp_path: Path, run: RunFolder) -> None:
    ledger = Ledger(tmp_path)
    started = ledger.append(LedgerEvent.STARTED, None, by="maintainers", reason="955 lines before it: commit 1738e770")
    ledger.append(LedgerEvent.ACCEPTED, run, by="maintainers", reason="read")
    assert (started.run_id, started.run_digest, started.previous) == (None, None, None)
    assert [entry.event for entry in ledger.entries()] == [LedgerEvent.STARTED, LedgerEvent.ACCEPTED]
    with pytest.raises(BadInput, match="has lines already"):
        ledger.append(LedgerEvent.STARTED, None, by="maintainers", reason="again")
    assert len(ledger.entries()) == 2


def test_only_the_first_line_of_a_ledger_starts_it(ledger: Ledger) -> None:
    before = ledger.path.read_bytes()
    last = ledger.path.read_bytes().splitlines()[-1]
    entry = ledger.entries()[-1].model_copy(
        update={
            "event": LedgerEvent.STARTED, "run_id": None, "run_digest": None, "runner": None, "other_run_id": None,
            "previous": digest_bytes(last),
        }
    )  # fmt: skip
    ledger.path.write_bytes(before + entry.to_json().encode() + b"\n")
    with pytest.raises(BadInput, match="an entry 'started' is not the first line"):
        ledger.entries()


def test_a_ledger_can_be_read_as_it_was(ledger: Ledger, run: RunFolder) -> None:
    digest, before = ledger.digest(), ledger.entries()
    ledger.append(LedgerEvent.INVALIDATED, run, by="Ada", reason="later")
    assert (ledger.until(digest).entries(), ledger.until(None).entries()) == (before, [])
    with pytest.raises(BadInput, match="lines were changed or removed"):
        ledger.until(digest_bytes(b"never"))


def test_an_entry_about_other_bytes_of_a_run_is_no_earlier_one(tmp_path: Path, run: RunFolder) -> None:
    ledger = Ledger(tmp_path)
    made = ledger.append(LedgerEvent.ACCEPTED, run, by="Ada", reason="read", runner=Runner.MAINTAINER)
    told: Details = {"runner": Runner.MAINTAINER}
    assert ledger.earlier(LedgerEvent.ACCEPTED, run, by="Bo", reason="again", **told) == made
    assert ledger.earlier(LedgerEvent.ACCEPTED, run, by="Ada", reason="read", runner=Runner.SUBMITTER) is None
    changed = edit_head(run, isolation="sandboxed")
    assert ledger.earlier(LedgerEvent.ACCEPTED, changed, by="Ada", reason="read", **told) is None
