"""The suites' key of a reflection."""

from __future__ import annotations

from memeval.keys import ReflectKey


class SuiteReflectKey(ReflectKey):
    """The expected content of a reflection, judged by the prompts of the suites."""

    prompts = __package__
