"""Reads a matrix file, and reports every problem with its line."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path

from memeval.analysis.matrix_gates import metric_names
from memeval.benchmarks import find
from memeval.benchmarks.yaml_nodes import Entry, Problems, compose
from memeval.evaluation.judges import choose_judge
from memeval.evaluation.readers import reader_named
from memeval.execution.model_reader import PREFIX
from memeval.execution.readers import NATIVE, OFFLINE
from memeval.records.base import SLUG
from memeval.records.benchmark import BenchmarkInfo
from memeval.records.errors import BadInput
from memeval.records.matrix import Gate, MatrixBenchmark, MatrixPlan, MatrixSystem
from memeval.removed import why_removed
from memeval.systems.output import visible
from memeval.systems.source import SystemSource, altered_source, find_system

FILE_BYTES = 1_000_000
"""Maximum size of a matrix file in bytes."""

ID_LENGTH = 20
"""Maximum length of a configuration's id, which is a column title."""

CELLS = 2_000
"""Maximum number of runs in a matrix."""

_PLAN = (
    "name",
    "description",
    "benchmarks",
    "default_benchmarks",
    "systems",
    "scenarios",
    "readers",
    "judge",
    "promotion_gates",
)
_BENCHMARK = ("id", "protocol", "tier", "parameters", "data")
_SYSTEM = ("id", "system", "parameters", "purpose")
_SCENARIO = ("id", "config", "parameters", "purpose")
_GATE = ("metric", "minimum", "maximum", "drop", "systems", "benchmarks")


def read_matrix(path: Path) -> MatrixPlan:
    """Read a matrix file.

    Astrocyte's keys are accepted too: ``default_benchmarks`` for ``benchmarks``, and ``scenarios``, each with a
    ``config``, for ``systems``.

    Raises:
        BadInput: the file is not valid. The error has one line for each problem.
    """
    if path.suffix not in (".yaml", ".yml"):
        raise BadInput("not a matrix file: its name does not end in .yaml or .yml.", where=path)
    try:
        if path.stat().st_size > FILE_BYTES:
            raise BadInput(f"the file is larger than {FILE_BYTES:,} bytes.", where=path, remedy="Split the matrix.")
        data = path.read_bytes()
    except OSError as error:
        remedy = "To print an example, run memeval matrix --example NAME."
        raise BadInput(f"the file cannot be read ({error.strerror}).", where=path, remedy=remedy) from None
    if all(not line.strip() or line.lstrip().startswith(b"#") for line in data.splitlines()):
        remedy = "Add benchmarks and systems. To print an example, run memeval matrix --example NAME."
        raise BadInput("the file is empty.", where=path, remedy=remedy)
    problems = Problems(path)
    plan = _MatrixParser(Entry(compose(path, data), "the matrix", _PLAN, problems), path).plan()
    problems.check()
    return plan


def sources_of(plan: MatrixPlan) -> list[SystemSource]:
    """Return the systems of a plan, in its order.

    Raises:
        BadInput: a system does not exist, or accepts no parameters.
    """
    return [_source(system) for system in plan.systems]


def _source(system: MatrixSystem) -> SystemSource:
    source = find_system(system.system)
    if system.parameters:
        return altered_source(source, system.id, system.parameters, system.purpose)
    return source


