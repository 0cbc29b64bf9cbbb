"""The prompts of the model judge: one a kind of key and stance, with the answer fenced off as data.

The prompts are files beside this module, in memeval's own words. ``{name}`` in one stands for something of the case;
``{answer}`` brings the fence along, so that a prompt from elsewhere is fenced as well.
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
"""The prompt that is appended when a judge is asked again because its reply was neither yes nor no."""

JUDGES = "judge/"
"""How the names of a judge's prompts begin in a track."""

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
"""Per prompt, what it may be shown of the key. All of them may be shown ``question``, ``answer`` and ``fence``."""

SETS = ("lenient",)
"""Sets of prompts that memeval ships beside its own, by name; each takes the place of some of them."""

_FAMILIES = {"astrocyte": "reflect", "locomo": "locomo", "longmemeval": "longmemeval", "qa": "qa"}
"""Benchmarks with prompts of their own, by the beginnings of their names, and with what those prompts begin. All others
share what is left."""

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
"""A longer answer is cut in the middle. The bound is part of the judge's version."""

_ALWAYS = frozenset({"question", "answer", "fence"})
_PLACEHOLDER = re.compile(r"\{(\w+)\}")


class Prompts:
    """The prompts in use, read once.

    Args:
        brought: prompts of someone's own, by their names in a track; those that are not there stay memeval's.

    Raises:
        BadInput: one has an unknown name, an unknown placeholder, or no place for the answer.
    """

    def __init__(self, brought: Mapping[str, str] | None = None) -> None:
        texts = {f"{JUDGES}{name}": (_shipped() / f"{name}.txt").read_text("utf-8") for name in (*SHOWN, REMINDER)}
        for name, text in (brought or {}).items():
            _check(name.removeprefix(JUDGES), text, name)
        self.texts: dict[str, str] = dict(sorted((texts | dict(brought or {})).items()))
        """Every prompt, by its name in the track."""
        self.brought = frozenset(brought or ())
        """Those that are someone's own, by their names in the track."""

    @property
    def digests(self) -> dict[str, Digest]:
        """Digest of every prompt's bytes, by its name, as they go into the track."""
        return {name: digest_bytes(text.encode()) for name, text in self.texts.items()}

    def of(self, benchmark: str) -> dict[str, str]:
        """Return the prompts that a benchmark's keys can be judged by, by their names in its tracks.

        Args:
            benchmark: its name, or name and version.
        """
        family = benchmark.partition("@")[0].partition("-")[0]
        owners = (None, _FAMILIES.get(family, ""))
        return {each: text for each, text in self.texts.items() if _owner(each) in owners}

    def asking(self, case: Case) -> str:
        """Return what a judge is asked about a case.

        Raises:
            TypeError: the key is of a kind that is not judged.
        """
        mark = _mark(case)
        values = _shown(case.key) | {
            "question": case.question,
            "fence": mark,
            "answer": fenced(_bounded(case.answer), mark),
        }
        # One pass: what stands in a value is never looked at again, whatever it looks like.
        return _PLACEHOLDER.sub(lambda found: values[found.group(1)], self.texts[f"{JUDGES}{prompt_name(case.key)}"])

    def asking_again(self, case: Case) -> str:
        """Return what a judge is asked whose reply was neither yes nor no: the same, and a reminder of the form."""
        return f"{self.asking(case)}\n{self.texts[JUDGES + REMINDER]}"


def is_judged(key: AnswerKey) -> bool:
    """Return whether a judge rules on answers to keys of this kind."""
    return key.kind in SHOWN or isinstance(key, LocomoKey | LongMemEvalKey | QaKey)


def prompt_name(key: AnswerKey) -> str:
    """Return the name of the prompt for a key.

    Raises:
        TypeError: the key is of a kind that is not judged.
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
    """Return an answer between two lines that carry a mark.

    Args:
        answer: the answer, which must not hold the mark.
        mark: twelve hexadecimal digits.
    """
    begin, end = fence(mark)
    return f"{begin}\n{answer}\n{end}"


def fence(mark: str) -> tuple[str, str]:
    """Return the lines before and after an answer."""
    return f"----- answer {mark} begins -----", f"----- answer {mark} ends -----"


def _mark(case: Case) -> str:
    """Return a mark for the fence of a case that its answer does not hold.

    It is drawn from a digest of all that the judge is shown, and drawn again while the answer holds it.
    """
    material = [case.question, case.answer, case.key.data()]
    answer = case.answer.lower()
    draw = 0
    while (mark := digest_of([draw, *material])[7:19]) in answer:
        draw += 1
    return mark


def _bounded(answer: str) -> str:
    """Return an answer whole, or with its middle left out where it is longer than ``ANSWER_CHARACTERS``."""
    if len(answer) <= ANSWER_CHARACTERS:
        return answer
    kept = ANSWER_CHARACTERS // 2
    return f"{answer[:kept]}\n[{len(answer) - 2 * kept} characters left out here]\n{answer[-kept:]}"


def _shown(key: AnswerKey) -> dict[str, str]:
    """Return what a judge may be shown of a key."""
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
    """Return whether a prompt of a track is the judge's, by its name."""
    return prompt.startswith(JUDGES)


def _shipped() -> Traversable:
    return resources.files("memeval.judging") / "prompts"


def _owner(prompt: str) -> str | None:
    """Return with what a prompt of some benchmarks' own begins; blank for what all others share, ``None`` for all."""
    name = prompt.removeprefix(JUDGES)
    beginning = name.partition("-")[0]
    return None if name == REMINDER else beginning if beginning in _FAMILIES.values() else ""


def prompts_in(folder: Path) -> dict[str, str]:
    """Return the prompts in a folder of someone's own, or of a set that memeval ships, by their names in a track.

    Args:
        folder: holds ``.txt`` files of the names of memeval's own; or the name of a set, where no such folder is.

    Raises:
        BadInput: there are none, or one has an unknown name, an unknown placeholder, or no place for the answer.
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
        raise BadInput("there are no prompts in this folder.", where=folder, remedy=f"Names: {_names()}.")
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
        raise BadInput(f"no prompt is called '{name}'.", where=where, remedy=hint)
    held = set(_PLACEHOLDER.findall(text))
    known = SHOWN[name] | _ALWAYS if name in SHOWN else frozenset()
    if unknown := sorted(held - known):
        offered = ", ".join(f"{{{each}}}" for each in sorted(known)) or "none"
        raise BadInput(
            f"unknown placeholder {{{unknown[0]}}}.", where=where, remedy=f"Those of this prompt: {offered}."
        )
    if name in SHOWN and "answer" not in held:
        raise BadInput("the prompt has no {answer}, so the judge would not see it.", where=where)


def _names() -> str:
    return ", ".join(f"{name}.txt" for name in (*SHOWN, REMINDER))
