"""What a guesser can learn from the outside of the data of beliefs@2: lengths, dates, order, words of the question."""

from __future__ import annotations

import json
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from memeval.archive.ledger import Ledger
from memeval.archive.runs import sealed_runs
from memeval.benchmarks.beliefs.benchmark import PARAMETERS
from memeval.benchmarks.beliefs.keys import EvidenceKey
from memeval.benchmarks.registry import find
from memeval.execution.readers import NATIVE
from memeval.keys import ItemKey, Stance, StanceKey
from memeval.leaderboard.board import BoardRow, build_board
from memeval.records.scenario import Scenario, Session
from memeval.records.track import Track
from memeval.site.model.text import percent
from memeval.statistics.ranks import RankRange
from memeval.tokens import count_tokens

Array = NDArray[np.float64]
T = TypeVar("T")

NAME = "beliefs@2"
TIERS = ("full", "withheld-1")
"""The tiers with all people, in public and in withheld wording."""

READER = "extractive@2"
"""The reader of the answers that systems do not write themselves."""

OUT, PAGE = Path("site/beliefs-2.json"), Path("site/beliefs-2.md")
RESULTS = Path("results")

STEPS, RATE, SHRINKAGE = 400, 0.5, 1e-3
"""Steps of the gradient, their size, and the penalty on large weights."""


@dataclass(frozen=True)
class Choice:
    """The sessions that state a value of an item's topic, of which one or more state what the answer needs."""

    category: str
    person: str
    outside: Mapping[str, Array]
    """Features of the sessions by group, each of shape (sessions, features)."""
    right: NDArray[np.bool_]
    """Whether a session states what the answer needs, shape (sessions,)."""


def choices(scenarios: Iterable[Scenario], keys: Iterable[ItemKey]) -> list[Choice]:
    """Return the choices that a guesser has: one for each item with at least two sessions on its topic.

    Args:
        scenarios: the histories.
        keys: the keys of the protocol ``retrieval``.
    """
    of_scenario: dict[str, list[ItemKey]] = defaultdict(list)
    for key in keys:
        of_scenario[key.scenario_id].append(key)
    found = []
    for scenario in scenarios:
        sessions = list(scenario.each_session())
        place = {session.session_id: number for number, session in enumerate(sessions)}
        days = np.array([date.fromisoformat(session.date[:10]).toordinal() for session in sessions], dtype=float)
        for item in of_scenario[scenario.scenario_id]:
            evidence = item.key_as(EvidenceKey, "clues")
            right = {_session(turn) for part in evidence.expected for turn in part.turns}
            wrong = {_session(turn) for value in evidence.misleading for turn in value.turns} - right
            if wrong:
                named = sorted(right | wrong, key=lambda each: place[each])
                places = np.array([place[each] for each in named])
                found.append(
                    Choice(
                        item.category,
                        item.cluster,
                        {
                            "length": _lengths([sessions[number] for number in places]),
                            "date": _dates(days, places),
                            "order": _order(places, len(sessions)),
                        },
                        np.array([each in right for each in named]),
                    )
                )
    return found


def _session(turn: str) -> str:
    return turn.partition(":")[0]


def _lengths(sessions: Sequence[Session]) -> Array:
    """Return turns, tokens, and tokens of the longest turn."""
    tokens = [[count_tokens(turn.content) for turn in session.turns] for session in sessions]
    return np.array([[len(each), sum(each), max(each)] for each in tokens], dtype=float)


def _dates(days: Array, places: NDArray[np.int64]) -> Array:
    """Return days since the session before and until the one after, day of the week and of the month."""
    usual = np.median(np.diff(days))
    padded = np.concatenate([[days[0] - usual], days, [days[-1] + usual]])
    before, after = days[places] - padded[places], padded[places + 2] - days[places]
    week, month = days[places] % 7, np.array([date.fromordinal(int(day)).day for day in days[places]])
    return np.stack([before, after, week, week >= 5, month], axis=1).astype(float)


def _order(places: NDArray[np.int64], sessions: int) -> Array:
    """Return the place in the history and among the sessions of the topic, and whether it is the first or last one."""
    among = np.arange(len(places)) / max(1, len(places) - 1)
    return np.stack([places / sessions, among, among == 0, among == 1], axis=1).astype(float)


