"""Import cycles in the evaluation package."""

from __future__ import annotations

import grimp


def test_no_module_of_evaluation_needs_itself_even_for_its_types() -> None:
    graph = grimp.build_graph("memeval", exclude_type_checking_imports=False)
    inside = {name for name in graph.modules if name.startswith("memeval.evaluation")}
    circles = {
        (one, other)
        for one in inside
        for other in graph.find_modules_directly_imported_by(one) & inside
        if graph.find_shortest_chain(other, one)
    }
    assert circles == set()
