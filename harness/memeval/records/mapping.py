"""How the fields of a file made elsewhere map to answers. Data, not code."""

import re
from collections import Counter
from typing import Annotated

from pydantic import Field

from memeval.records.base import Record

VOTE_RULES = {"majority": "verdicts", "mean": "scores"}
"""Where each rule for a list of votes belongs: most votes give a verdict, their mean a score."""


class FieldPlace(Record):
    """Where one value of a row is, and which part of it counts."""

    path: str | None = None
    """JSONPath of the value inside the row, such as ``score.correct``."""
    key: int | None = None
    """Instead: place in the path of the row itself, from 0, such as the name of its list."""
    pattern: str | None = None
    """A regular expression that must match somewhere; its group is the value. ``None``: the whole value."""
    written: str = "{}"
    """How the value is written afterwards; ``{}`` stands for it."""
    votes: str | None = None
    """The rule for a list of votes: ``majority`` in a verdict, ``mean`` in a score. ``None``: it is no list."""

    def problem(self) -> str | None:
        """Return why it names no place, as a sentence; ``None`` if it does."""
        if (self.path is None) == (self.key is None):
            return "a field needs either 'path' or 'key'."
        try:
            groups = 1 if self.pattern is None else re.compile(self.pattern).groups
        except re.error as error:
            return f"'{self.pattern}' is not a regular expression: {error}."
        if groups != 1:
            return f"'{self.pattern}' must have exactly one group, the part to keep."
        if self.votes not in (None, *VOTE_RULES):
            return f"'{self.votes}' is no rule for votes; choose {' or '.join(VOTE_RULES)}."
        return None


RowField = Annotated[str | FieldPlace, Field(union_mode="left_to_right")]
"""A JSONPath inside the row, or a table with more detail."""


class RowMapping(Record):
    """How the rows of a file map to items. Every field except ``rows`` is optional."""

    rows: str
    """JSONPath of the rows, such as ``$.*[*]``. A file of JSON lines is one list: ``$[*]``."""
    where: dict[str, str] = {}
    """Values that a row must have, by JSONPath; other rows are not part of the file's answers."""
    item: RowField | None = None
    """The benchmark's id of the question."""
    category: RowField | None = None
    """The category, where memeval does not have the benchmark's key. Otherwise the key names it."""
    scenario: RowField | None = None
    """The conversation: its id, or its number from 0 in the benchmark's order."""
    question: RowField | None = None
    gold: RowField | None = None
    """The reference answer."""
    trial: RowField | None = None
    """Number of the repetition, if questions are asked several times."""
    answer: RowField | None = None
    """The system's answer."""
    verdicts: dict[str, RowField] = {}
    """Verdicts of judges, by name."""
    scores: dict[str, RowField] = {}
    """Other scores of the row, by name, as the file gives them."""
    retrieved: RowField | None = None
    """Ids of the retrieved sessions or turns, best first: a list, or a JSONPath with several values."""
    retrieved_turns: RowField | None = None
    """Ids of the retrieved turns, which count in place of ``retrieved`` where the row has any."""
    retrieved_known: RowField | None = None
    """``false`` in rows whose retrieved ids say nothing."""
    evidence: RowField | None = None
    """Ids of the evidence, as the file gives them, in the same form."""
    prompt_tokens: RowField | None = None
    """Tokens sent to models for the answer."""
    completion_tokens: RowField | None = None
    """Tokens received from models for the answer."""
    context_tokens: RowField | None = None
    """Tokens of context."""
    seconds: RowField | None = None
    """Seconds for the answer."""
    milliseconds: RowField | None = None
    """Milliseconds for the answer, instead of ``seconds``."""
    cost_usd: RowField | None = None
    """Dollars for the answer."""
    error: RowField | None = None
    """The error of a failed answer, as text; or ``true``, if the answer itself is the error."""
    judge: RowField | None = None
    """Who gave the verdicts, if each row says so."""

    def fields(self) -> dict[str, RowField]:
        """Return the places of all values of a row, by name."""
        found: dict[str, RowField] = {}
        for name in ROW_FIELDS:
            value = getattr(self, name)
            if isinstance(value, dict):
                found |= {f"{name}.{each}": place for each, place in value.items()}
            elif value is not None:
                found[name] = value
        return found

    def problem(self) -> str | None:
        """Return what its fields contradict each other in, as a sentence; ``None`` if nothing."""
        fields = self.fields()
        for name, place in fields.items():
            if isinstance(place, FieldPlace) and (found := place.problem()) is not None:
                return f"'{name}': {found}"
            if isinstance(place, FieldPlace) and place.votes and not name.startswith(f"{VOTE_RULES[place.votes]}."):
                return f"'{name}': the vote rule '{place.votes}' belongs under '{VOTE_RULES[place.votes]}'."
        if self.seconds is not None and self.milliseconds is not None:
            return "both 'seconds' and 'milliseconds' are mapped; choose one."
        place, times = Counter(map(_written, fields.values())).most_common(1)[0] if fields else ("", 0)
        if times > 1:
            twice = [name for name, each in fields.items() if _written(each) == place]
            return f"'{twice[0]}' and '{twice[1]}' are both mapped to {place}; map each field of the file once."
        return None


ROW_FIELDS = tuple(name for name in RowMapping.model_fields if name not in ("rows", "where"))
"""The fields of a mapping that are places in a row."""


def _written(place: RowField) -> str:
    """Return a place as text, equal for places of equal values."""
    detail = FieldPlace(path=place) if isinstance(place, str) else place
    told = detail.model_dump(exclude_defaults=True)
    return ", ".join(f"{name} '{value}'" for name, value in told.items())


class Beside(Record):
    """A second file in the same folder, with settings of the same run."""

    part: str
    """Part of the file's name that the second file's name has replaced."""
    by: str
    """What stands in its place."""


class AnswerMapping(RowMapping):
    """How a file of answers maps to a run: its rows, and what it says about all of them.

    A JSONPath outside of rows starts at the top of the file; ``beside`` stands for the file beside it. Every row must
    have ``item`` and ``answer``, and the file ``system``; all else may be missing.
    """

    blank_answers: bool = False
    """Whether a row may leave out a blank answer."""

    beside: Beside | None = None
    """The file beside it, if there is one."""
    system: str | None = None
    """JSONPath of the system's name; ``None``: the file's name."""
    system_in_name: str = r"^(.*?)(?:\.[^.]*)?$"
    """A regular expression whose group is the system's name in the file's name."""
    version: str | None = None
    """JSONPath of the system's version."""
    made_by: str | None = None
    """The program that writes such files."""
    made_at: str | None = None
    """JSONPath of the time at which the answers were made."""
    reader: str | None = None
    """JSONPath of the model that wrote the answers."""
    limits: dict[str, tuple[str, ...]] = {}
    """JSONPaths of the limits of the run, by memeval's name; the first that has a value counts."""
    spent_usd: tuple[str, ...] = ()
    """JSONPaths of the costs of the run in dollars, without the judge's; their sum counts."""
    claimed_verdict: str | None = None
    """The verdict whose mean the file claims, if every row has it."""
    claimed_score: str | None = None
    """JSONPath of the claimed score, in [0, 1]."""
    claimed_items: str | None = None
    """JSONPath of the number of questions in the claimed score; without a value, the number of rows."""
    claimed_judge: str | None = None
    """JSONPath of the judge that gave the claimed score."""
