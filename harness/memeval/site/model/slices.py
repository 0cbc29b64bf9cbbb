"""What pages call the slices of items, and what each slice means. Records keep their spelling."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class SliceLabel:
    """A slice for readers."""

    title: str
    meaning: str = ""
    """A sentence; empty if the title says everything."""
    values: dict[str, str] = field(default_factory=dict)
    """Titles of values, for those that are not plain."""


_SLICES = {
    "announced": SliceLabel(
        "how it was said",
        "How the history states the latest change of the fact, or of the fact on which it depends.",
        {
            "direct": "stated directly",
            "indirect": "implied",
            "hypothetical": "a daydream names another value",
            "retracted": "a later change was taken back",
        },
    ),
    "asked": SliceLabel(
        "what is asked",
        "The time that the question is about.",
        {
            "after": "the next value after another",
            "before": "the last value before another",
            "current": "the current value",
            "explicit-date": "the value in a named month",
            "when": "the time of the change",
        },
    ),
    "bank size": SliceLabel("texts in the bank", "Number of texts in the bank when the search runs."),
    "clone": SliceLabel("copy", "Whether the scenario is a variant of another one."),
    "depth": SliceLabel(
        "depth",
        "Number of values that the fact has had. For a dependent fact: number of facts on which it depends.",
    ),
    "echo": SliceLabel("echo", "Whether the question contains its own expected words."),
    "errata": SliceLabel("known error", "Kind of the known error in the expected answer."),
    "evidence": SliceLabel("evidence", "Number of sessions that contain the answer."),
    "family": SliceLabel("topic", "What the fact is about.", {"tech": "technology"}),
    "future": SliceLabel("later reviews", "Whether the memory contains reviews that are later than the test."),
    "in flight": SliceLabel("concurrency", "Number of searches that run at the same time."),
    "memory": SliceLabel("size of memory", "Number of reviews in the memory."),
    "news": SliceLabel("new facts", "Number of facts that are said between the questions."),
    "noise": SliceLabel("unrelated talk", "Amount of sessions about other topics."),
    "photo": SliceLabel("photo", "Whether the evidence includes a photo."),
    "position": SliceLabel("position", "Where in the history the fact is said."),
    "twin": SliceLabel(
        "basis",
        "What happened to the fact on which the asked fact depends. Confirmed: the asked fact was stated again.",
        {
            "changed": "changed: doubt is correct",
            "reconfirmed": "changed, then confirmed: doubt is wrong",
            "unchanged": "unchanged: doubt is wrong",
        },
    ),
    "updates": SliceLabel("changed facts", "Number of new facts that replace an older value."),
}


def slice_label(name: str) -> SliceLabel:
    """Return the label of a slice; its own name if it has none, as in a user's question set."""
    return _SLICES.get(name, SliceLabel(name))


def slice_value(name: str, value: str) -> str:
    """Return the title of a value of a slice; its own spelling if that is plain."""
    return slice_label(name).values.get(value, value)


SLICE_LABELS = {name: {"title": found.title, "values": found.values} for name, found in _SLICES.items()}
"""The labels that the page of questions and answers needs."""