class _MatrixParser:
    """Parses a matrix file, and collects its problems.

    Args:
        root: the root mapping of the file.
        path: the path of the file, for the default name.
    """

    def __init__(self, root: Entry, path: Path) -> None:
        self._root, self._path = root, path

    def plan(self) -> MatrixPlan:
        """Return the plan; it is not usable if there are problems."""
        root = self._root
        for one, other in (("benchmarks", "default_benchmarks"), ("systems", "scenarios")):
            if one in root and other in root:
                root.problem(other, f"means the same as '{one}', which is also present. Keep one of them.")
        name = root.text("name") if "name" in root else _slug(self._path.stem)
        if "name" in root and name and (not SLUG.fullmatch(name) or len(name) > 40):
            root.problem("name", "is not valid. Use at most 40 lower-case letters, digits and single hyphens.")
            name = ""
        benchmarks = self._benchmarks("default_benchmarks" if "default_benchmarks" in root else "benchmarks")
        systems = self._systems("scenarios" if "scenarios" in root else "systems")
        readers = self._readers()
        cells = len(benchmarks) * len(systems) * max(1, len(readers))
        if cells > CELLS:
            root.problem("systems", f"and the other keys make {cells} runs. The limit is {CELLS}.")
        return MatrixPlan(
            name=name or "matrix",
            description=root.text("description") or None if "description" in root else None,
            benchmarks=tuple(benchmarks),
            systems=tuple(systems),
            readers=readers,
            judge=self._judge(),
            promotion_gates=tuple(self._gates(systems, benchmarks)),
        )

    def _benchmarks(self, key: str) -> list[MatrixBenchmark]:
        found: list[MatrixBenchmark] = []
        if key not in self._root:
            self._root.needs("benchmarks")
            return found
        entries = list(self._root.mixed(key, _BENCHMARK))
        if not entries:
            self._root.problem(key, "is empty.")
        for each in entries:
            if isinstance(each, str):
                info = self._info(self._root, key, each)
                benchmark = MatrixBenchmark(id=info.id) if info else None
            else:
                benchmark = self._benchmark(each)
            if benchmark in found:
                self._root.problem(key, f"names {benchmark.label} twice.")
            elif benchmark is not None:
                found.append(benchmark)
        return found

    def _benchmark(self, entry: Entry) -> MatrixBenchmark | None:
        entry.needs("id")
        benchmark_id = entry.text("id") if "id" in entry else ""
        info = self._info(entry, "id", benchmark_id) if benchmark_id else None
        parameters: dict[str, str | int] = {}
        for name, value in entry.scalars("parameters").items():
            if isinstance(value, str | int) and not isinstance(value, bool):
                parameters[name] = value
            else:
                entry.problem("parameters", f"has '{visible(name)}', which needs a text or a whole number.")
        chosen = {key: entry.text(key) or None for key in ("protocol", "tier") if key in entry}
        file = entry.text("data") or None if "data" in entry else None
        if info is None:
            return None
        offered = {"protocol": [p.name for p in info.protocols], "tier": [tier.name for tier in info.tiers]}
        for key, names in offered.items():
            if chosen.get(key) and chosen[key] not in names:
                entry.problem(key, f"is '{visible(str(chosen[key]))}', but {info.id} has: {', '.join(names)}.")
        if info.brought and file is None:
            entry.problem("data", f"is missing. {info.id} needs your own file.")
        return MatrixBenchmark(id=info.id, parameters=parameters, file=file, **chosen)

    def _info(self, entry: Entry, key: str, benchmark_id: str) -> BenchmarkInfo | None:
        try:
            return find(benchmark_id).info
        except BadInput as error:
            entry.problem(key, f"is not a known benchmark: {error}")
            return None

    def _systems(self, key: str) -> list[MatrixSystem]:
        found: list[MatrixSystem] = []
        if key not in self._root:
            self._root.needs("systems")
            return found
        slugs: dict[str, str] = {}
        field = "config" if key == "scenarios" else "system"
        entries = list(self._root.mixed(key, _SCENARIO if key == "scenarios" else _SYSTEM))
        if not entries:
            self._root.problem(key, "is empty.")
        for each in entries:
            if isinstance(each, str):
                entry, where, system = self._root, key, MatrixSystem.model_construct(id="", system=each)
            else:
                each.needs("id", field)
                purpose = each.text("purpose") or None if "purpose" in each else None
                entry, where = each, field
                system = MatrixSystem.model_construct(
                    id=each.text("id") if "id" in each else "",
                    system=each.text(field) if field in each else "",
                    parameters=each.scalars("parameters"),
                    purpose=purpose,
                )
                if not system.id or not system.system:
                    continue
            system = system.model_copy(update={"id": system.id or _slug(system.system)})
            if not SLUG.fullmatch(system.id) or len(system.id) > ID_LENGTH:
                rule = f"needs an id of at most {ID_LENGTH} lower-case letters, digits and single hyphens"
                entry.problem("id" if "id" in entry else where, f"{rule}, but has '{visible(system.id)}'.")
                continue
            if system.id in {other.id for other in found}:
                entry.problem("id" if "id" in entry else where, f"'{system.id}' appears twice.")
                continue
            try:
                slug = _source(system).slug
            except BadInput as error:
                entry.problem(where, f"is not a runnable system: {error}")
                continue
            if slug in slugs:
                entry.problem(where, f"is the same system as '{slugs[slug]}'. Change the parameters of one of them.")
            slugs.setdefault(slug, system.id)
            found.append(MatrixSystem(**system.data()))
        return found

    def _readers(self) -> tuple[str, ...]:
        readers = self._root.texts("readers")
        for name, times in Counter(readers).items():
            if times > 1:
                self._root.problem("readers", f"names '{visible(name)}' twice.")
            known = name in (NATIVE, OFFLINE) or (name.startswith(PREFIX) and len(name) > len(PREFIX))
            if not known and reader_named(name) is None:
                problem = f"has '{visible(name)}'. Readers are {NATIVE}, {OFFLINE} and {PREFIX}MODEL."
                self._root.problem("readers", why_removed(name) or problem)
        return readers

    def _judge(self) -> str | None:
        judge = self._root.text("judge") if "judge" in self._root else ""
        if judge and not judge.startswith(PREFIX):
            try:
                choose_judge(judge, None, None)
            except BadInput as error:
                self._root.problem("judge", f"is not a judge: {error}")
        return judge or None

    def _gates(self, systems: Sequence[MatrixSystem], benchmarks: Sequence[MatrixBenchmark]) -> list[Gate]:
        gates = []
        for each in self._root.entries("promotion_gates", _GATE):
            each.needs("metric")
            gate = Gate(
                metric=each.text("metric") if "metric" in each else "",
                minimum=each.number("minimum"),
                maximum=each.number("maximum"),
                drop=each.number("drop"),
                systems=each.texts("systems"),
                benchmarks=each.texts("benchmarks"),
            )
            self._check_metric(each, gate, benchmarks)
            if gate.minimum is gate.maximum is gate.drop is None:
                each.problem("metric", "has no limit. Give a minimum, a maximum or a drop.")
            for key, names, known in (
                ("systems", gate.systems, {system.id for system in systems}),
                ("benchmarks", gate.benchmarks, {benchmark.id for benchmark in benchmarks}),
            ):
                for name in names:
                    if name not in known:
                        each.problem(key, f"has '{visible(name)}', which is not in the matrix.")
            gates.append(gate)
        return gates

    def _check_metric(self, entry: Entry, gate: Gate, benchmarks: Sequence[MatrixBenchmark]) -> None:
        """Report a metric that a benchmark of the gate does not measure: no run could pass the gate."""
        if not gate.metric:
            return
        for benchmark_id in dict.fromkeys(each.id for each in benchmarks):
            known = metric_names(find(benchmark_id).info)
            if gate.metric in known or (gate.benchmarks and benchmark_id not in gate.benchmarks):
                continue
            near = get_close_matches(gate.metric, known, n=1)
            hint = f"Did you mean '{near[0]}'?" if near else "List the benchmarks that measure it under 'benchmarks'."
            entry.problem("metric", f"is '{visible(gate.metric)}', which {benchmark_id} does not measure. {hint}")


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
