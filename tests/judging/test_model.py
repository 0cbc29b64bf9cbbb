"""The model judge: what is asked, what is made of the replies, and that a ruling needs nothing but the record."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable

import pytest

from memeval.gateway.stops import GatewayStopped, NotRecorded
from memeval.judging.base import Case
from memeval.judging.model import KEPT_CHARACTERS, ModelJudge, RecordedJudge, ask_all, judge_spec
from memeval.judging.rules import noticed
from memeval.records.call import Call, ModelRequest
from memeval.records.errors import BadInput
from memeval.records.grade import Flag, GradeState
from tests.judging.cases import ENDPOINT, JUDGE, by_key, case, recorded, text_of_request


def test_a_request_is_one_user_message_at_pinned_settings() -> None:
    request = JUDGE.request(case())
    body = request.data()["body"]
    settings = {"model": "gpt-4o-2024-08-06", "temperature": 0, "max_tokens": 10, "seed": 42, "n": 1}
    assert {name: value for name, value in body.items() if name != "messages"} == settings
    assert request.endpoint == ENDPOINT
    assert "Valkey." in text_of_request(request)
    assert text_of_request(JUDGE.reminder(case())).startswith(text_of_request(request))


def test_equal_cases_of_different_items_are_equal_requests() -> None:
    assert JUDGE.request(case(item="a")).key == JUDGE.request(case(item="b")).key
    assert JUDGE.request(case()).key != JUDGE.request(case(answer="Redis.")).key
    assert JUDGE.request(case()).key != ModelJudge("gpt-4o-mini", ENDPOINT).request(case()).key


def test_a_request_is_made_once_unless_it_is_long() -> None:
    judge = ModelJudge("gpt-4o", ENDPOINT)
    assert judge.request(case()) is judge.request(case(item="another"))
    assert judge.request(case()) == JUDGE.request(case())
    long = case(answer="word " * KEPT_CHARACTERS)
    assert judge.request(long) is not judge.request(long)
    assert judge.request(long) == judge.request(long)


@pytest.mark.parametrize(
    ("spec", "model"),
    [
        ("openai:gpt-4o", "gpt-4o-2024-08-06"),
        ("openai:gpt-4o@1", "gpt-4o-2024-08-06"),
        ("openai:gpt-4o-mini", "gpt-4o-mini-2024-07-18"),
        ("openai:gpt-4o-2024-08-06@1", "gpt-4o-2024-08-06"),
        ("openai:llama3:8b", "llama3:8b"),
        ("openai:org/model-v1.5", "org/model-v1.5"),
        ("openai:claude@20240229", "claude@20240229"),
    ],
)
def test_an_alias_selects_its_dated_model(spec: str, model: str) -> None:
    assert judge_spec(spec) == model
    assert judge_spec(ModelJudge(model, ENDPOINT).name) == model
    assert ModelJudge(spec.removeprefix("openai:").removesuffix("@1"), ENDPOINT).name == f"openai:{model}@1"


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("rule", "no judge 'rule'. Judges: rules, local:NAME, openai:MODEL"),
        ("openai:", "no judge"),
        ("openai:@1", "no judge"),
        ("openai:a b", "no judge"),
        ("OPENAI:gpt-4o", "no judge"),
        ("openai:gpt-4o@2", "no version 2 of the model judge. Use @1"),
    ],
)
def test_an_unknown_judge_is_refused(spec: str, says: str) -> None:
    with pytest.raises(BadInput) as refusal:
        judge_spec(spec)
    assert says in str(refusal.value)


class TestRecordedJudge:
    """Rulings from the record."""

    @pytest.mark.parametrize(
        ("reply", "verdict", "substring"),
        [("Yes", True, True), ("**yes**.", True, True), ("no", False, False), ("No, not yesterday's", False, True)],
    )
    def test_a_yes_or_a_no_is_the_verdict(self, reply: str, verdict: bool, substring: bool) -> None:
        call = recorded(JUDGE.request(case()), reply)
        judge = RecordedJudge(JUDGE, by_key([call]))
        ruling = judge.rule(case())
        assert (ruling.state, ruling.verdict, ruling.judgment_key) == (GradeState.GRADED, verdict, call.key)
        assert ruling.alternates == {"substring": substring}
        assert ruling.reason == f"The judge said {'yes' if verdict else 'no'}."
        assert judge.used == {call.key: call}
        assert judge.name == "openai:gpt-4o-2024-08-06@1"

    @pytest.mark.parametrize(("again", "verdict"), [("yes", True), ("No.", False)])
    def test_a_reply_that_is_neither_is_followed_by_one_reminder(self, again: str, verdict: bool) -> None:
        first = recorded(JUDGE.request(case()), "Yesterday")
        second = recorded(JUDGE.reminder(case()), again)
        judge = RecordedJudge(JUDGE, by_key([first, second]))
        ruling = judge.rule(case())
        assert (ruling.state, ruling.verdict, ruling.judgment_key) == (GradeState.GRADED, verdict, second.key)
        assert ruling.alternates == {"substring": True}, "the other reading is of the first reply"
        assert list(judge.used) == [first.key, second.key]

    @pytest.mark.parametrize("reply", ["Yes and no", "", None, "The answer is yes"])
    def test_twice_neither_is_unparsed(self, reply: str | None) -> None:
        calls = [recorded(request, reply) for request in (JUDGE.request(case()), JUDGE.reminder(case()))]
        ruling = RecordedJudge(JUDGE, by_key(calls)).rule(case())
        assert (ruling.state, ruling.verdict, ruling.judgment_key) == (GradeState.UNPARSED, None, calls[1].key)

    def test_what_is_quoted_of_a_reply_is_short_and_escaped(self) -> None:
        reply = "\x1b[31m<script>\u202e\n" + "x" * 5000
        calls = [recorded(request, reply) for request in (JUDGE.request(case()), JUDGE.reminder(case()))]
        reason = RecordedJudge(JUDGE, by_key(calls)).rule(case()).reason
        assert reason is not None and reason.isascii() and reason.isprintable()
        assert r"\u001b[31m<script>\u202e\n" in reason and len(reason) < 150

    def test_a_failed_call_is_an_error_of_the_judge(self) -> None:
        call = recorded(JUDGE.request(case()), None, error="The server\nsaid 500 six times. " + "x" * 5000)
        judge = RecordedJudge(JUDGE, by_key([call]))
        ruling = judge.rule(case())
        assert (ruling.state, ruling.verdict, ruling.judgment_key) == (GradeState.JUDGE_ERROR, None, call.key)
        assert ruling.reason is not None and "The server said 500 six times." in ruling.reason
        assert len(ruling.reason) < 400
        assert ruling.alternates == {}
        assert judge.used == {call.key: call}

    def test_a_reminder_that_fails_is_an_error_too_and_keeps_the_other_reading(self) -> None:
        first = recorded(JUDGE.request(case()), "Maybe yes")
        second = recorded(JUDGE.reminder(case()), None, error="The endpoint is down.")
        ruling = RecordedJudge(JUDGE, by_key([first, second])).rule(case())
        assert (ruling.state, ruling.alternates) == (GradeState.JUDGE_ERROR, {"substring": True})

    def test_a_call_that_is_not_recorded_is_named(self) -> None:
        key = JUDGE.request(case()).key
        with pytest.raises(NotRecorded, match=f"of item-7 .*{key}"):
            RecordedJudge(JUDGE, {}).rule(case(item="item-7"))
        first = recorded(JUDGE.request(case()), "Hm")
        with pytest.raises(NotRecorded, match=JUDGE.reminder(case()).key):
            RecordedJudge(JUDGE, by_key([first])).rule(case())

    def test_a_reply_to_another_request_is_no_judgment(self) -> None:
        key = JUDGE.request(case()).key
        other = recorded(JUDGE.request(case(answer="Something right.")), "yes").model_copy(update={"key": key})
        with pytest.raises(BadInput, match="has another request"):
            RecordedJudge(JUDGE, {key: other}).rule(case())

    def test_flags_do_not_depend_on_the_judge(self) -> None:
        hedged = case(answer="Valkey, I am not sure.")
        ruling = RecordedJudge(JUDGE, by_key([recorded(JUDGE.request(hedged), "yes")])).rule(hedged)
        assert (ruling.verdict, ruling.flags) == (True, noticed(hedged)) == (True, (Flag.HEDGED,))


class Answering:
    """A judge's endpoint in memory: it counts what it is asked, and how much at once."""

    def __init__(self, reply: Callable[[ModelRequest], Call]) -> None:
        self.reply = reply
        self.asked: Counter[str] = Counter()
        self.under_way = self.most = 0

    async def __call__(self, request: ModelRequest) -> Call:
        self.asked[request.key] += 1
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        await asyncio.sleep(0)
        self.under_way -= 1
        return self.reply(request)


