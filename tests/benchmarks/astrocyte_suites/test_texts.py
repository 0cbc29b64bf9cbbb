"""The texts of the suites that memeval ships: their counts, and what makes each of their questions fair."""

import re
from collections import Counter
from datetime import datetime
from importlib import resources
from pathlib import Path

import pytest

from memeval.benchmarks import find
from memeval.benchmarks.astrocyte import reading
from memeval.benchmarks.astrocyte.reading import RecallCase, Suite, read
from memeval.grading.recall import passes
from memeval.judging.text import normal, words
from memeval.records.scenario import Retain

COMMON = frozenset(
    """
    a about after again all am an and any anyone are as at back be been before by can could did do does each for from
    get had has have he her him his how i in into is it its like lot may me more most much must my no nor not of off
    on one only or our out over own she should since so some still than that the their them then there these they this
    to too up us was we were what when where which while who whom whose why will with would you your there's whom
    """.split()  # noqa: SIM905
)
"""Words that say nothing of what a question is about."""


def suite(name: str) -> Suite:
    """Return a suite, as it is read for a run."""
    with resources.as_file(resources.files("memeval.benchmarks.astrocyte") / "suites" / f"{name}.yaml") as file:
        return read(Path(file))


BASIC, ACCURACY, REFLECT = (suite(name) for name in ("basic", "accuracy", "reflect"))
SEARCHED = [pytest.param(each, id=each.name) for each in (BASIC, ACCURACY)]
EVERY = [*SEARCHED, pytest.param(REFLECT, id=REFLECT.name)]


def kinds(ids: list[str]) -> Counter[str]:
    """Count ids by what stands before their number."""
    return Counter(re.sub(r"-?\d+[ab]?$", "", name) for name in ids)


def stems(text: str) -> set[str]:
    """Return the telling words of a text, without endings."""
    telling = {word.removesuffix("'s").removesuffix("’s") for word in words(normal(text)) if len(word) > 1} - COMMON
    return {re.sub(r"(?<=\w{3})(ing|ed|es|s)$", "", word) for word in telling}


def cases(of: Suite, *categories: str) -> list[RecallCase]:
    """Return the searches of some categories."""
    return [case for case in of.recalls if case.category in categories]


def relevant(of: Suite, case: RecallCase) -> list[Retain]:
    """Return the texts that a search should bring up."""
    return [text for text in of.texts if text.text_id in case.relevant]


def of_id(of: Suite, name: str) -> Retain:
    """Return the text of an id."""
    return next(text for text in of.texts if text.source_id == name)


class TestCounts:
    def test_basic_retains_and_asks_as_documented(self) -> None:
        assert Counter(text.fact_type for text in BASIC.texts) == {"world": 12, "experience": 4, "conversation": 4}
        asked = {"exact": 5, "paraphrase": 5, "tag-filter": 3, "time-range": 3, "negative": 4}
        assert Counter(case.category for case in BASIC.recalls) == asked
        negative = [case.step.question_id for case in cases(BASIC, "negative")]
        assert kinds(negative) == {"out-of-scope": 2, "near-miss": 2}
        assert len(BASIC.reflects) == 2

    def test_accuracy_retains_and_asks_as_documented(self) -> None:
        kept = {"old": 8, "new": 8, "number": 10, "name": 10, "not": 5, "plain": 9}
        assert kinds([text.source_id for text in ACCURACY.texts]) == kept
        asked = {"paraphrase": 30, "temporal": 20, "entity": 20}
        asked |= dict.fromkeys(("superseding", "multi-evidence", "negative"), 10)
        assert Counter(case.category for case in ACCURACY.recalls) == asked
        assert len(ACCURACY.texts) == 50 and len(ACCURACY.recalls) == 100

    def test_reflect_has_twenty_scenarios_of_three_to_eight_texts(self) -> None:
        banks = Counter(text.bank for text in REFLECT.texts)
        assert len(REFLECT.reflects) == 20
        assert {case.step.bank for case in REFLECT.reflects} == set(banks) and len(banks) == 20
        assert set(banks.values()) <= set(range(3, 9))
        assert all(case.points and case.forbidden for case in REFLECT.reflects)


@pytest.mark.parametrize("each", EVERY)
class TestEverySuite:
    def test_says_when_each_text_happened_of_what_kind_it_is_and_what_it_is_about(self, each: Suite) -> None:
        for text in each.texts:
            assert datetime.fromisoformat(text.occurred_at).tzinfo is not None, text.source_id
            assert text.tags and text.fact_type, text.source_id

    def test_names_every_text_and_every_question_once(self, each: Suite) -> None:
        ids = [text.source_id for text in each.texts]
        asked = [case.step.question_id for case in each.recalls]
        asked += [case.step.question_id for case in each.reflects]
        assert len(set(ids)) == len(ids) and len(set(asked)) == len(asked)
        assert len({text.content for text in each.texts}) == len(each.texts)

    def test_has_a_truth_for_all_that_it_asks(self, each: Suite) -> None:
        assert each.warnings == ()

    def test_asks_for_points_that_its_texts_state_and_forbids_claims_that_none_does(self, each: Suite) -> None:
        for case in each.reflects:
            told = f" {' '.join(words(normal(' / '.join(t.content for t in each.texts if t.bank == case.step.bank))))} "
            for facts, stated in ((case.points, True), (case.forbidden, False)):
                for fact in facts:
                    phrase = f" {' '.join(words(normal(fact.text)))} "
                    assert (phrase in told) is stated, (case.step.question_id, fact.text)


