"""Scenarios and keys, of a made-up file and of the released one."""

from collections import Counter

import pytest

from memeval.benchmarks.base import Dataset
from memeval.benchmarks.locomo import LocomoBenchmark
from memeval.benchmarks.locomo.keys import NOT_MENTIONED, LocomoCategory
from memeval.benchmarks.locomo.results import NUMBERS
from memeval.keys import ItemKey
from memeval.records.benchmark import Erratum, ErratumAction, ErratumKind
from memeval.records.errors import BadInput
from memeval.records.scenario import Ingest
from tests.benchmarks.locomo.samples import locomo, made

FOUND = {
    # sample: sessions, turns, questions, and of categories 1 to 5
    "conv-26": (19, 419, 199, 32, 37, 13, 70, 47),
    "conv-30": (19, 369, 105, 11, 26, 0, 44, 24),
    "conv-41": (32, 663, 193, 31, 27, 8, 86, 41),
    "conv-42": (29, 629, 260, 37, 40, 11, 111, 61),
    "conv-43": (29, 680, 242, 31, 26, 14, 107, 64),
    "conv-44": (28, 675, 158, 30, 24, 7, 62, 35),
    "conv-47": (31, 689, 190, 20, 34, 13, 83, 40),
    "conv-48": (30, 681, 239, 21, 42, 10, 118, 48),
    "conv-49": (25, 509, 196, 37, 33, 13, 73, 40),
    "conv-50": (30, 568, 204, 32, 32, 7, 87, 46),
}
UNKNOWN_EVIDENCE = {
    "conv-26:37": {"D8:6; D9:17"},
    "conv-42:58": {"D10:19"},
    "conv-42:88": {"D"},
    "conv-43:18": {"D:11:26"},
    "conv-47:38": {"D4:36"},
    "conv-49:31": {"D9:1 D4:4 D4:6"},
    "conv-49:38": {"D22:1 D22:2 D9:10 D9:11"},
    "conv-49:46": {"D21:18 D21:22 D11:15 D11:19"},
    "conv-50:69": {"D30:05"},
}


def erratum(
    item_id: str, corrected: str | tuple[str, ...] | None, kind: ErratumKind = ErratumKind.WRONG_ANSWER
) -> Erratum:
    return Erratum(id=item_id, kind=kind, action=ErratumAction.REPLACE, corrected=corrected, note="Synthetic.")


def by_id(dataset: Dataset) -> dict[str, ItemKey]:
    return {key.item_id: key for key in dataset.answer_keys()}


def test_sessions_go_by_their_numbers_and_not_by_their_place() -> None:
    first = next(made().scenarios())
    taken = [step for step in first.steps if isinstance(step, Ingest)]
    assert [step.source_id for step in taken] == ["S2", "S10"]
    assert [step.session.session_id for step in taken] == ["s001", "s002"]
    assert [step.session.date for step in taken] == ["2024-02-08T13:56:00Z", "2024-03-01T00:09:00Z"]
    assert [step.step for step in first.steps] == ["take_in"] * 2 + ["ask"] * 6


def test_both_people_are_users_and_captions_are_said() -> None:
    turns = next(made().scenarios()).sessions()[0].turns
    assert [(turn.turn_id, turn.role, turn.speaker, turn.content) for turn in turns] == [
        ("s001:t01", "user", "Ines", "I sing in a choir."),
        ("s001:t02", "user", "Tomasz", "Look! [shares a photo: a red kite]"),
    ]


def test_questions_stand_at_the_end_without_a_time() -> None:
    asks = next(made().scenarios()).questions()
    assert [ask.question_id for ask in asks] == [f"syn-1:{place}" for place in range(6)]
    assert {ask.timestamp for ask in asks} == {None}
    assert asks[4].question == "Who sang?"


def test_the_sources_ids_have_their_ordinals() -> None:
    dataset = made()
    assert dataset.ordinals("syn-1") == {
        "session_2": "s001",
        "session_10": "s002",
        "S2": "s001",
        "S10": "s002",
        "D2:1": "s001:t01",
        "D2:2": "s001:t02",
        "D10:1": "s002:t01",
    }
    with pytest.raises(KeyError):
        dataset.ordinals("syn-9")


def test_no_source_id_and_no_key_reaches_a_system() -> None:
    for scenario in made().scenarios():
        seen = "".join(session.model_dump_json() for session in scenario.sessions())
        assert not any(hidden in seen for hidden in ("D2:", "S2", "syn-", "images.example", "query", "She sings"))


def test_keys_say_what_is_right() -> None:
    keys = [locomo(key) for key in made().answer_keys()]
    assert [key.category for key in keys[:5]] == [
        LocomoCategory.SINGLE_HOP,
        LocomoCategory.MULTI_HOP,
        LocomoCategory.TEMPORAL,
        LocomoCategory.OPEN_DOMAIN,
        LocomoCategory.ADVERSARIAL,
    ]
    assert keys[2].answer == "2024"
    assert (keys[4].answer, keys[4].trap) == (None, "Tomasz")
    assert (keys[7].answer, keys[7].trap) == ("No", "Yes")
    assert all(key.options == () for key in keys)


