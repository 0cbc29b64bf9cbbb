"""Measures what products keep of six turns, with a model on this machine: ``python -m bench.six_turns mem0``.

A product's adapter of ``submissions/`` runs as in any run, but with a pinned model in place of its own. Results go to
``site/extraction.json`` and into ``site/model.md``; those of a product measured before with that model are replaced.
"""

import argparse
import json
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from bench.page_tables import with_stored, write_results
from memeval.benchmarks.base import Benchmark, Category, Dataset, Parameters
from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.run.running import run_system
from memeval.gateway.replies import text_of
from memeval.grading.judged import Judged
from memeval.keys import Fact, ItemKey, NoiseKey
from memeval.local.catalogue import setup_of
from memeval.options import RunOptions
from memeval.records.base import digest_of
from memeval.records.benchmark import BenchmarkInfo, ProtocolInfo, TierInfo
from memeval.records.response import RetrievedItem
from memeval.records.run import View
from memeval.records.scenario import Ask, Ingest, Scenario, Session, Turn
from memeval.records.track import Limits, Redistribution
from memeval.systems.source import SystemSource, altered_source, find_system

OUT, PAGE = Path("site/extraction.json"), Path("site/model.md")
START, END = "<!-- extraction -->\n", "<!-- end of extraction -->\n"
"""The marks around the table in the page."""

EMBEDDINGS, DIMENSIONS = "all-minilm-l6-v2-int8", 384

DATE = "2026-03-02"
TURNS = (
    ("user", "Ada", "I have moved from Lima to Oslo for my new job."),
    ("assistant", None, "Congratulations! How do you like the city?"),
    ("user", "Ada", "It is cold, but I found a cello teacher, and my first lesson is on Thursday."),
    ("assistant", None, "A cello! Have you played before?"),
    ("user", "Ada", "Never. And I am allergic to walnuts, so no cake at the teacher's, please."),
    ("assistant", None, "Noted. Good luck with the lesson!"),
)
FACTS = ("Oslo", "cello", "walnut")
"""A word of each fact that the turns state; a memory that keeps the fact has it."""

QUESTION = "What is known about Ada?"

LONGEST_REPLY = 2_000

PATIENT = Limits(load_seconds=3600, reset_seconds=3600, take_in_seconds=7200, ask_seconds=3600)
"""What a product keeps is measured, not its speed: some wait between the calls that they repeat."""


@dataclass
class SixTurns(Dataset):
    digest: str = field(default_factory=lambda: digest_of([DATE, *map(list, TURNS), QUESTION]))
    parameters: Parameters = field(default_factory=dict)

    def scenarios(self) -> Iterator[Scenario]:
        turns = tuple(
            Turn(turn_id=f"s001:t{number:02}", role=role, speaker=speaker, content=content)
            for number, (role, speaker, content) in enumerate(TURNS, start=1)
        )
        session = Session(session_id="s001", date=DATE, turns=turns)
        yield Scenario(
            scenario_id="six-turns",
            steps=(Ingest(session=session, source_id="s001"), Ask(question_id="six-turns:q01", question=QUESTION)),
        )

    def answer_keys(self) -> Iterator[ItemKey]:
        yield ItemKey(
            item_id="six-turns-q01",
            scenario_id="six-turns",
            question_ids=("six-turns:q01",),
            category="kept",
            cluster="ada",
            evidence=("s001",),
            key=NoiseKey(reference=Fact(text="Ada lives in Oslo", phrases=("Oslo",))),
        )


class SixTurnsBenchmark(Benchmark):
    def __init__(self) -> None:
        self.categories = (Category("kept", "Kept", 1.0, 0, Judged(), "Whether a city is kept.", "By its name."),)
        self.info = BenchmarkInfo(
            id="six-turns@1",
            title="Six turns",
            summary="Three facts in six turns.",
            made="By hand.",
            licence="Apache-2.0",
            redistribution=Redistribution.FULL,
            citation=None,
            homepage=None,
            protocols=(ProtocolInfo(name="judge", title="Judge", summary="Rules.", headline="accuracy"),),
            tiers=(TierInfo(name="full", items=1, how="All."),),
            categories=tuple(category.info() for category in self.categories),
        )

    def open(self, path: Path | None = None, parameters: Parameters | None = None) -> SixTurns:
        return SixTurns()


