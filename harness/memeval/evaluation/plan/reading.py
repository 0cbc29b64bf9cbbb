"""Reads the file of a plan, and reports its problems with their lines: ``results.toml``, and every matrix."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

from memeval.analysis.matrix_table import metric_names
from memeval.benchmarks import find
from memeval.evaluation.judge.judges import choose_judge
from memeval.evaluation.plan.executing import PlannedRun, readers_for, systems_named
from memeval.evaluation.run.readers import reader_named
from memeval.execution.model_reader import PREFIXES
from memeval.execution.readers import NATIVE, OFFLINE
from memeval.records.base import SLUG
from memeval.records.benchmark import BenchmarkInfo
from memeval.records.errors import BadInput, MemevalError, did_you_mean
from memeval.records.matrix import MatrixBenchmark, MatrixPlan, MatrixSystem, PlanFile, PlanGroup, slug_of
from memeval.removed import why_removed
from memeval.systems.channel import visible
from memeval.systems.source import SystemSource, altered_source, find_system
from memeval.toml import Keys, Toml, read_toml

ID_LENGTH = 20
"""Maximum length of a configuration's id, which is a column title."""

CELLS = 2_000
"""Maximum number of runs in a matrix."""

OLD_KEYS = {
    "benchmarks": "Write a [[groups]] table for each benchmark.",
    "default_benchmarks": "Write a [[groups]] table for each benchmark.",
    "scenarios": "Name the systems under 'systems'.",
}
"""What to write instead of the keys of matrix files before this form."""

EXAMPLE = "To print an example, run memeval matrix --example NAME."


def planned_runs(path: Path) -> list[PlannedRun]:
    """Return the runs of a file's groups, in their order.

    Raises ``BadInput`` if the file is not valid; or a benchmark, protocol, tier or system is unknown; or a run occurs
    twice. The error has one line for each problem.
    """
    file = _File.read(path)
    runs: dict[tuple[object, ...], PlannedRun] = {}
    for number, group in enumerate(file.plan.groups):
        info = file.info(number, group)
        if info is None:
            continue
        for name in group.readers:
            if why := why_removed(name):
                file.problem(("groups", number, "readers"), why, "Name another reader.")
        sources = file.sources(number, group, info)
        protocols, tiers = group.protocols or (info.protocols[0].name,), group.tiers or (info.tiers[0].name,)
        for protocol, tier, source in product(protocols, tiers, sources):
            for reader in readers_for(source, info, protocol, group.readers or file.plan.readers):
                data, parameters = None if group.file is None else Path(group.file), group.parameters or None
                run = PlannedRun(source, info.id, protocol, tier, reader, data, parameters, named=False)
                if runs.setdefault((*run.track, run.slug, reader), run) is not run:
                    remedy = "Name each system once for each protocol and tier."
                    file.problem(("groups", number, "systems"), f"the run '{run}' occurs twice.", remedy)
    file.check()
    return list(runs.values())


def matrix_files(path: Path) -> list[Path]:
    """Return the files of the matrices that a plan names.

    Raises ``BadInput`` if the file is not valid, or one of them does not exist.
    """
    file = _File.read(path)
    found = [path.parent / name for name in file.plan.matrices]
    for matrix in found:
        if not matrix.is_file():
            file.problem(("matrices",), f"the matrix file {matrix} does not exist.", "Check the path.")
    file.check()
    return found


def read_matrix(path: Path) -> MatrixPlan:
    """Return the plan of a file as a matrix: all its systems on all its benchmarks.

    Raises ``BadInput`` if the file is not valid. The error has one line for each problem.
    """
    file = _File.read(path)
    plan = file.plan
    name = plan.name or slug_of(path.stem) or "matrix"
    if not SLUG.fullmatch(name) or len(name) > 40:
        file.problem(("name",), "'name' is not valid. Use at most 40 lower-case letters, digits and single hyphens.")
        name = "matrix"
    systems = tuple(file.configurations())
    benchmarks = tuple(file.benchmarks())
    file.check_readers_and_judge()
    cells = len(benchmarks) * len(systems) * max(1, len(plan.readers))
    if cells > CELLS:
        file.problem(("systems",), f"'systems' and the other keys make {cells} runs. The limit is {CELLS}.")
    file.check_gates(systems, benchmarks)
    file.check()
    return MatrixPlan(
        name=name,
        description=plan.description,
        benchmarks=benchmarks,
        systems=systems,
        readers=plan.readers,
        judge=plan.judge,
        promotion_gates=plan.promotion_gates,
    )


