"""Checks that the items of a benchmark fit its table, its counts and its judge prompts."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from memeval.benchmarks.base import Benchmark, Category
from memeval.benchmarks.registry import unusable
from memeval.judging.base import Case
from memeval.judging.prompting import Prompts
from memeval.keys import ItemKey
from memeval.records.benchmark import BenchmarkInfo
from memeval.records.errors import BadInput
from memeval.records.scenario import Scenario


def check_items(info: BenchmarkInfo, table: Sequence[Category], keys: Sequence[ItemKey]) -> None:
    """Check that each item has an id of its own and a category of the table.

    Raises ``BrokenBenchmark``: one does not.
    """
    names = {category.name for category in table}
    seen: set[str] = set()
    for key in keys:
        if key.item_id in seen:
            raise unusable(info.id, f"two items have the id {key.item_id!r}.", "Give each item an id of its own.")
        if key.category not in names:
            raise unusable(
                info.id,
                f"the item {key.item_id!r} has the unknown category {key.category!r}.",
                f"Choose one of: {', '.join(sorted(names))}. Or add the category to the catalogue.",
            )
        seen.add(key.item_id)


def check_counts(info: BenchmarkInfo, keys: Iterable[ItemKey]) -> None:
    """Check that the catalogue counts the items of each category as they are.

    ``keys``: all items of the default protocol's data, also those that other protocols ask. Raises ``BrokenBenchmark``:
    it counts others.
    """
    counts = Counter(key.category for key in keys)
    for category in info.categories:
        if category.items and counts[category.name] != category.items:
            raise unusable(
                info.id,
                f"its catalogue says {category.items} items in '{category.name}', and its data has "
                f"{counts[category.name]}.",
                f"Write items = {counts[category.name]}.",
            )


def check_prompts(benchmark: Benchmark, table: Sequence[Category], keys: Sequence[ItemKey]) -> None:
    """Check that a model judge finds a prompt for each item that needs a judge, with placeholders that the key fills.

    Raises ``BrokenBenchmark``: a prompt is missing, or has an unknown placeholder.
    """
    prompts = Prompts()
    for key in _one_of_each(table, keys):
        try:
            prompts.asking(Case(key.item_id, "", "", key.key, Scenario(scenario_id=key.scenario_id, steps=())))
        except BadInput as fault:
            where = f"{fault.where}: " if fault.where else ""
            raise unusable(benchmark.info.id, f"{where}{fault.problem}", fault.remedy or "") from None


def _one_of_each(table: Sequence[Category], keys: Sequence[ItemKey]) -> Iterator[ItemKey]:
    judged = {category.name for category in table if category.grader.asks_judge}
    seen: set[tuple[str, str]] = set()
    for key in keys:
        prompt = key.key.prompt
        if key.category in judged and prompt is not None and (key.key.prompts, prompt) not in seen:
            seen.add((key.key.prompts, prompt))
            yield key
