"""The model judge: its requests, and the verdicts in its recorded replies.

Asking and judging are separate. :func:`ask_all` collects the replies; :class:`RecordedJudge` is a pure function of
them, so the same record always gives the same verdicts.
"""

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence

from pydantic import JsonValue

from memeval.gateway.endpoints import dated
from memeval.gateway.replies import text_of
from memeval.gateway.settings import settings_for, settings_text
from memeval.gateway.stops import NotRecorded
from memeval.judging.base import Case, Ruling, parse_strict, parse_substring
from memeval.judging.prompting import JUDGES, Prompts
from memeval.judging.rules import noticed
from memeval.local import PREFIX, is_local
from memeval.records.base import Digest
from memeval.records.call import Api, Call, ModelRequest
from memeval.records.errors import BadInput
from memeval.records.grade import GradeState
from memeval.remembered import of_short_texts

VERSION = 1
"""Version of the fence, the length limit of answers, the settings, the parsing of replies, and the flags."""

MOST_CONCURRENT_CASES = 512
"""Maximum cases with requests in memory; the caller limits the calls in flight."""

MAX_TOKENS = 10
"""Maximum tokens of a reply, without reasoning tokens."""

SEED = 42
"""The seed of every request."""

USUAL: dict[str, JsonValue] = {"temperature": 0, "max_tokens": MAX_TOKENS, "seed": SEED, "n": 1}
"""The settings of every request, except for families of models that refuse some of them."""

SETTINGS = f"{JUDGES}settings"
"""The name of changed settings in tracks, next to the prompts."""

SETUP = f"{JUDGES}model"
"""The name in tracks of what decides the answers of a model on this machine, next to the prompts."""

KEPT_REQUESTS = 2_000
"""Number of requests that stay in memory: each is needed to find missing calls, to ask, and to read the verdict."""

KEPT_CHARACTERS = 10_000
"""Longer requests are made again."""

EXCERPT = 40
"""Quoted characters of a reply without a verdict."""

LONGEST_ERROR = 300
"""Quoted characters of a failed call's error."""

_SPEC = re.compile(r"(?:openai|local):(?P<model>[^\s@][^\s]*?)(?:@(?P<version>\d{1,3}))?")


def judge_spec(spec: str) -> str:
    """Return the model in a judge's name.

    ``spec``: ``openai:MODEL`` or ``local:NAME``, with or without the version of the judge: ``openai:gpt-4o@1``. Raises
    ``BadInput``: the name has another form, or an unknown version.
    """
    found = _SPEC.fullmatch(spec)
    if found is None:
        raise BadInput(f"there is no judge '{spec}'.", remedy="Judges: rules, local:NAME, openai:MODEL.")
    if found["version"] not in (None, str(VERSION)):
        raise BadInput(f"there is no version {found['version']} of the model judge.", remedy=f"Use @{VERSION}.")
    return dated(found["model"])


class ModelJudge:
    """The requests to a language model with pinned settings.

    ``model``: the model; an alias selects its dated model. ``prompts``: the user's prompts, by name in a track;
    ``None`` for memeval's. ``settings``: settings of the requests; ``None`` for those of the model's family. ``setup``:
    all that decides the answers of a model on this machine, as JSON; ``None`` for other models. Raises ``BadInput``: a
    prompt of the user has no ``{answer}``, or the user's file of settings cannot be used.
    """

    def __init__(
        self,
        model: str,
        endpoint_url: str,
        prompts: Mapping[str, str] | None = None,
        settings: Mapping[str, JsonValue] | None = None,
        setup: str | None = None,
    ) -> None:
        self.model = dated(model)
        self.endpoint_url = endpoint_url
        self.settings = settings_for(self.model, endpoint_url, USUAL) if settings is None else dict(settings)
        """The settings sent with the model and the message."""
        self.is_local = is_local(endpoint_url)
        """Whether memeval serves the model itself, so that no key is needed."""
        self._setup = setup
        self._prompts = Prompts(prompts)
        self._request_with = of_short_texts(KEPT_REQUESTS, KEPT_CHARACTERS)(self._new_request)

    @property
    def name(self) -> str:
        return f"{PREFIX if self.is_local else 'openai:'}{self.model}@{VERSION}"

    def prompts(self, package: str) -> dict[str, str]:
        """Return the prompts of a benchmark with the prompts of a package, by name in its tracks.

        Changed settings and the setup of a model on this machine are included as JSON, so they are stored and hashed
        like prompts.
        """
        more = {SETTINGS: settings_text(self.settings, USUAL), SETUP: self._setup}
        return self._prompts.of(package) | {name: text for name, text in more.items() if text is not None}

    def brings(self, package: str) -> bool:
        """Return whether the user's prompts include one of a package; true without prompts of the user."""
        return self._prompts.brings(package)

    def request(self, case: Case) -> ModelRequest:
        """Return the request about a case. Raises ``TypeError`` if keys of this kind are not judged."""
        return self._request_with(self._prompts.asking(case))

    def reminder(self, case: Case) -> ModelRequest:
        """Return the second request, if the reply to :meth:`request` is neither yes nor no."""
        return self._request_with(self._prompts.asking_again(case))

    def _new_request(self, text: str) -> ModelRequest:
        return ModelRequest(
            endpoint=self.endpoint_url,
            api=Api.CHAT,
            body={"model": self.model, "messages": [{"role": "user", "content": text}], **self.settings},
        )