def sources_of(plan: MatrixPlan) -> list[SystemSource]:
    """Return the systems of a matrix, in its order.

    Raises ``BadInput`` if a system does not exist, or accepts no parameters.
    """
    return [_source(system) for system in plan.systems]


def _source(system: MatrixSystem) -> SystemSource:
    source = find_system(system.system)
    if system.parameters:
        return altered_source(source, system.id, system.parameters, system.purpose)
    return source


@dataclass(frozen=True)
class _File:
    toml: Toml
    plan: PlanFile
    _problems: list[BadInput] = field(default_factory=list)

    @classmethod
    def read(cls, path: Path) -> _File:
        """Read a file. Raises ``BadInput`` if it cannot be read, or has not the form of a plan."""
        if path.suffix in (".yaml", ".yml"):
            raise BadInput("a matrix is written in TOML now, not in YAML.", where=path, remedy=EXAMPLE)
        toml = read_toml(path)
        if not toml.data:
            raise BadInput("the file is empty.", where=path, remedy=f"Add systems and groups. {EXAMPLE}")
        return cls(toml, toml.record(PlanFile, OLD_KEYS))

    def problem(self, keys: Keys, problem: str, remedy: str | None = None) -> None:
        self._problems.append(BadInput(problem, where=self.toml.place(*keys), remedy=remedy))

    def check(self) -> None:
        """Raise the problems so far. Raises ``BadInput``: with a line for each problem."""
        if len(self._problems) == 1:
            raise self._problems[0]
        if self._problems:
            raise BadInput("\n".join(dict.fromkeys(map(str, self._problems))))

    def info(self, number: int, group: PlanGroup) -> BenchmarkInfo | None:
        """Return the benchmark of a group; ``None`` if it is not known. Checks its protocols and tiers."""
        try:
            info = find(group.benchmark).info
        except BadInput as error:
            self.problem(("groups", number, "benchmark"), error.problem, error.remedy)
            return None
        known = {
            "protocols": (group.protocols, [each.name for each in info.protocols]),
            "tiers": (group.tiers, [each.name for each in info.tiers]),
        }
        for key, (names, offered) in known.items():
            for name in names:
                if name not in offered:
                    problem = f"{info.id} has no {key[:-1]} '{visible(name)}'."
                    self.problem(("groups", number, key), problem, _choose(name, offered))
        return None if any({*names} - {*offered} for names, offered in known.values()) else info

    def sources(self, number: int, group: PlanGroup, info: BenchmarkInfo) -> list[SystemSource]:
        """Return the systems of a group, without those that it leaves out."""
        found: list[SystemSource] = []
        keys: Keys = ("groups", number, "systems")
        if not group.systems and not self.plan.systems:
            self.problem(keys, "the group has no systems.", "Name them in the group, or for all groups above them.")
        try:
            for name in group.systems:
                found += systems_named(name, info)
            found += () if group.systems else map(_source, self.configurations())
        except MemevalError as error:
            self.problem(keys, error.problem, error.remedy)
            return []
        slugs = [source.slug for source in found]
        for slug in group.without:
            if slug not in slugs:
                problem = f"'without' names '{visible(slug)}', which is not among the systems of this group."
                self.problem(("groups", number, "without"), problem, _choose(slug, slugs))
        return [source for source in found if source.slug not in group.without]

    def benchmarks(self) -> Iterator[MatrixBenchmark]:
        seen: set[str] = set()
        for number, group in enumerate(self.plan.groups):
            info = self.info(number, group)
            for key in ("systems", "without", "readers"):
                if getattr(group, key):
                    problem = "a matrix has the same systems and readers in every group."
                    self.problem(("groups", number, key), problem, f"Remove '{key}', and name them above the groups.")
            if info is None:
                continue
            if info.brought and group.file is None:
                self.problem(("groups", number), f"'file' is missing. {info.id} needs your own file.")
            for protocol, tier in product(group.protocols or (None,), group.tiers or (None,)):
                made = MatrixBenchmark(
                    id=info.id, protocol=protocol, tier=tier, parameters=group.parameters, file=group.file
                )
                if made.label in seen:
                    self.problem(("groups", number), f"{made.label} occurs twice.", "Remove one of the groups.")
                seen.add(made.label)
                yield made

    def configurations(self) -> Iterator[MatrixSystem]:
        slugs: dict[str, str] = {}
        ids: set[str] = set()
        if not self.plan.systems:
            self.problem((), "'systems' is missing.", f"Name the systems of the matrix. {EXAMPLE}")
        for number, system in enumerate(self.plan.systems):
            keys: Keys = ("systems", number)
            if len(system.id) > ID_LENGTH:
                self.problem(keys, f"the id '{system.id}' is too long.", f"Use at most {ID_LENGTH} characters.")
                continue
            if system.id in ids:
                self.problem(keys, f"'{system.id}' appears twice.")
                continue
            ids.add(system.id)
            try:
                slug = _source(system).slug
            except BadInput as error:
                self.problem(keys, f"'{system.id}' is not a runnable system: {error}")
                continue
            if slug in slugs:
                problem = f"'{system.id}' is the same system as '{slugs[slug]}'."
                self.problem(keys, problem, "Change the parameters of one of them.")
            slugs.setdefault(slug, system.id)
            yield system

    def check_readers_and_judge(self) -> None:
        for name, times in Counter(self.plan.readers).items():
            if times > 1:
                self.problem(("readers",), f"'readers' names '{visible(name)}' twice.")
            known = name in (NATIVE, OFFLINE) or (name.startswith(PREFIXES) and bool(name.partition(":")[2]))
            if not known and reader_named(name) is None:
                problem = (
                    f"'readers' has '{visible(name)}'. Readers are {NATIVE}, {OFFLINE}, local:NAME and openai:MODEL."
                )
                self.problem(("readers",), why_removed(name) or problem)
        judge = self.plan.judge
        if judge and not judge.startswith(PREFIXES):
            try:
                choose_judge(judge, None, None)
            except BadInput as error:
                self.problem(("judge",), f"'judge' is not a judge: {error}")

    def check_gates(self, systems: Sequence[MatrixSystem], benchmarks: Sequence[MatrixBenchmark]) -> None:
        for number, gate in enumerate(self.plan.promotion_gates):
            keys: Keys = ("promotion_gates", number)
            for benchmark_id in dict.fromkeys(each.id for each in benchmarks):
                known = metric_names(find(benchmark_id).info)
                if gate.metric in known or (gate.benchmarks and benchmark_id not in gate.benchmarks):
                    continue
                hint = did_you_mean(gate.metric, known, "List the benchmarks that measure it under 'benchmarks'.")
                problem = f"'metric' is '{visible(gate.metric)}', which {benchmark_id} does not measure."
                self.problem((*keys, "metric"), problem, hint)
            if gate.minimum is gate.maximum is gate.drop is None:
                self.problem(keys, "the gate has no limit.", "Give a minimum, a maximum or a drop.")
            for key, names, of_matrix in (
                ("systems", gate.systems, {system.id for system in systems}),
                ("benchmarks", gate.benchmarks, {benchmark.id for benchmark in benchmarks}),
            ):
                for name in names:
                    if name not in of_matrix:
                        self.problem((*keys, key), f"'{key}' has '{visible(name)}', which is not in the matrix.")


def _choose(name: str, known: Sequence[str]) -> str:
    return did_you_mean(name, known, f"Choose one of: {', '.join(known)}.")
