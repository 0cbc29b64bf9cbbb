"""Estimates the disk space and the time of a history before it starts."""

from dataclasses import dataclass
from datetime import datetime
from statistics import median

from memeval.archive.histories import history_of_system
from memeval.archive.runs import history_runs, sealed_runs
from memeval.evaluation.history.measuring import Measurement, is_settled
from memeval.evaluation.history.released import released
from memeval.records.errors import BadInput
from memeval.records.history import PackageIndex
from memeval.systems.environments.python_lock import REQUIREMENTS, read_pins

UNPACKED = 4.0
"""Megabytes of an environment for each megabyte of its wheels; its compiled modules included. Measured on the shipped
submissions: 3 to 5."""

ASSUMED_SETUP = 60.0
"""Seconds to resolve, install and check a version, if none was measured."""


@dataclass(frozen=True)
class HistoryEstimate:
    versions: int
    """Versions that are still to be measured."""
    megabytes: float | None
    """Size of one environment; there is one at a time. ``None`` if unknown."""
    seconds: float | None
    """Time for all of them; ``None`` if no run of the system on these tracks is stored."""


def estimate(measurement: Measurement) -> HistoryEstimate:
    """Return what is still to do, from earlier versions and stored runs, or else from the sizes of the index."""
    history = history_of_system(measurement.results, measurement.slug)
    known = {each.version: each for each in (history.versions if history else ())}
    left = [
        each
        for each in measurement.chosen
        if each.version not in known or not is_settled(measurement, known[each.version])
    ]
    sizes = [each.megabytes for each in known.values() if each.megabytes]
    setups = [each.seconds for each in known.values() if each.seconds]
    megabytes = max(sizes) if sizes else _size_in_index(measurement)
    setup = median(setups) if setups else ASSUMED_SETUP
    runs = [_seconds(measurement, each) for each in measurement.benchmarks]
    each_version = None if None in runs else setup + sum(filter(None, runs))
    return HistoryEstimate(len(left), megabytes, None if each_version is None else each_version * len(left))


def _size_in_index(measurement: Measurement) -> float | None:
    """Return the size of today's environment in MB, from the files in the index; ``None`` if unknown."""
    lock = measurement.past.folder / REQUIREMENTS
    if not lock.is_file():
        return None
    total = 0
    for pin in read_pins(lock.read_text("utf-8"), lock):
        if pin.requirement.marker is not None and not pin.requirement.marker.evaluate():
            continue
        try:
            every = released(pin.name, PackageIndex.PYPI).every
        except BadInput:
            return None
        files = [file for each in every if each.order == pin.version for file in each.files if file.fits]
        total += max((file.size for file in files if file.size is not None), default=0)
    return UNPACKED * total / 1e6


def _seconds(measurement: Measurement, wanted: tuple[str, str, str]) -> float | None:
    """Return how long the newest stored run of the system on a track took; ``None`` without one."""
    place = (wanted[0].partition("@")[0], measurement.slug)
    every = (*sealed_runs(measurement.results), *history_runs(measurement.results, measurement.slug))
    runs = [folder.run for folder in every if folder.path.parts[-3:-1] == place]
    timings = [run.timing for run in runs if (run.track.benchmark, run.track.protocol, run.track.tier) == wanted]
    if not timings:
        return None
    timing = max(timings, key=lambda timing: timing.started)
    try:
        return (datetime.fromisoformat(timing.ended) - datetime.fromisoformat(timing.started)).total_seconds()
    except (ValueError, TypeError):
        return None
