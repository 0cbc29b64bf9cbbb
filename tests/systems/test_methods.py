"""The adapter class of a file and its methods, found without running it, are those that a run reports."""

from pathlib import Path

import pytest

from memeval.records.track import Limits
from memeval.systems.controls import CONTROLS
from memeval.systems.methods import methods_in
from memeval.systems.process import SystemProcess
from memeval.systems.source import control_source, file_source

PLAIN = """
class Memory:
    kept: list = []

    def reset(self): ...
    def retain(self, text): ...
    async def query(self, question): ...
    def reflect(self, question, *, dispositions=None): ...
    def other(self): ...
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "memory.py"
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("text", "together"),
    [
        (PLAIN, False),
        (PLAIN.replace("def retain", "async def retain"), True),
        (PLAIN.replace("kept: list = []", "texts_together = True"), True),
        (PLAIN.replace("kept: list = []", "texts_together: bool = True"), True),
    ],
)
def test_methods_and_texts_at_the_same_time_follow_from_the_text_and_the_worker_agrees(
    tmp_path: Path, text: str, together: bool
) -> None:
    path = written(tmp_path, text)
    found = methods_in(path)
    methods = ["dispositions", "ingest_session", "query", "reflect", "retain", *["texts_together"][: int(together)]]
    assert found is not None and (found.class_name, found.capabilities) == ("Memory", tuple(methods))
    process = SystemProcess(file_source(path).launch, Limits(), print)
    try:
        hello = process.start()
    finally:
        process.close()
    assert (hello.class_name, hello.capabilities) == (found.class_name, found.capabilities)


def test_the_methods_of_every_control_follow_from_its_text() -> None:
    for control in CONTROLS.values():
        assert methods_in(control_source(control).launch.file, control.class_name) is not None


@pytest.mark.parametrize(
    "changed",
    [
        PLAIN.replace("class Memory:", "class Memory(Base):"),
        PLAIN.replace("class Memory:", "@decorated\nclass Memory:"),
        PLAIN.replace("class Memory:", "class Memory(metaclass=Meta):"),
        PLAIN.replace("    def retain", "    @property\n    def retain"),
        PLAIN.replace("    kept: list = []", "    search = lookup"),
        PLAIN.replace("    kept: list = []", "    texts_together = chosen()"),
        PLAIN.replace("    def other(self): ...", "    def other(self):\n        self.texts_together = True"),
        PLAIN.replace("    kept: list = []", "    if True:\n        def search(self, query): ..."),
        PLAIN.replace("    def other(self): ...", "    def __getattr__(self, name): ..."),
        PLAIN.replace("    def other(self): ...", "    def other(self):\n        self.retain = None"),
        PLAIN.replace("    def other(self): ...", "    def other(self):\n        setattr(self, 'search', 1)"),
        PLAIN + "\nMemory.search = print\n",
        PLAIN + "\ndel Memory.retain\n",
        PLAIN + "\nMemory = make()\n",
        PLAIN + "\nfrom other import *\n",
        PLAIN + "\nfrom other import Memory\n",
        PLAIN + PLAIN.replace("Memory", "Second"),
        "class Memory:\n",
        "",
    ],
)
def test_methods_that_only_a_run_shows_are_not_guessed(changed: str, tmp_path: Path) -> None:
    assert methods_in(written(tmp_path, changed)) is None


def test_a_named_class_is_found_among_several(tmp_path: Path) -> None:
    found = methods_in(written(tmp_path, PLAIN + PLAIN.replace("Memory", "Second")), "Second")
    assert found is not None and found.class_name == "Second"
    assert methods_in(written(tmp_path, PLAIN), "Missing") is None
