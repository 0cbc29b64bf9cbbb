"""The counted categories of a track, and their weights."""

from memeval.grading.scoring import counting, layout_of
from memeval.records.track import CategoryPlan


def planned(name: str, weight: float, items: int, shared: bool = False) -> CategoryPlan:
    return CategoryPlan(name=name, weight=weight, items=items, grader="judged@1", shared=shared)


def test_a_category_without_weight_has_no_part_in_the_layout() -> None:
    plan = (planned("a", 0.75, 2), planned("b", 0.0, 1), planned("c", 0.25, 1))
    assert [category.name for category in counting(plan)] == ["a", "c"]
    found = layout_of(plan, {"a": ["x", "y"], "b": ["z"], "c": ["x"]})
    assert (found.weights, found.clusters) == ((0.75, 0.25), (("x", "y"), ("x",)))


def test_shared_weights_follow_the_items_that_are_there() -> None:
    plan = (planned("a", 0.5, 4, shared=True), planned("b", 0.5, 4, shared=True), planned("c", 0.0, 9))
    whole = layout_of(plan, {"a": list("wxyz"), "b": list("wxyz")})
    assert whole.weights == (0.5, 0.5)
    fewer = layout_of(plan, {"a": list("wxy"), "b": list("w"), "c": list("uv")})
    assert fewer.weights == (0.75, 0.25)
