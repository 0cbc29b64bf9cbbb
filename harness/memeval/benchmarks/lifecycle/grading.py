"""Graders of probes: of what a search returns, and of answers in words. Neither needs a judge."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

from memeval.benchmarks.lifecycle.keys import ProbeKey, ProbeRule, ProbeStage, ProbeStatement
from memeval.benchmarks.lifecycle.words import FRAMES
from memeval.grading.base import RuleGrader, first_failure, row
from memeval.grading.evidence import TurnIndex, index_of
from memeval.judging.base import Judge
from memeval.judging.text import normal, states
from memeval.keys import ItemKey
from memeval.records.grade import Grade, GradeState
from memeval.records.response import Response, RetrievedItem
from memeval.records.scenario import Scenario

PRECISE = 0.5
"""The least share of correct sessions among those that a text names as its sources."""


@dataclass(frozen=True)
class FoundText:
    text: str
    named: frozenset[str]
    """The sources that the system names, as sessions; unknown ones unchanged."""
    known: bool

    def makes(self, part: ProbeStatement) -> bool:
        """Return whether the text makes a statement, and is not from other sessions."""
        return states(self.text, part.phrases) and not (self.named and self.named.isdisjoint(part.sessions))

    def leaks(self, part: ProbeStatement) -> bool:
        """Return whether the text has a wrong statement, or names only its sessions as sources."""
        return states(self.text, part.phrases) or bool(self.named and self.named <= part.sessions)


def texts_of(items: Sequence[RetrievedItem], history: TurnIndex) -> list[FoundText]:
    found = []
    for item in items:
        named = frozenset(map(history.session_of, item.source_ids))
        found.append(FoundText(history.text_of(item), named, all(map(history.knows, item.source_ids))))
    return found


class _ProbeGrader(RuleGrader):
    name: str

    def grade(self, item: ItemKey, scenario: Scenario, responses: Sequence[Response], judge: Judge) -> Grade:
        """Grade one item; see :class:`memeval.grading.base.Grader`. The judge is not used."""
        key = item.key_as(ProbeKey, self.name)
        failure = first_failure([each for each in responses if each.outcome.is_error])
        if failure is not None:
            return row(item, self.name, failure[0], verdict=None, reason=failure[1], answerable=False)
        history = index_of(scenario)
        faults: list[str] = []
        metrics: dict[str, float | None] = {}
        for number, (stage, response) in enumerate(zip(key.stages, responses, strict=True), start=1):
            texts = texts_of(response.items or (), history)
            fault = self.fault(stage, texts, response.answer)
            if fault:
                faults.append(f"Question {number}: {fault}" if len(key.stages) > 1 else fault)
            metrics = _measures(stage, texts) if response.items is not None else {}
        metrics["context_tokens"] = responses[-1].context_tokens
        return row(
            item,
            self.name,
            GradeState.GRADED,
            verdict=not faults,
            reason=" ".join(faults) or "As expected.",
            answerable=False,
            metrics=metrics,
        )

    def fault(self, stage: ProbeStage, texts: Sequence[FoundText], answer: str) -> str:
        """Return why a stage fails, as a sentence; blank if it passes."""
        raise NotImplementedError


class FoundProbes(_ProbeGrader):
    name = "found-probes@1"

    def fault(self, stage: ProbeStage, texts: Sequence[FoundText], answer: str) -> str:
        return fault_of_texts(stage, texts)


class AnsweredProbes(_ProbeGrader):
    """Grades answers by whole words. Sources are graded as those of the returned texts."""

    name = "answered-probes@1"

    def fault(self, stage: ProbeStage, texts: Sequence[FoundText], answer: str) -> str:
        for part in stage.expected:
            if not (states(answer, part.phrases) or (_is_none(part) and states(answer, FRAMES.retracted.negatives))):
                return f"The answer does not say {part.phrases[0]!r}."
        for part in () if stage.rule is ProbeRule.SOURCE else stage.wrong:
            if states(answer, part.phrases):
                return f"The answer says {part.phrases[0]!r}."
        return fault_of_texts(stage, texts) if stage.rule is ProbeRule.SOURCE else ""


def fault_of_texts(stage: ProbeStage, texts: Sequence[FoundText]) -> str:
    """Return why returned texts do not pass a stage, as a sentence; blank if they pass."""
    if stage.rule is ProbeRule.ONLY:
        for place, text in enumerate(texts, start=1):
            for part in stage.wrong:
                if text.leaks(part):
                    return f"Text {place} is about {part.phrases[0]!r}, which must not be returned."
    for part in stage.expected:
        if stage.rule is ProbeRule.SOURCE:
            if fault := _source_fault(part, stage.wrong, texts):
                return fault
            continue
        at = _place(part, texts)
        if at is None:
            return f"No text says {part.phrases[0]!r}."
        if stage.rule is ProbeRule.FIRST:
            for wrong in stage.wrong:
                if _precedes(wrong, part, texts, at):
                    return f"{wrong.phrases[0]!r} comes before {part.phrases[0]!r}."
    return ""


def _source_fault(part: ProbeStatement, others: Sequence[ProbeStatement], texts: Sequence[FoundText]) -> str:
    """Return why the first text with a statement does not name its sources correctly; blank if it does.

    A text that names only the source of the same words about somebody else is passed over if another one follows.
    """
    stating = [text for text in texts if states(text.text, part.phrases)]
    elsewhere = frozenset[str]().union(*(other.sessions for other in others))
    text = next((text for text in stating if not text.named or not text.named <= elsewhere), next(iter(stating), None))
    if text is None:
        return f"No text says {part.phrases[0]!r}."
    if not text.named:
        return f"The text that says {part.phrases[0]!r} names no source."
    if not text.known:
        return f"The text that says {part.phrases[0]!r} names a source that does not exist."
    if len(text.named & part.sessions) < PRECISE * len(text.named) or text.named.isdisjoint(part.sessions):
        return f"The text that says {part.phrases[0]!r} names a wrong source."
    return ""


def _place(part: ProbeStatement, texts: Sequence[FoundText]) -> int | None:
    return next((place for place, text in enumerate(texts) if text.makes(part)), None)


def _precedes(wrong: ProbeStatement, part: ProbeStatement, texts: Sequence[FoundText], place: int) -> bool:
    """Return whether a wrong statement comes before the expected one at a place: in a text before it, or in it."""
    if any(states(text.text, wrong.phrases) for text in texts[:place]):
        return True
    return _position(texts[place].text, wrong) < _position(texts[place].text, part)


def _position(text: str, part: ProbeStatement) -> float:
    if not states(text, part.phrases):
        return inf
    flat = normal(text)
    return min((at for phrase in part.phrases if (at := flat.find(normal(phrase))) >= 0), default=inf)


def _measures(stage: ProbeStage, texts: Sequence[FoundText]) -> dict[str, float | None]:
    wrong = [place for place, text in enumerate(texts) if any(text.leaks(part) for part in stage.wrong)]
    found = [_place(part, texts) for part in stage.expected]
    measures: dict[str, float | None] = {
        "found": sum(place is not None for place in found) / len(found) if found else None,
        "found@1": sum(place == 0 for place in found) / len(found) if found else None,
    }
    for k in (1, 5, 10):
        counts = bool(stage.wrong) and stage.rule is not ProbeRule.SOURCE
        measures[f"wrong@{k}"] = float(any(place < k for place in wrong)) if counts else None
    if stage.rule is ProbeRule.SOURCE:
        faults = [_source_fault(part, stage.wrong, texts) for part in stage.expected]
        measures["missing_source"] = float(any("names no source" in fault for fault in faults))
        measures["wrong_source"] = float(any("a wrong source" in f or "does not exist" in f for f in faults))
    return measures


def _is_none(part: ProbeStatement) -> bool:
    return any(phrase.startswith(("no ", "not ")) for phrase in part.phrases)