class RecordedJudge:
    def __init__(self, judge: ModelJudge, calls: Mapping[Digest, Call]) -> None:
        self.name = judge.name
        self.used: dict[Digest, Call] = {}
        """The calls used by rulings so far, in order of use: the judgments of a run."""
        self._judge = judge
        self._calls = calls

    def rule(self, case: Case) -> Ruling:
        """Judge one answer.

        The first reply decides. If it is neither yes nor no, the reply to the reminder decides. The rule set sets the
        flags, which do not affect the verdict. Raises ``NotRecorded``: the call is not in the record. Raises
        ``BadInput``: the record has another request under the call's key. Raises ``TypeError``: keys of this kind are
        not judged.
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
            state, reason = (
                GradeState.UNPARSED,
                f"The judge said neither yes nor no, twice; at last: {json.dumps(reply[:EXCERPT])}",
            )
        else:
            state, reason = GradeState.GRADED, f"The judge said {'yes' if verdict else 'no'}."
        return Ruling(state, verdict, reason, noticed(case), call.key, alternates)

    def _recorded(self, case: Case, request: ModelRequest) -> Call:
        key = request.key
        call = self._calls.get(key)
        if call is None:
            raise NotRecorded(
                f"the judgment of {case.item_id} by {self.name} is not in the record ({key}).",
                remedy="Grade the run again with its judge: memeval regrade.",
            )
        if call.request != request:
            raise BadInput(f"the record has another request under {key}, the judgment of {case.item_id}.")
        self.used[key] = call
        return call


async def ask_all(
    judge: ModelJudge,
    cases: Sequence[Case],
    ask: Callable[[ModelRequest], Awaitable[Call]],
    progress: Callable[[], None],
    at_once: int = MOST_CONCURRENT_CASES,
) -> dict[Digest, Call]:
    """Ask a judge about all cases, and again if a reply is neither yes nor no.

    Args:
        ask: makes one call, or returns the recorded one; it limits the calls in flight, and joins equal ones.
        at_once: maximum cases in work. With more than the calls in flight, the next request is ready when a reply
            comes; with all of them, none is sent before the last one is written.

    Returns:
        The calls by key, including failed ones: the input of :class:`RecordedJudge`.

    Raises:
        Exception: an exception of ``ask`` cancels all other calls, and is raised.
    """
    calls: dict[Digest, Call] = {}

    async def reply_to(request: ModelRequest) -> str | None:
        call = calls[request.key] = await ask(request)
        return text_of(call)

    async def ask_remaining(remaining: Iterator[Case]) -> None:
        for case in remaining:
            reply = await reply_to(judge.request(case))
            if reply is not None and parse_strict(reply) is None:
                await reply_to(judge.reminder(case))
            progress()

    remaining = iter(cases)
    places = min(at_once, MOST_CONCURRENT_CASES, len(cases))
    workers = [asyncio.ensure_future(ask_remaining(remaining)) for _ in range(places)]
    try:
        await asyncio.gather(*workers)
    finally:
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)
    return calls


def _one_line(error: str | None) -> str:
    """Return the error of a call on one line, truncated, since it may quote a server."""
    return " ".join((error or "The reply cannot be read.").split())[:LONGEST_ERROR]
