"""The check of a storage folder: it is in the report of a system that declares one, and of no other."""

from pathlib import Path

import pytest

from memeval.conformance import check_system
from memeval.execution.steps import SystemInstance
from memeval.records.conformance import CheckOutcome
from memeval.systems.child import Launch
from memeval.systems.process import SystemProcess
from tests.systems.helpers import PATIENT, write

SOURCE = """
import os, pathlib

class Memory:
    def __init__(self):
        self.file = pathlib.Path(os.environ.get("MEMEVAL_STORAGE", "."), "texts")
        self.texts = self.file.read_text().splitlines() if self.file.exists() else []
    def reset(self):
        self.texts = []
        self.file.unlink(missing_ok=True)
    def ingest_session(self, session, timestamp):
        self.texts += [turn["content"] for turn in session["turns"]]
    def search(self, query, k, timestamp="now"):
        asked = set(query.lower().split())
        return sorted(self.texts, key=lambda text: -len(asked & set(text.lower().split())))[:k]
    def close(self):
        CLOSE
"""


@pytest.mark.parametrize(
    ("closing", "outcome"),
    [("self.file.write_text(chr(10).join(self.texts))", CheckOutcome.PASSED), ("pass", CheckOutcome.FAILED)],
)
def test_a_store_passes_if_it_keeps_its_texts_over_a_clean_restart(
    tmp_path: Path, closing: str, outcome: CheckOutcome
) -> None:
    launch = Launch(write(tmp_path, SOURCE.replace("CLOSE", closing)), stores=True)
    results = check_system(
        lambda log: SystemInstance(SystemProcess(launch, PATIENT, log)), seed="sha256:" + "5" * 64, deterministic=True
    )
    assert results[-1].name == "storage-survives"
    assert results[-1].outcome is outcome, results[-1].detail
    assert (results[-1].remedy or "").startswith("Store everything" if outcome is CheckOutcome.FAILED else "")
