"""A case of every kind that is judged, and recorded calls to a judge."""

from collections.abc import Iterable

from memeval.benchmarks.astrocyte.dataset import SuiteReflectKey
from memeval.benchmarks.locomo.keys import LocomoCategory, LocomoKey
from memeval.benchmarks.longmemeval.keys import LongMemEvalKey, LongMemEvalType
from memeval.benchmarks.qa.keys import QaKey
from memeval.judging.base import Case
from memeval.judging.model import ModelJudge
from memeval.keys import AnswerKey, BeliefKey, CascadeKey, NoiseKey, Stance, TemporalKey, UncertaintyKey
from memeval.records.base import Digest
from memeval.records.call import Call, ModelRequest
from tests.grading.builders import fact, scenario
from tests.support.audits import chat_body, make_call

ENDPOINT = "https://judge.example/v1"
JUDGE = ModelJudge("gpt-4o", ENDPOINT)
QUESTION = "What does Ada use for caching these days?"


def longmemeval(kind: LongMemEvalType, answer: str, *, abstention: bool = False) -> LongMemEvalKey:
    return LongMemEvalKey(question_type=kind, abstention=abstention, answer=answer)


KEYS: dict[str, AnswerKey] = {
    "belief-update": BeliefKey(
        current=fact("Ada caches in Valkey.", "Valkey"),
        stale=(fact("Ada once cached in Redis.", "Redis"), fact("Ada once cached in Memcached.", "Memcached")),
    ),
    "cascade-propagation": CascadeKey(
        root_change="host: Fly → Hetzner", dependent=fact("Ada deploys with flyctl."), reference="GOLD: not certain."
    ),
    "cascade-propagation-confirmed": CascadeKey(
        root_change="host: Fly, unchanged",
        dependent=fact("Ada deploys with flyctl."),
        stance=Stance.CONFIDENT,
        reference="GOLD: she does.",
    ),
    "noise-resistance": NoiseKey(
        reference=fact("Ada drinks oolong."), distractors=(fact("Ada's uncle Bo drinks mate."),)
    ),
    "temporal-belief": TemporalKey(
        reference=fact("Ada cached in Redis then."), others=(fact("Ada caches in Valkey now."),)
    ),
    "uncertainty-abstention": UncertaintyKey(
        reason="The host changed and nobody came back to it.",
        dependent=fact("DEPENDENT: flyctl"),
        reference="GOLD: not certain.",
    ),
    "uncertainty-abstention-confirmed": UncertaintyKey(
        reason="Nothing of that has changed.",
        dependent=fact("Ada deploys with flyctl."),
        stance=Stance.CONFIDENT,
        reference="GOLD: she does.",
    ),
    "locomo-answer": LocomoKey(category=LocomoCategory.SINGLE_HOP, answer="In Valkey."),
    "locomo-all-parts": LocomoKey(category=LocomoCategory.MULTI_HOP, answer="Valkey, Varnish"),
    "locomo-period": LocomoKey(
        category=LocomoCategory.TEMPORAL,
        answer="the day before 3 March 2021",
        dates=("2021-03-03T10:00:00Z", "2021-03-09T18:30:00Z"),
    ),
    "locomo-adversarial": LocomoKey(category=LocomoCategory.ADVERSARIAL, answer="GOLD: No", trap="GOLD: Redis"),
    "longmemeval-answer": longmemeval(LongMemEvalType.MULTI_SESSION, "In Valkey and Varnish."),
    "longmemeval-time": longmemeval(LongMemEvalType.TEMPORAL_REASONING, "Nine days."),
    "longmemeval-update": longmemeval(LongMemEvalType.KNOWLEDGE_UPDATE, "Valkey since March."),
    "longmemeval-preference": longmemeval(
        LongMemEvalType.SINGLE_SESSION_PREFERENCE, "Suggestions that build on the Valkey that Ada runs."
    ),
    "qa-answer": QaKey(needles=("GOLD: needle",), reference="In Valkey."),
    "reflect-point": SuiteReflectKey(points=(fact("Ada caches in Valkey.", "Valkey"),)),
    "reflect-claim": SuiteReflectKey(points=(), forbidden=(fact("Ada caches in Redis.", "Redis"),)),
    "longmemeval-abstention": longmemeval(
        LongMemEvalType.TEMPORAL_REASONING, "Ada spoke of queues, and never of caching.", abstention=True
    ),
}
"""Keys by the name of their prompt."""


def case(name: str = "belief-update", answer: str = "Valkey.", question: str = QUESTION, item: str = "i") -> Case:
    return Case(item, question, answer, KEYS[name], scenario())


def text_of_request(request: ModelRequest) -> str:
    """Return what the one message says."""
    (message,) = request.data()["body"]["messages"]
    assert message["role"] == "user" and set(message) == {"role", "content"}
    content = message["content"]
    assert isinstance(content, str)
    return content


def recorded(request: ModelRequest, content: str | None, error: str | None = None) -> Call:
    """Return a call with a judge's reply; its content is ``None`` where a model says nothing."""
    return make_call(request, None if error else chat_body(content), error=error)


def by_key(calls: Iterable[Call]) -> dict[Digest, Call]:
    """Return calls as a record finds them."""
    return {call.key: call for call in calls}
