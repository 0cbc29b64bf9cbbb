"""The forms of replies and errors that providers send, as data."""

import json
from pathlib import Path

import pytest

FORMS = [
    pytest.param(json.loads(line), id=f"{path.stem}: {json.loads(line)['form']}")
    for path in sorted((Path(__file__).parent / "reply_forms").glob("*.jsonl"))
    for line in path.read_text("utf-8").splitlines()
]
"""One row of ``reply_forms/<provider>.jsonl`` is one form: ``body`` and ``status`` as the provider sends them, and
either ``text`` (an answer), ``failed`` (a failed try, with words of its reason, and the number of tries) or ``stops``
(the run stops, with the exit code)."""
