"""Chooses the versions of a history: named ones, the newest, or the last of each quarter."""

from collections.abc import Sequence

from memeval.evaluation.history.released import Release, Releases
from memeval.options import require_at_least
from memeval.records.choices import Every
from memeval.records.errors import BadInput, did_you_mean

MOST_UNDATED = 12
"""The most versions that are chosen if the index has no dates."""


def chosen(
    releases: Releases, versions: Sequence[str] = (), last: int | None = None, every: Every | None = None
) -> tuple[Release, ...]:
    """Return the chosen versions, oldest first.

    ``versions``: named versions, pre-releases and withdrawn ones included; then nothing else is chosen. ``last``: how
    many, counted from the newest; ``None`` for all. ``every``: of which period the last version counts; ``None`` for
    the quarter, or for each release if only ``last`` is given. A patch of an older line does not count: at its time, a
    newer version was the last. Without dates, each release counts. Raises ``BadInput`` if a version does not exist.
    """
    if versions:
        return _named(releases, versions)
    if last is not None:
        require_at_least("--last", last)
    found = list(releases.plain)
    if not found:
        raise BadInput(
            f"'{releases.package}' has only pre-releases and withdrawn versions.",
            where=releases.address,
            remedy="Name them with --versions.",
        )
    every = every or (Every.RELEASE if last is not None else Every.QUARTER)
    if not releases.dated:
        return tuple(found[-(last or MOST_UNDATED) :])
    if every is not Every.RELEASE:
        found = _newest_of_their_day(found)
        found = list({every.period(each.day or ""): each for each in found}.values())
    return tuple(found if last is None else found[-last:])


def _named(releases: Releases, versions: Sequence[str]) -> tuple[Release, ...]:
    known = {each.version: each for each in releases.every}
    for version in versions:
        if version not in known:
            newest = [each.version for each in releases.plain][-5:]
            raise BadInput(
                f"'{releases.package}' has no version '{version}'.",
                where=releases.address,
                remedy=did_you_mean(version, known, f"Its newest versions: {', '.join(newest)}."),
            )
    return tuple(each for each in releases.every if each.version in versions)


def _newest_of_their_day(found: Sequence[Release]) -> list[Release]:
    """Return the versions that had the highest number when they were released, oldest first."""
    highest: list[Release] = []
    for each in reversed(found):
        if not highest or (each.day or "") <= (highest[-1].day or ""):
            highest.append(each)
    return highest[::-1]
