"""beliefs@2 in histories of a given length: the same lives and questions, with more or less between them."""

from collections import Counter
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from statistics import fmean

import pytest

from memeval import api
from memeval.benchmarks import find
from memeval.benchmarks.beliefs.keys import EvidenceKey
from memeval.benchmarks.beliefs.lives import counts
from memeval.benchmarks.beliefs.long import PEOPLE
from memeval.benchmarks.beliefs.long.filler import Filler, LongBeliefs
from memeval.benchmarks.beliefs.long.lives import VALUES, lives
from memeval.benchmarks.beliefs.wording.editions import wording
from memeval.benchmarks.kit.checks import says
from memeval.benchmarks.kit.long import SIZES
from memeval.benchmarks.kit.long.details import KINS, WORDS
from memeval.benchmarks.kit.long.history import LongHistory
from memeval.benchmarks.kit.long.survey import histories, store_survey, survey
from memeval.benchmarks.session import BenchmarkSession
from memeval.records.errors import BadInput
from memeval.records.scenario import Ask, Ingest, Session

DIGESTS_10K = {
    "retrieval": "sha256:b012cc04fe5aca2f6ea216f93866e74ba029740ae6b7c6f9b80b361b4028879a",
    "judge": "sha256:df7391248debee804d9382b4460c3632c289f1f0e992b9d735269d015da887c0",
}
"""Golden: our own generator at seed 42."""

WORDING = wording("full")
BENCHMARK = find("beliefs@2")


def source(tier: str, protocol: str = "retrieval", seed: int = 42) -> LongBeliefs:
    return LongBeliefs(seed, tier, protocol, WORDING, searched=protocol == "retrieval")