def guessed(train: Sequence[Choice], test: Sequence[Choice], group: str) -> tuple[float, float]:
    """Return how often a guesser picks a right session, and how often picking one at random does.

    The guesser is a conditional logit: a weight for each feature and its square, fitted by gradient ascent.

    Args:
        train: the choices it learns from.
        test: the choices it makes, about other people.
        group: the features it sees.
    """
    every = np.concatenate([each.outside[group] for each in train])
    mean, spread = every.mean(axis=0), every.std(axis=0) + 1e-9

    def features(choice: Choice) -> Array:
        scaled = (choice.outside[group] - mean) / spread
        return np.concatenate([scaled, scaled**2], axis=1)

    rows = np.concatenate([features(each) for each in train])
    starts = np.cumsum([0, *(len(each.right) for each in train)])[:-1]
    owner = np.repeat(np.arange(len(train)), [len(each.right) for each in train])
    right = np.concatenate([each.right for each in train]).astype(float)
    target = right / np.add.reduceat(right, starts)[owner]
    weights = np.zeros(rows.shape[1])
    for _ in range(STEPS):
        scores = np.exp(np.clip(rows @ weights, -30, 30))
        share = scores / np.add.reduceat(scores, starts)[owner]
        weights += RATE * (rows.T @ (target - share) / len(train) - SHRINKAGE * weights)
    hits = [each.right[int(np.argmax(features(each) @ weights))] for each in test]
    return float(np.mean(hits)), float(np.mean([each.right.mean() for each in test]))


def stance_guessed(train: Sequence[tuple[str, bool]], test: Sequence[tuple[str, bool]]) -> tuple[float, float]:
    """Return how often the words of a question tell whether doubt is right, and the share of the commoner stance.

    The guesser is naive Bayes on words that people do not have in common, such as values, and those that they do.

    Args:
        train: questions, each with whether doubt is right.
        test: questions about other people.
    """
    counts: dict[str, list[float]] = defaultdict(lambda: [1.0, 1.0])
    for question, doubt in train:
        for word in _words(question):
            counts[word][doubt] += 1
    totals = [sum(each[stance] for each in counts.values()) for stance in (0, 1)]
    prior = np.log(np.mean([doubt for _, doubt in train]) / (1 - np.mean([doubt for _, doubt in train])))

    def score(question: str) -> float:
        known = (counts[word] for word in _words(question) if word in counts)
        return float(prior + sum(np.log(yes / totals[1]) - np.log(no / totals[0]) for no, yes in known))

    hits = [(score(question) > 0) == doubt for question, doubt in test]
    share = float(np.mean([doubt for _, doubt in test]))
    return float(np.mean(hits)), max(share, 1 - share)


def _words(text: str) -> set[str]:
    return set(re.findall(r"[a-z']+", text.lower()))


