"""Answer keys. No system may ever see them."""

from memeval.keys.base import AnswerKey, ItemKey
from memeval.keys.facts import BeliefKey, DeltaKey, Fact, FactsKey, NoiseKey, TemporalKey, listed, phrases_of
from memeval.keys.shapes import (
    CascadeKey,
    RecallKey,
    ReferenceKey,
    ReflectKey,
    Stance,
    StanceKey,
    StoredTopic,
    StoreKey,
    UncertaintyKey,
    WrongTime,
)

__all__ = [
    "AnswerKey",
    "BeliefKey",
    "CascadeKey",
    "DeltaKey",
    "Fact",
    "FactsKey",
    "ItemKey",
    "NoiseKey",
    "RecallKey",
    "ReferenceKey",
    "ReflectKey",
    "Stance",
    "StanceKey",
    "StoreKey",
    "StoredTopic",
    "TemporalKey",
    "UncertaintyKey",
    "WrongTime",
    "listed",
    "phrases_of",
]
