"""What writing 1,000 messages costs a system: model calls, tokens and embedded texts, from its stored runs."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from memeval.leaderboard.board import WITHDRAWN, BoardRow, RankStatus
from memeval.records.call import Api, Call, Caller, Phase
from memeval.records.run import SystemKind
from memeval.site.model.content import SiteModel
from memeval.site.model.labels import FREE, UNMETERED
from memeval.site.model.text import count
from memeval.site.table.spending import cannot_call

MESSAGES = 1000

NO_EMBEDDER = "no embedder"
"""What a configuration says if nothing is embedded."""

_WRITING = (Phase.INGEST, Phase.SETTLE)

_GONE = (*WITHDRAWN, RankStatus.PARTIAL)


@dataclass(frozen=True)
class WriteCost:
    """For 1,000 messages. ``None``: unknown."""

    calls: float | None
    """Calls to models, those of embedders included."""
    tokens: float | None
    """Tokens of their requests and replies."""
    embeddings: float | None
    """Texts that an embedder received. One in the system's own process cannot be metered."""
    reason: str
    """Why it is 0 or unknown, or how it was measured."""
    row: BoardRow
    """The run that shows it."""

    @property
    def text(self) -> str | None:
        """What is known, in words; ``None`` if nothing is."""
        known = ((self.calls, "call"), (self.tokens, "token"), (self.embeddings, "embedding"))
        words = [f"{count(value)} {noun}{'' if value == 1 else 's'}" for value, noun in known if value is not None]
        return ", ".join(words) or None

    @property
    def said(self) -> str:
        """What is known and why, in words."""
        return self.reason if self.text is None else f"{self.text} ({self.reason})"


def write_cost(site: SiteModel, rows: Iterable[BoardRow]) -> WriteCost | None:
    """Return what writing costs a system.

    Calls that the gateway metered count before what follows from a sandbox. ``rows``: its runs, newest first; ``None``
    without a complete run of its own.
    """
    own = [row for row in rows if row.standing not in _GONE and row.run.system.kind is not SystemKind.IMPORTED]
    if not own:
        return None
    if own[0].run.system.mock:
        return WriteCost(None, None, None, "a stand-in replaces its model", own[0])
    for row in own:
        if _calls(row) and (found := _metered(site, row)) is not None:
            return found
    for row in own:
        if cannot_call(row.run) and not _calls(row):
            return _without_models(row)
    return WriteCost(None, None, None, UNMETERED, own[0])


def _calls(row: BoardRow) -> int:
    """Return how many calls of a run's writing the gateway answered, from a model or from its record."""
    used = [row.run.usage[phase] for phase in _WRITING if phase in row.run.usage]
    return sum(usage.calls + usage.cached for usage in used)


def _without_models(row: BoardRow) -> WriteCost:
    """Return the cost of a system that had no network, no host and no model: 0, but for an embedder of its own."""
    configuration = row.run.system.configuration
    embedder = configuration.embedder if configuration else None
    if embedder in (None, NO_EMBEDDER):
        return WriteCost(0, 0, 0 if embedder else None, FREE, row)
    return WriteCost(0, 0, None, f"{FREE}; embedder in its own process ({embedder}), not metered", row)


def _metered(site: SiteModel, row: BoardRow) -> WriteCost | None:
    """Return what the gateway metered; ``None`` if the calls or the data of the run are not on this machine."""
    dataset = site.benchmark_of(row.run.track).data_for(row.run.track).dataset if row.folder.has_rows else None
    if dataset is None:
        return None
    named = {response.scenario_id for response in row.folder.responses()}
    ingested = (scenario for scenario in dataset.scenarios() if scenario.scenario_id in named)
    messages = sum(len(session.turns) for scenario in ingested for session in scenario.each_session())
    made = [call for call in row.folder.calls() if call.caller is Caller.SYSTEM and call.phase in _WRITING]
    if not messages or not made:
        return None
    each = MESSAGES / messages
    tokens = _tokens(made)
    return WriteCost(
        calls=each * len(made),
        tokens=None if tokens is None else each * tokens,
        embeddings=each * sum(_embedded(call) for call in made),
        reason=f"metered over {count(messages)} messages of {site.benchmark_of(row.run.track).title}",
        row=row,
    )


def _tokens(calls: Sequence[Call]) -> int | None:
    """Return the tokens of the calls with a reply; ``None`` if a provider did not count them."""
    counted = [(call.prompt_tokens, call.completion_tokens, call.request.api) for call in calls if call.error is None]
    total = 0
    for prompt, completion, api in counted:
        if prompt is None or (completion is None and api is Api.CHAT):
            return None
        total += prompt + (completion or 0)
    return total


def _embedded(call: Call) -> int:
    given = call.request.body.get("input") if call.request.api is Api.EMBEDDINGS else []
    return len(given) if isinstance(given, list) else 1
