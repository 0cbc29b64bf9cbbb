"""Who judges: from what the caller names, or a track says, to a judge whose rulings come from recorded judgments."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import JsonValue

from memeval.gateway.endpoints import dated, endpoint_for, is_makers
from memeval.judging.base import Judge
from memeval.judging.model import SEED, SETTINGS, USUAL, ModelJudge, RecordedJudge, judge_spec
from memeval.judging.prompting import is_judges, prompts_in
from memeval.judging.rules import RulesJudge
from memeval.records.base import Digest
from memeval.records.call import Call, Caller
from memeval.records.errors import BadInput
from memeval.records.prompt import Prompt
from memeval.records.track import Track
from memeval.systems.output import visible


@dataclass(frozen=True)
class ChosenJudge:
    """A judge, and where it is reached. Choosing one needs no key and no network; asking it does."""

    model: ModelJudge | None = None
    """The model judge; ``None`` for the rule set."""
    endpoint: str | None = None
    """Base URL at which it is reached."""
    label: str | None = None
    """What it is called where its endpoint is not its maker's."""

    @property
    def name(self) -> str:
        """Name and version, as in a track."""
        return RulesJudge.name if self.model is None else self.model.name

    def on(self, track: Track) -> Track:
        """Return the track that differs from another in its judge alone.

        Raises:
            BadInput: prompts were brought, and none of them is for the track's benchmark.
        """
        if self.model is not None and not self.model.brings(track.benchmark):
            raise BadInput(
                f"none of the prompts is for {track.benchmark}, so they would change nothing.",
                remedy="Leave --prompts out, or name a folder with prompts of this benchmark.",
            )
        others = {name: digest for name, digest in track.prompts.items() if not is_judges(name)}
        return track.model_copy(
            update={
                "judge": self.name,
                "judge_endpoint": self.endpoint,
                "judge_label": self.label,
                "prompts": others | {prompt.name: prompt.digest for prompt in self.prompt_rows(track.benchmark)},
            }
        )

    @property
    def seeds(self) -> dict[str, int]:
        """The seed it is asked with, by its name in a run; none for the rule set."""
        return {"judge": SEED} if self.model is not None and SEED in self.model.settings.values() else {}

    def prompt_rows(self, benchmark: str) -> list[Prompt]:
        """Return its prompts for a benchmark as they are stored with a run of it."""
        texts = {} if self.model is None else self.model.prompts(benchmark)
        return [Prompt(name=name, text=text) for name, text in sorted(texts.items())]

    def recorded(self, calls: Mapping[Digest, Call]) -> Judge:
        """Return the judge that rules from recorded judgments alone: pure, offline, the same every time."""
        return RulesJudge() if self.model is None else RecordedJudge(self.model, calls)


def choose_judge(named: str, label: str | None = None, prompts: Path | None = None) -> ChosenJudge:
    """Return the judge that a caller names.

    Args:
        named: ``rules`` or ``openai:MODEL``, with or without a version.
        label: what a judge at an endpoint that is not its maker's is called.
        prompts: a folder with other prompts, by the names of memeval's own, or the name of a set that is shipped.

    Raises:
        BadInput: there is no such judge, its endpoint is not its maker's and it has no label, or a prompt is none.
    """
    if named in (RulesJudge.name, RulesJudge.name.partition("@")[0]):
        for option, value in (("--judge-label", label), ("--prompts", prompts)):
            if value is not None:
                raise BadInput(
                    f"{option} goes with a model judge.", remedy="Leave it out, or give --judge openai:MODEL."
                )
        return ChosenJudge()
    if named.startswith("rules@"):
        raise BadInput(f"there is no judge '{visible(named)}'.", remedy=f"There is: {RulesJudge.name}.")
    url = endpoint_for(Caller.JUDGE, needs_key=False).url
    judge = ModelJudge(judge_spec(named), url, None if prompts is None else prompts_in(prompts))
    if label is not None and not (label.strip() and label.isprintable()):
        raise BadInput("--judge-label is blank, or holds signs that do not print.", remedy="Say who serves the model.")
    if label is None and not is_makers(url, judge.model):
        raise BadInput(
            f"{url} is not where the maker of {visible(judge.model)} serves it, and the judge has no label.",
            remedy="Say who serves it, such as --judge-label 'vLLM at Acme'; the label becomes part of the track.",
        )
    return ChosenJudge(judge, url, None if label is None else label.strip())


def judge_of(track: Track, prompts: Iterable[Prompt]) -> ChosenJudge:
    """Return the judge that a track names, as it was.

    Args:
        track: the track of a stored run.
        prompts: the prompts stored with the run.

    Raises:
        BadInput: this memeval has no such judge.
    """
    if track.judge_endpoint is None:
        return choose_judge(track.judge)
    texts = {prompt.name: prompt.text for prompt in prompts if is_judges(prompt.name)}
    settings = _read(texts.pop(SETTINGS)) if SETTINGS in texts else USUAL
    judge = ModelJudge(judge_spec(track.judge), track.judge_endpoint, texts, settings)
    return ChosenJudge(judge, track.judge_endpoint, track.judge_label)


def _read(settings: str) -> dict[str, JsonValue]:
    """Return stored settings of requests."""
    try:
        found = json.loads(settings)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise BadInput(f"the run's {SETTINGS} is not a JSON object.", remedy="Restore the run, or record a new one.")
    return found


def is_judged_by(track: Track, named: str) -> bool:
    """Return whether a track's judge is the one a caller names, with or without its version, by any of its names."""
    bare = track.judge.rpartition("@")[0]
    if track.judge_endpoint is None:
        return named in (track.judge, bare)
    maker, _, model = named.removesuffix(track.judge.removeprefix(bare)).partition(":")
    return f"{maker}:{dated(model)}" == bare
