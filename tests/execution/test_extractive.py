"""The extractive reader: how people state facts, in talk with an assistant and with each other."""

import os
import subprocess
import sys
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memeval.execution.extractive.cues import Force, force_of, news_of
from memeval.execution.extractive.reader import ExtractiveReader

DOUBT = "It is not certain any more. Then: "


def talk(*sessions: tuple[str, str]) -> str:
    """Return dated lines: in each session Ada and the assistant take turns, one line a turn."""
    return "\n".join(
        f"[{day}] {'Assistant' if index % 2 else 'Ada Berg'}: {line}"
        for day, text in sessions
        for index, line in enumerate(text.split(" / "))
    )


def read(question: str, context: str, timestamp: str | None = None) -> str:
    return ExtractiveReader().read(question, timestamp, [context]).answer


TEA = ("2025-01-05", "I drink tea at work. / Tea it is.")
COFFEE = ("2025-03-05", "I drink coffee at work now. / So you drink coffee at work.")
PLAN = ("2025-02-05", "From next week I drink cocoa at work. / Cocoa, noted.")
TAKEN_BACK = ("2025-03-05", "I changed my mind about the drink at work. / Fine.")
SLIP = ("2025-01-05", "My drink at work is tea. No, I mean coffee. / Coffee it is.")
QUILT = ("2025-01-05", "I sleep under a quilt. / A quilt.")
SHORT = ("2025-03-05", "News about my drink at work. / What is it? / Coffee, since Monday. / Noted.")
BEES = ("2025-01-05", "Nice weather. / Indeed. / I keep bees behind the shed. / Good. / Thanks. / Bye.")
EARLY = ("2025-01-05", "I get up at six on weekdays. / Early.")


def test_the_latest_statement_up_to_the_asked_time_answers() -> None:
    context = talk(TEA, COFFEE)
    assert read("What does Ada drink at work?", context) == "I drink coffee at work now."
    assert read("What does Ada drink at work?", context, "2025-02-01") == "I drink tea at work."
    assert read("What did Ada drink at work in January 2025?", context) == "I drink tea at work."


@pytest.mark.parametrize(
    "later",
    [
        "One day I'd love to drink cocoa at work.",
        "As a student I drank cocoa at work.",
        "My colleague drinks cocoa at work.",
        "'I drink cocoa at work,' said my sister.",
        "Maybe I should drink cocoa at work.",
    ],
)
def test_what_is_imagined_or_over_or_said_of_others_is_no_answer(later: str) -> None:
    context = talk(TEA, ("2025-03-05", f"{later} / I see."))
    assert read("What does Ada drink at work?", context) == "I drink tea at work."


@pytest.mark.parametrize(
    ("context", "question", "answer"),
    [
        (talk(TEA, PLAN, TAKEN_BACK), "What does Ada drink at work?", "I drink tea at work."),
        (talk(SLIP), "What is Ada's drink at work?", "coffee."),
        (talk(QUILT, SHORT), "What is Ada's drink at work?", "Coffee, since Monday."),
        (talk(BEES), "Which animals live with Ada?", "I keep bees behind the shed."),
        (talk(EARLY), "When does Ada get up?", "I get up at six on weekdays."),
    ],
    ids=["no plan that was taken back", "no corrected slip", "a short reply", "the most fact-like", "no date"],
)
def test_the_statement_that_is_meant_answers(context: str, question: str, answer: str) -> None:
    assert read(question, context) == answer


def test_before_and_after_name_the_neighbour() -> None:
    context = talk(TEA, COFFEE, ("2025-05-05", "I drink cocoa at work now. / Noted."))
    assert read("What did Ada drink at work before she changed to coffee?", context) == "I drink tea at work."
    assert read("What did Ada drink at work after coffee?", context) == "I drink cocoa at work now."


REASON = ("2025-01-05", "I live in Lima. / Noted.")
FACT = ("2025-02-05", "Because I live in Lima, I swim in the sea. / Noted.")
MOVE = ("2025-04-05", "I moved away from Lima, I live in Bern now. / Noted.")
STILL = ("2025-05-05", "I still swim in the sea all the same. / Noted.")
FILLER = tuple(("2025-03-0" + str(day), f"The film number {day} was long. / I see.") for day in range(1, 6))


def test_a_fact_is_doubted_if_its_reason_changed() -> None:
    answer = read("Does Ada swim in the sea?", talk(REASON, FACT, *FILLER, MOVE))
    assert answer == f"{DOUBT}Because I live in Lima, I swim in the sea. But later: {MOVE[1].split(' / ')[0]}"


def test_a_reason_is_followed_over_several_links() -> None:
    second = ("2025-02-15", "I own a wetsuit since I swim in the sea. / Noted.")
    assert read("Does Ada own a wetsuit?", talk(REASON, FACT, second, *FILLER, MOVE)).startswith(DOUBT)


@pytest.mark.parametrize("sessions", [(REASON, FACT, *FILLER), (REASON, FACT, *FILLER, MOVE, STILL), (REASON, FACT)])
def test_a_fact_whose_reason_stands_or_that_was_confirmed_is_certain(sessions: tuple[tuple[str, str], ...]) -> None:
    answer = read("Does Ada swim in the sea?", talk(*sessions))
    assert answer.startswith("Yes. ") and "swim in the sea" in answer


def test_a_question_of_the_user_is_answered_by_the_user_unless_it_asks_about_the_assistant() -> None:
    context = talk(
        ("2025-01-05", "I paid 300 for the loan. / A loan of 900 euros is what I suggest you ask the bank for.")
    )
    assert read("What loan did I get?", context) == "I paid 300 for the loan."
    assert "900" in read("Which loan did you suggest to ask the bank for?", context)


