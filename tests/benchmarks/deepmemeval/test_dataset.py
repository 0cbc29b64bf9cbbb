"""Scenarios and keys, of made-up rows and of the released file."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from memeval.benchmarks.base import Dataset
from memeval.benchmarks.deepmemeval import DeepMemEvalBenchmark
from memeval.benchmarks.deepmemeval.dataset import DeepMemEvalDataset, fact_of, key_phrase
from memeval.benchmarks.deepmemeval.released import FULL, SAMPLE_DIGEST, DeepMemEvalFile, parse
from memeval.benchmarks.session import BenchmarkSession
from memeval.judging.text import states
from memeval.keys import BeliefKey, CascadeKey, DeltaKey, Fact, ItemKey, NoiseKey, Stance, TemporalKey, UncertaintyKey
from memeval.records.benchmark import Erratum, ErratumAction, ErratumKind
from memeval.records.errors import BadInput
from memeval.records.scenario import Scenario
from memeval.records.track import Limits
from tests.benchmarks.deepmemeval.rows import Row, rows


def made(of: list[Row] | None = None) -> DeepMemEvalDataset:
    return DeepMemEvalDataset(DeepMemEvalFile("sha256:" + "0" * 64, parse(json.dumps(of or rows()).encode())))


def test_sessions_are_numbered_as_listed_and_keep_their_dates() -> None:
    first = next(made().scenarios())
    assert [session.session_id for session in first.sessions()] == ["s001", "s002"]
    assert [turn.turn_id for turn in first.sessions()[1].turns] == ["s002:t01", "s002:t02"]
    assert [session.date for session in first.sessions()] == ["2025-01-01", "2025-01-02"]
    assert [step.source_id for step in first.steps if step.step == "take_in"] == ["x1", "x2"]
    assert [step.step for step in first.steps] == ["take_in", "take_in", "ask"]


def test_only_temporal_questions_are_asked_as_of_a_time() -> None:
    times = {s.scenario_id.split("-")[0]: s.questions()[0].timestamp for s in made().scenarios()}
    assert times.pop("temporal") == "2025-01-01"
    assert set(times.values()) == {None}


def test_a_delta_scenario_asks_its_twenty_questions_of_an_agent_that_keeps_context() -> None:
    delta = list(made().scenarios())[4]
    assert delta.agent_keeps_context
    assert [ask.question for ask in delta.questions()] == [f"What about {n}?" for n in range(20)]
    assert delta.questions()[19].question_id == "delta-p001-var0:q20"
    assert not any(s.agent_keeps_context for s in made().scenarios() if s is not delta and s.scenario_id[0] != "d")


OLD = Fact(text="Uses Nginx for serving", phrases=("Nginx",))
BETWEEN = Fact(text="Uses Traefik for serving", phrases=("Traefik",))
NEW = Fact(text="Uses Caddy for serving", phrases=("Caddy",))
TESTS = Fact(text="Uses Bats for shell tests", phrases=("Bats",))


def test_keys_say_what_is_right() -> None:
    belief, cascade, noise, temporal, delta, uncertain = made().answer_keys()
    assert belief.key == BeliefKey(current=NEW, stale=(OLD,))
    assert cascade.key == CascadeKey(
        root_change="Uses Nginx for serving → Uses Caddy for serving", dependent=TESTS, reference="Uncertain."
    )
    assert noise.key == NoiseKey(reference=TESTS)
    assert temporal.key == TemporalKey(reference=OLD, others=(BETWEEN, NEW))
    assert delta.key == DeltaKey(facts_by_turn=((OLD, TESTS),) * 20)
    assert isinstance(uncertain.key, UncertaintyKey)
    assert (uncertain.key.dependent, uncertain.key.stance) == (TESTS, Stance.DOUBT)


def test_evidence_clusters_and_slices() -> None:
    keys = list(made().answer_keys())
    assert [key.evidence for key in keys] == [("s002",), None, ("s002",), None, None, None]
    assert [key.cluster for key in keys] == ["p000"] * 3 + ["p001"] * 3
    assert [key.slices for key in keys] == [
        {"difficulty": "easy", "errata": "none"},
        {},
        {"noise": "light"},
        {"asked": "explicit", "errata": "none"},
        {"clone": "yes"},
        {},
    ]


def wrong(words: str | tuple[str, ...] | None, kind: ErratumKind = ErratumKind.WRONG_ANSWER) -> Erratum:
    return Erratum(id="x", kind=kind, action=ErratumAction.REPLACE, corrected=words, note="Made up.")


def test_another_answer_of_the_chain_becomes_right_and_the_published_one_wrong() -> None:
    dataset = made()
    belief, _, noise, temporal, _, _ = dataset.answer_keys()
    assert dataset.corrected(belief, wrong("Nginx")).key == BeliefKey(current=OLD, stale=(NEW,))
    for words in ("Traefik", "Uses Traefik for serving"):
        assert dataset.corrected(temporal, wrong(words)).key == TemporalKey(reference=BETWEEN, others=(OLD, NEW))
    assert dataset.corrected(temporal, wrong("Traefik")).item_id == temporal.item_id
    other = Fact(text="Envoy", phrases=("Envoy",))
    assert dataset.corrected(temporal, wrong("Envoy")).key == TemporalKey(reference=other, others=(OLD, BETWEEN, NEW))
    assert dataset.corrected(noise, wrong("Envoy")).key == NoiseKey(reference=other)


def test_what_has_no_value_for_an_answer_cannot_be_replaced() -> None:
    dataset = made()
    keys = list(dataset.answer_keys())
    for place in (1, 4, 5):
        with pytest.raises(BadInput, match="cannot replace answers"):
            dataset.corrected(keys[place], wrong("Caddy"))
    for erratum in (wrong(("a", "b")), wrong(None), wrong("Caddy", ErratumKind.WRONG_EVIDENCE)):
        with pytest.raises(BadInput, match="only a wrong answer can be replaced, and only by text"):
            dataset.corrected(keys[3], erratum)


# From here on, the released file.


def keys_of(dataset: Dataset) -> list[ItemKey]:
    return list(dataset.answer_keys())


def facts_of(key: ItemKey) -> tuple[Fact, ...]:
    match key.key:
        case BeliefKey(current=current, stale=stale):
            return (current, *stale)
        case NoiseKey(reference=reference):
            return (reference,)
        case TemporalKey(reference=reference, others=others):
            return (reference, *others)
        case DeltaKey(facts_by_turn=facts_by_turn):
            return facts_by_turn[0]
        case CascadeKey(dependent=dependent) | UncertaintyKey(dependent=dependent):
            return (dependent,)
        case _:
            raise AssertionError(key.key.kind)


def history(scenario: Scenario) -> str:
    return "\n".join(turn.content for session in scenario.sessions() for turn in session.turns)


def test_the_released_counts(dataset: Dataset) -> None:
    scenarios, keys = list(dataset.scenarios()), list(dataset.answer_keys())
    assert dataset.digest == FULL.digest
    assert len(scenarios) == len({s.scenario_id for s in scenarios}) == len(keys) == 500
    assert sum(len(s.questions()) for s in scenarios) == len({q for k in keys for q in k.question_ids}) == 2020
    assert sum(len(s.sessions()) for s in scenarios) == 4817
    assert [(c.name, c.items, c.weight) for c in DeepMemEvalBenchmark().plan(keys)] == [
        ("belief-update", 100, 0.25),
        ("cascade-propagation", 80, 0.15),
        ("noise-resistance", 80, 0.20),
        ("temporal-belief", 80, 0.15),
        ("delta-efficiency", 80, 0.10),
        ("uncertainty-abstention", 80, 0.15),
    ]
    assert [k.question_ids for k in keys] == [tuple(q.question_id for q in s.questions()) for s in scenarios]


def test_the_released_slices(dataset: Dataset) -> None:
    counts = Counter((key.category, *pair) for key in keys_of(dataset) for pair in key.slices.items())
    assert counts == {
        ("belief-update", "difficulty", "easy"): 89,
        ("belief-update", "difficulty", "medium"): 11,
        ("belief-update", "errata", "none"): 99,
        ("belief-update", "errata", "ambiguous"): 1,
        ("noise-resistance", "noise", "light"): 42,
        ("noise-resistance", "noise", "heavy"): 38,
        ("temporal-belief", "asked", "explicit"): 48,
        ("temporal-belief", "asked", "relative"): 32,
        ("temporal-belief", "errata", "none"): 74,
        ("temporal-belief", "errata", "ambiguous"): 4,
        ("temporal-belief", "errata", "wrong-answer"): 2,
        ("delta-efficiency", "clone", "no"): 50,
        ("delta-efficiency", "clone", "yes"): 30,
    }


def test_the_released_clusters_are_persons(dataset: Dataset) -> None:
    persons = {key.cluster for key in keys_of(dataset)}
    assert len(persons) == 50 and all(re.fullmatch(r"p\d{3}", person) for person in persons)


def test_every_fact_stands_in_the_history_and_tells_right_from_wrong(dataset: Dataset) -> None:
    for scenario, key in zip(dataset.scenarios(), dataset.answer_keys(), strict=True):
        facts = facts_of(key)
        for fact in facts:
            assert fact.text in history(scenario), key.item_id
            assert states(history(scenario), fact.phrases), key.item_id
        phrases = [phrase.casefold() for fact in facts for phrase in fact.phrases]
        assert len(set(phrases)) == len(phrases), key.item_id


def test_evidence_holds_the_answer(dataset: Dataset) -> None:
    for scenario, key in zip(dataset.scenarios(), dataset.answer_keys(), strict=True):
        if key.evidence is not None:
            (ordinal,) = key.evidence
            assert facts_of(key)[0].text in history(scenario.only(frozenset({ordinal}))), key.item_id
    assert sum(key.evidence is not None for key in keys_of(dataset)) == 180


def test_the_middle_of_a_chain_of_three_is_another_time(dataset: Dataset) -> None:
    others = Counter(len(key.key.others) for key in keys_of(dataset) if isinstance(key.key, TemporalKey))
    assert others == {1: 73, 2: 7}


def test_the_errata_are_those_of_the_released_file_and_count_beside_what_was_published(data: Path) -> None:
    benchmark_session = BenchmarkSession.open(DeepMemEvalBenchmark(), data)
    corrections = benchmark_session.corrections
    in_doubt = {key.item_id for key in benchmark_session.keys if key.slices.get("errata", "none") != "none"}
    assert set(corrections) == in_doubt and len(in_doubt) == 7
    mended = {name: key.key for name, key in corrections.items() if key is not None}
    assert set(mended) == {"temporal-p029-framework", "temporal-p042-framework"}
    for key in mended.values():
        assert isinstance(key, TemporalKey)
        assert key.reference.phrases == ("Next.js with React",) and len(key.others) == 2
    assert benchmark_session.track(reader=None, limits=Limits()).errata is not None


def test_the_sample_is_another_file_and_has_no_errata(data: Path) -> None:
    session = BenchmarkSession.open(DeepMemEvalBenchmark(), data / "deepmemeval" / "deepmemeval_sample.json")
    assert session.dataset.digest == SAMPLE_DIGEST
    assert [category.items for category in session.benchmark.plan(session.keys)] == [2, 1, 2, 2, 2, 1]
    assert session.errata is None and session.corrections == {}


@pytest.mark.parametrize(
    ("fact", "phrase"),
    [
        # DeepMemEval specification, section 5.
        ("Uses Drone CI for CI/CD pipelines", "Drone CI"),
        ("Uses JUnit 5 for backend tests", "JUnit 5"),
        ("Uses Jenkinsfile declarative pipelines", "Jenkinsfile"),
        ("Uses Supabase as the mobile backend", "Supabase"),
        ("Uses Nuxt 3 for the frontend with SSR", "Nuxt 3"),
        ("Uses for loops", "for"),
        ("Uses Transformers fortnightly", "Transformers"),
    ],
)
def test_the_key_phrase_stands_between_the_verb_and_the_purpose(fact: str, phrase: str) -> None:
    assert key_phrase(fact) == phrase
    assert fact_of(fact).phrases == (phrase,)


@pytest.mark.parametrize(
    ("fact", "phrases"),
    [
        ("Team uses Discord for real-time communication", ("uses Discord", "Discord")),
        ("Design team uses Penpot for open-source design", ("team uses Penpot", "Penpot")),
        ("Uses the ELK stack for centralized logging", ("the ELK stack", "ELK stack")),
        ("Uses a custom design system for the mobile UI", ("a custom design system", "custom design system")),
    ],
)
def test_a_leading_verb_or_article_need_not_be_said(fact: str, phrases: tuple[str, ...]) -> None:
    assert fact_of(fact).phrases == phrases
