"""The page with items of a benchmark to read."""

import pytest

from memeval.benchmarks.registry import find
from memeval.judging.text import states
from memeval.site.pages import benchmarks as module
from memeval.site.pages.benchmarks import EACH, samples
from tests.site.conftest import Built


def test_samples_of_every_category_are_spread_over_all_items() -> None:
    dataset = find("beliefs@2").open(None, {"size": 40})
    shown = samples(dataset)
    keys = list(dataset.answer_keys())
    for category in {key.category for key in keys}:
        all_items = sorted(key.item_id for key in keys if key.category == category)
        found = [sample.item_id for sample in shown[category]]
        assert len(found) == len(set(found)) == min(EACH, len(all_items))
        assert found == sorted(found)
        assert all_items.index(found[-1]) >= len(all_items) * (1 - 2 / len(found))


def test_a_sample_shows_the_turns_that_its_answer_follows_from() -> None:
    dataset = find("beliefs@2").opened(None, {"size": 3}, "retrieval", "full")
    keys = {key.item_id: key.key for key in dataset.answer_keys()}
    for sample in (sample for mine in samples(dataset).values() for sample in mine):
        key = keys[sample.item_id]
        assert len(sample.evidence) == len(key.relevant_turns)
        assert all(
            any(states(turn.text, part.phrases) for turn in sample.evidence) for part in getattr(key, "expected", ())
        )
        assert sample.right == key.references
        assert len(sample.traps) == len(getattr(key, "misleading", ()))


def test_many_questions_are_shown_by_the_first_and_long_evidence_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = find("lifecycle@1").opened(None, None, "banks", "full")
    questions = {key.item_id: len(key.question_ids) for key in iter(dataset.answer_keys())}
    found = [sample for mine in samples(dataset).values() for sample in mine]
    assert all(sample.further == questions[sample.item_id] - 1 for sample in found)
    assert any(sample.further for sample in found)
    monkeypatch.setattr(module, "TURNS", 1)
    dataset = find("beliefs@2").opened(None, {"size": 40}, "retrieval", "full")
    found = [sample for mine in samples(dataset).values() for sample in mine]
    assert all(len(sample.evidence) <= 1 for sample in found)
    assert any(sample.left_out for sample in found)


def test_the_page_of_a_benchmark_links_to_its_samples(built: Built) -> None:
    name = built.benchmark.info.id
    page = built.read(f"benchmarks/{name}/index.html")
    assert '<a href="samples/">' in page
    assert "<h1>" in built.read(f"benchmarks/{name}/samples/index.html")
