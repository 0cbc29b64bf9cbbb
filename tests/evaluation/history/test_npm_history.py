"""A history of a made Node product, from a local registry of npm: locks of the day, gaps, and unknown dates."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from memeval.archive.histories import measured_runs
from memeval.evaluation.history.locking import UNDATED
from memeval.evaluation.history.released import released
from memeval.records.history import PackageIndex, VersionOutcome
from tests.evaluation.history.products import stored
from tests.support.calling import Call
from tests.support.commands import ROOT
from tests.support.npm_registry import Made, Registry, npm_registry

COMMAND = ("history", "pocket", "--benchmark", "qa-smoke@1/search-retrieve-only")

FIND = """
const { most } = require("helper-of-pocket");
const words = (text) => new Set(text.toLowerCase().match(/[\\p{L}\\p{N}_]+/gu) ?? []);
exports.find = (texts, query) =>
  texts.filter((text) => [...words(text)].some((word) => words(query).has(word))).slice(0, most);
"""

SEARCH = """
import { createRequire } from "node:module";

const { find } = createRequire(import.meta.url)("pocket");

function search(query, k) {
  const stored = [...notes.values()].map(({ text, source_ids }) => ({ text, source_ids }));
  const found = find(stored.map(({ text }) => text), query).slice(0, k);
  return stored.filter(({ text }) => found.includes(text));
}
"""

PACKAGES = {
    "helper-of-pocket": [
        Made("1.0.0", "2025-01-01", "exports.most = 50;"),
        Made("1.1.0", "2025-12-01", "exports.most = 49;"),
    ],
    "pocket": [
        Made("1.0.0", "2025-02-10", FIND, {"helper-of-pocket": "^1.0.0"}),
        Made("1.1.0", "2025-05-10", FIND, {"helper-of-pocket": "^1.0.0"}),
        Made("1.2.0", "2025-08-10", FIND, {"vanished-of-pocket": "^1.0.0"}),
        Made("1.3.0", "2025-09-10", FIND, {"helper-of-pocket": "^1.0.0"}, deprecated="it lost texts"),
        Made("2.0.0-beta.1", "2025-10-10", FIND, {"helper-of-pocket": "^1.0.0"}),
        Made("2.0.0", "2025-11-10", "throw new Error('pocket 2.0.0 is broken');"),
        Made("2.1.0", "2026-02-10", FIND, {"helper-of-pocket": "^1.0.0"}),
    ],
}

MANIFEST = """\
schema_version = 1
slug = "pocket"
name = "Pocket"
version = "2.1.0"
kind = "command"
command = ["node", "adapter.mjs"]

[product]
name = "Pocket"
package = "pocket"
version = "2.1.0"
licence = "MIT"
"""


def submission(folder: Path) -> None:
    made = folder / "submissions" / "pocket"
    made.mkdir(parents=True)
    sample = (ROOT / "templates/submission/command/adapter.mjs").read_text("utf-8")
    start, end = sample.index("function search("), sample.index("const calls = ")
    for name, text in {
        "adapter.mjs": sample[:start] + SEARCH + sample[end:],
        "submission.toml": MANIFEST,
        "package.json": json.dumps({"name": "adapter", "private": True, "dependencies": {"pocket": "2.1.0"}}),
        "package-lock.json": json.dumps({"name": "adapter", "lockfileVersion": 3, "packages": {}}),
    }.items():
        (made / name).write_text(text, "utf-8")


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Registry]:
    with npm_registry(PACKAGES) as made:
        settings = tmp_path / "npmrc"
        settings.write_text(f"registry={made.address}\nfund=false\naudit=false\nupdate-notifier=false\n")
        monkeypatch.setenv("npm_config_userconfig", str(settings))
        monkeypatch.setenv("npm_config_cache", str(tmp_path / "npm"))
        monkeypatch.setenv("MEMEVAL_CACHE", str(tmp_path / "cache"))
        submission(tmp_path)
        yield made


def helper_of(folder: Path, version: str) -> str:
    (lock,) = (folder / "results/history/pocket" / version / "sources").rglob("package-lock.json")
    return str(json.loads(lock.read_text())["packages"]["node_modules/helper-of-pocket"]["version"])


def test_a_registry_lists_versions_with_dates_and_says_what_was_withdrawn(registry: Registry) -> None:
    found = released("pocket", PackageIndex.NPM)
    assert [each.version for each in found.plain] == ["1.0.0", "1.1.0", "1.2.0", "2.0.0", "2.1.0"]
    assert found.dated and found.address == f"{registry.address}/pocket"
    assert {each.version: each.yanked for each in found.every if each.yanked is not None} == {"1.3.0": "it lost texts"}
    assert {each.version: found.day_of(each) for each in found.every}["2.1.0"] == "2026-02-10"


@pytest.mark.slow
def test_node_versions_run_with_the_lock_of_their_day_or_are_gaps(
    registry: Registry, call: Call, tmp_path: Path
) -> None:
    said = call(*COMMAND, "--versions", "1.1.0,1.2.0,2.0.0,2.1.0")
    assert said.code == 0, said.err
    history = stored(tmp_path, "pocket")
    outcomes = {each.version: (each.outcome, each.reason or "") for each in history.versions}
    assert {version: outcome for version, (outcome, _reason) in outcomes.items()} == {
        "1.1.0": VersionOutcome.RAN,
        "1.2.0": VersionOutcome.NOT_RESOLVED,
        "2.0.0": VersionOutcome.NOT_LOADED,
        "2.1.0": VersionOutcome.RAN,
    }, outcomes
    assert "vanished-of-pocket" in outcomes["1.2.0"][1]
    assert (helper_of(tmp_path, "1.1.0"), helper_of(tmp_path, "2.1.0")) == ("1.0.0", "1.1.0")
    runs = {version.version: run.run for version, _made, run in measured_runs(tmp_path / "results", history) if run}
    stated = runs["1.1.0"].product_version
    assert stated is not None and (stated.index, stated.released) == (PackageIndex.NPM, "2025-05-10")
    assert runs["1.1.0"].responses_digest == runs["2.1.0"].responses_digest
    assert not list((tmp_path / "cache/history").rglob("node_modules"))


def test_dates_that_do_not_rise_are_unknown_and_the_row_says_that_the_lock_is_of_today(
    registry: Registry, call: Call, tmp_path: Path
) -> None:
    same_day = [replace(each, day=f"2026-03-{20 - number:02}") for number, each in enumerate(PACKAGES["pocket"])]
    registry.packages = {**PACKAGES, "pocket": same_day}
    said = call(*COMMAND, "--last", "1", "--every", "quarter")
    assert said.code == 0, said.err
    assert "its dates do not rise with the versions, so --every has no effect" in said.err
    assert "2.1.0        date unknown" in said.out
    history = stored(tmp_path, "pocket")
    (measured,) = history.versions
    assert (measured.released, history.dated) == (None, False)
    assert measured.substituted == (UNDATED,)
    assert helper_of(tmp_path, "2.1.0") == "1.1.0"
