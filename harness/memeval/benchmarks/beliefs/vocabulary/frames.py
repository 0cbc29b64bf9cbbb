"""Ways of saying that something holds, has changed, was taken back, or might change one day."""

from __future__ import annotations

from dataclasses import dataclass

from memeval.words import read_words


@dataclass(frozen=True)
class Frames:
    """The sentences of ``frames.toml``, which explains their slots."""

    first: tuple[str, ...]
    """The first that is heard of a topic."""
    update: tuple[str, ...]
    """A change, said straight out."""
    update_naming_both: tuple[str, ...]
    """A change that names what it replaces."""
    plan: tuple[str, ...]
    """A change that will be taken back."""
    taken_back: tuple[str, ...]
    """The taking back, with the value that stays."""
    taken_back_bare: tuple[str, ...]
    """The taking back, with no value in it."""
    musing: tuple[str, ...]
    """Talk of what might be, with nothing changed."""
    still: tuple[str, ...]
    """A state confirmed."""
    still_all_the_same: tuple[str, ...]
    """A dependent confirmed after its ground has gone."""
    others: tuple[str, ...]
    """What somebody else does."""
    tails: tuple[str, ...]
    """What may follow a change; some of it hedges, none of it takes anything back."""
    noted_new: tuple[str, ...]
    """What the assistant makes of a change."""
    noted: tuple[str, ...]
    """What the assistant makes of a fact."""
    noted_plan: tuple[str, ...]
    """What the assistant makes of an announcement."""
    noted_taken_back: tuple[str, ...]
    """What the assistant makes of a taking back."""
    noted_musing: tuple[str, ...]
    """What the assistant makes of a daydream."""
    noted_others: tuple[str, ...]
    """What the assistant makes of somebody else's habits."""
    aside: tuple[str, ...]
    """What the assistant says to a remark in passing."""
    answers: tuple[str, ...]
    """The assistant asks back before it answers a question."""
    prompts: tuple[str, ...]
    """The assistant asks for more where nothing was asked."""
    by_the_way: tuple[str, ...]
    """A turn to another matter."""
    thanks: tuple[str, ...]
    """First half of a closing."""
    partings: tuple[str, ...]
    """Second half of a closing."""
    welcome: tuple[str, ...]
    """The assistant's last word."""


FRAMES = read_words(__package__, "frames.toml", Frames)
"""All of them."""
