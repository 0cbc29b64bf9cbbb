"""The prompts of the model judge, with the answer fenced as data.

A prompt is a file in the folder ``prompts`` of the package that its key names, in memeval's own words. A placeholder
``{name}`` is replaced with a part of the case. ``{answer}`` includes the fence, so a user's prompt is fenced too. A
user's prompt may have the placeholders of the prompt that it replaces.
"""

import difflib
import re
from collections.abc import Iterable, Mapping
from importlib import resources
from pathlib import Path

from memeval.judging.base import Case
from memeval.keys import AnswerKey
from memeval.records.base import digest_of
from memeval.records.errors import BadInput

REMINDER = "reminder"
"""The text appended to the second request after a reply that is neither yes nor no."""

JUDGES = "judge/"
"""Prefix of the names of a judge's prompts in a track."""

SHARED = "memeval.judging"
"""The package with the prompts that benchmarks share."""

ANSWER_CHARACTERS = 24_000
"""Longer answers lose their middle. The limit is part of the judge's version."""

_PLACEHOLDER = re.compile(r"\{(\w+)\}")


class Prompts:
    """The prompts in use. Each is read on first use.

    ``brought``: the user's prompts, by name in a track; they replace memeval's. Raises ``BadInput``: a prompt of the
    user has no ``{answer}``.
    """

    def __init__(self, brought: Mapping[str, str] | None = None) -> None:
        self._brought = frozenset(brought or ())
        self._texts = dict(brought or {})
        for name, text in self._texts.items():
            if name != JUDGES + REMINDER:
                _require_answer(text, name)

    def of(self, package: str) -> dict[str, str]:
        """Return the prompts of a benchmark with the prompts of a package, by name in its tracks."""
        names = sorted((REMINDER, *prompt_names(package)))
        return {f"{JUDGES}{name}": self._text(package, name) for name in names}

    def brings(self, package: str) -> bool:
        """Return whether the user's prompts include one of a package; true without prompts of the user."""
        return not self._brought or not self._brought.isdisjoint(self.of(package))

    def asking(self, case: Case) -> str:
        """Return the text of the request about a case.

        Raises ``TypeError``: keys of this kind are not judged. Raises ``BadInput``: the prompt has an unknown
        placeholder.
        """
        mark = _mark(case)
        values = {
            **case.key.shown,
            "question": case.question,
            "fence": mark,
            "answer": fenced(_bounded(case.answer), mark),
        }
        name = prompt_name(case.key)

        def value(found: re.Match[str]) -> str:
            if found.group(1) not in values:
                raise _unknown_placeholder(found.group(1), values, JUDGES + name)
            return values[found.group(1)]

        # One pass: a placeholder inside a value is never replaced.
        return _PLACEHOLDER.sub(value, self._text(case.key.prompts, name))

    def asking_again(self, case: Case) -> str:
        """Return the text of the second request: the first, and a reminder of the required form."""
        return f"{self.asking(case)}\n{self._text(SHARED, REMINDER)}"

    def _text(self, package: str, name: str) -> str:
        full = f"{JUDGES}{name}"
        if full not in self._texts:
            self._texts[full] = _read(SHARED if name == REMINDER else package, name)
        return self._texts[full]


def prompt_name(key: AnswerKey) -> str:
    """Return the name of the prompt for a key. Raises ``TypeError`` if keys of this kind are not judged."""
    if key.prompt is None:
        raise TypeError(f"no model judges keys of kind {key.kind!r}")
    return key.prompt


def fenced(answer: str, mark: str) -> str:
    begin, end = fence(mark)
    return f"{begin}\n{answer}\n{end}"


def fence(mark: str) -> tuple[str, str]:
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


def is_judges(prompt: str) -> bool:
    """Return whether a prompt's name in a track is the judge's."""
    return prompt.startswith(JUDGES)


def _read(package: str, name: str, set_name: str = "") -> str:
    path = resources.files(package) / "prompts" / set_name / f"{name}.txt"
    try:
        return path.read_text("utf-8")
    except FileNotFoundError:
        raise BadInput(
            f"{package} has no judge prompt '{name}'.", where=path, remedy="Add the file, or install the package again."
        ) from None


def prompt_names(package: str, set_name: str = "") -> tuple[str, ...]:
    """Return the names of the prompts in the folder ``prompts`` of a package, in order; without the reminder.

    ``set_name``: name of a further set of prompts, a folder in that folder; blank for the usual prompts.
    """
    folder = resources.files(package) / "prompts" / set_name
    files = folder.iterdir() if folder.is_dir() else ()
    return tuple(sorted({Path(file.name).stem for file in files if file.name.endswith(".txt")} - {REMINDER}))


def prompts_in(folder: Path, packages: Iterable[str]) -> dict[str, str]:
    """Return the prompts in a user's folder, or of a set that a benchmark has, by name in a track.

    ``folder``: a folder of ``.txt`` files named like memeval's; or the name of a set, if there is no such folder.
    Raises ``BadInput``: there are no prompts, or one has an unknown name, an unknown placeholder, or no ``{answer}``.
    """
    packages = sorted({SHARED, *packages})
    if folder.name == str(folder) and not folder.exists():
        found = {
            f"{JUDGES}{name}": _read(each, name, str(folder))
            for each in packages
            for name in prompt_names(each, str(folder))
        }
        if found:
            return found
    try:
        raw = {path: path.read_bytes() for path in sorted(folder.iterdir()) if path.suffix == ".txt"}
    except OSError as error:
        raise BadInput(f"the prompts cannot be read ({error.strerror}).", where=folder) from None
    known = {name: package for package in packages for name in prompt_names(package)} | {REMINDER: SHARED}
    if not raw:
        raise BadInput("no prompts in this folder.", where=folder, remedy=f"Names: {_file_names(known)}.")
    texts = {}
    for path, data in raw.items():
        try:
            texts[f"{JUDGES}{path.stem}"] = data.decode()
        except UnicodeDecodeError:
            raise BadInput("the prompt is not UTF-8 text.", where=path) from None
        _check(path, texts[f"{JUDGES}{path.stem}"], known)
    return texts


def _check(path: Path, text: str, known: Mapping[str, str]) -> None:
    """Check a user's prompt, given the package of each known prompt by name.

    Raises ``BadInput`` if it has an unknown name, a placeholder that memeval's prompt lacks, or no ``{answer}``.
    """
    name = path.stem
    if name not in known:
        near = difflib.get_close_matches(name, known, n=1)
        hint = f"Did you mean '{near[0]}.txt'?" if near else f"Names: {_file_names(known)}."
        raise BadInput(f"unknown prompt '{name}'.", where=path, remedy=hint)
    offered = set(_PLACEHOLDER.findall(_read(known[name], name)))
    for placeholder in sorted(set(_PLACEHOLDER.findall(text)) - offered):
        raise _unknown_placeholder(placeholder, offered, path)
    if name != REMINDER:
        _require_answer(text, path)


def _require_answer(text: str, where: object) -> None:
    if "answer" not in _PLACEHOLDER.findall(text):
        raise BadInput("the prompt has no {answer}, so the judge would not see it.", where=where)


def _unknown_placeholder(name: str, offered: Iterable[str], where: object) -> BadInput:
    listed = ", ".join(f"{{{each}}}" for each in sorted(offered)) or "none"
    return BadInput(f"unknown placeholder {{{name}}}.", where=where, remedy=f"Placeholders of this prompt: {listed}.")


def _file_names(names: Iterable[str]) -> str:
    return ", ".join(f"{name}.txt" for name in names)
