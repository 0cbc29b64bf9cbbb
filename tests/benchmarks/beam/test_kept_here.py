"""What stays here: no key reaches the memory of a system, and no word of the data reaches a stored file."""

import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from memeval.benchmarks.beam import BeamBenchmark
from memeval.benchmarks.beam import __file__ as package
from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.run.running import RunOptions, run_system
from memeval.evaluation.withhold.decoding import decoded_run
from memeval.systems.controls import CONTROLS
from memeval.systems.source import control_source, file_source
from tests.benchmarks.beam.samples import ABILITIES

WALKER = """
import gc, json, sys

class Walker:
    def reset(self): self.session = None
    def ingest_session(self, session, timestamp): self.session = session
    def query(self, question, timestamp="now"):
        todo = [*gc.get_objects(), *(dict(frame.f_locals) for frame in sys._current_frames().values())]
        seen, found = set(), set()
        while todo:
            thing = todo.pop()
            if id(thing) in seen or thing is seen or thing is found or thing is todo:
                continue
            seen.add(id(thing))
            if isinstance(thing, str):
                found.add(thing[:300])
            else:
                todo += gc.get_referents(thing)
        return json.dumps(sorted(found))
"""
"""Returns the beginning of every text in its memory."""

ROOT = Path(__file__).parents[3]
WORDS = 9
"""Words in a row that two texts do not share by accident."""


FORM = "based on the provided chat, there is no information related to"


def test_nothing_in_a_systems_memory_is_of_a_key(small: Path, tmp_path: Path) -> None:
    (tmp_path / "walker.py").write_text(WALKER)
    session = BenchmarkSession.open(BeamBenchmark(), small, protocol="nuggets")
    options = RunOptions(results=tmp_path / "results", protocol="nuggets", concurrency=1, limit=2)
    run = decoded_run(run_system(file_source(tmp_path / "walker.py"), session, options), session)
    answers = [response.answer for response in run.responses()]
    assert len(answers) == 2 and all("I paddle on Fridays." in answer for answer in answers)
    hidden = {"100K", "->->", "main_question", "batch 1", "a green kayak", "The kayak is green.", "plan_reference"}
    hidden |= {each.replace("_", "-") for each in ABILITIES if "_" in each} | {key.item_id for key in session.keys}
    assert {word for word in hidden if any(word in answer for answer in answers)} == set()


def test_a_stored_run_has_none_of_the_words(small: Path, tmp_path: Path) -> None:
    session = BenchmarkSession.open(BeamBenchmark(), small)
    run = run_system(control_source(CONTROLS["bm25"]), session, RunOptions(results=tmp_path))
    stored = "".join(texts(run.path))
    assert "s003:t01" in stored
    assert not any(word in stored for word in ("kayak", "paddle", "temporal_reasoning, 1", "see."))


@pytest.mark.parametrize("tier", ["100k"])
def test_nothing_that_is_stored_quotes_the_data(data: Path, tier: str) -> None:
    dataset = BeamBenchmark().opened(data, None, "nuggets", tier)
    quoted: set[tuple[str, ...]] = set()
    for place in (ROOT / "results" / "beam", Path(package).parent, Path(__file__).parent, ROOT / "site"):
        for text in texts(place):
            quoted |= runs(text)
    for key in dataset.answer_keys():
        for text in (*key.key.references, *getattr(key.key, "rubric", ())):
            assert quoted.isdisjoint(runs(text)), key.item_id
    for name in dataset.scenario_ids():
        scenario = dataset.scenario(name)
        for text in (ask.question for ask in scenario.questions()):
            assert quoted.isdisjoint(runs(text)), name
        for turn in (turn for session in scenario.sessions() for turn in session.turns):
            if turn.role == "user":
                assert quoted.isdisjoint(runs(turn.content)), turn.turn_id


def runs(text: str) -> set[tuple[str, ...]]:
    """Return all runs of words of a text, in lower case, without the words that all rubrics of abstention share."""
    found = re.findall(r"[a-z0-9]+", text.lower().replace(FORM, "\n"))
    return set(zip(*(found[place:] for place in range(WORDS)), strict=False))


def texts(folder: Path) -> Iterator[str]:
    """Yield the text of every file of a folder, unpacked."""
    for path in sorted(folder.rglob("*")) if folder.is_dir() else []:
        if path.is_file() and path.suffix in (".gz", ".json", ".jsonl", ".toml", ".py", ".txt", ".md"):
            data = path.read_bytes()
            text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode()
            yield json.dumps(text, ensure_ascii=False)
