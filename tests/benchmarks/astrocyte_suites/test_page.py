"""The page on suites: what it shows can be run."""

from __future__ import annotations

import re
from pathlib import Path

from memeval.benchmarks import find
from memeval.benchmarks.astrocyte.reading import RECALL, REFLECT, RETAIN, read

PAGE = (Path(__file__).parents[3] / "site" / "suites.md").read_text("utf-8")


def test_its_example_is_a_suite_and_uses_or_names_every_key(tmp_path: Path) -> None:
    (example,) = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    file = tmp_path / "pantry.yaml"
    file.write_text(example, "utf-8")
    suite = read(file)
    assert (len(suite.texts), len(suite.recalls), len(suite.reflects)) == (1, 2, 1)
    assert suite.warnings == ()
    assert [key for key in {*RETAIN, *RECALL, *REFLECT} if f"{key}:" not in example and f"`{key}`" not in PAGE] == []


def test_its_benchmarks_and_protocols_are_there() -> None:
    named = set(re.findall(r"astrocyte-[a-z]+@1", PAGE))
    assert named == {f"astrocyte-{name}@1" for name in ("basic", "accuracy", "reflect", "stress", "suite")}
    for name in named:
        assert find(name).info.id == name
    assert {each.name for each in find("astrocyte-reflect@1").info.protocols} == {"reflect", "dispositions"}
