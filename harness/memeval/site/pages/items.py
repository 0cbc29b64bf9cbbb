"""The page that shows every question of a run, and the data it loads."""

import json
from collections.abc import Iterable, Iterator
from functools import cache, partial

from memeval.archive.run_cache import kept
from memeval.execution.contexts import TurnTexts
from memeval.leaderboard.board import BoardRow
from memeval.records.base import digest_of
from memeval.records.run import Run
from memeval.records.track import Redistribution
from memeval.site.items.benchmark_shards import kept_benchmark_shards
from memeval.site.items.failure_tables import run_failures
from memeval.site.items.run_shards import RunShards, depends_on, kept_shards
from memeval.site.model.content import BenchmarkView, SiteModel
from memeval.site.model.files import Asset, GeneratedFile, Page, content_of, encode, file_bytes, shared_again
from memeval.site.model.labels import SLICE_LABELS, VALUE_LABELS
from memeval.site.model.urls import issue_form, run_url, segment
from memeval.site.pages.publisher import Publisher
from memeval.site.pages.rendering import render
from memeval.site.table.judges import judge_note

RUNS = "items/runs.json"
"""The index of each run, by id: a path of a shared file."""

INDEX, FILES = "index", "item-files"
"""The kinds of the kept contents: the index of a run, and the paths of its files, the index last."""


class ItemsPage(Publisher):
    name = "items"
    order = 80

    def publish(self, site: SiteModel) -> Iterable[GeneratedFile]:
        datasets: dict[str, str] = {}
        for benchmark in site.benchmarks.values():
            words = benchmark.redistribution is Redistribution.FULL
            for data in benchmark.data.values():
                for asset in kept_benchmark_shards(data, words):
                    yield asset
                    datasets[data.key] = asset.path
        turns: dict[str, dict[str, TurnTexts]] = {}
        runs: dict[str, str] = {}
        for row in site.board.runs:
            for asset in self._run(site, row, turns, datasets):
                yield asset
                runs[segment(row.run.run_id)] = asset.path
        yield Asset(RUNS, encode(runs))
        yield Page(
            url="items/",
            title="Questions and answers",
            description="Every question of a run: history, answer, expected answer and verdict.",
            body=render("pages/items.html", "items/", site=site, report=issue_form(site.settings.repository)),
            searchable=False,
            wide=True,
        )

    def _run(
        self, site: SiteModel, row: BoardRow, turns: dict[str, dict[str, TurnTexts]], datasets: dict[str, str]
    ) -> Iterator[Asset]:
        if not row.folder.has_rows:
            return
        run, benchmark = row.run, site.benchmark_of(row.run.track)
        data, judge = benchmark.data_for(run.track), judge_note(site, run.track)
        words = site.text_allowed(row)
        head = {
            "run_id": run.run_id,
            "run_url": run_url(run.run_id),
            "system": run.system.name,
            "benchmark": benchmark.title,
            "categories": {plan.name: benchmark.category_title(plan.name) for plan in run.track.categories},
            "benchmark_data": datasets.get(data.key),
            "benchmark_missing": data.missing,
            "elsewhere": [] if words else text_commands(run, benchmark),
            "labels": {**VALUE_LABELS, "slices": SLICE_LABELS},
            "measure": None if run.scores.overall.points is None else benchmark.headline(run.track),
            "judge": {
                "name": judge.judge.name,
                "label": judge.judge.label,
                "endpoint": judge.judge.endpoint,
                "result": judge.result if judge.asked else judge.result.capitalize(),
                "url": judge.url,
                "asked": judge.asked,
            },
        }
        failures = run_failures(site, row)
        depends = digest_of([head, depends_on(words, data.is_here), failures and failures.digest])

        @cache
        def shards() -> RunShards:
            return kept_shards(row.folder, words, data, turns.setdefault(data.key, {}))

        def index() -> bytes:
            made = shards().index(head | {"words": words}, failures.by_item() if failures else {})
            return RunShards((made,), ()).to_bytes()

        @cache
        def contents() -> dict[str, bytes]:
            last = RunShards.from_bytes(kept(row.folder, INDEX, depends, index))
            return {asset.path: file_bytes(asset) for asset in (*shards().assets, *last.assets)}

        for path in json.loads(kept(row.folder, FILES, depends, lambda: encode(list(contents())))):
            yield shared_again(path, partial(content_of, contents, path))


def text_commands(run: Run, benchmark: BenchmarkView) -> list[str]:
    """Return the commands that show text which may not be published: how to get the data, then the run with it."""
    name = benchmark.id.partition("@")[0]
    formats = benchmark.benchmark.formats if benchmark.benchmark else ()
    own = [each.name for each in formats if each.writer][:1]
    exports = [f"memeval export {run.run_id} --format {form} --to {form}.json" for form in own]
    return [f"memeval data list {name}", *exports]
