"""Export to Every Eval Ever, the EvalEval Coalition's shared schema for evaluation results, version 0.3.0.

A record is one JSON file of aggregate scores. If the benchmark's text may be published, a second file has one line per
item: ``data/<collection>/<developer>/<system>/<uuid>.json`` and ``<uuid>_samples.jsonl``. Field names and layout
are from that project; ``python -m every_eval_ever validate`` checks them.
"""

import hashlib
import json
import shlex
import uuid
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Any

from memeval.archive.ledger import Ledger
from memeval.archive.runs import RunFolder
from memeval.benchmarks import find
from memeval.benchmarks.session import BenchmarkSession
from memeval.exchange.eee_samples import VERSION, Data, SampleNames, samples, texts
from memeval.records.base import canonical_json
from memeval.records.benchmark import BenchmarkInfo, Direction, MetricInfo
from memeval.records.call import Call, Caller
from memeval.records.errors import BadInput
from memeval.records.ledger import LedgerEvent, Runner
from memeval.records.run import Run, SystemKind
from memeval.records.scores import CategoryScore, Interval, Tally
from memeval.records.track import Redistribution
from memeval.systems.channel import visible

_BY_RUNNER = {Runner.MAINTAINER: "third_party", Runner.SUBMITTER: "first_party"}
"""The schema's evaluator relationship, by the runner in the ledger."""


def write(run: RunFolder, benchmark_session: BenchmarkSession | None, to: Path) -> list[Path]:
    """Write a run as records of Every Eval Ever.

    ``benchmark_session``: the benchmark, opened on its data; ``None`` writes aggregates only. ``to``: the parent folder
    of ``data/…``. Raises ``BadInput`` if the run cannot be read.
    """
    record = _EeeRecord(run, benchmark_session)
    folder = to / record.folder
    folder.mkdir(parents=True, exist_ok=True)
    aggregate = record.aggregate()
    files = [folder / f"{record.uuid}.json"]
    if benchmark_session is not None and run.run.redistribution is Redistribution.FULL:
        companion = folder / f"{record.uuid}_samples.jsonl"
        checksum, rows = _write_lines(companion, samples(run, benchmark_session, record.names))
        if rows:
            aggregate["detailed_evaluation_results"] = {
                "format": "jsonl",
                "file_path": str(record.folder / companion.name),
                "hash_algorithm": "sha256",
                "checksum": checksum,
                "total_rows": rows,
            }
            files.append(companion)
        else:
            companion.unlink()
    files[0].write_text(json.dumps(aggregate, indent=2, ensure_ascii=True, allow_nan=False) + "\n", encoding="ascii")
    return files


