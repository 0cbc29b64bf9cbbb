"""Golden counts of the release at commit b2a3ee8, and a bare BM25 over its messages."""

import json
import math
import re
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from memeval.benchmarks.beam import BeamBenchmark
from memeval.benchmarks.beam.keys import Ability, BeamKey
from memeval.benchmarks.beam.released import SIZES, ChatFiles, read_chats, released_chats
from memeval.benchmarks.session import BenchmarkSession
from memeval.systems.controls.bm25 import BM25

RUBRIC_ITEMS = dict(zip(Ability, (40, 160, 213, 92, 59, 42, 101, 74, 195, 75), strict=True))
"""Sentences of the rubrics of 100K, by ability."""

RECALL = {
    # ability: recall of a bare BM25 at k = 10 in 100K, as computed apart from memeval
    Ability.CONTRADICTION_RESOLUTION: 0.71,
    Ability.EVENT_ORDERING: 0.03,
    Ability.INFORMATION_EXTRACTION: 0.60,
    Ability.INSTRUCTION_FOLLOWING: 0.04,
    Ability.KNOWLEDGE_UPDATE: 0.74,
    Ability.MULTI_SESSION_REASONING: 0.39,
    Ability.PREFERENCE_FOLLOWING: 0.32,
    Ability.SUMMARIZATION: 0.11,
    Ability.TEMPORAL_REASONING: 0.80,
}


class Tier:
    """A released tier, read once."""

    def __init__(self, data: Path, tier: str) -> None:
        self.dataset = BeamBenchmark().opened(data, None, "retrieval", tier)
        self.keys = tuple(self.dataset.answer_keys())
        self.files = read_chats(SIZES[tier], data, "")
        loaded = (each._loaded(each.chat, each.objects[0]) for each in self.files)
        self.raw = [message for chat in loaded for batch in chat for turn in batch["turns"] for message in turn]
        self.sent = {
            (name, turn.turn_id): turn
            for name in self.dataset.scenario_ids()
            for session in self.dataset.scenario(name).sessions()
            for turn in session.turns
        }


@pytest.fixture(scope="module")
def tiers(data: Path) -> dict[str, Tier]:
    return {tier: Tier(data, tier) for tier in ("100k", "500k")}


COUNTS = {
    # tier: chats, questions, sentences of rubrics, messages, characters, asked under retrieval, pairs of question and
    # evidence, those with a message of the user
    "100k": (20, 400, 1_051, 5_732, 12_232_071, 355, 1_094, 841),
    "500k": (35, 700, 1_959, 38_058, 77_588_176, 629, 2_680, 2_129),
}


@pytest.mark.parametrize("tier", COUNTS)
def test_a_tier_has_the_published_counts(tiers: dict[str, Tier], tier: str) -> None:
    found, info = tiers[tier], next(each for each in BeamBenchmark.info.tiers if each.name == tier)
    named = [(key.scenario_id, turn) for key in found.keys for turn in key.key.relevant_turns]
    assert found.dataset.released and found.dataset.digest in BeamBenchmark.info.released_digests
    assert (info.clusters, info.items) == COUNTS[tier][:2]
    assert COUNTS[tier] == (
        len({key.cluster for key in found.keys}),
        len(found.keys),
        sum(len(key.key_as(BeamKey, "BEAM").rubric) for key in found.keys),
        len(found.raw),
        sum(len(message["content"]) for message in found.raw),
        len(BeamBenchmark().asked(found.keys, "retrieval")),
        len(named),
        sum(found.sent[each].role == "user" for each in named),
    )


@pytest.mark.parametrize(("tier", "marked", "of_users"), [("100k", 2_155, 2_866), ("500k", 14_589, 19_029)])
def test_every_marker_of_the_plan_is_cut(tiers: dict[str, Tier], tier: str, marked: int, of_users: int) -> None:
    texts = [message["content"] for message in tiers[tier].raw if message["role"] == "user"]
    assert (sum("->->" in text for text in texts), len(texts)) == (marked, of_users)
    assert len(tiers[tier].sent) == len(tiers[tier].raw)
    assert not any("->->" in turn.content for turn in tiers[tier].sent.values())