@pytest.mark.parametrize("each", SEARCHED)
class TestSearches:
    def test_what_nothing_answers_has_no_text_with_all_of_its_words(self, each: Suite) -> None:
        for case in cases(each, "negative"):
            assert case.absent and not case.relevant
            asked = stems(case.step.question)
            assert not [text.source_id for text in each.texts if asked <= stems(text.content)], case.step.question_id

    def test_a_near_miss_shares_words_with_a_text_and_what_is_out_of_scope_shares_hardly_any(self, each: Suite) -> None:
        for case in cases(each, "negative"):
            asked = stems(case.step.question)
            most = max(len(asked & stems(text.content)) / len(asked) for text in each.texts)
            near = case.step.question_id.startswith("near-miss")
            assert most >= 0.3 if near else most <= 0.1, (case.step.question_id, most)

    def test_paraphrases_share_few_words_with_what_they_should_find(self, each: Suite) -> None:
        shares = []
        for case in cases(each, "paraphrase"):
            (text,) = relevant(each, case)
            asked = stems(case.step.question)
            shared = asked & stems(text.content)
            assert len(shared) <= 1 and len(shared) / len(asked) <= 0.5, (case.step.question_id, shared)
            shares.append(len(shared) / len(asked))
        assert sum(shares) / len(shares) <= 0.1

    def test_a_leaking_filter_brings_up_a_text_that_fits_the_words_about_as_well(self, each: Suite) -> None:
        filtered = [case for case in each.recalls if case.step.tags or case.step.since]
        assert len(filtered) == (6 if each is BASIC else 8)
        for case in filtered:
            asked = stems(case.step.question)
            right = max(len(asked & stems(text.content)) for text in relevant(each, case))
            wrong = [text for text in each.texts if not passes(case.step, text)]
            assert max(len(asked & stems(text.content)) for text in wrong) >= max(1, right - 1), case.step.question_id

    def test_keywords_stand_in_what_should_be_found_and_nowhere_else(self, each: Suite) -> None:
        for case in each.recalls:
            holding = {
                t.text_id for t in each.texts if all(k.casefold() in t.content.casefold() for k in case.keywords)
            }
            assert not case.keywords or holding == set(case.relevant), case.step.question_id

    def test_a_range_of_time_ends_at_the_very_moment_of_a_wrong_text(self, each: Suite) -> None:
        ends = {case.step.until for case in each.recalls if case.step.until}
        assert ends & {text.occurred_at for text in each.texts}


class TestAccuracy:
    def test_what_takes_the_place_of_another_is_later_and_about_the_same(self) -> None:
        for number in range(1, 9):
            old, new = of_id(ACCURACY, f"old-{number}"), of_id(ACCURACY, f"new-{number}")
            assert old.occurred_at < new.occurred_at
            assert old.tags == new.tags
            assert stems(old.content) & stems(new.content)

    def test_what_holds_now_is_the_later_text_alone(self) -> None:
        for case in cases(ACCURACY, "superseding"):
            assert [text.source_id[:4] for text in relevant(ACCURACY, case)] == ["new-"]
            assert case.step.timestamp and case.step.timestamp > max(text.occurred_at for text in ACCURACY.texts)

    def test_near_duplicates_differ_in_numbers_and_in_one_more_word_or_two(self) -> None:
        for number in range(1, 6):
            one, other = (stems(of_id(ACCURACY, f"number-{number}{letter}").content) for letter in "ab")
            differing = one ^ other
            assert [word for word in differing if word.isdigit()]
            assert len([word for word in differing if not word.isdigit()]) <= 4, differing

    def test_texts_of_the_same_name_share_it_and_little_else(self) -> None:
        for number in range(1, 6):
            one, other = (stems(of_id(ACCURACY, f"name-{number}{letter}").content) for letter in "ab")
            assert 1 <= len(one & other) <= 2, one & other

    def test_negations_negate(self) -> None:
        for number in range(1, 6):
            text = of_id(ACCURACY, f"not-{number}").content.lower()
            assert re.search(r"\b(?:not|never|nobody|against|don't)\b", text), text

    def test_what_is_asked_of_a_time_happened_before_it_is_asked(self) -> None:
        said = [case for case in cases(ACCURACY, "temporal") if case.step.timestamp]
        assert len(said) == 12 and len(cases(ACCURACY, "temporal")) == 20
        for case in said:
            (text,) = relevant(ACCURACY, case)
            asked = datetime.fromisoformat(case.step.timestamp or "")
            assert 0 < (asked - datetime.fromisoformat(text.occurred_at)).days + 1 <= 50

    def test_what_takes_several_texts_has_several(self) -> None:
        assert {len(case.relevant) for case in cases(ACCURACY, "multi-evidence")} == {2}


PAGE = (Path(__file__).parents[3] / "site" / "suites.md").read_text("utf-8")


def test_its_example_is_a_suite_and_uses_or_names_every_key(tmp_path: Path) -> None:
    (example,) = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    file = tmp_path / "pantry.yaml"
    file.write_text(example, "utf-8")
    suite = read(file)
    assert (len(suite.texts), len(suite.recalls), len(suite.reflects)) == (1, 2, 1)
    assert suite.warnings == ()
    keys = {key for part in ("retain", "recall", "reflect") for key in reading.PARTS[part].model_fields}
    assert not [key for key in keys if f"{key}:" not in example and f"`{key}`" not in PAGE]


def test_its_benchmarks_and_protocols_are_there() -> None:
    named = set(re.findall(r"astrocyte-[a-z]+@1", PAGE))
    assert named == {f"astrocyte-{name}@1" for name in ("basic", "accuracy", "reflect", "stress", "suite")}
    for name in named:
        assert find(name).info.id == name
    assert {each.name for each in find("astrocyte-reflect@1").info.protocols} == {"reflect", "dispositions"}
