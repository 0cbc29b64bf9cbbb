"""The prompts of the model judge: one per kind of key and stance, with the answer fenced as data.

The prompts are files next to this module, in memeval's own words. A placeholder ``{name}`` is replaced with a part of
the case. ``{answer}`` includes the fence, so a user's prompt is fenced too.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

from memeval.judging.base import Case
from memeval.keys import (
    AnswerKey,
    BeliefKey,
    CascadeKey,
    Fact,
    LocomoCategory,
    LocomoKey,
    LongMemEvalKey,
    LongMemEvalType,
    NoiseKey,
    QaKey,
    ReflectKey,
    Stance,
    TemporalKey,
    UncertaintyKey,
)
from memeval.records.base import Digest, digest_bytes, digest_of
from memeval.records.errors import BadInput

REMINDER = "reminder"
"""The text appended to the second request after a reply that is neither yes nor no."""

JUDGES = "judge/"
"""Prefix of the names of a judge's prompts in a track."""

SHOWN: dict[str, frozenset[str]] = {
    "belief-update": frozenset({"current", "stale"}),
    "cascade-propagation": frozenset({"root_change", "dependent"}),
    "cascade-propagation-confirmed": frozenset({"root_change", "dependent"}),
    "noise-resistance": frozenset({"reference", "distractors"}),
    "temporal-belief": frozenset({"reference", "others"}),
    "uncertainty-abstention": frozenset({"reason"}),
    "uncertainty-abstention-confirmed": frozenset({"reason", "dependent"}),
    "locomo-answer": frozenset({"reference"}),
    "locomo-all-parts": frozenset({"reference"}),
    "locomo-period": frozenset({"reference", "dates"}),
    "locomo-adversarial": frozenset(),
    "longmemeval-answer": frozenset({"reference"}),
    "longmemeval-time": frozenset({"reference"}),
    "longmemeval-update": frozenset({"reference"}),
    "longmemeval-preference": frozenset({"rubric"}),
    "longmemeval-abstention": frozenset({"explanation"}),
    "qa-answer": frozenset({"reference"}),
    "reflect-point": frozenset({"reference"}),
    "reflect-claim": frozenset({"claim"}),
}
"""Per prompt, the allowed placeholders from the key. ``question``, ``answer`` and ``fence`` are always allowed."""

SETS = ("lenient",)
"""Additional sets of prompts in memeval, by name; each replaces some of the default prompts."""

_FAMILIES = {"astrocyte": "reflect", "locomo": "locomo", "longmemeval": "longmemeval", "qa": "qa"}
"""Per family of benchmarks (the first part of the name), the prefix of its prompts. Other benchmarks share the other
prompts."""

_LOCOMO = {
    LocomoCategory.SINGLE_HOP: "locomo-answer",
    LocomoCategory.OPEN_DOMAIN: "locomo-answer",
    LocomoCategory.MULTI_HOP: "locomo-all-parts",
    LocomoCategory.TEMPORAL: "locomo-period",
    LocomoCategory.ADVERSARIAL: "locomo-adversarial",
}

_LONGMEMEVAL = {
    LongMemEvalType.SINGLE_SESSION_USER: "longmemeval-answer",
    LongMemEvalType.SINGLE_SESSION_ASSISTANT: "longmemeval-answer",
    LongMemEvalType.MULTI_SESSION: "longmemeval-answer",
    LongMemEvalType.TEMPORAL_REASONING: "longmemeval-time",
    LongMemEvalType.KNOWLEDGE_UPDATE: "longmemeval-update",
    LongMemEvalType.SINGLE_SESSION_PREFERENCE: "longmemeval-preference",
}

ANSWER_CHARACTERS = 24_000
"""Longer answers lose their middle. The limit is part of the judge's version."""

_ALWAYS = frozenset({"question", "answer", "fence"})
_PLACEHOLDER = re.compile(r"\{(\w+)\}")


