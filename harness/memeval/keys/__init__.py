"""Answer keys. No system may ever see them."""

from memeval.keys.fact import Fact
from memeval.keys.key import (
    AnswerKey,
    BeliefKey,
    CascadeKey,
    DeltaKey,
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
from memeval.keys.memorycd import MemoryCDKey, MemoryCDTask
from memeval.keys.qa import QaKey
from memeval.keys.store import StoredTopic, StoreKey
from memeval.keys.suites import RecallKey, ReflectKey

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
    "MemoryCDKey",
    "MemoryCDTask",
    "NoiseKey",
    "QaKey",
    "RecallKey",
    "ReflectKey",
    "Stance",
    "StoreKey",
    "StoredTopic",
    "TemporalKey",
    "UncertaintyKey",
]
