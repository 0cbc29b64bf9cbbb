"""Shows what writing one conversation costs, and what is kept of it: ``python -m bench.one_conversation RUN...``.

The runs are stored ones, of one tier of LoCoMo. Results go to ``site/conversation.json`` and into ``site/model.md``.
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from bench.page_tables import write_results
from memeval.archive.runs import RunFolder
from memeval.benchmarks.locomo.grading import tokens
from memeval.benchmarks.locomo.keys import LocomoCategory, LocomoKey
from memeval.benchmarks.session import BenchmarkSession, session_of_run
from memeval.evaluation.withhold.decoding import decoded_run
from memeval.gateway.replies import text_of
from memeval.records.call import Api, Call, Caller, Phase

OUT, PAGE = Path("site/conversation.json"), Path("site/model.md")
START, END = "<!-- conversation -->\n", "<!-- end of conversation -->\n"
"""The marks around the table in the page."""


def measured(folder: RunFolder) -> dict[str, Any]:
    """Return the cost of what a run wrote, and how much of the evidence and the answers it kept."""
    run = folder.run
    session = session_of_run(run)
    folder = decoded_run(folder, session)
    asked = {key.scenario_id for key in session.keys}
    messages = [
        turn.content for name in asked for part in session.scenarios[name].each_session() for turn in part.turns
    ]
    calls = [each for each in folder.calls() if each.caller is Caller.SYSTEM and each.phase is Phase.INGEST]
    chats = [each for each in calls if each.request.api is Api.CHAT]
    memories = [text for each in chats for text in _memories(each)] if chats else messages
    wanted = _with_words(session)
    kept = [set(tokens(text)) for text in memories]
    shares = [share for grade in folder.grades() if (share := grade.metrics.get("session_recall@10")) is not None]
    configuration = run.system.configuration
    return {
        "run": run.run_id,
        "system": run.system.slug,
        "model": chats[0].model if chats else None,
        "configuration": configuration.data() if configuration else None,
        "messages": len(messages),
        "calls": len(chats),
        "prompt_tokens": sum(each.prompt_tokens or 0 for each in chats),
        "answer_tokens": sum(each.completion_tokens or 0 for each in chats),
        "model_seconds": round(sum(each.seconds or 0.0 for each in chats)),
        "memories": len(memories),
        "copies": sum(any(message in text for message in messages) for text in memories),
        "dated_today": sum(f"[{run.timing.started[:10]}" in text for text in memories),
        "cut_short": sum(each.ended_early is not None for each in chats),
        "answers_kept": sum(any(words <= text for text in kept) for words in wanted.values()),
        "answers": len(wanted),
        "evidence_sessions": fmean(shares),
        "correct": run.scores.overall.correct,
        "questions": run.scores.overall.planned,
    }


def _with_words(session: BenchmarkSession) -> dict[str, set[str]]:
    """Return the words of each reference answer that a text can have: not of questions without an answer."""
    keys = [(each.item_id, each.key) for each in session.keys if each.category != LocomoCategory.ADVERSARIAL]
    answers = {name: key.answer or "" for name, key in keys if isinstance(key, LocomoKey)}
    return {name: words for name, answer in answers.items() if (words := set(tokens(answer)))}


def _memories(call: Call) -> list[str]:
    """Return the memories that a reply of mem0's extraction lists; none if it is no such reply."""
    try:
        listed = json.loads(text_of(call) or "")["memory"]
        return [str(each["text"]) for each in listed]
    except (ValueError, TypeError, KeyError):
        return []


def table_of(rows: Sequence[dict[str, Any]]) -> str:
    """Return the results as a table in Markdown."""
    lines = [
        "",
        "| system | memories | evidence found | answers kept | right answers |",
        "|---|---:|---:|---:|---:|",
    ]
    for row in rows:
        kept = f"{row['answers_kept']} of {row['answers']} | {row['correct']} of {row['questions']}"
        lines.append(f"| `{row['system']}` | {row['memories']} | {100 * row['evidence_sessions']:.1f} % | {kept} |")
    lines.append("")
    for row in rows:
        if row["calls"]:
            lines.append(
                f"{row['calls']} calls for `{row['system']}` had {row['prompt_tokens']:,} tokens of prompts and "
                f"{row['answer_tokens']:,} of replies, and took {row['model_seconds'] / row['messages']:.1f} seconds a "
                f"message. Of the {row['memories']} memories that the model wrote, {row['copies']} hold a "
                f"whole message, and {row['dated_today']} have the day of the run as their date. Replies that ended at "
                f"the limit of tokens: {row['cut_short']} of {row['calls']}."
            )
    return "\n".join([*lines, "", ""])


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.one_conversation", description=__doc__)
    parser.add_argument("run", nargs="+", type=Path, help="folder of a stored run")
    rows = [measured(RunFolder(path)) for path in parser.parse_args().run]
    write_results(rows, table_of(rows), OUT, PAGE, (START, END))
    print(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
