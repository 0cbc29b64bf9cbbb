"""CONTRIBUTING names files and folders that are there."""

import ast
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "harness" / "memeval"
TEXT = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
PLACEHOLDER = re.compile(r"(?<![A-Z])(NAME|BENCHMARK|SLUG)(?![A-Z])")
PATH = re.compile(r"[A-Za-z0-9_.\-/]+(/|\.(py|md|toml|yml|cff|lock|jsonl))")
SUBMISSION = ROOT / "submissions" / "notebook"
MADE = {"results/releases/2026.12.json", "public/2026.12/", "public/data/"}
"""What an example command makes."""


READING = "Read memeval in an afternoon"


def section(heading: str) -> str:
    return TEXT.partition(f"## {heading}\n")[2].partition("\n## ")[0]


def named() -> list[str]:
    """Return the paths in code spans, in order."""
    spans = dict.fromkeys(re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", TEXT, flags=re.DOTALL)))
    return [span for span in spans if PATH.fullmatch(span) and span not in MADE]


def test_a_path_of_the_guide_is_there() -> None:
    for path in named():
        pattern = PLACEHOLDER.sub("*", path).removesuffix("/")
        assert any(any(root.glob(pattern)) for root in (ROOT, PACKAGE, *PACKAGE.iterdir(), SUBMISSION)), path


@dataclass(frozen=True)
class Step:
    """A row of a list of functions."""

    name: str
    """The function, with its class."""
    by_name: bool
    """Whether it is called in a way that its callers do not show."""
    path: str

    @property
    def body(self) -> ast.AST:
        """The function in its file."""
        found: ast.AST = ast.parse((PACKAGE / self.path).read_text("utf-8"))
        for part in self.name.split("."):
            inside = {getattr(each, "name", None): each for each in ast.iter_child_nodes(found)}
            assert part in inside, (
                f"CONTRIBUTING.md: {self.name} is not in {self.path}. Name the function that took its place."
            )
            found = inside[part]
        return found

    @property
    def named(self) -> set[str]:
        """All that its body names, directly or through functions of the same file."""
        module = ast.parse((PACKAGE / self.path).read_text("utf-8"))
        beside = {each.name: each for each in ast.walk(module) if isinstance(each, ast.FunctionDef | ast.ClassDef)}
        found: set[str] = set()
        waiting = [self.body]
        while waiting:
            names = {
                each.id if isinstance(each, ast.Name) else each.attr
                for each in ast.walk(waiting.pop())
                if isinstance(each, ast.Name | ast.Attribute)
            }
            waiting += [beside[name] for name in names - found if name in beside]
            found |= names
        return found


def lists_of_functions() -> list[list[Step]]:
    tables = [table for table in section(READING).split("\n\n") if table.startswith("| function |")]
    row = re.compile(r"\| `([\w.]+)`( ↳)? \| `([\w/]+\.py)` \| [^|]{10,70} \|")
    return [
        [Step(found[1], bool(found[2]), found[3]) for line in table.splitlines()[2:] if (found := row.fullmatch(line))]
        for table in tables
    ]


@pytest.mark.parametrize("steps", lists_of_functions(), ids=["afternoon", "answer", "key"])
def test_each_function_to_read_is_there_and_reached_from_one_above_it(steps: list[Step]) -> None:
    assert 5 < len(steps) <= 40
    named: set[str] = set()
    for step in steps:
        assert isinstance(step.body, ast.FunctionDef), step
        assert step.by_name or step.name.rpartition(".")[2] in named, f"nothing above {step.name} calls it"
        named |= step.named


def test_the_lists_of_functions_are_read_whole() -> None:
    afternoon, answer, key = lists_of_functions()
    rows = [line for line in section(READING).splitlines() if line.startswith("| `")]
    assert len(afternoon) + len(answer) + len(key) == len(rows)
    assert sum(step.by_name for step in afternoon) <= 4
    assert not [step for step in key if step.path.startswith(("execution", "systems"))]


def packages() -> list[str]:
    """Return the first cell of each row of the table of packages."""
    return [line.split("|")[1] for line in section("Packages").splitlines() if "|" in line]


def test_the_map_has_every_package() -> None:
    listed = re.findall(r"`([a-z_.]+)`", "\n".join(packages()))
    assert {path.parent.name for path in PACKAGE.glob("*/__init__.py")} <= set(listed)
    assert [name for name in listed if not (PACKAGE / name).exists()] == []


def test_packages_are_listed_in_the_order_of_their_imports() -> None:
    rules = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
    layers = next(each for each in rules["contracts"] if each["id"] == "layers")["layers"]
    height = {
        name.strip(" ()").removeprefix("memeval."): -number
        for number, layer in enumerate(layers)
        for name in layer.split("|")
    }
    rows = [re.findall(r"`([a-z_]+)(?:\.py)?`", row) for row in packages()]
    heights = [height[name] for row in rows for name in row]
    assert len(heights) > 20 and {*height} <= {name for row in rows for name in row}
    assert heights == sorted(heights)