def measure(tier: str, parameters: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return what can be guessed in a tier: by group of features and category; and the stance from the question.

    Args:
        tier: the tier.
        parameters: seed and size of the generator, if not the usual ones.
    """
    benchmark = find(NAME)
    searched = benchmark.opened(None, parameters, "retrieval", tier)
    scenarios = list(searched.scenarios())
    found = choices(scenarios, searched.answer_keys())
    people = sorted({each.person for each in found})
    learned = set(people[::2])
    train, test = _halves(found, lambda each: each.person in learned)
    categories = list(dict.fromkeys(each.category for each in found))
    guesses = {
        group: {name: _rounded(*guessed(_in(train, name), _in(test, name), group)) for name in categories}
        for group in ("length", "date", "order")
    }
    asked = {each.question_id: each.question for scenario in scenarios for each in scenario.questions()}
    stances = [
        (key.cluster in learned, (asked[key.question_ids[0]], key.key.stance is Stance.DOUBT))
        for key in benchmark.opened(None, parameters, "judge", tier).answer_keys()
        if isinstance(key.key, StanceKey)
    ]
    seen, unseen = _halves(stances, lambda each: each[0])
    stance = _rounded(*stance_guessed([each for _, each in seen], [each for _, each in unseen]))
    return {"items": len(found), "guesses": guesses, "stance": stance}


def _halves(values: Iterable[T], is_first: Callable[[T], bool]) -> tuple[list[T], list[T]]:
    first: list[T] = []
    second: list[T] = []
    for value in values:
        (first if is_first(value) else second).append(value)
    return first, second


def _in(found: Iterable[Choice], category: str) -> list[Choice]:
    return [each for each in found if each.category == category]


def _rounded(*values: float) -> list[float]:
    return [round(value, 4) for value in values]


TITLES = {"length": "Lengths", "date": "Dates", "order": "Order"}


EARNING = {
    "expected-turns": "Expected turns",
    "seed-table": "Seed table",
    "template-solver": "Template solver",
    "haystack": "Haystack",
    "bm25s": "BM25S",
    "bm25": "BM25",
    "all-candidates": "All candidates",
    "llamaindex": "LlamaIndex",
    "txtai": "txtai, keyword index",
    "hybrid": "BM25 and MiniLM",
    "minilm": "MiniLM vectors",
    "chroma": "Chroma",
    "langgraph-store": "LangGraph, in-memory store",
    "mem0-verbatim": "mem0 (open source), verbatim",
    "mcp-memory-service": "mcp-memory-service",
    "mcp-memory": "MCP memory server",
    "jeffs-brain": "Jeffs Brain",
    "padded-contexts": "Padded contexts",
    "oracle": "Oracle evidence",
    "always-hedge": "Always hedge",
    "notebook": "Notebook",
    "recency-window": "Recency window",
    "no-memory": "No memory",
}
"""Controls and systems of the table of scores, by slug."""


@dataclass(frozen=True)
class Column:
    """A column of a table of stored scores: the runs of one protocol on one tier."""

    title: str
    protocol: str
    tier: str
    readers: frozenset[str] | None = None
    """Who may have written the answers; ``None`` for anybody."""

    def has(self, track: Track) -> bool:
        """Return whether the runs of a track stand in this column."""
        is_read = self.readers is None or track.reader in self.readers
        return is_read and (track.protocol, track.tier) == (self.protocol, self.tier)


def _tiers(*tiers: str) -> tuple[Column, ...]:
    return tuple(Column(f"`{tier}`", "retrieval", tier) for tier in tiers)


WORDINGS = _tiers(*TIERS)
LENGTHS = _tiers("10k", "100k")
"""The tiers by length that have stored runs."""
PROTOCOLS = (
    Column("Answers of the reader", "judge", "full", frozenset({READER})),
    Column("Own answers", "judge", "full", frozenset({NATIVE})),
    Column("`shared`", "shared", "full"),
    Column("`stored`", "stored", "full"),
)
"""The protocols other than ``retrieval``."""


def stored_runs(results: Path) -> tuple[BoardRow, ...]:
    """Return the stored runs of the benchmark on its usual data, the oldest first.

    Args:
        results: the results folder.
    """
    folders = [folder for folder in sealed_runs(results) if folder.run.track.benchmark == NAME]
    board = build_board(folders, Ledger(results), compare_responses=False)
    usual = (
        row
        for row in reversed(board.runs)
        if all(PARAMETERS.defaults[name] == value for name, value in row.run.track.parameters.items())
    )
    return tuple(usual)


def earned(runs: Sequence[BoardRow], columns: Sequence[Column] = WORDINGS) -> str:
    """Return a table of stored scores, each with its interval and, if it has one, its range of ranks.

    Systems without a run are left out.

    Args:
        runs: the runs, the oldest first. Of several runs of a system in a column, the newest counts.
        columns: the columns.
    """
    rows = []
    for slug, title in EARNING.items():
        mine = [row for row in runs if row.run.system.slug == slug]
        cells = [next((_cell(row) for row in reversed(mine) if column.has(row.run.track)), "–") for column in columns]
        if set(cells) != {"–"}:
            rows.append([title, *cells])
    return _table(["Control or system", *(column.title for column in columns)], rows)


def _cell(row: BoardRow) -> str:
    score = row.run.scores.composite
    low, high = (score.interval.low, score.interval.high) if score.interval else (None, None)
    rank = f", {_ranks(row.rank)}" if row.rank else ""
    return f"{percent(score.value)} ({percent(low)} to {percent(high)}){rank}"


def _ranks(rank: RankRange) -> str:
    return f"rank {rank.best}" if rank.best == rank.worst else f"rank {rank.best} to {rank.worst}"


def page_of(result: Mapping[str, Any], results: Path = RESULTS) -> str:
    """Return the page as Markdown.

    Args:
        result: what :func:`measure` returns, by tier.
        results: the results folder with the stored runs.
    """
    info = find(NAME).info
    titles = {each.name: each.title for each in info.categories}
    tables = {}
    for tier, found in result.items():
        guesses = found["guesses"]
        rows = [
            [
                titles[name],
                _percent(guesses["length"][name][1]),
                *(_percent(guesses[group][name][0]) for group in TITLES),
            ]
            for name in titles
            if name in guesses["length"]
        ]
        tables[tier] = _table(["Category", "At random", *TITLES.values()], rows)
    runs = stored_runs(results)
    stances = [[f"`{tier}`", *map(_percent, reversed(found["stance"]))] for tier, found in result.items()]
    return TEXT.format(
        full=tables["full"],
        withheld=tables["withheld-1"],
        stances=_table(["Tier", "Always the commoner answer", "From the words of the question"], stances),
        items=f"{result['full']['items']:,}",
        earned=earned(runs),
        by_length=earned(runs, LENGTHS),
        protocols=earned(runs, PROTOCOLS),
    )


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows))


TEXT = """---
description: What can be guessed from the data of beliefs@2 without reading it, and what knowing its sentences earns.
---

# Guessing on beliefs@2

A benchmark measures memory only if nothing else earns points. This page shows what can be guessed on `beliefs@2` from
outside: from lengths, dates, order, and the words of the questions. Repeat it with `python -m bench.clues` (about a
minute). The numbers are also in [beliefs-2.json](beliefs-2.json).

## What knowing the sentences earns

The controls *Template solver*, *Seed table*, *Padded contexts* and *All candidates* try to score without remembering.
These are the stored runs of the protocol `retrieval`, with 95 % intervals and the
[range of ranks](ranks.md#ranks-and-ties) among the systems. Controls have no rank, nor have systems that ran with
a part of their features only. A dash means no run.

{earned}

In withheld wording, the template solver and the seed table know nothing. They ask BM25, and gain nothing over it.
Chroma, LangGraph's store and mem0 search the vectors of *MiniLM vectors*, and score the same; mcp-memory-service has
the same model. The intervals of seven groups do not touch: the expected turns; the searches by
words, with or without vectors; the searches by vectors alone, and the MCP memory server; Jeffs Brain, which returns
whole sessions; padded contexts; the newest turns; and no memory.

A second solver, by an engineer who knew the generator and the public packs but not the withheld ones, found what the
first did not: under an earlier rule, a list of the user's latest statements, the same for every question, scored 20
points more than BM25 in withheld wording, because 500 tokens hold most of a life. The rule now counts only the first
texts, up to six times the tokens of the smallest sufficient evidence, and what is asked about begins at any time of a
life. Its gain in withheld wording fell from 23 to 7 points (20 people). What is left is mostly that it prefers the
user's newest statement, as a good memory should.

## Every other protocol

The same systems on the tier `full`. The reader answers from what a system retrieves. From the right evidence, the
control *Oracle evidence*, it earns 65 of 100 points: no system can be expected to earn more with it. `shared` has the
histories of all people in one memory. `stored` compares what a system has stored with the current facts: a store of
every word earns nothing.

{protocols}

## Longer histories

The tiers by length ask 115 questions about ten other people. The sessions about their facts are the same; the rest of a
history grows from 10,000 to a million tokens, and in the last tier to ten million. The first two have stored runs. With
so few questions the intervals are wide. `memeval run SYSTEM --benchmark beliefs@2 --tier 1m` measures the next.

{by_length}

## Which session has the answer

For {items} items, several sessions are about the topic of the question, and some of them mislead: they state an older
value, that of another person, or a daydream. A guesser knows all these sessions and must pick one that the answer
needs. It never sees a word of them. It sees either

- **lengths**: turns, tokens, tokens of the longest turn;
- **dates**: days since the session before and until the next one, day of the week, day of the month;
- **order**: the place in the whole history and among the sessions of the topic.

It learns on half of the people (a conditional logit with squares) and guesses for the other half.

Tier `full`:

{full}

Tier `withheld-1`:

{withheld}

With about 200 items a category, a difference of five points is chance. Lengths and dates help the guesser little: by
three to six points on average. Order says something where it should: the newest value is mostly the current one. In
*Belief update* that is the subject of the question; changes that were taken back, daydreams and other people keep it
from being the rule. In *Cascade propagation* and *Uncertainty and abstention*, a change comes after what it changes.
Where order means nothing, in *Noise resistance*, it does not help.

## Doubt or certainty

In *Cascade propagation* and *Uncertainty and abstention*, doubt is right for about half of the questions. A naive Bayes
guesser reads the question, but no history.

{stances}

## How many items are enough

The page about the [simulation of the ranks](simulation.md#two-systems-alone) shows which differences two systems must
have to be told apart on 2,990 items of 260 people.

## Items that were read

Sixty items of both tiers were read one by one with their whole histories, before the data was corrected. 43 were
fine, 5 ambiguous, 12 worded unnaturally, and none was wrong; one more, outside the sixty, was wrong. After the
correction, sixty others were read, each with all sessions on its topic: 49 were fine, and 11 worded unnaturally. In
seven of these, a remark in passing followed a question with no turn to another subject; in four, a sentence did not
say what it was about. After the second correction, sixty more were read, each with the turns that state its values:
three were clumsy. Of a last sixty, all were fine, but in two of them one friend had two values. Of sixty items of the
final data, none was wrong or ambiguous, and four were worded clumsily.

44 sentences are withdrawn (listed with reasons in `wording/editions.toml`; the published packs themselves never
change). Flatmates have no facts of their own, and nobody else has two values of a topic. A question about the month in
which something began is asked only where the conversation leaves no doubt about the month. Whoever finds another fault
can report it from the item's page, or read the samples, which the benchmark's page links to.
"""


def main() -> int:
    """Measure both tiers, and write the results and their page."""
    result = {tier: measure(tier) for tier in TIERS}
    OUT.write_text(json.dumps(result, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    PAGE.write_text(page_of(result), encoding="utf-8")
    print(PAGE.read_text(encoding="utf-8"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