def test_rubrics_have_the_published_sizes_and_abstention_one_form(tiers: dict[str, Tier]) -> None:
    counts: Counter[Ability] = Counter()
    for key in tiers["100k"].keys:
        own = key.key_as(BeamKey, "BEAM")
        counts[own.ability] += len(own.rubric)
        if own.unanswerable:
            assert re.match("Based on the provided chat, there is no information related to ", own.rubric[0])
            assert len(own.rubric) == 1 and key.evidence is None
    assert counts == RUBRIC_ITEMS


@pytest.mark.parametrize("tier", ["1m", "10m"])
def test_questions_of_the_longer_tiers_are_readable(data: Path, tier: str) -> None:
    size = SIZES[tier]
    asked = [
        ChatFiles(f"{size}-{n}", Path(), data / size / n / "probing_questions.json", (pair[0], pair[1])).asked()
        for n, pair in released_chats()[size].items()
    ]
    info = next(each for each in BeamBenchmark.info.tiers if each.name == tier)
    assert (sum(map(len, asked)), len(asked)) == (info.items, info.clusters)


def test_every_file_is_that_of_the_manifest(data: Path) -> None:
    listed = {each["stored"] for each in json.loads((data / "MANIFEST.json").read_bytes())["files"]}
    for size in ("100K", "500K"):
        for number in released_chats()[size]:
            assert {f"{size}/{number}/chat.json.gz", f"{size}/{number}/probing_questions.json"} <= listed


@pytest.mark.parametrize("tier", ["100k", "500k"])
def test_errata_name_items_and_change_their_keys(tiers: dict[str, Tier], tier: str) -> None:
    errata = BeamBenchmark().errata(tier)
    session = BenchmarkSession(BeamBenchmark(), tiers[tier].dataset, "retrieval", tier, errata)
    keys = {key.item_id: key for key in tiers[tier].keys}
    assert errata is not None and session.corrections.keys() == {entry.id for entry in errata.entries}
    assert all(better != keys[name] for name, better in session.corrections.items())


def test_the_control_bm25_finds_what_a_bare_bm25_finds(tiers: dict[str, Tier]) -> None:
    dataset = tiers["100k"].dataset
    asked = BeamBenchmark().asked(tiers["100k"].keys, "retrieval")
    found: defaultdict[Ability, list[float]] = defaultdict(list)
    whole = []
    for name in dataset.scenario_ids():
        scenario = dataset.scenario(name)
        turns = {turn.turn_id: turn.content for session in scenario.sessions() for turn in session.turns}
        bare, control = Bare(turns), BM25()
        for session in scenario.sessions():
            control.ingest_session(session.data(), session.date)
        questions = {ask.question_id: ask.question for ask in scenario.questions()}
        for key in (each for each in asked if each.scenario_id == name):
            first = bare.first(questions[key.item_id], 10)
            given = control.search(questions[key.item_id], 10)["items"]
            assert [each["source_ids"][0] for each in given] == first
            relevant = set(key.key.relevant_turns)
            share = len(relevant.intersection(first)) / len(relevant)
            found[Ability(key.category)].append(share)
            whole.append((share, share == 1))
    assert {ability: sum(own) / len(own) for ability, own in found.items()} == pytest.approx(RECALL, abs=0.03)
    recall, all_evidence = (sum(each) / len(whole) for each in zip(*whole, strict=True))
    assert (recall, all_evidence) == (pytest.approx(0.418, abs=0.005), pytest.approx(0.293, abs=0.01))


class Bare:
    """BM25 in a few lines: k1 = 1.2, b = 0.75, each word of the question once."""

    def __init__(self, texts: dict[str, str]) -> None:
        self.names = list(texts)
        self.words = [Counter(words(text)) for text in texts.values()]
        self.mean = sum(each.total() for each in self.words) / len(self.words)
        self.having = Counter(word for each in self.words for word in each)
        self.norms = [1.2 * (0.25 + 0.75 * each.total() / self.mean) for each in self.words]

    def first(self, question: str, k: int) -> list[str]:
        asked = sorted(set(words(question)) & self.having.keys())
        scores = [(-self.score(asked, place), place) for place in range(len(self.words))]
        return [self.names[place] for score, place in sorted(scores)[:k] if score < 0]

    def score(self, asked: list[str], place: int) -> float:
        text, total = self.words[place], 0.0
        for word in asked:
            if count := text[word]:
                idf = math.log(1 + (len(self.words) - self.having[word] + 0.5) / (self.having[word] + 0.5))
                total += idf * count * 2.2 / (count + self.norms[place])
        return total


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())