def with_model(slug: str, model: str) -> SystemSource:
    """Return a submission that calls models on this machine in place of its own."""
    names = {"model": f"local:{model}", "embedding": f"local:{EMBEDDINGS}"}
    source = altered_source(find_system(slug), "local", names | {"dimensions": DIMENSIONS})
    return replace(source, declared_models=tuple(names.values()), view=View.ALL)


def text_of_item(item: RetrievedItem) -> str:
    """Return the text of a retrieved item, which may be a turn as it was said."""
    if item.text is not None:
        return item.text
    return TURNS[int((item.turn_id or "t01").rpartition("t")[2]) - 1][2]


def measured(slug: str, model: str) -> dict[str, Any]:
    """Return calls, tokens and seconds of one product, with what it kept of the facts, and the model's replies."""
    source = with_model(slug, model)
    assert source.submission is not None
    product = source.submission.product
    session = BenchmarkSession.open(SixTurnsBenchmark())
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="memeval-six-turns-") as folder:
        options = RunOptions(results=Path(folder), judge="rules", skip_conformance=True, limits=PATIENT)
        run = run_system(source, session, options)
        seconds = time.monotonic() - began
        calls = [call for call in run.calls() if not call.request.model.endswith(EMBEDDINGS)]
        (response,) = run.responses()
        memories = [text_of_item(item) for item in response.items or ()]
        found = " ".join(memories).casefold()
        return {
            "product": product.name if product else slug,
            "version": product.version if product else source.version,
            "model": model,
            "setup": json.loads(setup_of(model)),
            "turns": len(TURNS),
            "calls": len(calls),
            "prompt_tokens": sum(call.prompt_tokens or 0 for call in calls),
            "completion_tokens": sum(call.completion_tokens or 0 for call in calls),
            "seconds": round(seconds),
            "outcome": response.outcome.value,
            "error": response.error,
            "memories": memories,
            "facts": len(FACTS),
            "kept": [fact for fact in FACTS if fact.casefold() in found],
            "replies": [(text_of(call) or call.error or "")[:LONGEST_REPLY] for call in calls],
        }


def table_of(rows: Sequence[dict[str, Any]]) -> str:
    """Return the results as Markdown: a table, and below it what each product kept."""
    if not rows:
        return "\nNot measured yet.\n\n"
    lines = [
        "",
        "| product | model | calls | prompt tokens | answer tokens | seconds | memories | facts kept |",
        "|---|---|---:|---:|---:|---:|---:|---:|",
    ]
    for row in rows:
        counts = " | ".join(f"{row[name]:,}" for name in ("calls", "prompt_tokens", "completion_tokens", "seconds"))
        kept = f"{len(row['memories'])} | {len(row['kept'])} of {row['facts']}"
        lines.append(f"| {row['product']} {row['version']} | `{row['model']}` | {counts} | {kept} |")
    lines.append("")
    for row in rows:
        what = "; ".join(f"`{_quoted(text)}`" for text in row["memories"]) or "nothing"
        lines.append(f"- {row['product']} with `{row['model']}` kept {what}.")
        if not row["memories"] and row["replies"]:
            lines.append(f"  The model's first reply: `{_quoted(row['replies'][0])}`")
    return "\n".join([*lines, "", ""])


def _quoted(text: str) -> str:
    return " ".join(text.replace("`", "'").split())[:300]


def write(rows: Sequence[dict[str, Any]], out: Path = OUT, page: Path = PAGE) -> None:
    """Write results to their file, and their table into the page."""
    write_results(rows, table_of(rows), out, page, (START, END))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.six_turns", description=__doc__)
    parser.add_argument("slug")
    parser.add_argument("--model", default="qwen2.5-coder-1.5b")
    given = parser.parse_args()
    row = measured(given.slug, given.model)
    write(with_stored(OUT, [row], "product", "model"))
    print(json.dumps(row, indent=1))


if __name__ == "__main__":
    main()
