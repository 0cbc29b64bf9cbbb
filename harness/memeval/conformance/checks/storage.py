"""The check of systems with a storage folder."""

import tempfile
from pathlib import Path

from memeval.conformance.check import expect_found
from memeval.conformance.subject import CheckedSystem

REMEDY = (
    "Store everything below the folder in `MEMEVAL_STORAGE`, write it out at the latest in `close`, and open what is "
    "there when the class is made, without `reset`."
)


def survives_restart(subject: CheckedSystem) -> str:
    """Two facts are found after a clean stop and a start on the same folder, and another one can be added."""
    one, other, later = subject.facts.facts(3)
    with (
        tempfile.TemporaryDirectory(prefix="memeval-storage-") as folder,
        subject.another(Path(folder)) as memory,
    ):
        memory.ingest_facts(subject.facts.day, one, other)
        memory.process.close()
        memory.start()
        when = "after a clean stop and a start on the same storage folder"
        for fact in (one, other):
            expect_found(memory, fact, when, REMEDY)
        memory.ingest_facts(subject.facts.after(30), later)
        expect_found(memory, later, f"that it ingested {when}", REMEDY)
    return "Two facts were found after a clean stop and a start on the same storage folder."
