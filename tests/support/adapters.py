"""Adapter files for tests: a plain one, and edits of it that misbehave."""

from pathlib import Path

PLAIN = '''
class Plain:
    """Answers with the first thing it was told."""

    def __init__(self):
        self.told = []

    def ingest_session(self, session, timestamp):
        {on_ingest}
        self.told += [turn["content"] for turn in session["turns"]]

    def query(self, question, timestamp="now"):
        {on_query}
        return self.told[0] if self.told else ""

    def get_context_tokens(self):
        return 100

    def reset(self):
        {on_reset}
        self.told = []
'''


def plain_adapter(
    folder: Path, name: str = "plain", on_ingest: str = "pass", on_query: str = "pass", on_reset: str = "pass"
) -> Path:
    """Write the plain adapter with a statement of the test's own in its methods, and return the file."""
    path = folder / f"{name}.py"
    path.write_text(
        "import os, sys, time\n" + PLAIN.format(on_ingest=on_ingest, on_query=on_query, on_reset=on_reset),
        encoding="utf-8",
    )
    return path
