"""The suites of benchmarks of the overall index, from ``suites.toml``."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from memeval.benchmarks import find
from memeval.execution.readers import NATIVE
from memeval.records.errors import BadInput, did_you_mean
from memeval.records.overall import BenchmarkSuite, Ceiling, SuiteFile
from memeval.removed import why_removed
from memeval.toml import Keys, Toml, read_toml

FILE = Path(__file__).with_name("suites.toml")

_REMEDIES = {
    "weight": "Give a number above 0, or remove the benchmark from the suite.",
    "ceiling": "Write ceiling = 'oracle' or ceiling = 'perfect'.",
    "id": "Write a name and a version, such as retrieval@1.",
    "benchmarks": "Add a [[suites.benchmarks]] table.",
}


def read_suites(path: Path = FILE) -> tuple[BenchmarkSuite, ...]:
    """Read a file of suites, and check its names against the benchmarks.

    Raises BadInput: the file is not valid, two suites or benchmarks are equal, a benchmark, protocol or tier is
    unknown, a reader was removed, or a suite mixes systems that answer and systems that only retrieve.
    """
    file = read_toml(path)
    suites = file.record(SuiteFile, _REMEDIES).suites
    _refuse_repeated(file, [suite.id for suite in suites], ("suites",), "id", "suite")
    for number, suite in enumerate(suites):
        _check_suite(file, number, suite)
        for place, each in enumerate(suite.benchmarks):
            keys: Keys = ("suites", number, "benchmarks", place)
            try:
                info = find(each.benchmark).info
            except BadInput as error:
                place_of = file.place(*keys, "benchmark")
                raise BadInput(error.problem, where=place_of, remedy=error.remedy) from None
            for key, name in (("reader", each.reader), ("judge", each.judge)):
                if why := why_removed(name):
                    raise BadInput(why, where=file.place(*keys, key), remedy=f"Name another {key}.")
            for key, known in (("protocol", info.protocols), ("tier", info.tiers)):
                what, names = f"{each.benchmark} has no {key}", [one.name for one in known]
                refuse_unknown(what, getattr(each, key), names, file.place(*keys, key))
    return suites


def find_suite(suites: Sequence[BenchmarkSuite], name: str) -> BenchmarkSuite:
    found = [suite for suite in suites if name in (suite.id, suite.id.partition("@")[0])]
    if not found:
        raise BadInput(f"there is no suite '{name}'.", remedy=choose(name, [suite.id for suite in suites]))
    return max(found, key=lambda suite: int(suite.id.partition("@")[2]))


def _check_suite(file: Toml, number: int, suite: BenchmarkSuite) -> None:
    keys: Keys = ("suites", number, "benchmarks")
    _refuse_repeated(file, [each.benchmark for each in suite.benchmarks], keys, "benchmark", "benchmark")
    native = [each.reader == NATIVE for each in suite.benchmarks]
    for place, each in enumerate(suite.benchmarks):
        if native[place] is not native[0]:
            raise BadInput(
                f"{suite.id} mixes systems that write answers (reader '{NATIVE}') and systems that only retrieve.",
                where=file.place(*keys, place, "reader"),
                remedy="Make two suites.",
            )
        if native[place] and each.ceiling is Ceiling.ORACLE:
            raise BadInput(
                f"the oracle only retrieves, so it never runs with the reader '{NATIVE}'.",
                where=file.place(*keys, place, "ceiling"),
                remedy="Write ceiling = 'perfect'.",
            )


def _refuse_repeated(file: Toml, names: Iterable[str], keys: Keys, key: str, what: str) -> None:
    seen: set[str] = set()
    for place, name in enumerate(names):
        if name in seen:
            raise BadInput(
                f"the {what} '{name}' occurs twice.", where=file.place(*keys, place, key), remedy="Remove one of them."
            )
        seen.add(name)


def refuse_unknown(what: str, name: str, known: Sequence[str], where: str) -> None:
    """Raise ``BadInput`` if a name in a TOML file is not known. ``what``: such as ``beliefs@2 has no tier``."""
    if name not in known:
        raise BadInput(f"{what} '{name}'.", where=where, remedy=choose(name, known))


def choose(name: str, known: Sequence[str]) -> str:
    return did_you_mean(name, known, f"Choose one of: {', '.join(known)}.")