def test_evidence_is_kept_as_published_and_located_where_it_can_be() -> None:
    keys = by_id(made())
    repeated, dangling = keys["syn-1:2"], keys["syn-1:5"]
    assert locomo(repeated).evidence == ("D2:1", "D10:1", "D2:1")
    assert locomo(repeated).evidence_turns == ("s001:t01", "s002:t01")
    assert locomo(repeated).dates == ("2024-02-08T13:56:00Z", "2024-03-01T00:09:00Z")
    assert repeated.evidence == ("s001", "s002")
    assert locomo(dangling).evidence == ("D2:2; D2:1", "D9:9")
    assert (locomo(dangling).evidence_turns, locomo(dangling).dates, dangling.evidence) == ((), (), None)


def test_slices_and_clusters() -> None:
    keys = list(made().answer_keys())
    assert [key.slices["evidence"] for key in keys] == [
        *("one-session", "one-session", "several-sessions", "none", "one-session", "none"),
        *("one-session", "one-session"),
    ]
    assert [key.slices["photo"] for key in keys] == ["no", "yes", "no", "no", "no", "no", "no", "no"]
    assert Counter(key.cluster for key in keys) == {"syn-1": 6, "syn-2": 2}


def test_the_choice_offers_the_trap_and_says_which_option_is_which() -> None:
    free, choice = made(), made(choice=True)
    assert (free.parameters, choice.parameters) == ({}, {"adversarial": "choice"})
    keys = by_id(choice)
    assert set(locomo(keys["syn-1:4"]).options) == {NOT_MENTIONED, "Tomasz"}
    assert set(locomo(keys["syn-2:1"]).options) == {NOT_MENTIONED, "No"}
    assert all(bool(locomo(key).options) == (key.category == "adversarial") for key in keys.values())
    asked = {ask.question_id: ask.question for scenario in choice.scenarios() for ask in scenario.questions()}
    first, second = locomo(keys["syn-1:4"]).options
    assert f"(a) {first} (b) {second}" in asked["syn-1:4"]
    assert asked["syn-1:0"] == "What ripened?"


def test_errata_replace_answers_evidence_and_rules() -> None:
    dataset = made()
    keys = by_id(dataset)
    answered = dataset.corrected(keys["syn-1:0"], erratum("syn-1:0", "plums"))
    assert locomo(answered).answer == "plums"
    moved = dataset.corrected(keys["syn-1:0"], erratum("syn-1:0", "temporal", ErratumKind.WRONG_CATEGORY))
    assert (locomo(moved).category, moved.category) == (LocomoCategory.TEMPORAL, "single-hop")
    assert moved == dataset.corrected(keys["syn-1:0"], erratum("syn-1:0", "2", ErratumKind.WRONG_CATEGORY))
    located = dataset.corrected(keys["syn-1:5"], erratum("syn-1:5", ("D2:2", "D10:1"), ErratumKind.WRONG_EVIDENCE))
    assert locomo(located).evidence == ("D2:2", "D10:1")
    assert locomo(located).evidence_turns == ("s001:t02", "s002:t01")
    assert located.evidence == ("s001", "s002")
    one = dataset.corrected(keys["syn-1:5"], erratum("syn-1:5", "D2:2", ErratumKind.WRONG_EVIDENCE))
    assert locomo(one).evidence == ("D2:2",)


def test_other_evidence_leaves_everything_else_as_it_was() -> None:
    dataset = made()
    key = by_id(dataset)["syn-1:2"]
    better = dataset.corrected(key, erratum(key.item_id, ("D10:1",), ErratumKind.WRONG_EVIDENCE))
    same = {"evidence", "evidence_turns"}
    assert locomo(better).model_dump(exclude=same) == locomo(key).model_dump(exclude=same)
    assert better.evidence == ("s002",)


@pytest.mark.parametrize(
    ("item_id", "kind", "corrected", "problem"),
    [
        ("syn-1:0", ErratumKind.WRONG_ANSWER, ("a", "b"), "has no single correct answer as text"),
        ("syn-1:0", ErratumKind.WRONG_ANSWER, " ", "has no single correct answer as text"),
        ("syn-1:0", ErratumKind.WRONG_ANSWER, None, "has no single correct answer as text"),
        ("syn-1:4", ErratumKind.WRONG_ANSWER, "Ines", "gives an answer to an adversarial question"),
        ("syn-1:4", ErratumKind.WRONG_CATEGORY, "single-hop", "the data has no answer to it"),
        ("syn-1:0", ErratumKind.WRONG_CATEGORY, "6", "names the unknown category '6' (known: multi-hop, temporal"),
        ("syn-1:0", ErratumKind.WRONG_EVIDENCE, ("D2:1", "D9:9"), "names 'D9:9', which is not a turn of syn-1"),
        ("syn-1:0", ErratumKind.WRONG_EVIDENCE, "S2", "names 'S2', which is not a turn of syn-1"),
        ("syn-1:0", ErratumKind.WRONG_EVIDENCE, (), "names no evidence"),
        ("syn-1:0", ErratumKind.AMBIGUOUS, "plums", "says that the item is ambiguous"),
    ],
)
def test_an_erratum_that_cannot_be_followed_is_refused(
    item_id: str, kind: ErratumKind, corrected: str | tuple[str, ...] | None, problem: str
) -> None:
    dataset = made()
    with pytest.raises(BadInput) as caught:
        dataset.corrected(by_id(dataset)[item_id], erratum(item_id, corrected, kind))
    assert caught.value.problem.startswith(f"the erratum of {item_id} ")
    assert problem in caught.value.problem


