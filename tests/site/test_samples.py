"""The page with items of a benchmark to read."""

from __future__ import annotations

from memeval.benchmarks.registry import find
from memeval.judging.text import states
from memeval.site.pages.samples import EACH, TURNS, samples
from tests.site.conftest import Built


def test_samples_of_every_category_are_spread_over_all_items() -> None:
    dataset = find("beliefs@2").open(None, {"size": 40})
    shown = samples(dataset)
    keys = list(dataset.keys())
    for category in {key.category for key in keys}:
        all_items = sorted(key.item_id for key in keys if key.category == category)
        found = [sample.item_id for sample in shown[category]]
        assert len(found) == len(set(found)) == min(EACH, len(all_items))
        assert found == sorted(found)
        assert all_items.index(found[-1]) >= len(all_items) * (1 - 2 / len(found))


def test_a_sample_shows_the_turns_that_its_answer_follows_from() -> None:
    dataset = find("beliefs@2").open(None, {"size": 3})
    keys = {key.item_id: key.key for key in dataset.keys()}  # noqa: SIM118 - no dictionary
    for sample in (sample for mine in samples(dataset).values() for sample in mine):
        key = keys[sample.item_id]
        assert len(sample.evidence) == len(key.relevant_turns)
        assert all(
            any(states(turn.text, part.phrases) for turn in sample.evidence) for part in getattr(key, "expected", ())
        )
        assert sample.right == key.references
        assert len(sample.traps) == len(getattr(key, "misleading", ()))


def test_an_item_of_many_questions_shows_its_first_and_leaves_long_evidence_out() -> None:
    dataset = find("beliefs@1").open(None, {"size": 60})
    (deltas,) = [mine for category, mine in samples(dataset).items() if category == "delta-efficiency"]
    assert {sample.further for sample in deltas} == {19}
    assert all(len(sample.evidence) <= TURNS for sample in deltas)
    assert any(sample.left_out for sample in deltas)


def test_the_page_of_a_benchmark_links_to_its_samples(built: Built) -> None:
    name = built.benchmark.info.id
    page = built.read(f"benchmarks/{name}/index.html")
    assert '<a href="samples/">' in page
    text = built.read(f"benchmarks/{name}/samples/index.html")
    assert "<h1>" in text
    assert "<script>alert" not in text
