"""What a write costs: metered calls for 1,000 messages, or 0 with the reason, or unknown."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from memeval.archive.runs import RunFolder
from memeval.evaluation.run import summary
from memeval.records.base import digest_of
from memeval.records.call import Api, Call, Caller, ModelRequest, Phase
from memeval.records.submission import Configuration
from memeval.site.pages.systems import SystemPages
from memeval.site.table.write_costs import WriteCost, write_cost
from tests.site.factory import FakeBenchmark, planned
from tests.site.reading import pages_of, site_of
from tests.support.audits import ENDPOINT, make_call
from tests.support.runs import edit_head, make_run, make_track, write_rows

TRACK = make_track(benchmark="fake@1", data_digest=FakeBenchmark().dataset.digest)
RUN = planned()[:30]
"""The items that ran, of 60."""
MESSAGES = len(RUN) * 3 * 2
"""Messages of their scenarios: scenarios, sessions and turns."""
SHUT = {"isolation": "sandboxed", "network": "none"}
METERED = {"isolation": "sandboxed", "network": "gateway"}


def called(number: int, phase: Phase, api: Api = Api.CHAT, **more: Any) -> Call:
    body: dict[str, Any] = {"model": "m", "input": ["a", "b", "c"]} if api is Api.EMBEDDINGS else {"model": "m"}
    counts: dict[str, Any] = {"prompt_tokens": 40, "completion_tokens": None if api is Api.EMBEDDINGS else 5} | more
    where: dict[str, Any] = {"caller": Caller.SYSTEM, "phase": phase, "scenario_id": "s", "ordinal": number}
    request = ModelRequest(endpoint=ENDPOINT, api=api, body=body)
    return make_call(request, key=digest_of([number, phase]), **where, **counts)


def with_calls(folder: RunFolder, calls: Sequence[Call]) -> None:
    mine = [call.model_copy(update={"run_id": folder.run.run_id}) for call in calls]
    files = {name: each.data() for name, each in folder.run.files.items()}
    responses = [
        each.model_copy(update={"scenario_id": f"sc-{item}"})
        for each, (item, _category) in zip(folder.responses(), RUN, strict=False)
    ]
    files["responses.jsonl"] = write_rows(folder.path / "responses.jsonl.gz", responses).data()
    files["calls.jsonl"] = write_rows(folder.path / "calls.jsonl.gz", mine).data()
    usage = summary.usage(folder.run.run_id, [], mine, [])
    edit_head(folder, files=files, usage={phase.value: each.data() for phase, each in usage.items()}, **METERED)


def cost_of(results: Path) -> WriteCost:
    site = site_of(results)
    found = write_cost(site, site.board.of_system("acme"))
    assert found is not None
    return found


def test_metered_calls_of_writing_are_counted_for_a_thousand_messages_of_the_scenarios_that_ran(tmp_path: Path) -> None:
    made = make_run(tmp_path, "acme", track=TRACK, declared_models=("m",))
    calls = [called(number, Phase.INGEST) for number in range(18)]
    calls += [called(number, Phase.SETTLE, Api.EMBEDDINGS) for number in range(36)]
    calls += [called(number, Phase.SEARCH) for number in range(500)]
    with_calls(made, calls)
    found = cost_of(tmp_path)
    assert found.calls == pytest.approx(1000 * 54 / MESSAGES)
    assert found.tokens == pytest.approx(1000 * (18 * 45 + 36 * 40) / MESSAGES)
    assert found.embeddings == pytest.approx(1000 * 36 * 3 / MESSAGES)
    assert found.said == "300 calls, 12,500 tokens, 600 embeddings (metered over 180 messages of Fake benchmark)"


def test_uncounted_tokens_are_unknown_and_no_zero(tmp_path: Path) -> None:
    made = make_run(tmp_path, "acme", track=TRACK, declared_models=("m",))
    with_calls(made, [called(0, Phase.INGEST), called(1, Phase.INGEST, prompt_tokens=None)])
    found = cost_of(tmp_path)
    assert found.calls == pytest.approx(2000 / MESSAGES)
    assert found.tokens is None


@pytest.mark.parametrize(
    ("embedder", "head", "said"),
    [
        ("no embedder", SHUT, "0 calls, 0 tokens, 0 embeddings (no model calls possible)"),
        (
            "MiniLM",
            SHUT,
            "0 calls, 0 tokens (no model calls possible; embedder in its own process (MiniLM), not metered)",
        ),
        (None, SHUT, "0 calls, 0 tokens (no model calls possible)"),
        ("no embedder", {"isolation": "files reachable", "network": "open"}, "unknown: not metered"),
    ],
)
def test_nothing_is_free_but_where_no_model_could_be_called(
    tmp_path: Path, embedder: str | None, head: dict[str, str], said: str
) -> None:
    edit_head(make_run(tmp_path, "acme", track=TRACK, configuration=Configuration(embedder=embedder)), **head)
    assert cost_of(tmp_path).said == said


def test_a_mock_says_nothing_of_what_the_product_costs(tmp_path: Path) -> None:
    edit_head(make_run(tmp_path, "acme", track=TRACK, mock=True), **SHUT)
    assert cost_of(tmp_path).said == "a stand-in replaces its model"


def test_the_page_of_a_product_says_what_a_write_costs(tmp_path: Path) -> None:
    made = edit_head(make_run(tmp_path, "acme", track=TRACK), **SHUT)
    page = pages_of(site_of(tmp_path), SystemPages)["systems/acme/"]
    assert f'<a href="../../runs/{made.run.run_id}/">0 calls, 0 tokens (no model calls possible)</a>.' in page
