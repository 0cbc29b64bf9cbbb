"""One pass over long histories: number of filler sessions, check of the rules, and digest.

It takes a minute or two for ten million tokens, so the result is stored in the data folder, with the seed, the tier and
the digest of the code that generates the histories. memeval includes the results of its own seed, up to a million
tokens; see :mod:`memeval.benchmarks.kit.long.included`. ``memeval data verify`` repeats the pass.
"""

import contextlib
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from itertools import chain, count, pairwise
from pathlib import Path

from memeval.benchmarks.base import Dataset
from memeval.benchmarks.kit.checks import BrokenRule, says
from memeval.benchmarks.kit.long.history import FillerSessions, HistoryLife, LongHistory, LongSource, ordinal
from memeval.benchmarks.kit.talk import DraftTurn
from memeval.keys import ItemKey
from memeval.records.base import Digest, Stored
from memeval.records.errors import BadInput, CheckFailed, MemevalError
from memeval.records.scenario import Scenario
from memeval.storage import cache_home, write_whole
from memeval.tokens import count_tokens, tokenizer_name

MADE_BY = ("benchmarks/kit", "keys", "records/base.py", "records/scenario.py")
"""Code that determines the bytes of a history, beside that of its source."""

LEFT_OUT = frozenset({"catalogue", "controls", "fresh"})
"""Files and folders of a benchmark, without suffix, that do not determine the bytes of a history."""

KEPT_SESSIONS = 20_000


class Survey(Stored):
    seed: int
    tier: str
    made_by: Digest
    """Digest of the code that generates them, and of the tokenizer name."""
    fillers: tuple[int, ...]
    tokens: tuple[int, ...]
    sizes: tuple[int, ...]
    """Bytes of each history as JSON."""
    digest: Digest
    """Digest of all histories, then all keys, each as a line of canonical JSON."""


def histories(source: LongSource, fillers: Sequence[int]) -> tuple[LongHistory, ...]:
    return tuple(
        LongHistory(_scenario_id(source, name), lives, filler, fill)
        for (name, lives, filler), fill in zip(source.parts(), fillers, strict=True)
    )


def _scenario_id(source: LongSource, name: str) -> str:
    return f"{source.prefix}-{source.tier}-{name}"


class _KeptFiller:
    """Filler sessions, of which the first are kept: a survey first counts their tokens, then writes them."""

    def __init__(self, filler: FillerSessions) -> None:
        self._filler = filler
        self._kept: dict[int, tuple[HistoryLife, Sequence[DraftTurn]]] = {}

    def session(self, number: int) -> tuple[HistoryLife, Sequence[DraftTurn]]:
        if number in self._kept:
            return self._kept[number]
        made = self._filler.session(number)
        if number < KEPT_SESSIONS:
            self._kept[number] = made
        return made


def surveyed(source: LongSource) -> Survey:
    """Return the stored or included survey of a tier, or make it and store it.

    Raises ``ValueError``: the histories break a rule.
    """
    for place in (_path(source), included(source)):
        with contextlib.suppress(OSError, MemevalError):
            kept = Survey.parse(place.read_bytes(), place)
            if (kept.seed, kept.tier, kept.made_by) == (source.seed, source.tier, made_by(source)):
                return kept
    return store_survey(source)


def included(source: LongSource) -> Traversable:
    """Return the file in which memeval includes the survey of a tier, if it includes it."""
    return resources.files("memeval").joinpath(*source.included.split("/"), f"{source.tier}-{source.seed}.json")


def store_survey(source: LongSource) -> Survey:
    made = survey(source)
    path = _path(source)
    with contextlib.suppress(OSError, BadInput):  # if it cannot be stored, the next call repeats it
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, made.to_json().encode())
    return made