def asked(
    cases: list[Case], ask: Callable[[ModelRequest], Awaitable[Call]], at_once: int = 1000
) -> tuple[dict[str, Call], int]:
    """Return what came of asking, and how often progress was reported."""
    done = Counter[str]()
    calls = asyncio.run(ask_all(JUDGE, cases, ask, lambda: done.update(["case"]), at_once))
    return calls, done["case"]


class TestAskingAll:
    """Bringing the replies in."""

    CASES = [case(answer=f"Answer number {number}.", item=f"i{number}") for number in range(50)]

    def test_all_are_asked_at_once_and_each_once(self) -> None:
        ask = Answering(lambda request: recorded(request, "yes"))
        calls, done = asked(self.CASES, ask)
        assert ask.asked == Counter(JUDGE.request(each).key for each in self.CASES)
        assert ask.most == done == len(self.CASES)
        judge = RecordedJudge(JUDGE, calls)
        assert all(judge.rule(each).verdict for each in self.CASES)
        assert judge.used == calls

    def test_only_a_reply_that_is_neither_yes_nor_no_is_asked_for_again_and_only_once(self) -> None:
        replies = ["yes", "no", "perhaps", None, "ERROR"]

        def reply(request: ModelRequest) -> Call:
            text = text_of_request(request)
            number = next(n for n in range(50) if f"number {n}." in text)
            content = replies[number % 5]
            return recorded(request, content, error="It broke." if content == "ERROR" else None)

        ask = Answering(reply)
        calls, done = asked(self.CASES, ask)
        again = [each for number, each in enumerate(self.CASES) if number % 5 in (2, 3)]
        requests = [*map(JUDGE.request, self.CASES), *map(JUDGE.reminder, again)]
        assert ask.asked == Counter(request.key for request in requests)
        assert (len(calls), done) == (70, 50)
        states = Counter(RecordedJudge(JUDGE, calls).rule(each).state for each in self.CASES)
        assert states == {GradeState.GRADED: 20, GradeState.UNPARSED: 20, GradeState.JUDGE_ERROR: 10}

    @pytest.mark.parametrize(("at_once", "most"), [(3, 3), (9, 7), (1000, 7)])
    def test_requests_are_made_as_they_are_needed(
        self, at_once: int, most: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("memeval.judging.model.MOST_CONCURRENT_CASES", 7)
        ask = Answering(lambda request: recorded(request, "no"))
        calls, done = asked(self.CASES, ask, at_once)
        assert (ask.most, len(calls), done) == (most, 50, 50)

    def test_no_cases_make_no_requests(self) -> None:
        ask = Answering(lambda request: recorded(request, "no"))
        assert asked([], ask) == ({}, 0)
        assert not ask.asked

    def test_an_error_cancels_the_other_calls_and_is_raised(self) -> None:
        ended: list[str] = []

        async def ask(request: ModelRequest) -> Call:
            if "number 3." in text_of_request(request):
                raise GatewayStopped("the key is refused.")
            try:
                await asyncio.Event().wait()
            finally:
                ended.append(request.key)
            raise AssertionError

        with pytest.raises(GatewayStopped, match="the key is refused"):
            asked(self.CASES, ask)
        assert len(ended) == len(self.CASES) - 1
