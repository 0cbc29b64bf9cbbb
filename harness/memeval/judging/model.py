"""The model judge: what is asked of it, and what its recorded replies say.

Asking and ruling are apart. :func:`ask_all` brings the replies in, whoever makes the calls; :class:`RecordedJudge` is a
pure function of them, so that anyone who has the record gets the same verdicts.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence

from pydantic import JsonValue

from memeval.gateway.endpoints import dated
from memeval.gateway.replies import text_of
from memeval.gateway.settings import settings_for, settings_text
from memeval.gateway.stops import NotRecorded
from memeval.judging.base import Case, Ruling
from memeval.judging.prompting import JUDGES, Prompts
from memeval.judging.rules import noticed
from memeval.judging.verdict import parse_strict, parse_substring
from memeval.records.base import Digest
from memeval.records.call import Api, Call, ModelRequest
from memeval.records.errors import BadInput
from memeval.records.grade import GradeState

VERSION = 1
"""Version of the fence and its bound, of the settings, of how replies are read, and of what is noticed beside."""

AT_ONCE = 512
"""The most cases whose requests are in memory at once; how many are under way is the caller's choice."""

MAX_TOKENS = 10
"""The longest reply, in tokens, without those of reasoning."""

SEED = 42
"""The seed of every request."""

USUAL: dict[str, JsonValue] = {"temperature": 0, "max_tokens": MAX_TOKENS, "seed": SEED, "n": 1}
"""The settings of every request, but for models of a family that refuses some of them."""

SETTINGS = f"{JUDGES}settings"
"""The name, beside those of the prompts, under which other settings than the usual ones stand in a track."""

EXCERPT = 40
"""Characters of a reply that is no verdict that are quoted."""

LONGEST_ERROR = 300
"""Characters of a failed call's error that are quoted."""

_SPEC = re.compile(r"openai:(?P<model>[^\s@][^\s]*?)(?:@(?P<version>\d{1,3}))?")


def judge_spec(spec: str) -> str:
    """Return the model that a judge's name stands for.

    Args:
        spec: ``openai:MODEL``, with or without the version of the judge: ``openai:gpt-4o@1``.

    Raises:
        BadInput: it is not that, or a version that this memeval does not have.
    """
    found = _SPEC.fullmatch(spec)
    if found is None:
        raise BadInput(f"there is no judge '{spec}'.", remedy="Judges: rules, openai:MODEL.")
    if found["version"] not in (None, str(VERSION)):
        raise BadInput(
            f"there is no version {found['version']} of the model judge.", remedy=f"This memeval has @{VERSION}."
        )
    return dated(found["model"])


class ModelJudge:
    """A language model at pinned settings: what it is asked about a case.

    Args:
        model: the model; an alias stands for its dated model.
        endpoint_url: base URL at which it is reached.
        prompts: prompts of someone's own, by their names in a track; ``None`` for memeval's.
        settings: settings of its requests; ``None`` for those of the model's family.

    Raises:
        BadInput: the prompts, or the user's file of settings, cannot be used.
    """

    def __init__(
        self,
        model: str,
        endpoint_url: str,
        prompts: Mapping[str, str] | None = None,
        settings: Mapping[str, JsonValue] | None = None,
    ) -> None:
        self.model = dated(model)
        self.endpoint_url = endpoint_url
        self.settings = settings_for(self.model, endpoint_url, USUAL) if settings is None else dict(settings)
        """What is sent beside the model and the message."""
        self._prompts = Prompts(prompts)

    @property
    def name(self) -> str:
        """Name and version; part of the track."""
        return f"openai:{self.model}@{VERSION}"

    def prompts(self, benchmark: str) -> dict[str, str]:
        """Return the prompts that a benchmark's keys can be judged by, by their names in its tracks.

        Settings that are not the usual ones stand among them, as JSON, so that they are stored and hashed likewise.
        """
        text = settings_text(self.settings, USUAL)
        return self._prompts.of(benchmark) | ({} if text is None else {SETTINGS: text})

    def brings(self, benchmark: str) -> bool:
        """Return whether a prompt of someone's own is among a benchmark's; true where none was brought at all."""
        return not self._prompts.brought or not self._prompts.brought.isdisjoint(self._prompts.of(benchmark))

    def request(self, case: Case) -> ModelRequest:
        """Return what is asked about a case.

        Raises:
            TypeError: the key is of a kind that is not judged.
        """
        return self._asking(self._prompts.asking(case))

    def reminder(self, case: Case) -> ModelRequest:
        """Return what is asked when the reply to :meth:`request` was neither yes nor no."""
        return self._asking(self._prompts.asking_again(case))

    def _asking(self, text: str) -> ModelRequest:
        return ModelRequest(
            endpoint=self.endpoint_url,
            api=Api.CHAT,
            body={"model": self.model, "messages": [{"role": "user", "content": text}], **self.settings},
        )


