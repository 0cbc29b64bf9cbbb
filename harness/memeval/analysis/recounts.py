"""Counts published scores again, from the files that their authors published."""

from __future__ import annotations

import gzip
import itertools
import json
import math
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from memeval.records.base import digest_bytes
from memeval.records.errors import BadInput
from memeval.records.finding import (
    ClaimsFile,
    FactCount,
    FileCount,
    JudgePair,
    JudgePanel,
    JudgeTrials,
    Measure,
    PanelRecipe,
    PassRate,
    PublishedClaim,
    PublishedFile,
    Recipe,
    Recount,
    RepeatedVerdicts,
    RowFact,
    VerdictsByOverlap,
)
from memeval.statistics.agreement import cohen_kappa

LARGEST = 200_000_000
"""The maximum size of a published file, in bytes, uncompressed."""

Rows = list[dict[str, Any]]


class PublishedFolder:
    """A folder with copies of published files.

    The file ``path`` of ``owner/name`` is at ``owner__name/path``, with ``/`` in the path written as ``__`` or as
    folders, and with or without ``.gz``.

    Args:
        folder: the folder.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._read: dict[str, Any] = {}

    def rows(self, repository: str, file: PublishedFile, path: str) -> Rows:
        """Return the rows of a file.

        Args:
            repository: ``owner/name``.
            file: the file.
            path: path of the rows; see :class:`Recipe`.

        Raises:
            BadInput: the file is missing, too large, has another digest, is not JSON, or has no rows there.
        """
        if file.digest not in self._read:
            self._read = {file.digest: self._content(repository, file)}
        found = list(_at(self._read[file.digest], path)) if path else self._read[file.digest]
        if not isinstance(found, list) or not found or not all(isinstance(row, dict) for row in found):
            raise BadInput(f"there are no rows at '{path or 'the top'}'.", where=file.path)
        return found

    def _content(self, repository: str, file: PublishedFile) -> Any:
        where = self._find(repository, file)
        try:
            with (gzip.open if where.suffix == ".gz" else open)(where, "rb") as stream:
                data = stream.read(LARGEST + 1)
        except (OSError, EOFError, zlib.error) as error:
            raise BadInput(f"cannot be read ({error}).", where=where) from None
        if len(data) > LARGEST:
            raise BadInput(f"is larger than {LARGEST // 1_000_000} MB.", where=where)
        if digest_bytes(data) != file.digest:
            raise BadInput(
                "has another digest than in claims.toml.",
                where=where,
                remedy="Get the file at the commit of the claim.",
            )
        return _parsed(data, where)

    def _find(self, repository: str, file: PublishedFile) -> Path:
        base = self._folder / repository.replace("/", "__")
        names = (file.path.replace("/", "__"), file.path)
        options = [base / f"{name}{end}" for name in names for end in ("", ".gz")]
        for option in options:
            if option.is_file() and option.resolve().is_relative_to(self._folder.resolve()):
                return option
        raise BadInput(
            f"the file '{file.path}' of {repository} is not here.",
            where=self._folder,
            remedy=f"Copy it to {options[0]}.",
        )


def _parsed(data: bytes, where: Path) -> Any:
    """Return the content of a JSON or JSON Lines file."""
    try:
        return json.loads(data)
    except RecursionError:
        raise BadInput("is nested too deeply.", where=where) from None
    except ValueError:
        pass
    rows = []
    for number, line in enumerate(data.split(b"\n"), 1):
        if line.strip():
            try:
                rows.append(json.loads(line))
            except (ValueError, RecursionError):
                raise BadInput("is not JSON.", where=f"{where}:{number}", remedy="Get the original file.") from None
    return rows


def _at(value: Any, path: str) -> Iterator[Any]:
    """Yield the values at a path of keys; ``*`` stands for all values of a list or an object, in order."""
    head, _dot, rest = path.partition(".")
    if head == "*":
        inner = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
    else:
        inner = [value[head]] if isinstance(value, dict) and head in value else []
    for each in inner:
        if rest:
            yield from _at(each, rest)
        else:
            yield each


def recount(claim: PublishedClaim, files: PublishedFolder) -> Recount | None:
    """Count the value of a claim again.

    Args:
        claim: the claim.
        files: the published files.

    Returns:
        ``None`` if the claim has no file to count.

    Raises:
        BadInput: a file is missing or changed, or a row lacks a field.
    """
    recipe = claim.recount
    if recipe is None:
        return None
    counts = []
    for file in recipe.files:
        rows = files.rows(claim.repository, file, recipe.rows)
        credits = list(_credits(recipe, rows, file.path))
        if not credits:
            raise BadInput("no row has evidence.", where=file.path)
        counts.append(FileCount(digest=file.digest, rows=len(rows), counted=len(credits), points=math.fsum(credits)))
    value = math.fsum(count.points / count.counted for count in counts) / len(counts)
    facts = tuple(_fact(claim.repository, recipe, fact, files) for fact in recipe.facts)
    return Recount(value=min(1.0, value), files=tuple(counts), facts=facts)


def _fact(repository: str, recipe: Recipe, fact: RowFact, files: PublishedFolder) -> FactCount:
    file = recipe.files[0]
    rows = files.rows(repository, file, recipe.rows if fact.rows is None else fact.rows)
    try:
        patterns = {path: re.compile(pattern) for path, pattern in fact.match.items()}
    except re.error as error:
        raise BadInput(f"'{fact.what}' has an invalid pattern ({error}).", where="claims.toml") from None
    matching = sum(
        all(pattern.search(str(_one(row, path, file.path))) for path, pattern in patterns.items()) for row in rows
    )
    return FactCount(what=fact.what, rows=matching, of=len(rows))


def _credits(recipe: Recipe, rows: Rows, where: str) -> Iterator[float]:
    """Yield the credit of each counted row."""
    for number, row in enumerate(rows, 1):
        place = f"{where}, row {number}"
        if recipe.measure is Measure.RECALL:
            # Rows without evidence may lack the field.
            evidence = {each for found in _at(row, recipe.evidence) for each in _ids(found, recipe.evidence, place)}
            if evidence:
                retrieved = _ids(_one(row, recipe.retrieved, place), recipe.retrieved, place)
                yield len(evidence.intersection(retrieved)) / len(evidence)
        else:
            yield math.fsum(_credit(row, path, place) for path in recipe.values) / len(recipe.values)


def _one(row: dict[str, Any], path: str, where: str) -> Any:
    found = list(_at(row, path))
    if len(found) != 1:
        raise BadInput(f"the row has no field '{path}'.", where=where, remedy="Correct the path in claims.toml.")
    return found[0]


def _credit(row: dict[str, Any], path: str, where: str) -> float:
    value = _one(row, path, where)
    if isinstance(value, int | float) and 0 <= value <= 1:
        return float(value)
    raise BadInput(f"'{path}' is not true, false or a number from 0 to 1.", where=where)


def _ids(value: Any, path: str, where: str) -> list[str]:
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return value
    raise BadInput(f"'{path}' is not a list of ids.", where=where)


def judge_trials(claims: ClaimsFile, files: PublishedFolder) -> JudgeTrials:
    """Return what published verdicts say about judges.

    Args:
        claims: the claims and panels.
        files: the published files.

    Raises:
        BadInput: a file is missing or changed, or a row lacks a field.
    """
    single = [(claim, claim.recount) for claim in claims.claim if claim.recount and len(claim.recount.files) == 1]
    return JudgeTrials(
        repeated=tuple(_repeated(claim, recipe, files) for claim, recipe in single if len(recipe.values) > 2),
        panels=tuple(_panel(recipe, files) for recipe in claims.panel),
        overlap=tuple(_overlap(claim, recipe, files) for claim, recipe in single if recipe.overlap),
    )


def _rate(verdicts: Sequence[bool]) -> PassRate:
    return PassRate(passed=sum(verdicts), of=len(verdicts))


def _split(verdicts: Iterable[Sequence[bool]]) -> int:
    return sum(any(each) and not all(each) for each in verdicts)


def _repeated(claim: PublishedClaim, recipe: Recipe, files: PublishedFolder) -> RepeatedVerdicts:
    file = recipe.files[0]
    rows = files.rows(claim.repository, file, recipe.rows)
    verdicts = [
        [_credit(row, path, f"{file.path}, row {number}") == 1 for path in recipe.values]
        for number, row in enumerate(rows, 1)
    ]
    return RepeatedVerdicts(
        name=claim.system,
        judge=claim.judge,
        test_set=claim.test_set,
        each=tuple(_rate(column) for column in zip(*verdicts, strict=True)),
        majority=_rate([2 * sum(row) > len(row) for row in verdicts]),
        split=_split(verdicts),
    )


def _panel(recipe: PanelRecipe, files: PublishedFolder) -> JudgePanel:
    verdicts: dict[str, list[bool]] = {}
    order: list[Any] | None = None
    for judge, file in recipe.judges.items():
        rows = files.rows(recipe.repository, file, recipe.rows)
        ids = [_one(row, recipe.row_id, file.path) for row in rows]
        if order not in (None, ids):
            raise BadInput("the questions differ from those of the other judges.", where=file.path)
        order = ids
        verdicts[judge] = [_credit(row, recipe.verdict, file.path) == 1 for row in rows]
    return JudgePanel(
        name=recipe.name,
        judges={judge: _rate(column) for judge, column in verdicts.items()},
        pairs=tuple(
            _pair(one, other, verdicts[one], verdicts[other]) for one, other in itertools.combinations(verdicts, 2)
        ),
        split=_split(zip(*verdicts.values(), strict=True)),
    )


def _pair(first: str, second: str, one: Sequence[bool], other: Sequence[bool]) -> JudgePair:
    table = [[0, 0], [0, 0]]
    for a, b in zip(one, other, strict=True):
        table[a][b] += 1
    kappa = cohen_kappa(table)
    equal = table[0][0] + table[1][1]
    return JudgePair(first=first, second=second, equal=equal, of=len(one), kappa=kappa.value if kappa else None)


def _overlap(claim: PublishedClaim, recipe: Recipe, files: PublishedFolder) -> VerdictsByOverlap:
    file = recipe.files[0]
    rows = files.rows(claim.repository, file, recipe.rows)
    pairs = [(_credit(row, recipe.values[0], file.path) == 1, _credit(row, recipe.overlap, file.path)) for row in rows]

    def mean(keep: Callable[[bool], bool]) -> float | None:
        chosen = [f1 for passed, f1 in pairs if keep(passed)]
        return math.fsum(chosen) / len(chosen) if chosen else None

    return VerdictsByOverlap(
        name=claim.system,
        passed=_rate([passed for passed, _f1 in pairs]),
        f1_passed=mean(lambda passed: passed),
        f1_failed=mean(lambda passed: not passed),
        passed_without_overlap=sum(passed and f1 == 0 for passed, f1 in pairs),
        failed_with_match=sum(not passed and f1 == 1 for passed, f1 in pairs),
    )
