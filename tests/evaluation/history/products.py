"""A made product, keepsake, with its releases, and a submission that uses it."""

from pathlib import Path

from memeval.archive.histories import history_of_system
from memeval.records.history import VersionHistory
from tests.support.package_index import Made

OLD = """
import helper

def find(texts, query):
    words = set(query.lower().split())
    return [text for text in texts if words & set(text.lower().split())][: helper.MOST]
"""

NEW = (
    OLD
    + """

def search(texts, query):
    return find(texts, query)
"""
)

RELEASES = {
    "helper": [
        Made("1.0", "2024-12-01", "MOST = 50"),
        Made("2.0", "2025-06-01", "LIMIT = 50"),  # what keepsake needs is gone
    ],
    "brought": [Made("3.0", "2026-05-01", "")],
    "late": [Made("1.0", "2024-12-01", tag="cp38-cp38-macosx_10_9_x86_64"), Made("1.0.1", "2025-09-20", "")],
    "keepsake": [
        Made("0.9", "2024-11-01", "def find(texts, query): return texts[:1]", ["vanished"]),
        Made("1.0", "2025-02-10", OLD, ["helper"]),
        Made("1.1", "2025-05-10", OLD, ["helper<2"]),
        Made("1.2", "2025-08-10", wheel=False),
        Made("1.3", "2025-09-10", OLD, ["helper<2"], yanked="it lost texts"),
        Made("1.4", "2025-09-15", OLD, ["helper<2", "late"]),
        Made("2.0a1", "2025-10-20", NEW, ["helper<2"]),
        Made("2.0", "2025-11-10", NEW, ["helper<2"]),
        Made("1.4.1", "2025-12-20", OLD, ["helper<2"]),  # a patch of an older line
        Made("2.1", "2026-02-10", NEW, ["helper<2"]),
        Made("2.2", "2026-05-10", NEW, ["helper<2"], python=">=3.99"),
        Made("2.3", "2026-08-10", "raise RuntimeError('keepsake 2.3 is broken')"),
    ],
}

ADAPTER = """
import brought
import keepsake


class Memory:
    def __init__(self):
        self.reset()

    def reset(self):
        self.turns = {}

    def ingest_session(self, session, timestamp):
        for turn in session["turns"]:
            self.turns[turn["content"]] = turn["turn_id"]

    def search(self, query, k, timestamp="now"):
        found = keepsake.search(list(self.turns), query)
        return [{"text": text, "source_ids": [self.turns[text]]} for text in found[:k]]
"""

MANIFEST = """\
schema_version = 1
slug = "keeper"
name = "Keeper"
version = "2.1"

[product]
name = "Keepsake"
package = "keepsake"
version = "2.1"
licence = "MIT"

[configuration]
mode = "words"
"""

DECLARED = """\
schema_version = 1
brings = ["brought"]

[[forms]]
versions = "<2"
file = "adapter_lt2.py"
both = "2.0"
"""

LOCK = f"brought==3.0 --hash=sha256:{'0' * 64}\n"


def stored(folder: Path, slug: str = "keeper") -> VersionHistory:
    """Return the stored history of a system."""
    found = history_of_system(folder / "results", slug)
    assert found is not None
    return found


def submission(folder: Path, *, declared: str = DECLARED) -> Path:
    made = folder / "submissions" / "keeper"
    (made / "history").mkdir(parents=True)
    for name, text in {
        "adapter.py": ADAPTER,
        "submission.toml": MANIFEST,
        "requirements.in": "keepsake==2.1\nbrought\n",
        "requirements.lock": LOCK,
        "history/history.toml": declared,
        "history/adapter_lt2.py": ADAPTER.replace("keepsake.search", "keepsake.find"),
    }.items():
        (made / name).write_text(text, "utf-8")
    return made
