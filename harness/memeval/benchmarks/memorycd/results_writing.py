"""Export to MemoryCD results: for each domain a file of predictions and a summary.

Field names and order: AgentMemoryWorld/MemoryCD, ``eval_core.py`` and its two entry points. Predictions and
metrics follow its rules. Added fields: each answer's parse state, and memeval's own metrics.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from datetime import datetime
from importlib.util import find_spec
from math import fsum, sqrt
from pathlib import Path
from typing import Any

from memeval.archive.runs import RunFolder
from memeval.benchmarks.formats.writing import RunItem, RunItems, require_session, text_of_context, write_json
from memeval.benchmarks.memorycd.dataset import MemoryCDDataset
from memeval.benchmarks.memorycd.grading import (
    DEPTHS,
    PUBLISHED,
    macro_average,
    parsed_ranking,
    parsed_rating,
    published_ranking,
    rank_of,
    ranking_metrics,
    text_metrics,
)
from memeval.benchmarks.memorycd.keys import MemoryCDKey, MemoryCDTask
from memeval.benchmarks.memorycd.metadata import Product
from memeval.benchmarks.memorycd.results import FAILED, FORMAT, TASKS, RunName, sources_name, test_index
from memeval.benchmarks.memorycd.users import Interaction, Split
from memeval.benchmarks.session import BenchmarkSession
from memeval.execution.contexts import TurnTexts
from memeval.execution.model_reader import PREFIXES
from memeval.records.errors import BadInput
from memeval.records.response import Response
from memeval.records.run import Run

NAMES = ("bertscore_precision", "bertscore_recall", "bertscore_f1")

SECONDS = 4 * 3600

_SCORE = """
import json, sys
from bert_score import score
texts = json.load(sys.stdin)
scores = score(texts["predictions"], texts["references"], lang="en", verbose=False, device="cpu")
print(json.dumps([float(each.mean()) for each in scores]))
"""


def bert_scores(predictions: Sequence[str], references: Sequence[str]) -> dict[str, float | None]:
    """Return the means of BERTScore's precision, recall and F1 in English; ``None`` if they cannot be computed."""
    unknown: dict[str, float | None] = dict.fromkeys(NAMES)
    if not predictions or find_spec("bert_score") is None:
        return unknown
    try:
        done = subprocess.run(
            [sys.executable, "-c", _SCORE],
            input=json.dumps({"predictions": list(predictions), "references": list(references)}),
            env={**os.environ, "HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"},
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=True,
        )
        return dict(zip(NAMES, json.loads(done.stdout.splitlines()[-1]), strict=True))
    except (subprocess.SubprocessError, ValueError, IndexError, TypeError):
        return unknown


Row = dict[str, Any]


def write(run: RunFolder, benchmark_session: BenchmarkSession | None, to: Path) -> list[Path]:
    """Write the predictions and the summaries; see :data:`memeval.benchmarks.exchange_format.Writer`.

    ``to``: the parent folder of ``logs/single/<domain>/`` or ``logs/cross/<target>/``. Raises ``BadInput``: the
    benchmark's data is not available, or the run has no answers.
    """
    benchmark_session = require_session(run, benchmark_session)
    data = benchmark_session.dataset
    if not isinstance(data, MemoryCDDataset):
        raise BadInput("not MemoryCD data.", where=run.path)
    items = RunItems(run, benchmark_session)
    prompts = _Prompts(items)
    retrieves = any(row.items is not None for row in run.responses())
    domains: dict[str, _Domain] = {}
    with ExitStack() as open_files:
        for item in items:
            name = item.grade.category
            if name not in domains:
                domains[name] = open_files.enter_context(
                    _Domain(run.run, data, _name(run.run, data, name, retrieves), to)
                )
            domains[name].add(item, prompts.of(item))
    if not domains:
        raise BadInput("the run contains no answers.", where=run.path)
    return [path for domain in domains.values() for path in (domain.predictions, domain.write_summary())]


class _Prompts:
    def __init__(self, items: RunItems) -> None:
        self._contexts = items.contexts()
        self._turns: TurnTexts | None = None

    def of(self, item: RunItem) -> str:
        (answered,) = item.answers
        if answered.read is not None:
            messages = answered.read.request.body.get("messages")
            if isinstance(messages, list) and messages and isinstance(messages[-1], dict):
                return str(messages[-1].get("content", ""))
        question = "" if answered.ask is None else answered.ask.question
        context = self._contexts.of(answered.response)
        if context is None or item.scenario is None:
            return question
        if self._turns is None or self._turns.scenario_id != item.scenario.scenario_id:
            self._turns = TurnTexts(item.scenario)
        return f"{text_of_context(context, self._turns) or ''}\n\n{question}"