class _EeeRecord:
    def __init__(self, folder: RunFolder, benchmark_session: BenchmarkSession | None) -> None:
        self._folder = folder
        self._run = folder.run
        self._info = _info(self._run) if benchmark_session is None else benchmark_session.benchmark.info
        benchmark = self._run.track.benchmark.partition("@")[0]
        self.names = SampleNames(
            evaluation_id=f"memeval_{benchmark}/{self._model_id}/{_unix(self._run.timing.ended)}",
            model_id=self._model_id,
            benchmark=benchmark,
            metric=self._headline,
        )
        self._reader_call = next((call for call in folder.calls() if call.caller is Caller.READER), None)

    @property
    def uuid(self) -> str:
        """The record's name; equal runs have equal names."""
        return str(uuid.UUID(bytes=bytes.fromhex(self._folder.digest[7:39]), version=4))

    @property
    def folder(self) -> PurePosixPath:
        """The record's folder, relative to the export folder."""
        return PurePosixPath("data", f"memeval_{self.names.benchmark}", *self._model_id.split("/"))

    @property
    def _model_id(self) -> str:
        """The system's id, ``<developer>/<slug>``; controls have the developer memeval, others their own slug."""
        slug = self._run.system.slug
        return f"{'memeval' if self._run.system.kind is SystemKind.CONTROL else slug}/{slug}"

    def aggregate(self) -> Data:
        run = self._run
        return {
            "schema_version": VERSION,
            "evaluation_id": self.names.evaluation_id,
            "evaluation_timestamp": _unix(run.timing.started),
            "retrieved_timestamp": _unix(run.timing.ended),
            "source_metadata": {
                "source_name": "memeval",
                "source_type": "evaluation_run",
                "source_organization_name": "memeval",
                "evaluator_relationship": _relationship(self._folder),
                "additional_details": texts(
                    {
                        "run_id": run.run_id,
                        "run_digest": self._folder.digest,
                        "fingerprint": run.fingerprint,
                        "track_id": run.track_id,
                        "redistribution": run.redistribution.value,
                        "imported": None if run.imported is None else run.imported.data(),
                    }
                ),
            },
            "eval_library": {
                "name": "memeval",
                "version": run.harness.version,
                "additional_details": texts(
                    {"commit": run.harness.commit, "dirty": run.harness.dirty, "platform": run.harness.platform}
                ),
            },
            "model_info": self._model(),
            "evaluation_results": list(self._results()),
        }

    def _model(self) -> Data:
        system, track = self._run.system, self._run.track
        deployment = "unknown" if self._run.imported is not None else "self_deployed"
        return {
            "name": system.name,
            "id": self._model_id,
            "developer": self._model_id.partition("/")[0] if system.vendor is None else system.vendor.name,
            "additional_details": {
                "deployment_type": deployment if system.vendor is None else "externally_managed",
                "model_availability": "unknown",
                **texts(
                    {
                        "type": "memory system",
                        "kind": system.kind.value,
                        "version": system.version,
                        "reader": track.reader,
                        "declared_models": list(system.declared_models),
                        "parameters": system.parameters,
                        "view": system.view.value,
                        "context_source": self._run.context_source.value,
                        "submission_digest": system.submission_digest,
                        "environment_digest": system.environment_digest,
                        "configuration": system.configured,
                        "mock": system.mock or None,
                    }
                ),
            },
        }

    def _results(self) -> Iterator[Data]:
        scores = self._run.scores
        rules = self._info.alternates if self._info else {}
        if scores.composite.value is not None:
            yield self._result(
                self.names.benchmark,
                "composite",
                "Weighted mean of the category scores.",
                scores.composite.value,
                _uncertainty(scores.composite.interval, scores.overall.planned, "see memeval.statistics.composite"),
                {"overall": scores.overall.accuracy},
            )
        for name, composite in scores.alternates.items():
            if composite.value is not None:
                yield self._result(
                    self.names.benchmark,
                    f"composite.{name}",
                    rules.get(name, "The composite under another declared rule."),
                    composite.value,
                    _uncertainty(composite.interval, None, "see memeval.statistics.composite"),
                    {},
                )
        for category in scores.categories:
            yield from self._category(category)

    def _category(self, category: CategoryScore) -> Iterator[Data]:
        name = self.names.result(category.name)
        tests = {each.name: each.tests for each in self._info.categories} if self._info else {}
        tallies = {self._headline: category.tally}
        tallies |= {f"{self._headline}.{rule}": tally for rule, tally in category.alternates.items()}
        for metric, tally in tallies.items():
            if tally.accuracy is not None:
                details = _counts(tally) | {"weight": category.weight}
                if tally is category.tally:
                    details |= {f"metric.{each}": value for each, value in category.metrics.items()}
                uncertainty = _uncertainty(tally.interval, tally.planned, "Wilson score")
                yield self._result(name, metric, tests.get(category.name, ""), tally.accuracy, uncertainty, details)
        for metric, value in category.metrics.items():
            known = self._metrics.get(metric)
            if value is not None and known is not None and metric not in tallies:
                yield self._result(name, metric, known.meaning, value, None, {}, known)

    def _result(
        self,
        name: str,
        metric: str,
        description: str,
        score: float,
        uncertainty: Data | None,
        details: Mapping[str, Any],
        known: MetricInfo | None = None,
    ) -> Data:
        known = known or self._metrics.get(self._headline)
        low, high = (0.0, 1.0) if known is None else (known.low, known.high)
        config: Data = {
            "metric_id": metric if metric == "accuracy" else f"memeval.{metric}",
            "metric_name": metric if known is None or metric != known.name else known.title,
            "lower_is_better": known is not None and known.direction is Direction.LOWER,
            "score_type": "continuous",
            "min_score": "-Infinity" if low is None else low,
            "max_score": "Infinity" if high is None else high,
        }
        if (low, high) == (0.0, 1.0):
            config["metric_unit"] = "proportion"
        if description:
            config["evaluation_description"] = description
        if self._scoring is not None:
            config["llm_scoring"] = self._scoring
        return {
            "evaluation_result_id": f"{name}#{metric}",
            "evaluation_name": name,
            "source_data": self._source(),
            "evaluation_timestamp": _unix(self._run.timing.started),
            "metric_config": config,
            "score_details": {"score": score, "details": texts(details)}
            | ({} if uncertainty is None else {"uncertainty": uncertainty}),
            "generation_config": self._generation(),
        }

    @property
    def _metrics(self) -> dict[str, MetricInfo]:
        return {metric.name: metric for metric in self._info.metrics} if self._info else {}

    @property
    def _headline(self) -> str:
        protocols = {each.name: each.headline for each in self._info.protocols} if self._info else {}
        return protocols.get(self._run.track.protocol, "accuracy")

    @property
    def _scoring(self) -> Data | None:
        """The judge model with its prompts; ``None`` for the rule-based judge."""
        track = self._run.track
        if track.judge_endpoint is None:
            return None
        prompts = {prompt.name: prompt.text for prompt in self._folder.prompts()}
        unknown = {"deployment_type": "unknown", "model_availability": "unknown"}
        details = unknown | texts({"endpoint": track.judge_endpoint, "label": track.judge_label})
        judge = {"model_info": {"name": track.judge, "id": track.judge, "additional_details": details}}
        return {"judges": [judge], "input_prompt": canonical_json(prompts)}

    def _source(self) -> Data:
        track = self._run.track
        details = {
            "data_digest": track.data_digest,
            "protocol": track.protocol,
            "tier": track.tier,
            "parameters": track.parameters,
            "released": track.released,
            "sample": track.sample,
        }
        named = track.parameters.get("file")
        source = self._info.source(None if named is None else str(named)) if self._info else None
        origin: Data = {"source_type": "other"} if source is None else {"source_type": "url", "url": [source.url]}
        return {"dataset_name": track.benchmark, **origin, "additional_details": texts(details)}

    def _generation(self) -> Data:
        track = self._run.track
        arguments: Data = {"execution_command": shlex.join(["memeval", *self._run.harness.argv])}
        if self._reader_call is not None:
            arguments |= _settings(self._reader_call)
        details = {"reader": track.reader, "limits": track.limits.data(), "tokenizer": track.tokenizer}
        return {"generation_args": arguments, "additional_details": texts(details)}


