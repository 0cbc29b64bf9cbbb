"""Phrases as whole words, times of day in every form, and stems as NLTK makes them."""

import re
import subprocess
import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memeval.benchmarks.qa.keys import holds
from memeval.judging.stemming import stem
from memeval.judging.text import bare, normal, stated, states, with_clock, words


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        ("He uses Drone CI now.", "Drone CI"),
        ("he uses DRONE  ci", "Drone CI"),
        ("drone\nci", "Drone CI"),
        ("It is C#.", "C#"),
        ("C#, of course", "C#"),
        ("(C++)", "C++"),
        ("written in c++", "C++"),
        ("for CI/CD pipelines", "CI/CD"),
        ("Runs on .NET.", ".NET"),
        ("**Svelte**", "Svelte"),
        ("_Svelte_", "Svelte"),
        ("Svelte's", "Svelte"),
        ("Weights and Biases", "Weights & Biases"),
        ("Weights & Biases", "Weights and Biases"),
        ("Ｓｖｅｌｔｅ", "Svelte"),
        ("Sv\u200belte", "Svelte"),
        ("STRASSE", "Straße"),
        ("Zoe\u0308", "Zoë"),
        ("the user’s choice", "user's choice"),
        ("Node.js with Express", "Node.js with Express"),
        ("REST with JSON:API spec", "JSON:API"),
        ("Redis-backed", "Redis"),
    ],
)
def test_a_phrase_is_found_as_whole_words_in_any_form(text: str, phrase: str) -> None:
    assert states(text, (phrase,))


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        ("SvelteKit", "Svelte"),
        ("Jenkinsfile", "Jenkins"),
        ("It is C#.", "C"),
        ("It is C++.", "C"),
        ("ASP.NET", ".NET"),
        ("golang", "Go"),
        ("Drone", "Drone CI"),
        ("CI Drone", "Drone CI"),
        ("J Unit 5", "JUnit 5"),
        ("JUnit 50", "JUnit 5"),
        ("", "Svelte"),
    ],
)
def test_part_of_a_word_is_not_the_phrase(text: str, phrase: str) -> None:
    assert not states(text, (phrase,))


def test_the_longer_of_two_overlapping_phrases_counts() -> None:
    assert stated("Redis Cluster", ("Redis",), ("Redis Cluster",)) == (False, True)
    assert stated("Redis Cluster, formerly Redis", ("Redis",), ("Redis Cluster",)) == (True, True)
    assert stated("Redis", ("Redis",), ("Redis Cluster",)) == (True, False)


def test_a_phrase_of_two_groups_counts_for_both() -> None:
    assert stated("Jest", ("Jest",), ("jest", "Mocha")) == (True, True)


def test_no_phrases_are_never_stated() -> None:
    assert stated("anything", ()) == (False,)
    assert stated("anything", ("", " ")) == (False,)


def test_words_keep_the_signs_that_name_languages() -> None:
    assert words(normal("Uses C#, C++ and F# for CI/CD.")) == ["uses", "c#", "c++", "and", "f#", "for", "ci", "cd"]


PHRASES = st.text("abcC#+./& -é", min_size=1, max_size=12).filter(lambda text: bool(text.strip()))


@given(PHRASES, st.sampled_from(["", "so ", "(", "\n"]), st.sampled_from(["", ".", ", then", ")", "\n"]))
def test_a_phrase_is_found_in_any_sentence_around_it(phrase: str, before: str, after: str) -> None:
    phrase = phrase.strip()
    assert states(before + phrase + after, (phrase,))


@given(st.text(), st.lists(st.text(max_size=8), max_size=4))
def test_any_text_and_any_phrases_can_be_compared(text: str, phrases: list[str]) -> None:
    assert stated(text, tuple(phrases)) in ((True,), (False,))


@given(st.text())
def test_the_normal_form_is_stable(text: str) -> None:
    assert normal(normal(text)) == normal(text)


@given(st.text("a1-+.%)#$€ ,_'\"(£—", max_size=9))
def test_a_bare_text_has_no_punctuation_at_its_ends(text: str) -> None:
    assert bare(text) == re.sub(r"^[^\w$€£+-]+|[^\w%)+#]+$", "", " ".join(text.split()))


@pytest.mark.parametrize("text", ["a {} b", "{}", "a{}"])
def test_a_long_run_of_punctuation_is_passed_fast(text: str) -> None:
    began = time.process_time()
    bare(text.format("-" * 200_000))
    assert time.process_time() - began < 5


SEVEN = (
    "7 pm",
    "7 p.m.",
    "7pm",
    "7PM",
    "7 P.M.",
    "7:00 pm",
    "7:00 p.m.",
    "7.00 pm",
    "19:00",
    "7 p. m.",
    "seven pm",
    "７ ｐｍ",
)


@pytest.mark.parametrize("written", SEVEN)
@pytest.mark.parametrize("wanted", SEVEN)
def test_one_time_is_the_same_in_all_forms(written: str, wanted: str) -> None:
    assert states(f"She left at {written}, tired.", (wanted,))
    assert holds(f"She left at {written}, tired.", (wanted,))


@pytest.mark.parametrize(
    ("written", "clock"),
    [
        ("12 am", "0:00"),
        ("midnight", "0:00"),
        ("12 pm", "12:00"),
        ("noon", "12:00"),
        ("12 noon", "12:00"),
        ("07:05", "7:05"),
        ("7:30 p.m. sharp", "19:30 sharp"),
        ("7 to 8 pm", "19:00 to 20:00"),
        ("11-1 pm", "11:00-13:00"),
        ("8:00am-5:00pm", "8:00-17:00"),
        ("9 o'clock", "9:00"),
        ("9 o'clock in the evening", "21:00"),
        ("7:00:00", "7:00"),
    ],
)
def test_a_time_is_written_as_hour_and_minute_of_the_day(written: str, clock: str) -> None:
    assert with_clock(written) == clock


@pytest.mark.parametrize(
    "text",
    ["3:2", "16:9", "25 pm", "i am 7", "2 amazing days", "a.m.", "2023-05-08", "the afternoon", "1:2:3", "three amps"],
)
def test_what_is_no_time_of_day_stays(text: str) -> None:
    assert with_clock(text) == text


def test_morning_and_evening_differ() -> None:
    assert not states("at 7 am", ("7 pm",))
    assert not states("at 7:00", ("19:00",))
    assert states("at 7:00", ("7 am",))


@pytest.mark.parametrize(
    ("word", "stemmed"),
    [
        ("running", "run"),
        ("agencies", "agenc"),
        ("dying", "die"),  # NLTK's extensions: the original has "dy"
        ("flies", "fli"),
        ("enjoy", "enjoy"),  # and "enjoi"
        ("generously", "gener"),  # Snowball's English has "generous"
        ("as", "as"),
        ("", ""),
    ],
)
def test_words_are_stemmed_as_nltk_does_by_default(word: str, stemmed: str) -> None:
    assert stem(word) == stemmed


def test_a_word_of_any_length_is_stemmed_fast() -> None:
    assert stem("y" * 1_000_000).startswith("yyy")
    assert stem("ing" * 100_000) == "ing" * 99_999


def test_grading_by_token_f1_loads_neither_the_rest_of_nltk_nor_what_it_would_load() -> None:
    code = (
        "import sys; from memeval.benchmarks.locomo.grading import f1; assert f1('dogs ran', 'a dog runs') == 0.5;"
        "print(sorted({name.partition('.')[0] for name in sys.modules} & {'nltk', 'numpy', 'pandas', 'scipy'}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[]"