@pytest.fixture
def cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache without surveys."""
    monkeypatch.setenv("MEMEVAL_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def keys_of(history: LongHistory) -> list[EvidenceKey]:
    return [each.key for each in history.answer_keys() if isinstance(each.key, EvidenceKey)]


def filler_sessions(history: LongHistory, own: set[str]) -> list[Session]:
    """The sessions of a history that are not among those of its lives, by their first turn."""
    sessions = [step.session for step in history if isinstance(step, Ingest)]
    return [each for each in sessions if each.turns[0].content not in own]


def openings() -> set[str]:
    return {draft.lines[0].text for life in lives(42, WORDING, searched=True) for draft in life.drafts}


@pytest.mark.parametrize("protocol", list(DIGESTS_10K))
def test_the_data_is_what_it_was(cache_folder: Path, protocol: str) -> None:
    made = store_survey(source("10k", protocol))
    lives.cache_clear()
    assert survey(source("10k", protocol)) == made
    assert made.digest == DIGESTS_10K[protocol]
    assert all(abs(tokens - SIZES["10k"]) <= SIZES["10k"] / 100 for tokens in made.tokens)
    assert [path.relative_to(cache_folder).as_posix() for path in cache_folder.rglob("*.json")] == [
        f"surveys/beliefs-2/{protocol}/10k-42.json"
    ]


def test_questions_and_the_turns_they_need_are_the_same_at_every_size() -> None:
    seen = []
    for tier, fillers in (("10k", (3,) * PEOPLE), ("1m", (40,) * PEOPLE), ("10m", (90,))):
        found = {}
        for history in histories(source(tier), fillers):
            asked = {ask.question_id: ask for ask in history.questions()}
            for key in history.answer_keys():
                assert isinstance(key.key, EvidenceKey)
                values = (*key.key.expected, *key.key.misleading)
                said = [history.scenario().turn(turn)[1].content for value in values for turn in value.turns]
                found[key.item_id] = (asked[key.question_ids[0]], said, key.key.reference)
        seen.append(found)
    assert len(seen[0]) == sum(counts(PEOPLE).values()) == 115
    assert seen[0] == seen[1] == seen[2]


def test_no_filler_session_states_a_value_that_a_key_expects_or_counts_as_misleading() -> None:
    own = openings()
    (shared,) = histories(source("10m"), (400,))
    for history in (*histories(source("1m"), (120,) * PEOPLE), shared):
        phrases = [p for key in keys_of(history) for value in (*key.expected, *key.misleading) for p in value.phrases]
        filler = filler_sessions(history, own)
        assert len(filler) >= 100
        for session in filler:
            assert not says(phrases, "\n".join(turn.content for turn in session.turns))


def test_filler_speaks_of_what_is_asked_about_in_the_sentences_of_the_packs() -> None:
    life = lives(42, WORDING, searched=True)[0]
    talk = Filler(42, "01", (life,), WORDING)
    texts = ["\n".join(line.text for line in talk.session(number)[1]) for number in range(400)]
    assert len(set(texts)) == len(texts)
    topics = [topic for topic in life.made.life.focus.values() if topic in WORDING.topics]
    other = [p for topic in topics for value in topic.values for p in value.phrases if p not in life.guarded]
    assert sum(says(other, text) for text in texts) >= 10, "other people have values of the topics asked about"
    kins = [kin for pool in KINS.values() for kin in pool]
    assert sum(says(kins, text) for text in texts) >= 60
    starts = {text.format(v="|", **dict.fromkeys(("do", "doing", "label", "old"), "|")).partition("|")[0]
              for text in WORDING.frames["update_naming_both"]}  # fmt: skip
    assert any(start.strip() and start.strip() in text for text in texts for start in starts), "changes are announced"


def test_filler_and_relevant_sessions_are_equally_long() -> None:
    everybody = lives(42, WORDING, searched=True)
    relevant = [sum(len(line.text) for line in draft.lines) for life in everybody for draft in life.drafts]
    talk = Filler(42, "01", everybody[:1], WORDING)
    filler = [sum(len(line.text) for line in talk.session(number)[1]) for number in range(600)]
    assert fmean(filler) == pytest.approx(fmean(relevant), rel=0.05)
    turns = [len(draft.lines) for life in everybody for draft in life.drafts]
    assert set(turns) == {len(talk.session(number)[1]) for number in range(600)}


def test_the_lives_occur_in_no_other_tier() -> None:
    ours = {ask.question for life in lives(42, WORDING, searched=True) for ask in life.asks}
    whole = BENCHMARK.opened(None, {"size": 40}, "retrieval", "full")
    assert ours.isdisjoint(ask.question for scenario in whole.scenarios() for ask in scenario.questions())
    assert ours.isdisjoint(ask.question for life in lives(43, WORDING, searched=True) for ask in life.asks)


def test_sessions_come_in_order_of_time_and_questions_after_them() -> None:
    for history in (*histories(source("1m"), (300,) * PEOPLE)[:2], *histories(source("10m"), (500,))):
        assert all(before < after for before, after in pairwise(history.times()))
        last = [step for step in history[history.sessions - 1 : history.sessions] if isinstance(step, Ingest)]
        days = [ask.timestamp or "" for ask in history.questions() if isinstance(ask, Ask)]
        assert min(days) > datetime.fromisoformat(last[0].session.date).date().isoformat()


def test_no_detail_but_those_that_are_drawn_again_is_a_value() -> None:
    phrases = [p.lower() for topic in WORDING.by_id.values() for value in topic.values for p in value.phrases]
    pools = (WORDS.details, WORDS.remarks, WORDS.adjectives, WORDS.nouns, WORDS.spots, WORDS.days, WORDS.numbers)
    alone = [word for pool in (*pools, *KINS.values()) for word in pool if says(phrases, word)]
    pairs = {f"{adjective} {noun}" for adjective in WORDS.adjectives for noun in WORDS.nouns}
    assert sorted([*alone, *(phrase for phrase in phrases if phrase in pairs)]) == list(VALUES)


def test_one_history_of_several_people_is_graded_as_a_shared_memory() -> None:
    def graders(tier: str, protocol: str = "retrieval") -> set[str]:
        return {each.grader.name for each in BENCHMARK.table(protocol, tier)}

    assert graders("10m") == graders("full", "shared") == {"shared-expected-turns@1", "shared-lean-context@1"}
    assert graders("1m") == graders("full")
    assert graders("10m", "judge") - graders("1m", "judge") == {"shared-lean-context@1"}
    for tier in SIZES:
        table = BENCHMARK.table("retrieval", tier)
        assert [each.weight for each in table] == [each.weight for each in BENCHMARK.table("retrieval")]
        assert {each.name: each.items for each in table} == counts(PEOPLE)
    assert {t.name: (t.items, t.tokens) for t in BENCHMARK.info.tiers if t.tokens} == {
        tier: (115, tokens) for tier, tokens in SIZES.items()
    }


@pytest.mark.parametrize(
    ("parameters", "protocol", "words"),
    [
        ({"size": 100}, "retrieval", "no parameter 'size' in the tier '10k'"),
        ({"seed": -1}, "judge", "0 or more"),
        ({"sead": 1}, "judge", "no parameter 'sead'"),
        (None, "shared", "no tier '10k' under the protocol 'shared'. Use the protocol 'judge' or 'retrieval'"),
        (None, "stored", "no tier '10k' under the protocol 'stored'"),
    ],
)
def test_what_a_tier_cannot_be_opened_with_is_refused(
    parameters: dict[str, str | int] | None, protocol: str, words: str
) -> None:
    with pytest.raises(BadInput, match=words):
        BenchmarkSession.open(BENCHMARK, parameters=parameters, protocol=protocol, tier="10k")


def test_the_expected_turns_earn_everything_and_the_run_verifies(cache_folder: Path, tmp_path: Path) -> None:
    results = tmp_path / "results"
    (folder,) = api.run(
        "expected-turns", "beliefs@2", options=api.RunOptions(results=results, protocol="retrieval", tier="10k")
    )
    assert folder.run.scores.composite.value == 1
    assert Counter(line.items for line in folder.run.track.categories) == Counter(counts(PEOPLE).values())
    assert api.verify(results) == []
