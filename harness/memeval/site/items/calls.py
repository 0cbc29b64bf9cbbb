"""Model calls in the drill-down: the exact request, the raw reply, and the verdict or answer in it.

Prompts share many lines, and a reader's prompt contains the history. A prompt is therefore stored line by line: as a
turn of the scenario, or as an index into a table that all calls of a shard share.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from memeval.archive.runs import RunFolder
from memeval.execution.contexts import TurnTexts
from memeval.gateway.replies import text_of
from memeval.judging.base import parse_strict
from memeval.records.base import canonical_json
from memeval.records.call import Call, Caller, ModelRequest
from memeval.records.grade import Grade
from memeval.records.response import Response
from memeval.site.model.files import Data, lean, shown_text, text_reference

PROMPT_CHARACTERS = 20_000
"""Maximum characters of a message without turns; its middle is left out. The run's files contain it."""

REPLY_CHARACTERS = 4_000
"""Maximum characters of a reply, its raw body, or an error."""

REMINDER_LINES = 60
"""Maximum number of lines that a repeated judge request adds to the prompt."""

SETTINGS = ("temperature", "max_tokens", "max_completion_tokens", "reasoning_effort", "seed", "random_seed", "n")
"""Fields of a request that are shown besides model and messages."""


class PromptTable:
    def __init__(self) -> None:
        self._places: dict[str, int] = {}
        self.size = 0
        """Characters in the table."""

    def place(self, line: str) -> int:
        if line not in self._places:
            self._places[line] = len(self._places)
            self.size += len(line)
        return self._places[line]

    @property
    def table(self) -> list[str]:
        return list(self._places)


class CallTables:
    """The calls behind a run's answers and grades.

    ``turns``: the scenarios' turns, by scenario; empty if the data is not on this machine.
    """

    def __init__(self, folder: RunFolder, turns: Mapping[str, TurnTexts], words: bool) -> None:
        self._judgments = {call.key: call for call in folder.judgments()}
        self._asked = {_text(call.request): call for call in self._judgments.values()}
        self._read = {call.key: call for call in folder.calls() if call.caller is Caller.READER}
        self._turns = turns
        self._words = words

    def of_judge(self, grade: Grade, lines: PromptTable) -> list[Data] | None:
        """Return the judge calls of an item, the decisive one last; ``None`` if absent."""
        last = self._judgments.get(grade.judgment_key) if grade.judgment_key else None
        if last is None:
            return None
        return [self._call(call, None, lines) | {"read": _verdict(call)} for call in (*self._before(last), last)]

    def of_reader(self, response: Response, lines: PromptTable) -> Data | None:
        """Return the reader call of a response; ``None`` if absent."""
        call = self._read.get(response.reader_key) if response.reader_key else None
        return None if call is None else self._call(call, self._turns.get(response.scenario_id), lines)

    def _before(self, last: Call) -> Iterator[Call]:
        """Yield the call before a reminder: the reminder's prompt starts with its prompt."""
        text = _text(last.request)
        for _line in range(REMINDER_LINES):
            text, newline, _rest = text.rpartition("\n")
            if not newline:
                return
            if text in self._asked:
                yield self._asked[text]
                return

    def _call(self, call: Call, turns: TurnTexts | None, lines: PromptTable) -> Data:
        body = call.request.body
        return lean(
            {
                "key": call.key,
                "endpoint": call.request.endpoint,
                "model": call.request.model,
                "replied": call.model,
                "fingerprint": call.fingerprint,
                "settings": {name: body[name] for name in SETTINGS if isinstance(body.get(name), int | float)},
                "messages": [
                    {"role": role, "text": _encoded(text, turns, lines) if self._words else text_reference(text)}
                    for role, text in _messages(call.request)
                ],
                "reply": self._shown(text_of(call)),
                "body": self._shown(call.reply),
                "error": self._shown(call.error),
                "prompt_tokens": call.prompt_tokens,
                "completion_tokens": call.completion_tokens,
                "cost_usd": call.cost_usd,
                "seconds": call.seconds,
                "queued_seconds": call.queued_seconds,
                "tries": call.tries,
            }
        )

    def _shown(self, text: str | None) -> Data | str | None:
        return None if text is None else shown_text(text, self._words, REPLY_CHARACTERS)


def _verdict(call: Call) -> bool | None:
    text = text_of(call)
    return None if text is None else parse_strict(text)


def _messages(request: ModelRequest) -> Iterator[tuple[str, str]]:
    """Yield the messages of a request as sent; content that is not text, as JSON."""
    messages = request.body.get("messages")
    for message in messages if isinstance(messages, list) else []:
        if isinstance(message, dict):
            content = message.get("content")
            yield str(message.get("role")), content if isinstance(content, str) else canonical_json(content)


def _text(request: ModelRequest) -> str:
    return "\n".join(text for _role, text in _messages(request))


def _encoded(text: str, turns: TurnTexts | None, lines: PromptTable) -> list[Any]:
    """Return the lines of a text: an index into the table, or a turn's id and whether it is a dated line."""
    split = [(line, turns.item(line, (), None) if turns else None) for line in text.split("\n")]
    own = [0 if item and item.turn_id else len(line) for line, item in split]
    left_out = _left_out(own)
    encoded: list[Any] = [
        [item.turn_id, int(item.dated)] if item and item.turn_id else lines.place(line)
        for place, (line, item) in enumerate(split)
        if place not in left_out
    ]
    if left_out:
        encoded.insert(left_out.start, {"left_out": sum(len(split[place][0]) + 1 for place in left_out)})
    return encoded


def _left_out(own: list[int]) -> range:
    """Return the lines to omit from the middle of a prompt, given the lengths of its lines without turns."""
    if sum(own) <= PROMPT_CHARACTERS:
        return range(0)
    first, room = 0, 3 * PROMPT_CHARACTERS // 4
    while room >= own[first]:
        room -= own[first]
        first += 1
    last, room = len(own), PROMPT_CHARACTERS // 4
    while last > first and room >= own[last - 1]:
        room -= own[last - 1]
        last -= 1
    return range(first, last)
