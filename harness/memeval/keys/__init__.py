"""Answer keys: what no system may ever see."""

from memeval.keys.key import (
    AnswerKey,
    BeliefKey,
    CascadeKey,
    DeltaKey,
    Fact,
    ItemKey,
    LocomoCategory,
    LocomoKey,
    LongMemEvalKey,
    LongMemEvalType,
    NoiseKey,
    Stance,
    TemporalKey,
    UncertaintyKey,
)

__all__ = [
    "AnswerKey",
    "BeliefKey",
    "CascadeKey",
    "DeltaKey",
    "Fact",
    "ItemKey",
    "LocomoCategory",
    "LocomoKey",
    "LongMemEvalKey",
    "LongMemEvalType",
    "NoiseKey",
    "Stance",
    "TemporalKey",
    "UncertaintyKey",
]