class _Domain:
    def __init__(self, run: Run, data: MemoryCDDataset, name: RunName, to: Path) -> None:
        self._run, self._data, self._domain, self.name = run, data, name.domain, name
        folder = to / "logs" / name.setting / name.domain
        self.predictions = folder / f"predictions_{name}.jsonl"
        self.summary = folder / f"summary_{name}.json"
        self._memory = _Memory(data, name.domain)
        self._users: list[str] = []
        self._measured: dict[str, list[float]] = defaultdict(list)
        self._texts: list[tuple[str, str]] = []
        self._truths: list[float] = []

    def __enter__(self) -> _Domain:
        self.predictions.parent.mkdir(parents=True, exist_ok=True)
        self._stream = self.predictions.open("w", encoding="utf-8")
        return self

    def __exit__(self, *_error: object) -> None:
        self._stream.close()

    def add(self, item: RunItem, prompt: str) -> None:
        key, (answered,) = item.key, item.answers
        if key is None:
            raise TypeError(f"{item.grade.item_id} has no key")
        answer_key = key.key_as(MemoryCDKey, FORMAT)
        memory, parted = self._memory.of(key.scenario_id)
        row: Row = {
            "prediction_id": len(self._users),
            "user_id": key.cluster,
            "timestamp": _naive(self._started(answered.response)),
            "num_memory_items": len(memory),
            "memory": memory,
            "target_item": self._target(answer_key, parted.tests[test_index(key)]),
            "prompt": prompt,
            "llm_response": answered.response.answer.strip(),
            **self._predicted(answer_key, answered.response),
        }
        self._users.append(key.cluster)
        self._stream.write(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n")

    def _started(self, response: Response) -> str:
        return self._run.timing.started if self._run.imported is not None else response.timings.started

    def _target(self, key: MemoryCDKey, test: Interaction) -> Row:
        """Return the item that the question is about, without the fields to predict."""
        if key.task is MemoryCDTask.RANKING:
            return {"candidate_asins": list(key.candidates), "parent_asin": test.item}
        target = self._memory.review(test)
        target |= {"negative_parent_asins": list(test.negatives)} if test.negatives else {}
        hidden = {MemoryCDTask.RATING: ("rating",), MemoryCDTask.TITLE: ("title",)}.get(key.task, ("title", "text"))
        return {name: value for name, value in target.items() if name not in hidden and name != "domain_category"}

    def _predicted(self, key: MemoryCDKey, response: Response) -> Row:
        answer = response.answer.strip()
        prediction: Any = answer
        truth: Any = key.text
        state = "ok"
        if key.task is MemoryCDTask.RATING and key.rating is not None:
            rating = parsed_rating(answer)
            prediction, truth, state = rating.value, key.rating, rating.state.value
            error = abs(prediction - truth)
            metrics = {"error": error}
            self._measure({"mae": error, "squared_error": error**2})
            self._truths.append(truth)
        elif key.task is MemoryCDTask.RANKING and key.chosen is not None:
            order = published_ranking(answer, key.candidates)
            prediction, truth = list(order), key.chosen
            state = parsed_ranking(answer, key.candidates).state.value
            gains = ranking_metrics(rank_of(key.chosen, order))
            metrics = {f"{name}@{k}": gains[f"{name}@{k}"] for name in ("ndcg", "recall") for k in DEPTHS}
            self._measure(metrics)
        else:
            measured = text_metrics(truth, answer)
            metrics = {f"{name}_f" if name.startswith("rouge") else name: value for name, value in measured.items()}
            self._measure(measured)
            self._texts.append((answer, truth))
        fields = {"prediction": prediction, "ground_truth": truth, "metrics": metrics, "parse_state": state}
        if response.outcome.is_error:
            fields |= {"parse_state": FAILED, "error": response.error}
        return fields

    def _measure(self, found: Mapping[str, float]) -> None:
        for name, value in found.items():
            self._measured[name].append(value)

    def write_summary(self) -> Path:
        tally, name = self._data.tallies[self._domain], self.name
        files = {"predictions": self.predictions.name, "summary": self.summary.name}
        setting_fields = (
            {
                "setting": "cross_domain",
                "target_domain": self._domain,
                "source_domains": "all_non_target" if name.sources == "srcAll" else list(self._data.setting.sources),
            }
            if name.cross
            else {"setting": "single_domain", "domain": self._domain}
        )
        results = {
            "task": TASKS[name.task],
            **setting_fields,
            "llm_model": name.model,
            "method": name.method,
            "num_test": name.tests,
            "max_memory_items": name.memory,
            "users_processed": len(set(self._users)) + tally.untested,
            "users_skipped": tally.skipped,
            **({"skipped_no_negatives": tally.without_negatives} if name.task is MemoryCDTask.RANKING else {}),
            "total_predictions": len(self._users),
            **dict(self._means()),
            "log_files": files,
        }
        summary = {
            "run_id": str(name),
            "timestamp": _naive(self._run.timing.ended),
            "results": results,
            "log_files": files,
            "memeval": self._additions(),
        }
        return write_json(self.summary, summary)

    def _means(self) -> Iterator[tuple[str, Any]]:
        if self.name.task is MemoryCDTask.RANKING:
            yield "k_values", list(DEPTHS)
        for name, values in self._measured.items():
            mean = fsum(values) / len(values)
            yield ("rmse", sqrt(mean)) if name == "squared_error" else (name, mean)
        if self._texts:
            predictions, references = zip(*self._texts, strict=True)
            yield from bert_scores(predictions, references).items()

    def _additions(self) -> Row:
        """Return memeval's additions: strict metrics, averages by user, future reviews in memory, and a baseline."""
        tally = self._data.tallies[self._domain]
        (score,) = (each for each in self._run.scores.categories if each.name == self._domain)
        additions: Row = {
            "run_id": self._run.run_id,
            "track_id": self._run.track_id,
            "planned": score.tally.planned,
            "errors": score.tally.errors,
            "strict": {name: value for name, value in score.metrics.items() if not name.startswith(PUBLISHED)},
            "by_user": {
                name: macro_average(zip(self._users, values, strict=True))
                for name, values in self._measured.items()
                if name != "squared_error"
            },
            "memory_after_first_test": tally.later / tally.remembered if tally.remembered else None,
        }
        if self._truths and (mean := self._memory.mean_rating) is not None:
            errors = [abs(mean - truth) for truth in self._truths]
            root = sqrt(fsum(error**2 for error in errors) / len(errors))
            additions["global_mean"] = {"rating": mean, "mae": fsum(errors) / len(errors), "rmse": root}
        return additions


class _Memory:
    def __init__(self, data: MemoryCDDataset, domain: str) -> None:
        self._data, self._domain = data, domain
        self._last: tuple[str, list[Row], Split] | None = None
        self._ratings: list[float] = []

    def of(self, scenario_id: str) -> tuple[list[Row], Split]:
        if self._last is None or self._last[0] != scenario_id:
            parted = self._data.parted(scenario_id)
            self._last = (scenario_id, [self.review(each) for each in parted.memory], parted)
            self._ratings += [each.rating for each in parted.memory if each.rating is not None]
        return self._last[1], self._last[2]

    @property
    def mean_rating(self) -> float | None:
        return fsum(self._ratings) / len(self._ratings) if self._ratings else None

    def review(self, each: Interaction) -> Row:
        product = self._data.product(each.item, self._domain)
        time = int(each.time) if float(each.time).is_integer() else each.time
        row: Row = {"parent_asin": each.item, "rating": each.rating, "title": each.title, "text": each.text}
        row["timestamp"] = time
        if self._data.setting.cross:
            row["domain_category"] = each.domain
        return row if product is None else {**row, "item_meta": _meta(each.item, product)}


def _meta(item: str, product: Product) -> Row:
    fields = {"title": product.title, "average_rating": product.average, "main_category": product.category}
    fields["description"] = product.description
    return {"parent_asin": item, **{name: value for name, value in fields.items() if value not in (None, "")}}


def _name(run: Run, data: MemoryCDDataset, domain: str, retrieves: bool) -> RunName:
    """Return the run's name in the released code's form; the reader is its model."""
    setting = data.setting
    started = datetime.fromisoformat(run.timing.started)
    users = int(run.track.parameters.get("users", 0))
    return RunName(
        cross=setting.cross,
        domain=domain,
        sources=sources_name(setting.sources) if setting.cross else None,
        task=data.task,
        method=run.system.slug,
        model=run.track.reader.removeprefix(PREFIXES[0]).removeprefix(PREFIXES[1]),
        users=users or None,
        memory=run.track.limits.search_items if retrieves else None,
        tests=setting.tests,
        at=f"{started:%Y%m%d_%H%M%S}",
    )


def _naive(moment: str) -> str:
    """Return a UTC time without a zone, like the released code's local times."""
    return datetime.fromisoformat(moment).replace(tzinfo=None).isoformat()
