"""Phrases as whole words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memeval.judging.text import normal, stated, states, words


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
