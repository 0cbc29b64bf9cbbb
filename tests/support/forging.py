"""A forger of stored runs: edits head and rows, then fixes everything that a forger can fix without the answers.

Counts, scores, coverage, tokens, usage, file digests, track id, fingerprint, run id and folder name are computed again,
so that a check finds the forgery itself, never a digest that the forger forgot.
"""

import gzip
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Self

from memeval.analysis.failures import FAILURES, failures_of
from memeval.archive.rows import pack
from memeval.archive.runs import ROW_FILES, RunFolder, runs_under
from memeval.benchmarks import find
from memeval.benchmarks.session import session_of_run
from memeval.evaluation.judge.grades import grade_items
from memeval.evaluation.judge.judges import judge_of
from memeval.evaluation.run import summary
from memeval.evaluation.run.seal import cost, coverage
from memeval.gateway.budget import price_list
from memeval.grading.scoring import score
from memeval.records.base import Stored, comparable_digest
from memeval.records.call import Call, Prompt, Traffic
from memeval.records.failure import Failure
from memeval.records.grade import Grade
from memeval.records.journal import LogLine
from memeval.records.response import Context, Response
from memeval.records.run import Inputs, Run
from memeval.storage import write_whole

Json = dict[str, Any]

RESULTS = Path(__file__).parents[2] / "results"
"""The repository's own runs."""

MODELS: dict[str, type[Stored]] = {
    "responses.jsonl": Response,
    "contexts.jsonl": Context,
    "grades.jsonl": Grade,
    "judgments.jsonl": Call,
    "calls.jsonl": Call,
    "prompts.jsonl": Prompt,
    "traffic.jsonl": Traffic,
    "failures.jsonl": Failure,
    "log.jsonl": LogLine,
}


@cache
def stored_run(system: str, protocol: str | None = None, tier: str = "quick") -> RunFolder:
    """Return the latest stored run of ``BENCHMARK/SLUG`` on the usual track; ``BENCHMARK/SLUG/RUN`` names one.

    The usual track has the benchmark's first protocol, unless another one is named, and the tier, else the benchmark's
    first one, if such a run is stored. No language model reads on it.
    """
    runs = runs_under(RESULTS / system)
    info = find(runs[0].run.track.benchmark).info
    usual = info.id, protocol or info.protocols[0].name, None
    tracks = [(run, run.run.track) for run in reversed(runs)]
    on_tier = {on.tier: run for run, on in reversed(tracks) if (on.benchmark, on.protocol, on.reader_endpoint) == usual}
    return on_tier.get(tier) or on_tier.get(info.tiers[0].name) or runs[-1]


@dataclass
class Forger:
    """A copy of a stored run in memory, to be edited as plain JSON data."""

    results: Path
    """The results folder of the forged run."""
    head: Json
    """The data of ``run.json``."""
    rows: dict[str, list[Json]] = field(repr=False)
    """The rows of each file, by name without ``.gz``."""

    @classmethod
    def of(cls, run: str | RunFolder, results: Path) -> Self:
        """Copy a run: a folder, or ``BENCHMARK/SLUG`` of the repository."""
        folder = stored_run(run) if isinstance(run, str) else run
        rows = {
            name: [json.loads(line) for line in gzip.decompress(folder.file(name).read_bytes()).splitlines()]
            for name in folder.run.files
        }
        return cls(results, json.loads(folder.head_bytes), rows)

    @property
    def track(self) -> Json:
        track: Json = self.head["track"]
        return track

    @property
    def system(self) -> Json:
        system: Json = self.head["system"]
        return system

    @property
    def responses(self) -> list[Json]:
        return self.rows["responses.jsonl"]

    @property
    def grades(self) -> list[Json]:
        return self.rows["grades.jsonl"]

    def keep(self, is_kept: Callable[[Json], bool]) -> None:
        """Remove the other items from all rows, and from the planned items of the track."""
        kept = {grade["item_id"] for grade in self.grades if is_kept(grade)}
        for name in ("responses.jsonl", "grades.jsonl", FAILURES):
            self.rows[name] = [row for row in self.rows.get(name, []) if row["item_id"] in kept]
        for category in self.track["categories"]:
            category["items"] = sum(grade["category"] == category["name"] for grade in self.grades)

    def regrade(self) -> None:
        """Grade the responses again, and analyse the failures again, as an honest run with these answers would."""
        run = Run.from_data(self.head, "forged")
        session = session_of_run(run)
        responses = self._records("responses.jsonl", Response)
        answered = {row.item_id for row in responses}
        items = [key for key in session.keys if key.item_id in answered]
        recorded = {call.key: call for call in self._records("judgments.jsonl", Call)}
        judge = judge_of(run.track, self._records("prompts.jsonl", Prompt)).recorded(recorded)
        contexts = self._records("contexts.jsonl", Context)
        grades = grade_items(session, items, responses, judge, contexts, run.track.reader)
        failures = failures_of(session, session.keys, responses, contexts, grades, run.track)
        self.rows["grades.jsonl"] = [grade.data() for grade in grades]
        if FAILURES in self.rows:
            self.rows[FAILURES] = [failure.data() for failure in failures]

    def seal(self, **head: Any) -> RunFolder:
        """Compute all that follows again, write the run into its folder, and return it."""
        rows = {name: self._records(name, MODELS[name]) for name in ROW_FILES if name in self.rows}
        packed = {name: pack(records) for name, records in rows.items()}
        run = Run.from_data(self.head, "forged")
        responses, grades = self._records("responses.jsonl", Response), self._records("grades.jsonl", Grade)
        calls, judgments = self._records("calls.jsonl", Call), self._records("judgments.jsonl", Call)
        inputs = Inputs.of(run.track, run.system, run.coverage.limit)
        run_id = f"{run.run_id.partition('-')[0]}-{inputs.fingerprint[:8]}"
        usage = summary.usage(run_id, responses, calls, judgments)
        timing = run.timing.model_copy(update={"phases": summary.phases(responses, judgments)})
        run = run.model_copy(
            update={
                "run_id": run_id,
                "track_id": run.track.id,
                "fingerprint": inputs.fingerprint,
                "files": {name: digest for name, (_data, digest) in packed.items()},
                "scores": score(run.track.categories, grades),
                "coverage": coverage(run.coverage.limit, run.track.planned, responses, grades),
                "tokens": summary.tokens(responses),
                "responses_digest": comparable_digest(responses),
                "timing": timing,
                "usage": usage,
                "cost": cost(run.system, usage) if run.usage or usage else run.cost,
                "prices": run.prices if run.prices or not (calls or judgments) else price_list(),
            }
        )
        data = run.data() | head
        folder = self.results / run.track.benchmark.partition("@")[0] / run.system.slug / str(data["run_id"])
        folder.mkdir(parents=True)
        for name, (content, _digest) in packed.items():
            write_whole(folder / f"{name}.gz", content)
        text = json.dumps(data, sort_keys=True, ensure_ascii=False, indent=1) + "\n"
        write_whole(folder / "run.json", text.encode())
        return RunFolder(folder)

    def _records(self, name: str, model: type[Any]) -> list[Any]:
        return _parsed(self.rows.get(name, []), model)


def _parsed(rows: Iterable[Json], model: type[Any]) -> list[Any]:
    return [model.from_data(row, "forged") for row in rows]
