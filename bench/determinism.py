"""Measures whether a model on this machine gives equal answers: ``python -m bench.determinism NAME``.

The same requests are made again under other circumstances, and texts and log-probabilities compared with the first
time, and with the answers that other processors gave. Results go to ``site/determinism.json`` and into
``site/model.md``; those of a model measured before on this processor are replaced.
"""

import argparse
import itertools
import json
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bench.page_tables import with_stored, write_results
from memeval.local.catalogue import find_model, installed_engine
from memeval.local.llama import Llama
from memeval.local.server import engine_environment
from memeval.local.weights import checked
from memeval.records.base import digest_of

OUT, PAGE = Path("site/determinism.json"), Path("site/model.md")
START, END = "<!-- determinism -->\n", "<!-- end -->\n"
"""The marks around the table in the page."""

ANSWER_TOKENS = 24
LONG_EVERY, LONG_LINES = 4, 60
"""Each fourth request has as many notes as a reader sends, since short prompts hide differences."""

RULES = """You answer questions from notes about people. Use the notes and nothing else. If two notes differ, the newer
one holds. If the notes do not hold the answer, say that you do not know. Answer in one short sentence, without a
preamble, in the words of the notes where you can. Do not explain how you found the answer, and do not repeat the
question."""

PEOPLE = ("Ada", "Bruno", "Chen", "Dalia", "Emre", "Fatou", "Goran", "Hana", "Ilse", "Jamal")
FACTS = (
    ("moved to {}", ("Lima", "Oslo", "Quito", "Accra", "Hanoi"), "Where does {} live now?"),
    ("started to learn {}", ("the cello", "Welsh", "fencing", "pottery", "chess"), "What does {} learn?"),
    ("works as a {}", ("welder", "nurse", "surveyor", "baker", "pilot"), "What is the job of {}?"),
    ("adopted a {}", ("parrot", "lizard", "goat", "ferret", "hare"), "Which animal does {} have?"),
)


class Variation(NamedTuple):
    """Circumstances of a series of requests."""

    name: str
    settings: dict[str, int] = {}
    reverse: bool = False
    prefix: str = "restored"
    """``restored`` before every request, as in runs; ``kept`` from the request before; ``whole``: computed again."""
    same_process: bool = False
    """Whether it is asked in the process of the series before it."""
    other_threads: bool = False


VARIATIONS = (
    Variation("first time"),
    Variation("again, same process", same_process=True),
    Variation("reverse order", same_process=True, reverse=True),
    Variation("after a restart"),
    Variation("another number of threads", other_threads=True),
    Variation("prefix kept, not restored", prefix="kept"),
    Variation("prefix computed with each prompt", prefix="whole"),
    Variation("batch of 32 tokens", {"batch": 32}),
)


class _Keeps(Llama):
    def _restore(self, body: dict[str, Any], characters: int) -> bool:
        return True


class _Whole(Llama):
    def _restore(self, body: dict[str, Any], characters: int) -> bool:
        return False


ENGINES: dict[str, type[Llama]] = {"restored": Llama, "kept": _Keeps, "whole": _Whole}