class Prompts:
    """The prompts in use.

    Args:
        brought: the user's prompts, by name in a track; they replace memeval's.

    Raises:
        BadInput: a prompt has an unknown name, an unknown placeholder, or no ``{answer}``.
    """

    def __init__(self, brought: Mapping[str, str] | None = None) -> None:
        texts = {f"{JUDGES}{name}": (_shipped() / f"{name}.txt").read_text("utf-8") for name in (*SHOWN, REMINDER)}
        for name, text in (brought or {}).items():
            _check(name.removeprefix(JUDGES), text, name)
        self.texts: dict[str, str] = dict(sorted((texts | dict(brought or {})).items()))
        """All prompts, by name in the track."""
        self.brought = frozenset(brought or ())
        """The user's prompts, by name in the track."""

    @property
    def digests(self) -> dict[str, Digest]:
        """Digest of each prompt's bytes, by name, as in the track."""
        return {name: digest_bytes(text.encode()) for name, text in self.texts.items()}

    def of(self, benchmark: str) -> dict[str, str]:
        """Return the prompts for a benchmark's keys, by name in its tracks.

        Args:
            benchmark: name of the benchmark, with or without its version.
        """
        family = benchmark.partition("@")[0].partition("-")[0]
        owners = (None, _FAMILIES.get(family, ""))
        return {each: text for each, text in self.texts.items() if _owner(each) in owners}

    def asking(self, case: Case) -> str:
        """Return the text of the request about a case.

        Raises:
            TypeError: keys of this kind are not judged.
        """
        mark = _mark(case)
        values = _shown(case.key) | {
            "question": case.question,
            "fence": mark,
            "answer": fenced(_bounded(case.answer), mark),
        }
        # One pass: a placeholder inside a value is never replaced.
        return _PLACEHOLDER.sub(lambda found: values[found.group(1)], self.texts[f"{JUDGES}{prompt_name(case.key)}"])

    def asking_again(self, case: Case) -> str:
        """Return the text of the second request: the first, and a reminder of the required form."""
        return f"{self.asking(case)}\n{self.texts[JUDGES + REMINDER]}"


def is_judged(key: AnswerKey) -> bool:
    """Return whether answers to keys of this kind are judged."""
    return key.kind in SHOWN or isinstance(key, LocomoKey | LongMemEvalKey | QaKey)


def prompt_name(key: AnswerKey) -> str:
    """Return the name of the prompt for a key.

    Raises:
        TypeError: keys of this kind are not judged.
    """
    match key:
        case LocomoKey(category=category):
            return _LOCOMO[category]
        case LongMemEvalKey(abstention=True):
            return "longmemeval-abstention"
        case LongMemEvalKey(question_type=question_type):
            return _LONGMEMEVAL[question_type]
        case QaKey():
            return "qa-answer"
        case CascadeKey(stance=Stance.CONFIDENT) | UncertaintyKey(stance=Stance.CONFIDENT):
            return f"{key.kind}-confirmed"
        case ReflectKey(points=points):
            return "reflect-point" if points else "reflect-claim"
        case _ if key.kind in SHOWN:
            return key.kind
        case _:
            raise TypeError(f"no model judges keys of kind {key.kind!r}")


def fenced(answer: str, mark: str) -> str:
    """Return an answer between two lines with a mark.

    Args:
        answer: the answer, which must not contain the mark.
        mark: twelve hexadecimal digits.
    """
    begin, end = fence(mark)
    return f"{begin}\n{answer}\n{end}"


def fence(mark: str) -> tuple[str, str]:
    """Return the lines before and after an answer."""
    return f"----- answer {mark} begins -----", f"----- answer {mark} ends -----"


def _mark(case: Case) -> str:
    """Return a mark for the fence of a case; the answer does not contain it.

    The mark comes from a digest of question, answer and key; a counter is added until the answer does not contain it.
    """
    material = [case.question, case.answer, case.key.data()]
    answer = case.answer.lower()
    draw = 0
    while (mark := digest_of([draw, *material])[7:19]) in answer:
        draw += 1
    return mark


def _bounded(answer: str) -> str:
    """Return an answer, without its middle if it is longer than ``ANSWER_CHARACTERS``."""
    if len(answer) <= ANSWER_CHARACTERS:
        return answer
    kept = ANSWER_CHARACTERS // 2
    return f"{answer[:kept]}\n[{len(answer) - 2 * kept} characters left out here]\n{answer[-kept:]}"