def test_a_line_without_date_continues_the_dated_line_before_it() -> None:
    context = talk(
        TEA, ("2025-03-05", "Ideas, please. / Here:\n\n1. I drink cocoa at work now.\n2. I drink milk at work now.")
    )
    assert read("What does Ada drink at work?", context) == "I drink tea at work."
    assert read("What does Ada drink at work?", "[2025-01-05] Ada: News:\nI drink tea at work.", "2024-12-31") == ""


def test_between_people_the_named_speaker_counts_and_the_next_sentence_has_the_details() -> None:
    said = "I planted something in my garden. They are red tulips."
    context = f"[2023-05-08] Ann: Your garden has roses!\n[2023-05-08] Bob: {said} It was work."
    assert read("What did Bob plant in the garden?", context) == said


@pytest.mark.parametrize(
    ("said", "day"),
    [
        ("I climbed the hill yesterday.", "7 May 2023"),
        ("I climbed the hill last month.", "April 2023"),
        ("I climbed the hill.", "8 May 2023"),
    ],
)
def test_an_answer_to_when_names_the_day_that_is_meant(said: str, day: str) -> None:
    assert read("When did Ann climb the hill?", f"[2023-05-08] Ann: {said}") == f"{day}: {said}"


@pytest.mark.parametrize(
    ("text", "news"),
    [
        ("It was tea, but I drink coffee now.", "I drink coffee now."),
        ("I swapped tea for coffee.", "I swapped … for coffee."),
        ("We went from tea to coffee.", "We went … to coffee."),
        ("I drink coffee instead of tea.", "I drink coffee …."),
        ("I drink coffee.", "I drink coffee."),
        ("It was tea.", "It was tea."),
    ],
)
def test_an_old_value_is_left_out(text: str, news: str) -> None:
    assert news_of(text) == news


@pytest.mark.parametrize(
    ("text", "force"),
    [
        ("I own a boat.", Force.ASSERTED),
        ("I own a boat these days.", Force.CHANGED),
        ("I still own a boat.", Force.CONFIRMED),
        ("I often dream of a boat.", Force.WISHED),
        ("I used to own a boat.", Force.PAST),
        ("The boat fell through.", Force.TAKEN_BACK),
        ("My uncle has a boat.", Force.OTHERS),
        ("My uncle and I own a boat.", Force.ASSERTED),
    ],
)
def test_the_force_of_a_sentence(text: str, force: Force) -> None:
    assert force_of(text) is force


def test_nothing_to_read_gives_no_answer() -> None:
    assert read("Where has Ada moved to?", "") == ""
    assert read("Quantum chromodynamics?", "[2025-01-05] Ann: The soup was hot.") == ""
    assert read("What soup?", talk(TEA), "2024-01-01") == ""


LINES = st.lists(
    st.one_of(
        st.text(),
        st.tuples(
            st.sampled_from(["2025-01-05", "2025-13-77", "0001-01-01", "9999-12-31"]),
            st.sampled_from(["Ada", "Assistant", ""]),
            st.lists(
                st.sampled_from(
                    ["I drink tea now.", "Since May.", "Ten years ago.", "last week", "No, coffee.", "?", "next may"]
                )
            ),
        ).map(lambda parts: f"[{parts[0]}] {parts[1]}: {' '.join(parts[2])}"),
    )
)
QUESTIONS = st.one_of(
    st.text(), st.sampled_from(["When did Ada drink tea?", "Is it tea?", "What before tea?", "What tea in May 2025?"])
)


@given(QUESTIONS, LINES, st.sampled_from([None, "2025-01-05", "x"]))
def test_any_text_is_read_and_a_repeated_context_changes_nothing(
    question: str, lines: list[str], timestamp: str | None
) -> None:
    reader, context = ExtractiveReader(), "\n".join(lines)
    answer = reader.read(question, timestamp, [context]).answer
    assert reader.read(question, timestamp, [context, context]).answer == answer


@given(st.text(), LINES)
def test_each_word_of_an_answer_is_from_the_context_or_a_fixed_phrase(question: str, lines: list[str]) -> None:
    context = "\n".join(lines)
    answer = ExtractiveReader().read(question, None, [context]).answer
    fixed = "It is not certain any more. Then: But later: Yes. …"
    assert all(word.strip(",") in context + fixed for word in answer.replace("…", " ").split())


def test_one_huge_line_without_sentences_is_read_in_linear_time() -> None:
    line = "[2025-01-05] Ada: 'I was from it " + "no i mean my tea " * 60_000
    assert read("What is Ada's tea before it?", line) == line.split(": ", 1)[1].strip()


def test_many_reasons_and_changes_are_read_in_a_short_time() -> None:
    lines = [
        f"[2025-01-{1 + index % 28:02}] {'Assistant' if index % 2 else 'Bo'}: "
        f"I like w{index % 3} now because w{index % 5} w{index % 7} v{index // 9}."
        for index in range(4000)
    ]
    start = process_time()
    assert read("Does Bo like w1 w2?", "\n".join(lines))
    assert process_time() - start < 5


def test_answers_do_not_depend_on_the_order_of_sets() -> None:
    program = (
        "from memeval.execution.extractive.reader import ExtractiveReader as R\n"
        "lines = [f'[2025-01-{1 + i % 28:02}] Ada: w{i % 7} w{i % 5} w{i % 3} w{i % 11} now.' for i in range(99)]\n"
        "print([R().read(f'Does Ada like w1 w{i} w3 w4?', None, lines).answer for i in range(11)])\n"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(outputs) == 1
