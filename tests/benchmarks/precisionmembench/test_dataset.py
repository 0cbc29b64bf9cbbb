"""What systems see of the files, and what they never see."""

from pathlib import Path

import pytest

from memeval.benchmarks.precisionmembench import PrecisionBenchmark
from memeval.benchmarks.precisionmembench.dataset import SEARCHES, TURNS
from memeval.benchmarks.precisionmembench.fixtures import FOLDER, parse
from memeval.benchmarks.precisionmembench.grading import BeliefSearch
from memeval.benchmarks.precisionmembench.keys import BeliefSearchKey
from memeval.keys import ReflectKey
from memeval.records.errors import BadInput
from memeval.records.grade import Flag, Grade, GradeState
from memeval.records.response import Outcome, RetrievedItem
from memeval.records.scenario import Recall, Retain, Step
from tests.benchmarks.precisionmembench.made import dataset, encoded, files, items
from tests.grading.builders import NoJudge, fact, item, reply, response


def key(name: str) -> BeliefSearchKey:
    found = items()[name].key
    assert isinstance(found, BeliefSearchKey)
    return found


def steps(scenario_id: str) -> tuple[Step, ...]:
    return tuple(dataset().scenario(scenario_id).steps)


def test_a_text_goes_to_the_bank_of_its_user_with_its_scope_and_an_ordinal() -> None:
    secret = steps(SEARCHES)[7]
    assert isinstance(secret, Retain)
    assert (secret.text_id, secret.bank, secret.tags) == ("s008", "other-user", ("garden",))
    assert secret.content == "secret Ida cares for secret."


def test_a_search_names_its_user_its_first_scope_and_its_budget() -> None:
    found = {step.question_id: step for step in steps(SEARCHES) if isinstance(step, Recall)}
    both, small, new = found["find-both"], found["small-budget"], found["new-user"]
    assert (both.bank, both.tags, both.k) == ("test-user", ("garden",), 20)
    assert (small.k, new.bank) == (1, "new-user")


def test_what_the_authors_code_does_not_send_is_neither_asked_nor_planned() -> None:
    asked = {step.question_id for step in steps(SEARCHES) if isinstance(step, Recall)}
    planned = {name for name, each in items().items() if each.scenario_id == SEARCHES}
    assert asked == planned
    assert asked.isdisjoint({"blank", "no-budget"})


def test_the_store_of_the_conversations_changes_after_two_turns() -> None:
    names = [each.text_id if isinstance(each, Retain) else "search" for each in steps(TURNS)[8:]]
    assert names == ["search", "s009", "search", "s010", "search"]
    changed = steps(TURNS)[11]
    assert isinstance(changed, Retain)
    assert changed.content == "roses rosa thorns petals Ida cares for roses. Shapes advice."


def test_a_new_text_of_a_belief_counts_as_the_belief() -> None:
    assert key("talk:1").updated == {}
    assert key("later:0").updated == {"s010": "s001"}
    assert key("later:0").expected == ("s001",)


def test_source_ids_map_to_the_first_text_of_a_belief() -> None:
    named = dataset().ordinals(TURNS)
    assert (named["roses"], named["hedge"]) == ("s001", "s009")
    assert "hedge" not in dataset().ordinals(SEARCHES)


def test_pinned_beliefs_are_those_in_force_and_take_room() -> None:
    assert key("find-roses").pinned == ("s003",)
    assert key("find-roses").room == 19
    assert (key("small-budget").pinned, key("small-budget").room) == (("s003",), 0)
    assert key("new-user").pinned == ()


def test_a_relation_adds_only_what_the_search_may_see() -> None:
    assert key("find-roses").expansions == {"s006": ("s001", "s005")}
    assert key("new-user").expansions == {"s006": ()}


def test_categories_say_what_a_result_is_worth() -> None:
    assert {name: each.category for name, each in items().items()} == {
        **{"find-roses": "match-one", "find-both": "match-two", "find-relation": "match-two", "nothing": "no-match"},
        **dict.fromkeys(("small-budget", "new-user", "isolated"), "always-passed"),
        **dict.fromkeys(("talk:0", "talk:1", "later:0"), "conversation"),
    }


def test_an_item_keeps_the_category_of_the_file_as_a_slice() -> None:
    assert items()["isolated"].slices == {"category": "Cross-user isolation"}
    assert items()["find-roses"].evidence == ("s001",)
    assert items()["nothing"].evidence is None


FILES = ("beliefs.seed.json", "retrieval.cases.json", "session-retrieval.cases.json")


def test_a_text_joins_the_fields_that_are_not_empty() -> None:
    roses, tulips, *_ = parse(encoded(files())).beliefs
    assert roses.text == "roses Rosa thorns Ida cares for roses. Shapes advice."
    assert tulips.text == "tulips Ida cares for tulips."


def test_other_files_of_the_same_form_are_not_the_released_ones(tmp_path: Path) -> None:
    for name, data in zip(FILES, encoded(files()).values(), strict=True):
        (tmp_path / name).write_bytes(data)
    with pytest.raises(BadInput, match="not the released file"):
        PrecisionBenchmark().open(tmp_path)