def requests(number: int) -> list[dict[str, Any]]:
    """Return requests that share their instructions, about notes of different people: three of four are short."""
    made = []
    for place in range(number):
        person, other = PEOPLE[place % len(PEOPLE)], PEOPLE[(place * 3 + 1) % len(PEOPLE)]
        lines: list[str] = []
        turn = place // (2 * len(PEOPLE))
        for step in range(LONG_LINES // 3):
            fact, values, _question = FACTS[step % len(FACTS)]
            for name, shift in ((person, place), (other, place + 2), (person, place + 1 + step % 2)):
                value = values[(shift + step + turn) % len(values)]
                lines.append(f"{len(lines) % 30 + 1} May: {name} {fact.format(value)}.")
        question = FACTS[(place + turn) % len(FACTS)][2].format(person)
        notes = lines if place % LONG_EVERY == LONG_EVERY - 1 else lines[place % 5 : place % 5 + 6]
        messages = [
            {"role": "system", "content": RULES},
            {"role": "user", "content": "\n".join(notes) + f"\n\n{question}"},
        ]
        made.append({"messages": messages, "max_tokens": ANSWER_TOKENS, "logprobs": True})
    return made


def answered(engine: Llama, asked: Sequence[dict[str, Any]], reverse: bool) -> list[tuple[str, list[float]]]:
    """Return the text of each answer, with the log-probabilities of its tokens, in the order of the requests."""
    found: dict[int, tuple[str, list[float]]] = {}
    for place in sorted(range(len(asked)), reverse=reverse):
        reply: Any = engine.answer("/v1/chat/completions", asked[place], 0)
        choice = reply["choices"][0]
        logged = [token["logprob"] for token in choice["logprobs"]["content"]]
        found[place] = choice["message"]["content"], logged
    return [found[place] for place in sorted(found)]


def work(name: str, number: int) -> None:
    """Answer the series that standard input names, in this process; print a line of JSON for each."""
    model = find_model(name)
    engine: Llama | None = None
    with tempfile.TemporaryDirectory(prefix="memeval-model-") as folder:
        for line in sys.stdin:
            variation = Variation(**json.loads(line))
            if engine is None:
                fields = ("name", "context", "batch", "threads", "longest_answer")
                settings = {field: getattr(model, field) for field in fields} | variation.settings
                if variation.other_threads:
                    settings["threads"] = 2 if model.threads == 1 else 1
                engine = ENGINES[variation.prefix](settings | {"path": str(checked(model)), "folder": folder})
            began = time.monotonic()
            answers = answered(engine, requests(number), variation.reverse)
            print(json.dumps({"answers": answers, "seconds": time.monotonic() - began}), flush=True)


def series(name: str, number: int) -> list[dict[str, Any]]:
    """Return the answers of every variation; each group that shares a process is answered by one of its own."""
    groups: list[list[Variation]] = []
    for variation in VARIATIONS:
        if variation.same_process:
            groups[-1].append(variation)
        else:
            groups.append([variation])
    done = []
    for group in groups:
        lines = "".join(json.dumps(variation._asdict()) + "\n" for variation in group)
        command = [sys.executable, "-m", "bench.determinism", name, "--requests", str(number), "--work"]
        made = subprocess.run(
            command, input=lines, stdout=subprocess.PIPE, text=True, check=True, env=engine_environment()
        ).stdout.splitlines()
        for variation, line in zip(group, made, strict=True):
            done.append(json.loads(line))
            print(f"{variation.name}: {done[-1]['seconds']:.0f} s", file=sys.stderr, flush=True)
    return done


def measured(name: str, number: int) -> dict[str, Any]:
    """Return the table of one model: for each variation, how many answers differ from the first time."""
    model = find_model(name)
    answers = series(name, number)
    first = answers[0]["answers"]
    rows = [
        {
            "variation": variation.name,
            "texts_differ": sum(one[0] != other[0] for one, other in zip(first, each["answers"], strict=True)),
            "log_probabilities_differ": sum(one != other for one, other in zip(first, each["answers"], strict=True)),
            "seconds": round(each["seconds"], 1),
        }
        for variation, each in zip(VARIATIONS, answers, strict=True)
    ]
    return {
        "model": name,
        "setup": json.loads(model.setup(installed_engine())),
        "requests": number,
        "processor": processor(),
        "answers": [{"text": text, "log_probabilities": digest_of(logged)} for text, logged in first],
        "rows": rows,
    }


def across(tables: Sequence[dict[str, Any]]) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Return the pairs of tables with answers of the same model and setup on two processors."""
    pairs = itertools.combinations([table for table in tables if table["answers"]], 2)
    return [(one, other) for one, other in pairs if (one["model"], one["setup"]) == (other["model"], other["setup"])]


def table_of(tables: Sequence[dict[str, Any]]) -> str:
    """Return the results as Markdown."""
    if not tables:
        return "\nNot measured yet.\n\n"
    lines = [
        "",
        "| model | processor | circumstances | requests | other words | other words or log-probabilities |",
        "|---|---|---|---:|---:|---:|",
    ]
    for table in tables:
        for row in table["rows"][1:]:
            counts = f"{table['requests']} | {row['texts_differ']} | {row['log_probabilities_differ']}"
            lines.append(f"| `{table['model']}` | {table['processor']} | {row['variation']} | {counts} |")
    for one, other in across(tables):
        pairs = list(zip(one["answers"], other["answers"], strict=False))
        texts = sum(first["text"] != second["text"] for first, second in pairs)
        both = sum(first != second for first, second in pairs)
        where = f"{one['processor']}, then {other['processor']}"
        lines.append(f"| `{one['model']}` | {where} | another processor | {len(pairs)} | {texts} | {both} |")
    engines = " and ".join(sorted({table["setup"]["engine"] for table in tables}))
    return "\n".join([*lines, "", f"Measured with {engines}.", "", ""])


def write(tables: Sequence[dict[str, Any]], out: Path = OUT, page: Path = PAGE) -> None:
    """Write results to their file, and their table into the page."""
    write_results(tables, table_of(tables), out, page, (START, END))


def processor() -> str:
    """Return the processor's name, as Linux gives it, or its architecture."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.machine()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.determinism", description=__doc__)
    parser.add_argument("name")
    parser.add_argument("--requests", type=int, default=40)
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.work:
        work(given.name, given.requests)
        return
    table = measured(given.name, given.requests)
    write(with_stored(OUT, [table], "model", "processor"))
    for row in table["rows"]:
        print(f"{row['variation']}: {row['texts_differ']} texts and {row['log_probabilities_differ']} differ")


if __name__ == "__main__":
    main()