class RecordedJudge:
    """Rules from recorded calls alone.

    Args:
        judge: what was asked.
        calls: the recorded calls, by key.
    """

    def __init__(self, judge: ModelJudge, calls: Mapping[Digest, Call]) -> None:
        self.name = judge.name
        self.used: dict[Digest, Call] = {}
        """The calls that rulings rested on so far, in order of use: the judgments that go with a run."""
        self._judge = judge
        self._calls = calls

    def rule(self, case: Case) -> Ruling:
        """Give a ruling on one answer.

        The first reply decides, or, where it is neither yes nor no, the reply to the reminder. What the answer is
        flagged for is the rule set's to see, and has no part in the verdict.

        Raises:
            NotRecorded: the call is not in the record.
            BadInput: the record holds another request under the call's key.
            TypeError: the key is of a kind that is not judged.
        """
        call = self._recorded(case, self._judge.request(case))
        reply = text_of(call)
        alternates = {} if reply is None else {"substring": parse_substring(reply)}
        if reply is not None and parse_strict(reply) is None:
            call = self._recorded(case, self._judge.reminder(case))
            reply = text_of(call)
        verdict = None if reply is None else parse_strict(reply)
        if reply is None:
            state, reason = GradeState.JUDGE_ERROR, f"The judge gave no reply: {_one_line(call.error)}"
        elif verdict is None:
            state, reason = GradeState.UNPARSED, f"The judge said neither yes nor no, twice; at last: {_excerpt(reply)}"
        else:
            state, reason = GradeState.GRADED, f"The judge said {'yes' if verdict else 'no'}."
        return Ruling(state, verdict, reason, noticed(case), call.key, alternates)

    def _recorded(self, case: Case, request: ModelRequest) -> Call:
        key = request.key
        call = self._calls.get(key)
        if call is None:
            raise NotRecorded(
                f"the judgment of {case.item_id} by {self.name} is not in the record ({key}).",
                remedy="Grade the run again with its judge at hand: memeval rejudge.",
            )
        if call.request != request:
            raise BadInput(f"the record holds another request under {key}, which is the judgment of {case.item_id}.")
        self.used[key] = call
        return call


async def ask_all(
    judge: ModelJudge,
    cases: Sequence[Case],
    ask: Callable[[ModelRequest], Awaitable[Call]],
    progress: Callable[[], None],
) -> dict[Digest, Call]:
    """Ask a judge about all cases, and once more where a reply was neither yes nor no.

    Args:
        judge: who is asked.
        cases: answers to be judged.
        ask: makes one call, or gives it from the record; it limits how many are under way, and joins equal ones.
        progress: called after each case.

    Returns:
        The calls by key, the failed ones included: what :class:`RecordedJudge` rules from.

    Raises:
        Exception: whatever ``ask`` raises stops all the others, and is raised.
    """
    calls: dict[Digest, Call] = {}

    async def reply_to(request: ModelRequest) -> str | None:
        call = calls[request.key] = await ask(request)
        return text_of(call)

    async def work(left: Iterator[Case]) -> None:
        for case in left:
            reply = await reply_to(judge.request(case))
            if reply is not None and parse_strict(reply) is None:
                await reply_to(judge.reminder(case))
            progress()

    left = iter(cases)
    workers = [asyncio.ensure_future(work(left)) for _ in range(min(AT_ONCE, len(cases)))]
    try:
        await asyncio.gather(*workers)
    finally:
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)
    return calls


def _one_line(error: str | None) -> str:
    """Return why a call failed, on one line and bounded: it may quote what a server said."""
    return " ".join((error or "The reply cannot be read.").split())[:LONGEST_ERROR]


def _excerpt(reply: str) -> str:
    """Return the beginning of a reply with everything but plain ASCII escaped."""
    return json.dumps(reply[:EXCERPT])
