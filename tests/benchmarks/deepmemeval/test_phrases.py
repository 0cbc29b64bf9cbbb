"""Key phrases of facts."""

import pytest

from memeval.benchmarks.deepmemeval.dataset import fact_of, key_phrase


@pytest.mark.parametrize(
    ("fact", "phrase"),
    [
        # DeepMemEval specification, section 5.
        ("Uses Drone CI for CI/CD pipelines", "Drone CI"),
        ("Uses JUnit 5 for backend tests", "JUnit 5"),
        ("Uses Jenkinsfile declarative pipelines", "Jenkinsfile"),
        ("Uses Supabase as the mobile backend", "Supabase"),
        ("Uses Nuxt 3 for the frontend with SSR", "Nuxt 3"),
        ("Uses for loops", "for"),
        ("Uses Transformers fortnightly", "Transformers"),
    ],
)
def test_the_key_phrase_stands_between_the_verb_and_the_purpose(fact: str, phrase: str) -> None:
    assert key_phrase(fact) == phrase
    assert fact_of(fact).phrases == (phrase,)


@pytest.mark.parametrize(
    ("fact", "phrases"),
    [
        ("Team uses Discord for real-time communication", ("uses Discord", "Discord")),
        ("Design team uses Penpot for open-source design", ("team uses Penpot", "Penpot")),
        ("Uses the ELK stack for centralized logging", ("the ELK stack", "ELK stack")),
        ("Uses a custom design system for the mobile UI", ("a custom design system", "custom design system")),
    ],
)
def test_a_leading_verb_or_article_need_not_be_said(fact: str, phrases: tuple[str, ...]) -> None:
    assert fact_of(fact).phrases == phrases
