"""Chooses the judge from its name or from a track, and creates judges that use recorded judgments."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import JsonValue

from memeval.benchmarks import all_benchmarks, find
from memeval.gateway.endpoints import endpoint_for, is_makers
from memeval.judging.base import Judge
from memeval.judging.model import SEED, SETTINGS, SETUP, USUAL, ModelJudge, RecordedJudge, judge_spec
from memeval.judging.prompting import is_judges, prompts_in
from memeval.judging.rules import RulesJudge
from memeval.local import is_local
from memeval.local.catalogue import address_of, setup_of
from memeval.records.base import Digest
from memeval.records.call import Call, Caller, Prompt
from memeval.records.errors import BadInput
from memeval.records.track import Track
from memeval.removed import why_removed
from memeval.systems.channel import visible

RULES = "rules"
"""Name of the rule set without its version."""


@dataclass(frozen=True)
class ChosenJudge:
    """A judge and its endpoint. Choosing a judge needs no key and no network."""

    model: ModelJudge | None = None
    endpoint: str | None = None
    """Base URL of the endpoint; ``None`` for the rule set."""
    label: str | None = None
    """Who serves the judge model, if not its maker."""

    @property
    def name(self) -> str:
        return RulesJudge.name if self.model is None else self.model.name

    def on(self, track: Track) -> Track:
        """Return a copy of a track with this judge.

        Raises ``BadInput`` if the caller's prompts have none for the track's benchmark.
        """
        if self.model is not None and not self.model.brings(find(track.benchmark).prompts):
            raise BadInput(
                f"none of the prompts is for {track.benchmark}.",
                remedy="Remove --prompts, or name a folder with prompts of this benchmark.",
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
        """The seed of its requests, by its name in a run; empty for the rule set."""
        return {"judge": SEED} if self.model is not None and SEED in self.model.settings.values() else {}

    def prompt_rows(self, benchmark: str) -> list[Prompt]:
        texts = {} if self.model is None else self.model.prompts(find(benchmark).prompts)
        return [Prompt(name=name, text=text) for name, text in sorted(texts.items())]

    def recorded(self, calls: Mapping[Digest, Call]) -> Judge:
        """Return a judge that uses recorded judgments only, and is deterministic and offline."""
        return RulesJudge() if self.model is None else RecordedJudge(self.model, calls)


def choose_judge(named: str, label: str | None = None, prompts: Path | None = None) -> ChosenJudge:
    """Return the judge with a name.

    ``named``: ``rules``, ``local:NAME`` or ``openai:MODEL``, with or without a version. ``label``: who
    serves the judge model, if not its maker. ``prompts``: a folder with other prompts under memeval's file names, or
    the name of a shipped set. Raises ``BadInput`` if the judge does not exist, its label is missing or blank, or a
    prompt is not valid.
    """
    if named in (RulesJudge.name, RULES):
        for option, value in (("--judge-label", label), ("--prompts", prompts)):
            if value is not None:
                raise BadInput(f"{option} needs a model judge.", remedy="Remove it, or use --judge openai:MODEL.")
        return ChosenJudge()
    if named.startswith(f"{RULES}@"):
        problem = why_removed(named) or f"there is no judge '{visible(named)}'."
        raise BadInput(problem, remedy=f"Use --judge {RULES}, which is {RulesJudge.name}.")
    model, setup = judge_spec(named), None
    if is_local(named):
        setup = setup_of(model)
        url = address_of(model, setup)
    else:
        url = endpoint_for(Caller.JUDGE, needs_key=False).url
    packages = {benchmark.prompts for benchmark in all_benchmarks()}
    judge = ModelJudge(model, url, None if prompts is None else prompts_in(prompts, packages), setup=setup)
    if label is not None and not (label.strip() and label.isprintable()):
        raise BadInput("--judge-label is blank or has unprintable characters.", remedy="Name who serves the model.")
    if label is None and not judge.is_local and not is_makers(url, judge.model):
        raise BadInput(
            f"{url} is not an endpoint of the maker of {visible(judge.model)}, and the judge has no label.",
            remedy="Name the provider, for example --judge-label 'vLLM at Acme'. The label is part of the track.",
        )
    return ChosenJudge(judge, url, None if label is None else label.strip())


def judge_of(track: Track, prompts: Iterable[Prompt]) -> ChosenJudge:
    """Return the judge of a track, with its stored prompts.

    Raises ``BadInput`` if this memeval does not have the judge, or a stored prompt has no ``{answer}``.
    """
    if track.judge_endpoint is None:
        return choose_judge(track.judge)
    texts = {prompt.name: prompt.text for prompt in prompts if is_judges(prompt.name)}
    settings = _parse_settings(texts.pop(SETTINGS)) if SETTINGS in texts else USUAL
    setup = texts.pop(SETUP, None)
    judge = ModelJudge(judge_spec(track.judge), track.judge_endpoint, texts, settings, setup)
    return ChosenJudge(judge, track.judge_endpoint, track.judge_label)


def _parse_settings(settings: str) -> dict[str, JsonValue]:
    try:
        parsed = json.loads(settings)
    except (ValueError, RecursionError):
        parsed = None
    if not isinstance(parsed, dict):
        raise BadInput(f"the run's {SETTINGS} is not a JSON object.", remedy="Restore the run, or record a new one.")
    return parsed


def judged_graders(track: Track) -> frozenset[str]:
    """Return the names of a track's graders that need a judge; all of them if this memeval lacks the benchmark."""
    graders = frozenset(category.grader for category in track.categories)
    try:
        return graders & find(track.benchmark).judged_graders()
    except BadInput:
        return graders
