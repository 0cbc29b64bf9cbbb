"""How far a score can go that is earned: some reference answers are wrong, and no memory knows those."""

from __future__ import annotations

from memeval.keys import LocomoCategory
from memeval.records.scores import Scores
from memeval.records.track import Track

_LABELS = {
    LocomoCategory.SINGLE_HOP: (36, 841),
    LocomoCategory.MULTI_HOP: (28, 282),
    LocomoCategory.TEMPORAL: (26, 321),
    LocomoCategory.OPEN_DOMAIN: (9, 96),
}
"""Wrong labels that a community audit of the released file counts, and questions, per category: 99 of 1,540."""

CEILINGS = {category.value: 1 - wrong / questions for category, (wrong, questions) in _LABELS.items()}
"""The share of a category's questions whose published answer is right; adversarial questions were not audited."""


def over_ceiling(track: Track, scores: Scores) -> tuple[str, ...]:
    """Return the categories that score higher than their published answers are right: a sign that those leaked.

    Only where every question is asked, since a sample may hold none of the wrong labels, and only where answers are
    graded. Wrong labels can share words with right answers, so under ``f1`` the bound is a rule of thumb.

    Args:
        track: what the scores are of.
        scores: the scores of a run of this benchmark.
    """
    if track.sample is not None or track.protocol == "retrieval":
        return ()
    return tuple(
        category.name
        for category in scores.categories
        if category.name in CEILINGS and (category.tally.accuracy or 0.0) > CEILINGS[category.name]
    )