def _shown(key: AnswerKey) -> dict[str, str]:
    """Return the values of a key's placeholders."""
    match key:
        case BeliefKey():
            return {"current": key.current.text, "stale": _listed(key.stale)}
        case CascadeKey():
            return {"root_change": key.root_change, "dependent": key.dependent.text}
        case NoiseKey():
            return {"reference": key.reference.text, "distractors": _listed(key.distractors)}
        case TemporalKey():
            return {"reference": key.reference.text, "others": _listed(key.others)}
        case UncertaintyKey():
            return {"reason": key.reason, "dependent": key.dependent.text}
        case LocomoKey():
            return {"reference": key.answer or "None", "dates": ", ".join(key.dates) or "Not known"}
        case LongMemEvalKey():
            return dict.fromkeys(("reference", "rubric", "explanation"), key.answer)
        case QaKey():
            return {"reference": key.answer}
        case ReflectKey():
            return {"reference": _listed(key.points), "claim": _listed(key.forbidden)}
        case _:
            raise TypeError(f"no model judges keys of kind {key.kind!r}")


def _listed(facts: tuple[Fact, ...]) -> str:
    return ", ".join(fact.text.rstrip(".") for fact in facts) or "None"


def is_judges(prompt: str) -> bool:
    """Return whether a prompt's name in a track is the judge's."""
    return prompt.startswith(JUDGES)


def _shipped() -> Traversable:
    return resources.files("memeval.judging") / "prompts"


def _owner(prompt: str) -> str | None:
    """Return the family of a prompt; blank for the prompts of other benchmarks, ``None`` for the reminder."""
    name = prompt.removeprefix(JUDGES)
    beginning = name.partition("-")[0]
    return None if name == REMINDER else beginning if beginning in _FAMILIES.values() else ""


def prompts_in(folder: Path) -> dict[str, str]:
    """Return the prompts in a user's folder, or of a set in memeval, by name in a track.

    Args:
        folder: a folder of ``.txt`` files named like memeval's; or the name of a set, if there is no such folder.

    Raises:
        BadInput: there are no prompts, or one has an unknown name, an unknown placeholder, or no ``{answer}``.
    """
    if str(folder) in SETS and not folder.exists():
        shipped = _shipped() / str(folder)
        return {f"{JUDGES}{Path(file.name).stem}": file.read_text("utf-8") for file in shipped.iterdir()}
    try:
        files = sorted(path for path in folder.iterdir() if path.suffix == ".txt")
        raw = {path: path.read_bytes() for path in files}
    except OSError as error:
        raise BadInput(f"the prompts cannot be read ({error.strerror}).", where=folder) from None
    if not raw:
        raise BadInput("no prompts in this folder.", where=folder, remedy=f"Names: {_names()}.")
    found = {}
    for path, data in raw.items():
        try:
            text = data.decode()
        except UnicodeDecodeError:
            raise BadInput("the prompt is not UTF-8 text.", where=path) from None
        _check(path.stem, text, path)
        found[f"{JUDGES}{path.stem}"] = text
    return found


def _check(name: str, text: str, where: object) -> None:
    if name not in (*SHOWN, REMINDER):
        near = difflib.get_close_matches(name, (*SHOWN, REMINDER), n=1)
        hint = f"Did you mean '{near[0]}.txt'?" if near else f"Names: {_names()}."
        raise BadInput(f"unknown prompt '{name}'.", where=where, remedy=hint)
    used = set(_PLACEHOLDER.findall(text))
    known = SHOWN[name] | _ALWAYS if name in SHOWN else frozenset()
    if unknown := sorted(used - known):
        offered = ", ".join(f"{{{each}}}" for each in sorted(known)) or "none"
        raise BadInput(
            f"unknown placeholder {{{unknown[0]}}}.", where=where, remedy=f"Placeholders of this prompt: {offered}."
        )
    if name in SHOWN and "answer" not in used:
        raise BadInput("the prompt has no {answer}, so the judge would not see it.", where=where)


def _names() -> str:
    return ", ".join(f"{name}.txt" for name in (*SHOWN, REMINDER))
