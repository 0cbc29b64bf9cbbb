"""One pass over long histories: number of filler sessions, check of the rules, and digest.

It takes a minute or two for ten million tokens, so the result is stored in the data folder, with the seed, the tier and
the digest of the code that generates the histories. ``memeval data verify`` repeats the pass.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from itertools import chain, count, pairwise
from pathlib import Path

from memeval.benchmarks.beliefs.checks import BrokenRule, states
from memeval.benchmarks.beliefs.long import SHARED, SIZES
from memeval.benchmarks.beliefs.long.filler import Filler
from memeval.benchmarks.beliefs.long.history import LongHistory
from memeval.benchmarks.beliefs.long.lives import LongLife, lives
from memeval.benchmarks.beliefs.talk import DraftTurn
from memeval.benchmarks.data import data_folder
from memeval.records.base import Digest, Stored
from memeval.records.errors import BadInput, MemevalError
from memeval.storage import write_whole
from memeval.tokens import count_tokens, tokenizer_name

MADE_BY = ("benchmarks/beliefs", "keys", "records/base.py", "records/scenario.py")
"""Code that determines the bytes of a history."""

KEPT_SESSIONS = 20_000
"""Maximum number of filler sessions of a history that a survey keeps in memory."""


class Survey(Stored):
    """Result of one pass over the histories of a tier."""

    seed: int
    """Seed of the generator."""
    tier: str
    """The tier."""
    made_by: Digest
    """Digest of the code that generates them, and of the tokenizer name."""
    fillers: tuple[int, ...]
    """Number of filler sessions of each history."""
    tokens: tuple[int, ...]
    """Tokens of each history."""
    sizes: tuple[int, ...]
    """Bytes of each history as JSON."""
    digest: Digest
    """Digest of all histories, then all keys, each as a line of canonical JSON."""


def histories(seed: int, tier: str, fillers: Sequence[int]) -> tuple[LongHistory, ...]:
    """Return the histories of a tier.

    Args:
        seed: seed of the generator.
        tier: the tier.
        fillers: number of filler sessions of each history.
    """
    return tuple(
        LongHistory(_scenario_id(tier, name), lives_of, Filler(seed, name, lives_of), fill)
        for (name, lives_of), fill in zip(_casts(seed, tier), fillers, strict=True)
    )


def _scenario_id(tier: str, name: str) -> str:
    return f"beliefs-1-{tier}-{name}"


class _KeptFiller(Filler):
    """Filler sessions, of which the first are kept: a survey first counts their tokens, then writes them."""

    def __init__(self, seed: int, name: str, lives: Sequence[LongLife]) -> None:
        super().__init__(seed, name, lives)
        self._kept: dict[int, tuple[LongLife, list[DraftTurn]]] = {}

    def session(self, number: int) -> tuple[LongLife, list[DraftTurn]]:
        """See :meth:`Filler.session`."""
        if number in self._kept:
            return self._kept[number]
        made = super().session(number)
        if number < KEPT_SESSIONS:
            self._kept[number] = made
        return made


def surveyed(seed: int, tier: str) -> Survey:
    """Return the stored survey of a tier, or make it.

    Raises:
        ValueError: the histories break a rule.
    """
    path = _path(seed, tier)
    with contextlib.suppress(OSError, MemevalError):
        kept = Survey.parse(path.read_bytes(), path)
        if (kept.seed, kept.tier, kept.made_by) == (seed, tier, made_by()):
            return kept
    return survey(seed, tier)


def survey(seed: int, tier: str) -> Survey:
    """Pass over the histories of a tier and store the result.

    Raises:
        ValueError: the histories break a rule.
    """
    fillers, tokens, sizes, keys = list[int](), list[int](), list[int](), list[str]()
    digest = hashlib.sha256()
    for name, lives_of in _casts(seed, tier):
        filler = _KeptFiller(seed, name, lives_of)
        number, counted = _fit(filler, lives_of, SIZES[tier])
        fillers.append(number)
        tokens.append(counted)
        history = LongHistory(_scenario_id(tier, name), lives_of, filler, number)
        _check_order(history)
        sizes.append(0)
        for piece in chain(history.scenario().json_pieces(), ("\n",)):
            data = piece.encode()
            digest.update(data)
            sizes[-1] += len(data)
        keys += [key.to_json() for key in history.keys()]  # noqa: SIM118 - no dictionary
    for key in keys:
        digest.update(f"{key}\n".encode())
    made = Survey(
        seed=seed,
        tier=tier,
        made_by=made_by(),
        fillers=tuple(fillers),
        tokens=tuple(tokens),
        sizes=tuple(sizes),
        digest=f"sha256:{digest.hexdigest()}",
    )
    path = _path(seed, tier)
    with contextlib.suppress(OSError, BadInput):  # if it cannot be stored, the next call repeats it
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, made.to_json().encode())
    return made


def _check_order(history: LongHistory) -> None:
    """Check that each session of a history is later than the one before it.

    Raises:
        BrokenRule: a session is not later.
    """
    if not all(before < after for before, after in pairwise(history.times())):
        raise BrokenRule(f"{history.scenario_id}: dates are inverted.")


@cache
def made_by() -> Digest:
    """Return the digest of the code that generates histories, and of the tokenizer name."""
    digest = hashlib.sha256(tokenizer_name().encode())
    for path in MADE_BY:
        for file in _sources(resources.files("memeval").joinpath(path)):
            digest.update(file.read_bytes())
    return f"sha256:{digest.hexdigest()}"


def _sources(place: Traversable) -> Iterator[Traversable]:
    """Yield the Python files of a file or folder, sorted by path."""
    if place.is_file():
        yield from (place,) if place.name.endswith(".py") else ()
        return
    for each in sorted(place.iterdir(), key=lambda entry: entry.name):
        yield from _sources(each)


def _casts(seed: int, tier: str) -> Iterator[tuple[str, Sequence[LongLife]]]:
    """Yield name and lives of each history of a tier."""
    everybody = lives(seed)
    if SIZES[tier] >= SHARED:
        yield "all", everybody
        return
    for number, life in enumerate(everybody, start=1):
        yield f"{number:02d}", (life,)


def _fit(filler: Filler, lives_of: Sequence[LongLife], size: int) -> tuple[int, int]:
    """Return the number of filler sessions that brings a history closest to its size, and its tokens.

    Raises:
        BrokenRule: a filler session states the answer to a question.
    """
    golds = tuple(dict.fromkeys(phrase for life in lives_of for item in life.items for phrase in item.gold.phrases))
    near = tuple(phrase.lower() for phrase in golds)
    tokens = sum(count_tokens(line.text) for life in lives_of for draft in life.drafts for line in draft.lines)
    for number in count():
        _, lines = filler.session(number)
        more = sum(count_tokens(line.text) for line in lines)
        if 2 * (size - tokens) <= more:
            return number, tokens
        text = "\n".join(line.text for line in lines)
        lower = text.lower()
        if any(phrase in lower for phrase in near) and states(golds, text):
            raise BrokenRule(f"a filler session states the answer to a question: {text!r}.")
        tokens += more
    raise AssertionError("a count has no end.")


def _path(seed: int, tier: str) -> Path:
    return data_folder() / "beliefs" / f"surveyed-{tier}-{seed}.json"
