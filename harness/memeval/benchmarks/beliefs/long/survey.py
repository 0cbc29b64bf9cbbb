"""Long histories gone through once: how much filler makes up their size, whether they hold to the rules, their digest.

That takes a minute or two for ten million tokens, so what came of it is kept in the data folder, under the seed, the
size and the digest of the very code that makes the histories; ``memeval data verify`` goes through them again.
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
from memeval.benchmarks.data import data_folder
from memeval.records.base import Digest, Stored
from memeval.records.errors import BadInput, MemevalError
from memeval.storage import write_whole
from memeval.tokens import count_tokens, tokenizer_name

MADE_BY = ("benchmarks/beliefs", "keys/key.py", "records/base.py", "records/scenario.py")
"""The code that the bytes of a history come from."""


class Survey(Stored):
    """What came of going through the histories of a tier."""

    seed: int
    """The generation's seed."""
    tier: str
    """The tier."""
    made_by: Digest
    """Digest of the code that makes them, and of what tokens are counted with."""
    fillers: tuple[int, ...]
    """Per history, how many of its sessions only fill it."""
    tokens: tuple[int, ...]
    """Per history, its tokens."""
    sizes: tuple[int, ...]
    """Per history, the bytes of it as JSON."""
    digest: Digest
    """Digest of all histories, a line of canonical JSON each, and then of all keys."""


def histories(seed: int, tier: str, fillers: Sequence[int]) -> tuple[LongHistory, ...]:
    """Return the histories of a tier.

    Args:
        seed: the generation's seed.
        tier: the tier.
        fillers: how many sessions fill each of them.
    """
    return tuple(
        LongHistory(f"beliefs-1-{tier}-{name}", whose, Filler(seed, name, whose), fill)
        for (name, whose), fill in zip(_casts(seed, tier), fillers, strict=True)
    )


def surveyed(seed: int, tier: str) -> Survey:
    """Return what came of going through the histories of a tier; where nobody has yet, now.

    Raises:
        ValueError: they break a rule.
    """
    path = _path(seed, tier)
    with contextlib.suppress(OSError, MemevalError):
        kept = Survey.parse(path.read_bytes(), path)
        if (kept.seed, kept.tier, kept.made_by) == (seed, tier, made_by()):
            return kept
    return survey(seed, tier)


def survey(seed: int, tier: str) -> Survey:
    """Go through the histories of a tier, and keep what comes of it.

    Raises:
        ValueError: they break a rule.
    """
    fitted = [_fit(Filler(seed, name, whose), whose, SIZES[tier]) for name, whose in _casts(seed, tier)]
    fillers = tuple(number for number, _ in fitted)
    digest, sizes = hashlib.sha256(), []
    for history in histories(seed, tier, fillers):
        _check_order(history)
        sizes.append(0)
        for piece in chain(history.scenario().json_pieces(), ("\n",)):
            data = piece.encode()
            digest.update(data)
            sizes[-1] += len(data)
    for history in histories(seed, tier, fillers):
        for key in history.keys():  # noqa: SIM118 - no dictionary
            digest.update(f"{key.to_json()}\n".encode())
    made = Survey(
        seed=seed,
        tier=tier,
        made_by=made_by(),
        fillers=fillers,
        tokens=tuple(tokens for _, tokens in fitted),
        sizes=tuple(sizes),
        digest=f"sha256:{digest.hexdigest()}",
    )
    path = _path(seed, tier)
    with contextlib.suppress(OSError, BadInput):  # where nothing can be kept, it is done again the next time
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, made.to_json().encode())
    return made


def _check_order(history: LongHistory) -> None:
    """Refuse a history in which a session is not later than the one before it.

    Raises:
        BrokenRule: it is so.
    """
    if not all(before < after for before, after in pairwise(history.times())):
        raise BrokenRule(f"{history.scenario_id}: dates are inverted.")


@cache
def made_by() -> Digest:
    """Return the digest of the code that makes histories, and of what tokens are counted with."""
    digest = hashlib.sha256(tokenizer_name().encode())
    for path in MADE_BY:
        for file in _sources(resources.files("memeval").joinpath(path)):
            digest.update(file.read_bytes())
    return f"sha256:{digest.hexdigest()}"


def _sources(place: Traversable) -> Iterator[Traversable]:
    """Yield the files of code at a place, in one order."""
    if place.is_file():
        yield from (place,) if place.name.endswith(".py") else ()
        return
    for each in sorted(place.iterdir(), key=lambda entry: entry.name):
        yield from _sources(each)


def _casts(seed: int, tier: str) -> Iterator[tuple[str, Sequence[LongLife]]]:
    """Yield the histories of a tier: their names, and whose they are."""
    everybody = lives(seed)
    if SIZES[tier] >= SHARED:
        yield "all", everybody
        return
    for number, life in enumerate(everybody, start=1):
        yield f"{number:02d}", (life,)


def _fit(filler: Filler, whose: Sequence[LongLife], size: int) -> tuple[int, int]:
    """Return how many sessions fill a history up to its size, as near as whole sessions come, and its tokens then.

    Raises:
        BrokenRule: what fills it says what only the sessions that matter may say.
    """
    golds = tuple(dict.fromkeys(phrase for life in whose for item in life.items for phrase in item.gold.phrases))
    near = tuple(phrase.lower() for phrase in golds)
    tokens = sum(count_tokens(line.text) for life in whose for told in life.told for line in told.lines)
    for number in count():
        _, lines = filler.session(number)
        more = sum(count_tokens(line.text) for line in lines)
        if 2 * (size - tokens) <= more:
            return number, tokens
        text = "\n".join(line.text for line in lines)
        lower = text.lower()
        if any(phrase in lower for phrase in near) and states(golds, text):
            raise BrokenRule(f"what fills a history says what it is asked about: {text!r}.")
        tokens += more
    raise AssertionError("a count has no end.")


def _path(seed: int, tier: str) -> Path:
    return data_folder() / "beliefs" / f"surveyed-{tier}-{seed}.json"
