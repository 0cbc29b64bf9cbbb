"""CONTRIBUTING names files and folders that are there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
PLACEHOLDER = re.compile(r"(?<![A-Z])(NAME|BENCHMARK|SLUG)(?![A-Z])")
PATH = re.compile(r"[A-Za-z0-9_.\-/]+(/|\.(py|md|toml|yml|cff|lock|jsonl))")
SUBMISSION = ROOT / "submissions" / "notebook"
MADE = {"results/releases/2026.12.json", "public/2026.12/", "public/data/"}
"""What an example command makes."""


def named() -> list[str]:
    """Return the paths in code spans, in order."""
    spans = dict.fromkeys(re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", TEXT, flags=re.DOTALL)))
    return [span for span in spans if PATH.fullmatch(span) and span not in MADE]


def test_a_path_of_the_guide_is_there() -> None:
    for path in named():
        pattern = PLACEHOLDER.sub("*", path).removesuffix("/")
        package = ROOT / "harness" / "memeval"
        assert any(any(root.glob(pattern)) for root in (ROOT, package, *package.iterdir(), SUBMISSION)), path


def test_the_map_has_every_package() -> None:
    table = TEXT.partition("## Packages")[2].partition("\n## ")[0]
    listed = re.findall(r"`([a-z_.]+)`", "\n".join(line.split("|")[1] for line in table.splitlines() if "|" in line))
    package = ROOT / "harness" / "memeval"
    assert {path.parent.name for path in package.glob("*/__init__.py")} <= set(listed)
    assert [name for name in listed if not (package / name).exists()] == []