def survey(source: LongSource) -> Survey:
    """Pass over the histories of a tier. Raises ``ValueError``: the histories break a rule."""
    fillers, tokens, sizes, keys = list[int](), list[int](), list[int](), list[str]()
    digest = hashlib.sha256()
    for name, lives, talk in source.parts():
        filler = _KeptFiller(talk)
        number, counted = _fit(filler, lives, source.size)
        fillers.append(number)
        tokens.append(counted)
        history = LongHistory(_scenario_id(source, name), lives, filler, number)
        if not all(before < after for before, after in pairwise(history.times())):
            raise BrokenRule(f"{history.scenario_id}: dates are inverted.")
        sizes.append(0)
        for piece in chain(history.scenario().json_pieces(), ("\n",)):
            data = piece.encode()
            digest.update(data)
            sizes[-1] += len(data)
        keys += [key.to_json() for key in history.answer_keys()]
    for key in keys:
        digest.update(f"{key}\n".encode())
    return Survey(
        seed=source.seed,
        tier=source.tier,
        made_by=made_by(source),
        fillers=tuple(fillers),
        tokens=tuple(tokens),
        sizes=tuple(sizes),
        digest=f"sha256:{digest.hexdigest()}",
    )


def made_by(source: LongSource) -> Digest:
    """Return the digest of code and words that generate histories, of the tokenizer name, and of the folder of surveys.

    Catalogues, controls and fresh editions of a benchmark are left out: they change no history.
    """
    return _digest_of(source.folder, (*source.code, *MADE_BY))


@cache
def _digest_of(folder: str, paths: Sequence[str]) -> Digest:
    digest = hashlib.sha256(f"{tokenizer_name()}\n{folder}\n".encode())
    for path in paths:
        for file in code_files(resources.files("memeval").joinpath(path)):
            digest.update(file.read_bytes())
    return f"sha256:{digest.hexdigest()}"


def code_files(place: Traversable) -> Iterator[Traversable]:
    """Yield the files with code or words of a file or folder, sorted by path."""
    if place.is_file():
        yield from (place,) if place.name.endswith((".py", ".toml")) else ()
        return
    for each in sorted(place.iterdir(), key=lambda entry: entry.name):
        if each.name.partition(".")[0] not in LEFT_OUT:
            yield from code_files(each)


def _fit(filler: FillerSessions, lives: Sequence[HistoryLife], size: int) -> tuple[int, int]:
    """Return the number of filler sessions that brings a history closest to its size, and its tokens.

    Raises ``BrokenRule``: a filler session states the answer to a question.
    """
    golds = tuple(sorted({phrase for life in lives for phrase in life.guarded}))
    tokens = sum(count_tokens(line.text) for life in lives for draft in life.drafts for line in draft.lines)
    for number in count():
        _, lines = filler.session(number)
        more = sum(count_tokens(line.text) for line in lines)
        if 2 * (size - tokens) <= more:
            return number, tokens
        text = "\n".join(line.text for line in lines)
        if says(golds, text):
            raise BrokenRule(f"a filler session states the answer to a question: {text!r}.")
        tokens += more
    raise AssertionError("a count has no end.")


def _path(source: LongSource) -> Path:
    return cache_home() / "surveys" / source.folder / f"{source.tier}-{source.seed}.json"


class LongDataset(Dataset):
    """The same questions in histories of one length."""

    def __init__(self, source: LongSource) -> None:
        self.parameters = {"seed": source.seed}
        self.source = source
        self.survey = surveyed(source)
        self.digest = self.survey.digest
        self.history_bytes = self.survey.sizes
        self._histories = histories(source, self.survey.fillers)

    def scenarios(self) -> Iterator[Scenario]:
        return (history.scenario() for history in self._histories)

    def answer_keys(self) -> Iterator[ItemKey]:
        return (key for history in self._histories for key in history.answer_keys())

    def ordinals(self, scenario_id: str) -> Mapping[str, str]:
        """Map the source ids of sessions to ordinals, without generating a session.

        Raises ``KeyError``: no scenario has that id.
        """
        history = next((each for each in self._histories if each.scenario_id == scenario_id), None)
        if history is None:
            raise KeyError(scenario_id)
        return {history.source_id(place): ordinal(place) for place in range(history.sessions)}

    def verify(self) -> str:
        found = store_survey(self.source)
        if found != self.survey:
            raise CheckFailed(
                f"the digest of the histories is {found.digest}, but the stored one was {self.survey.digest}.",
                remedy="The stored result is now corrected. Run the same command again.",
            )
        tokens = ", ".join(f"{each:,}" for each in found.tokens)
        return f"generated again, tokens of each history: {tokens}"
