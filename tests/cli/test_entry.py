"""What the entry point of the command line sets before it starts."""

from __future__ import annotations

import os

import pytest

from memeval.__main__ import main

THREADS = "OPENBLAS_NUM_THREADS"


@pytest.mark.parametrize(("given", "used"), [(None, "1"), ("3", "3")])
def test_matrices_are_multiplied_on_one_thread_unless_the_user_says_otherwise(
    monkeypatch: pytest.MonkeyPatch, given: str | None, used: str
) -> None:
    monkeypatch.setenv(THREADS, given or "")
    if given is None:
        monkeypatch.delenv(THREADS)
    seen: list[str | None] = []
    monkeypatch.setattr("memeval.cli.main.main", lambda: seen.append(os.environ.get(THREADS)))
    main()
    assert seen == [used]
