"""Sentences that hedge or abstain, and sentences that only look as if they did. All of them are made up."""

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memeval.judging.hedging import abstains, asks, begins_missing, hedges, says_missing, voices_doubt, withholds

DOUBTFUL = """\
I am not sure.
I'm not entirely sure about that.
I am not certain; this may have changed.
He may no longer use it.
As of my last information, it was Jest.
Based on the last information I have, Jest.
That might have changed.
Unclear.
It is not clear if he still does.
I can't say with confidence.
I cannot really say.
I can’t confirm that.
I don't know.
We don't have any record of that.
I have no information about that.
There is no record of what she uses now.
It could be out of date by now.
This may, by now, have changed.
Jest, but nobody confirmed it after the move.
It was never revisited.
Jest, although that was never explicitly updated.
It hasn't been confirmed since the switch.
No explicit update was made to testing.
Whether the tests moved too was never discussed.
The conversation does not mention what he uses now.
Perhaps Jest.
Probably Jest.
Jest, I think.
I believe it's Jest.
It seems to be Jest.
My best guess is Jest.
He is likely still on Jest.
You should double-check with Emil.
It's worth confirming.
This needs to be verified.
Please confirm whether that still holds.
Last I heard, Jest.
To the best of my knowledge, Jest.
As far as I know it's Jest.
There is no confirmation that it changed.
Jest, unless that has changed.
Jest — assuming nothing changed.
That information is possibly outdated.
That is out-of-date.
It’s uncertain.
I doubt it.
It's hard to tell.
The note is no longer necessarily valid.
That is subject to change.
Take it with a grain of salt.
Emil might not be on Jest any more.
I wouldn't assume so.
There's a good chance it changed.
It should still be Jest.
It is an open question.
In May 2025 he may have moved on.
Can't say with confidence.
Possibly, but it hasn't been confirmed.
Unknown."""

PLAIN = """\
He moved to Jest in May 2025.
In May, he uses Jest.
By May no other tool was left.
On 12 May 2025 he started to use Jest.
May 2025: Jest.
Since May no longer uses Jenkins; uses Drone CI.
He fought with all his might and main.
No doubt: Jest.
Without a doubt, Jest.
Undoubtedly Jest.
There is no uncertainty: Jest.
It is not uncertain at all: Jest.
No need to confirm: it is Redis.
He uses Jest for backend tests.
They no longer use Jenkins; they use Drone CI.
The tests are certain to run on Jest.
I can confirm that he uses Jest.
Yes, confirmed: Jest.
It changed from Jenkins to Drone CI.
He is sure about it: Postgres.
She uses MySQL, which replaced MongoDB in March.
He uses Great Expectations for data validation.
Uses the ELK stack for centralized logging.
Maya May is on Redis.
The team likes Redis.
He decided on Redis after checking benchmarks.
No, he uses Redis.
He uses the successor of the outdated Jenkins server, Drone CI.
You may have noticed the move to Redis.
At the moment I sew, and I have no complaints.
It must have been lovely once.
How often does an old dog need a check-up, he asked.
I can't find the paper any more.
Nobody says a word.
It does look like everybody else's.
In a distributed system, you can only guarantee two of three.
"""


@pytest.mark.parametrize("sentence", DOUBTFUL.splitlines())
def test_doubt_is_detected(sentence: str) -> None:
    assert voices_doubt(sentence)


@pytest.mark.parametrize("sentence", PLAIN.splitlines())
def test_a_plain_statement_is_not_taken_for_doubt(sentence: str) -> None:
    assert not hedges(sentence, "What does he use?")


QUESTION = "Should I assume Elena Petrov is still using RSpec for testing?"


@pytest.mark.parametrize(
    "answer",
    [
        "Which project do you mean?",
        "Did she confirm it after the move to Phoenix?",
        "RSpec, right?",
        "RSpec. Has that changed?",
        "Do you mean the backend tests？",
    ],
)
def test_a_question_back_counts_as_hedging(answer: str) -> None:
    assert hedges(answer, QUESTION)


@pytest.mark.parametrize(
    "answer",
    [
        QUESTION,
        QUESTION.rstrip("?"),
        QUESTION.upper(),
        f'You asked: "{QUESTION}" RSpec.',
        "Is Elena still using RSpec for testing?",
        "RSpec. Anything else I can help with?",
        "RSpec. Would you like to know more?",
        "See https://example.org/?q=rspec",
        "?",
        "",
    ],
)
def test_an_echo_or_an_offer_is_not_a_question_back(answer: str) -> None:
    assert not hedges(answer, QUESTION)


def test_doubt_beside_an_echo_still_counts() -> None:
    assert hedges(f"{QUESTION} I would not be sure.", QUESTION)


@given(st.text(), st.text())
def test_any_answer_can_be_read(answer: str, question: str) -> None:
    assert hedges(answer, question) in (True, False)


@given(st.text())
def test_a_repeated_question_never_hedges(question: str) -> None:
    assert not asks(question) or not hedges(question, question)


@pytest.mark.timeout(10)
@pytest.mark.parametrize("piece", ["may ", "not really ", "whether a ", "not ", "?", "a.b", "( ", "no longer "])
def test_a_long_hostile_answer_is_read_in_linear_time(piece: str) -> None:
    hedges(piece * 50_000, "What does he use?")


ABSTENTIONS = Path(__file__).with_name("abstentions.txt").read_text("utf-8").splitlines()

ANSWERS = Path(__file__).with_name("plain_answers.txt").read_text("utf-8").splitlines()


@pytest.mark.parametrize("answer", ABSTENTIONS)
def test_an_abstention_in_any_words_begins_by_saying_that_this_was_not_told(answer: str) -> None:
    assert begins_missing(answer)
    assert abstains(answer, "What is the name of my pet?")


@pytest.mark.parametrize("answer", ANSWERS)
def test_an_answer_that_speaks_of_a_lack_is_no_abstention(answer: str) -> None:
    assert not begins_missing(answer) and not withholds(answer)
    assert not abstains(answer, "What happened?") or "not sure" in answer


@pytest.mark.parametrize(
    "answer",
    [
        "A raft. It is not mentioned which one.",
        "Rome. The year was not told.",
        "I am not sure: what I know about this may be out of date, so please confirm it.",
        "",
        "Sorry.",
    ],
)
def test_an_answer_that_says_something_else_first_does_not_begin_so(answer: str) -> None:
    assert not begins_missing(answer)


@pytest.mark.parametrize(
    ("answer", "withheld"),
    [
        ("Rome, but the year was not mentioned.", False),
        ("He bought rice, though the amount was not mentioned.", False),
        ("The year was not mentioned, but it was Rome.", True),
        ("I have no record of that; it may have been Rome.", True),
    ],
)
def test_what_stands_before_a_missing_detail_is_an_answer(answer: str, withheld: bool) -> None:
    assert begins_missing(answer)
    assert withholds(answer) is withheld


def test_what_an_answer_says_only_to_itself_is_no_abstention() -> None:
    assert not abstains("<think>There is no record of that?</think>Rome", "Where?")
    assert abstains("<think>Rome?</think>There is no record of that.", "Where?")


@pytest.mark.parametrize(
    "part", ["the information ", "you only ", "no ", "not ", "conversation history of the ", "i have "]
)
def test_long_texts_are_searched_in_bounded_time(part: str) -> None:
    began = time.process_time()
    says_missing(part * 10_000)
    abstains(part * 1_000 + ".", "?")
    assert time.process_time() - began < 5