def test_a_missing_file_names_the_command_that_gets_it(tmp_path: Path) -> None:
    benchmark = PrecisionBenchmark()
    assert not benchmark.available(tmp_path)
    with pytest.raises(BadInput, match="file not found") as refused:
        benchmark.open(tmp_path)
    assert refused.value.remedy is not None
    assert "memeval data pull precisionmembench" in refused.value.remedy


@pytest.mark.parametrize("folder", [".", FOLDER, "precisionmembench", f"precisionmembench/{FOLDER}"])
def test_the_files_are_found_in_each_layout(folder: str, tmp_path: Path) -> None:
    (tmp_path / folder).mkdir(parents=True, exist_ok=True)
    for name in FILES:
        (tmp_path / folder / name).touch()
    assert PrecisionBenchmark().available(tmp_path)


def graded(name: str, *sources: str, outcome: Outcome = Outcome.OK) -> Grade:
    """Return the grade of a search that returned some texts, by ordinal."""
    wanted = items()[name]
    returned = [RetrievedItem(text=f"text {n}", source_ids=(source,)) for n, source in enumerate(sources)]
    answer = reply(wanted, "", returned, outcome)
    return BeliefSearch().grade(wanted, dataset().scenario(wanted.scenario_id), [answer], NoJudge())


@pytest.mark.parametrize(
    ("name", "returned", "credit"),
    [
        ("find-roses", (), 0.0),
        ("find-roses", ("s001",), 1.0),
        ("find-roses", ("s001", "s002"), 5 / 6),
        ("find-roses", ("s001", "s001", "s003"), 1.0),
        ("find-roses", ("s001", "s999"), 5 / 6),
        ("nothing", ("s999",), 0.0),
        ("find-both", ("s001",), 5 / 9),
        ("find-both", ("s002", "s001"), 1.0),
        ("find-both", ("s005",), 0.0),
        ("find-relation", ("s006", "s001"), 10 / 11),
        ("nothing", (), 1.0),
        ("nothing", ("s003",), 1.0),
        ("nothing", ("s002",), 0.0),
        ("small-budget", ("s002",), 1.0),
        ("new-user", ("s001",), 0.0),
        ("isolated", ("s001", "s002"), 1.0),
        ("isolated", ("s008",), 0.0),
        ("talk:0", ("s001",), 1.0),
        ("talk:0", ("s001", "s002"), 0.0),
        ("later:0", ("s010", "s001"), 1.0),
        ("later:0", ("s001", "s009"), 0.0),
    ],
)
def test_the_credit_of_a_result(name: str, returned: tuple[str, ...], credit: float) -> None:
    grade = graded(name, *returned)
    assert grade.state is GradeState.GRADED
    assert grade.credit == pytest.approx(credit)


def test_a_relation_adds_what_it_connects_unless_the_rule_leaves_it_out() -> None:
    grade = graded("find-relation", "s006", "s001")
    assert grade.alternates == {"published": False, "unexpanded": 1.0}
    assert grade.metrics["exact"] is None, "no result can be exact"
    assert grade.reason == "2 of 2 expected beliefs are among 3 results."


def test_an_unknown_result_counts_against_a_system_except_as_published() -> None:
    grade = graded("find-roses", "s001", "s999")
    assert (grade.metrics["exact"], grade.metrics["passed"], grade.metrics["precision"]) == (0.0, 1.0, 1.0)
    assert grade.alternates["published"] is True


def test_published_precision_leaves_out_empty_results_that_are_right() -> None:
    assert graded("nothing").metrics["precision"] is None
    assert graded("nothing", "s002").metrics["precision"] == 0.0
    assert graded("find-roses").metrics["precision"] == graded("find-roses").metrics["precision_43"] == 0.0
    assert graded("nothing", "s002").metrics["precision_43"] is None
    assert graded("nothing").metrics["recall"] is None


def test_silence_in_a_conversation_has_no_drift_except_as_published() -> None:
    silent, noisy = graded("later:0"), graded("later:0", "s009", "s001")
    assert (silent.metrics["drift"], silent.metrics["drift_published"]) == (None, 0.0)
    assert (noisy.metrics["drift"], noisy.metrics["drift_published"]) == (0.5, 0.5)
    assert (silent.metrics["noise_free"], noisy.metrics["noise_free"]) == (1.0, 0.0)
    assert graded("talk:0").metrics["noise_free"] is None


def test_results_of_another_user_or_scope_are_counted_and_flagged() -> None:
    grade = graded("find-roses", "s001", "s008", "s007")
    assert grade.flags == (Flag.FILTER_LEAK, Flag.OTHER_BANK)
    assert grade.metrics["user_leaks"] == 1.0
    assert grade.metrics["scope_leaks"] == pytest.approx(1 / 3)
    assert graded("find-roses", "s001").metrics["user_leaks"] == 0.0


def test_a_failed_search_has_no_credit_and_no_metrics() -> None:
    grade = graded("nothing", outcome=Outcome.TIMEOUT)
    assert (grade.state, grade.credit, grade.metrics) == (GradeState.TIMEOUT, None, {})


def test_an_imported_empty_result_is_a_result() -> None:
    assert graded("nothing", outcome=Outcome.EMPTY).credit == 1.0


def test_other_items_are_refused() -> None:
    wanted = item(ReflectKey(points=(fact("Ida rows."),)))
    with pytest.raises(TypeError, match="cannot use keys of kind"):
        BeliefSearch().grade(wanted, dataset().scenario(TURNS), [response()], NoJudge())