# From here on, the released file.


def test_the_released_counts(dataset: Dataset) -> None:
    keys = list(dataset.answer_keys())
    for scenario in dataset.scenarios():
        own = Counter(locomo(key).category for key in keys if key.scenario_id == scenario.scenario_id)
        sessions = scenario.sessions()
        assert FOUND[scenario.scenario_id] == (
            len(sessions),
            sum(len(session.turns) for session in sessions),
            len(scenario.questions()),
            *(own[category] for category in LocomoCategory),
        )
        assert len({turn.speaker for session in sessions for turn in session.turns}) == 2
    assert list(dataset.scenario_ids()) == list(FOUND)
    assert len(keys) == len({key.item_id for key in keys}) == 1986
    assert {info.name: info.items for info in LocomoBenchmark.info.categories} == Counter(key.category for key in keys)


def test_the_released_evidence_names_no_turn_in_nine_places(dataset: Dataset) -> None:
    unknown = {
        key.item_id: lost
        for key in dataset.answer_keys()
        if (lost := set(locomo(key).evidence) - dataset.ordinals(key.scenario_id).keys())
    }
    assert unknown == UNKNOWN_EVIDENCE


def test_the_names_of_the_categories_fit_how_much_evidence_there_is(dataset: Dataset) -> None:
    strings: dict[str, list[int]] = {}
    for key in dataset.answer_keys():
        strings.setdefault(key.category, []).append(len(locomo(key).evidence))
    means = {name: round(sum(counts) / len(counts), 2) for name, counts in strings.items()}
    several = {name: round(100 * sum(n > 1 for n in counts) / len(counts)) for name, counts in strings.items()}
    del means["adversarial"], several["adversarial"]
    assert means == {"multi-hop": 3.13, "temporal": 1.17, "open-domain": 2.08, "single-hop": 1.07}
    assert several == {"multi-hop": 98, "temporal": 12, "open-domain": 49, "single-hop": 5}


def test_the_released_oddities(dataset: Dataset) -> None:
    keys = list(dataset.answer_keys())
    adversarial = [locomo(key) for key in keys if key.category == "adversarial"]
    assert [key.answer for key in adversarial if key.answer] == ["No", "No"]
    assert all(key.trap for key in adversarial)
    assert Counter(key.scenario_id for key in keys if not locomo(key).evidence) == {"conv-26": 2, "conv-50": 2}
    assert sum(";" in (locomo(key).answer or "") for key in keys if key.category == "open-domain") == 11
    assert Counter(key.category for key in keys if locomo(key).answer == "2022" and key.scenario_id == "conv-26") == {
        "temporal": 4
    }
    numbers = {key.item_id: (key.category, locomo(key).answer) for key in keys if key.item_id in NUMBERS}
    assert Counter(numbers.values()) == {("temporal", "2022"): 4, ("multi-hop", "2"): 1, ("multi-hop", "3"): 1}


def test_twelve_questions_are_asked_twice(dataset: Dataset) -> None:
    asked = Counter((s.scenario_id, ask.question) for s in dataset.scenarios() for ask in s.questions())
    assert sum(count == 2 for count in asked.values()) == 12 and max(asked.values()) == 2


def test_what_the_released_turns_hold(dataset: Dataset) -> None:
    turns = [turn for s in dataset.scenarios() for session in s.sessions() for turn in session.turns]
    assert len(turns) == 5882
    assert sum(" [shares a photo: " in turn.content for turn in turns) == 1226
    assert sum(len(turn.content.partition(" [shares a photo: ")[0]) for turn in turns) == 726_756


def test_retrieval_asks_what_has_evidence(dataset: Dataset) -> None:
    benchmark, keys = LocomoBenchmark(), tuple(dataset.answer_keys())
    asked = benchmark.asked(keys, "retrieval")
    assert len(asked) == 1977 and all(locomo(key).evidence_turns for key in asked)
    assert benchmark.asked(keys, "f1") == benchmark.asked(keys, "judge") == keys


def test_every_string_that_names_no_turn_is_corrected(dataset: Dataset) -> None:
    errata = LocomoBenchmark().errata("full")
    keys = by_id(dataset)
    assert {entry.id for entry in errata.entries} == set(UNKNOWN_EVIDENCE)
    for entry in errata.entries:
        better = dataset.corrected(keys[entry.id], entry)
        known = [name for name in locomo(keys[entry.id]).evidence if name not in UNKNOWN_EVIDENCE[entry.id]]
        assert set(known) <= set(locomo(better).evidence)
        assert len(locomo(better).evidence_turns) == len(locomo(better).evidence)