def _info(run: Run) -> BenchmarkInfo | None:
    """Return the metadata of a run's benchmark; ``None`` if the benchmark is not installed."""
    try:
        return find(run.track.benchmark).info
    except BadInput:
        return None


def _relationship(folder: RunFolder) -> str:
    if folder.run.system.kind is SystemKind.CONTROL:
        return "first_party"
    results = folder.path.resolve().parents
    entries = Ledger(results[2]).entries() if len(results) > 2 else []
    runners = [
        each.runner for each in entries if each.event is LedgerEvent.ACCEPTED and each.run_digest == folder.digest
    ]
    return next((_BY_RUNNER[runner] for runner in reversed(runners) if runner is not None), "other")


def _settings(call: Call) -> Data:
    """Return the model reader's settings that the schema has fields for."""
    body = call.request.body
    settings: Data = {name: body[name] for name in ("temperature", "top_p") if isinstance(body.get(name), int | float)}
    most = body.get("max_tokens", body.get("max_completion_tokens"))
    return settings | ({"max_tokens": most} if isinstance(most, int) and most > 0 else {})


def _counts(tally: Tally) -> Data:
    return {name: value for name, value in tally.data().items() if name not in ("accuracy", "interval")}


def _uncertainty(interval: Interval | None, planned: int | None, method: str) -> Data | None:
    found: Data = {} if planned is None else {"num_samples": planned}
    if interval is not None:
        found["confidence_interval"] = {
            "lower": interval.low,
            "upper": interval.high,
            "confidence_level": 0.95,
            "method": method,
        }
    return found or None


def _unix(moment: str) -> str:
    """Return a time in the schema's form: seconds since 1970, as text."""
    try:
        return str(int(datetime.fromisoformat(moment).timestamp()))
    except ValueError:
        raise BadInput(f"run.json: invalid time '{visible(moment)}'.", remedy="Restore the file.") from None


def _write_lines(path: Path, lines: Iterator[Data]) -> tuple[str, int]:
    """Write JSON lines; return the file's SHA-256 and the number of lines."""
    digest, rows = hashlib.sha256(), 0
    with path.open("wb") as stream:
        for rows, line in enumerate(lines, start=1):  # noqa: B007 - the last number is the count
            data = (json.dumps(line, ensure_ascii=True, allow_nan=False) + "\n").encode("ascii")
            digest.update(data)
            stream.write(data)
    return digest.hexdigest(), rows
