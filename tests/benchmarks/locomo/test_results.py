"""LoCoMo's own form: predictions read by index and text, the official numbers to the digit, and files written back."""

import json
import math
import random
import re
import string
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memeval.benchmarks.locomo import LocomoBenchmark
from memeval.benchmarks.locomo.results import NUMBERS, write
from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.imports.exporting import export_run
from memeval.evaluation.withhold.decoding import decoded_run
from memeval.exchange.formats import find_format
from memeval.records.errors import BadInput
from memeval.records.imported import Claim
from memeval.records.response import Outcome
from tests.benchmarks.locomo.samples import samples
from tests.support.data import test_data
from tests.support.elsewhere import graded, locomo_exam, verdicts

DATA = "locomo/locomo10.json"
Json = Any


def predicted(of: Json = None, name: str = "some-model", **more: Json) -> Json:
    """Return predictions in the official form: the reference, or that it was not mentioned."""
    return [
        {
            "sample_id": each["sample_id"],
            "qa": [{**qa, f"{name}_prediction": str(qa.get("answer", "Not mentioned.")), **more} for qa in each["qa"]],
        }
        for each in (of or samples())
    ]


def test_predictions_are_graded_by_place_and_text(tmp_path: Path) -> None:
    run = graded(tmp_path, predicted(), "locomo", locomo_exam())
    worth = {grade.item_id: grade.credit for grade in run.grades()}
    assert worth["syn-1:0"] == worth["syn-1:1"] == worth["syn-1:2"] == worth["syn-1:4"] == 1.0
    assert worth["syn-2:1"] == 0.0  # an adversarial question answered with its own answer, which nobody reads
    assert (run.run.system.name, run.run.system.slug) == ("some-model", "some-model-locomo")
    assert run.run.coverage.full


def test_the_columns_of_a_retrieving_run_tell_its_reader_and_limits(tmp_path: Path) -> None:
    name = "gpt-x_dialog_top_5"
    rows = predicted(name=name, **{f"{name}_prediction_context": ["D2:1", "S10", "D9:9, D2:2"], f"{name}_f1": 0.5})
    run = graded(tmp_path, rows, "locomo", locomo_exam())
    imported = run.run.imported
    assert imported is not None
    assert (imported.reader, imported.limits) == ("gpt-x", {"rag_mode": "dialog", "top_k": 5})
    assert imported.claims == (Claim(score=0.5, items=8),)
    first = next(run.responses())
    named = [item.source_ids[0] for item in first.items or ()]
    assert named == ["s001:t01", "s002", "unknown:D9:9", "s001:t02"]


def test_of_several_models_one_is_picked_by_name(tmp_path: Path) -> None:
    rows = predicted(**{"other_prediction": "peppers"})
    with pytest.raises(BadInput, match=r"answers of several systems: some-model, other. Choose one with --system"):
        graded(tmp_path, rows, "locomo", locomo_exam())
    with pytest.raises(BadInput, match=r"no system 'third'"):
        graded(tmp_path, rows, "locomo", locomo_exam(), system="third")
    benchmark_session = locomo_exam()
    one, two = (graded(tmp_path, rows, "locomo", benchmark_session, system=name) for name in ("some-model", "other"))
    assert one.run.fingerprint != two.run.fingerprint
    assert [row.answer for row in decoded_run(two, benchmark_session).responses()] == ["peppers"] * 8


def test_fewer_questions_and_conversations_are_listed_as_missing(tmp_path: Path) -> None:
    rows = predicted()[:1]
    del rows[0]["qa"][1], rows[0]["qa"][2]["some-model_prediction"]
    benchmark_session = locomo_exam()
    run = graded(tmp_path, rows, "locomo", benchmark_session)
    assert run.run.imported is not None
    assert run.run.imported.missing == ("syn-1:1", "syn-1:3", "syn-2:0", "syn-2:1")
    assert {row.question_id: row.answer for row in decoded_run(run, benchmark_session).responses()}[
        "syn-1:5"
    ] == "a kite"


def test_other_questions_are_unknown_wherever_they_stand(tmp_path: Path) -> None:
    rows = predicted()
    rows[0]["qa"][0]["question"] = "What ripened, then?"
    rows.append({"sample_id": "syn-9", "qa": [{"question": "What ripened?", "some-model_prediction": "x"}]})
    run = graded(tmp_path, rows, "locomo", locomo_exam())
    assert run.run.imported is not None
    assert (run.run.imported.unknown, run.run.imported.missing) == (("syn-1:?0", "syn-9:0"), ("syn-1:0",))


def twice() -> Json:
    """Return a conversation that asks one thing three times, twice in one category."""
    (sample, _) = samples()
    again = {"question": "What ripened?", "answer": "figs", "evidence": ["D2:1"], "category": 4}
    sample["qa"] = [*sample["qa"], again, {**again, "category": 2}]
    return [sample]


def test_repeated_questions_match_by_position_or_by_their_other_fields(tmp_path: Path) -> None:
    of = twice()
    full = graded(tmp_path, predicted(of), "locomo", locomo_exam(of))
    assert full.run.coverage.full
    shorter = predicted(of)
    del shorter[0]["qa"][0]
    run = graded(tmp_path, shorter, "locomo", locomo_exam(of))
    assert run.run.imported is not None
    assert run.run.imported.missing == ("syn-1:0",)
    for qa in shorter[0]["qa"]:
        del qa["evidence"], qa["category"]
    with pytest.raises(BadInput, match=r"occurs 3 times, so its match is ambiguous"):
        graded(tmp_path, shorter, "locomo", locomo_exam(of))


def test_a_repeated_row_and_a_repeated_conversation_are_refused(tmp_path: Path) -> None:
    rows = predicted()
    rows[0]["qa"].append(rows[0]["qa"][0])
    with pytest.raises(BadInput, match=r"element 1: duplicate question in qa 6"):
        graded(tmp_path, rows, "locomo", locomo_exam())
    with pytest.raises(BadInput, match=r"second answer to the question 'syn-1'"):
        graded(tmp_path, [*predicted(), *predicted()], "locomo", locomo_exam())


def test_predictions_without_retrieved_items_cannot_be_graded_by_retrieval(tmp_path: Path) -> None:
    benchmark_session = locomo_exam(protocol="retrieval")
    rows = predicted()
    with pytest.raises(BadInput, match="lists no retrieved items"):
        graded(tmp_path, rows, "locomo", benchmark_session)
    rows[0]["qa"][0]["some-model_prediction_context"] = ["D1:1"]
    assert next(graded(tmp_path, rows, "locomo", benchmark_session).grades()).metrics


@pytest.mark.parametrize(
    ("broken", "told"),
    [
        ({"sample_id": "x"}, "element 1: 'qa' is missing"),
        ({"sample_id": "x", "qa": [7]}, "'qa.0'"),
        ({"sample_id": "x", "qa": [{"question": "?", "m_prediction": []}]}, "'prediction': text belongs here"),
        ({"sample_id": "x", "qa": [{"m_prediction": "y"}]}, "qa 0: 'question' is missing"),
        ({"sample_id": "x", "qa": [{"question": "?"}]}, "no question has a field that ends in '_prediction'"),
        ({"sample_id": "x", "qa": [{"question": "?", "m_prediction": "y", "m_f1": 2.0}]}, "'score'"),
        ({"sample_id": "x", "qa": [{"question": "?", "m_prediction": "y", "m_prediction_context": [1]}]}, "'context"),
    ],
)
def test_what_is_no_prediction_is_refused(tmp_path: Path, broken: Json, told: str) -> None:
    with pytest.raises(BadInput) as refused:
        graded(tmp_path, [broken], "locomo", locomo_exam())
    assert told in str(refused.value)


@pytest.mark.parametrize("missing", [None, math.nan])
@pytest.mark.parametrize("lines", [False, True])
def test_a_null_prediction_is_a_failed_question_and_a_number_is_an_answer(
    tmp_path: Path, missing: Json, lines: bool
) -> None:
    rows = predicted()
    rows[0]["qa"][0]["some-model_prediction"], rows[0]["qa"][1]["some-model_prediction"] = missing, 7
    run = graded(tmp_path, tuple(rows) if lines else rows, "locomo", locomo_exam())
    first, second = list(run.responses())[:2]
    assert (first.outcome, first.error) == (Outcome.ADAPTER_ERROR, "the file has no answer to this question")
    assert (second.outcome, second.answer) == (Outcome.OK, "7")
    assert run.run.scores.overall.errors == 1
    assert run.run.coverage.full


@pytest.mark.parametrize("choice", [False, True])
def test_an_export_has_the_released_fields_and_imports_with_equal_grades(tmp_path: Path, choice: bool) -> None:
    context: Json = {"some-model_prediction_context": ["D2:1", "D10:1"]}
    benchmark_session = locomo_exam(choice=choice)
    run = graded(tmp_path, predicted(**context), "locomo", benchmark_session)
    out, stats = write(decoded_run(run, benchmark_session), benchmark_session, tmp_path / "out.json")
    told = json.loads(out.read_text())
    added = ["_prediction", "_prediction_context", "_f1", "_recall"]
    for sample, given in zip(told, samples(), strict=True):
        assert list(sample) == ["sample_id", "qa"]
        for row, qa in zip(sample["qa"], given["qa"], strict=True):
            assert list(row)[-4:] == [f"some-model-locomo{name}" for name in added]
            assert [str(row[name]) for name in qa] == [str(value) for value in qa.values()]
    assert json.loads(stats.read_text())["some-model-locomo"]["category_counts"] == {
        "4": 3,
        "1": 1,
        "2": 1,
        "3": 1,
        "5": 2,
    }
    again = graded(tmp_path, told, "locomo", benchmark_session, name="again.json")
    assert verdicts(again) == verdicts(run)
    assert [row.items for row in again.responses()] == [row.items for row in run.responses()]


def test_the_sums_go_by_how_far_back_the_evidence_stands(tmp_path: Path) -> None:
    benchmark_session = locomo_exam()
    run = graded(tmp_path, predicted(), "locomo", benchmark_session)
    _, stats = write(decoded_run(run, benchmark_session), benchmark_session, tmp_path / "out.json")
    table = json.loads(stats.read_text())["some-model-locomo"]
    assert list(table) == [
        "category_counts",
        "cum_accuracy_by_category",
        "category_counts_by_memory",
        "cum_accuracy_by_category_by_memory",
        "context_length_counts",
        "cum_accuracy_by_context_length",
    ]
    # One question has no evidence; all evidence lies in the first thousand characters.
    assert table["category_counts_by_memory"] == {"4": {"1": 3}, "1": {"1": 1}, "2": {"1": 1}, "5": {"1": 2}}
    assert table["context_length_counts"] == {"1": 1}


def test_existing_files_stay_unless_forced_and_no_temporary_files_remain(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    benchmark_session = locomo_exam()
    run = graded(tmp_path, predicted(), "locomo", benchmark_session)
    monkeypatch.setattr("memeval.evaluation.imports.exporting.session_of_run", lambda _run, _data: benchmark_session)
    place = tmp_path / "out"
    place.mkdir()
    (place / "x_stats.json").write_text("mine")
    with pytest.raises(BadInput, match=r"x_stats\.json: the file already exists.*--force"):
        export_run(run, find_format("locomo"), place / "x.json")
    assert [path.name for path in place.iterdir()] == ["x_stats.json"]
    written = export_run(run, find_format("locomo"), place / "x.json", force=True)
    assert [path.name for path in written] == ["x.json", "x_stats.json"]
    assert sorted(path.name for path in place.iterdir()) == ["x.json", "x_stats.json"]
    assert (place / "x_stats.json").read_text() != "mine"
    with pytest.raises(BadInput, match="'deepmemeval' does not support locomo@1"):
        export_run(run, find_format("deepmemeval"), place / "y.json")


# On the released file, computed a second time from the formulas alone.


def _tokens(text: str) -> list[str]:
    stem = pytest.importorskip("nltk.stem.porter").PorterStemmer().stem
    text = text.replace(",", "").lower()
    text = "".join(sign for sign in text if sign not in set(string.punctuation))
    return [stem(word) for word in re.sub(r"\b(a|an|the|and)\b", " ", text).split()]


def _f1(said: str, wanted: str) -> float:
    mine, theirs = _tokens(said), _tokens(wanted)
    same = sum((Counter(mine) & Counter(theirs)).values())
    if not same:
        return 0.0
    precision, recall = same / len(mine), same / len(theirs)
    return 2 * precision * recall / (precision + recall)


def _official(qa: Json, said: str) -> float:
    """Return a rounded score; that of several hops is NumPy's, whose rounding is not Python's."""
    if qa["category"] == 5:
        return float("no information available" in said.lower() or "not mentioned" in said.lower())
    wanted = str(qa["answer"])
    if qa["category"] == 3:
        wanted = wanted.split(";")[0].strip()
    if qa["category"] != 1:
        return round(_f1(said, wanted), 3)
    parts = [part.strip() for part in wanted.split(",")]
    mean = np.mean([max(_f1(mine.strip(), part) for mine in said.split(",")) for part in parts])
    return float(np.round(mean, 3))


@pytest.fixture(scope="module")
def released() -> Json:
    return json.loads(test_data(DATA).read_bytes())


@pytest.fixture(scope="module")
def benchmark_session(released: Json) -> BenchmarkSession:
    return BenchmarkSession.open(LocomoBenchmark(), test_data(DATA))


@pytest.mark.data
def test_made_predictions_get_the_official_numbers_to_six_digits(
    tmp_path: Path, released: Json, benchmark_session: BenchmarkSession
) -> None:
    dice = random.Random(20261122)
    golds = [str(qa["answer"]) for sample in released for qa in sample["qa"] if "answer" in qa]
    said: dict[str, str] = {}
    for sample in released:
        for number, qa in enumerate(sample["qa"]):
            words = f"{qa.get('answer', 'not mentioned')} , {dice.choice(golds)}".split(" ")
            dice.shuffle(words)
            said[f"{sample['sample_id']}:{number}"] = " ".join(words[: dice.randint(0, 7)])
    rows = [
        {
            "sample_id": sample["sample_id"],
            "qa": [{**qa, "m_prediction": said[f"{sample['sample_id']}:{n}"]} for n, qa in enumerate(sample["qa"])],
        }
        for sample in released
    ]
    run = graded(tmp_path, rows, "locomo", benchmark_session)
    official: dict[int, list[float]] = defaultdict(list)
    for sample in released:
        for number, qa in enumerate(sample["qa"]):
            official[qa["category"]].append(_official(qa, said[f"{sample['sample_id']}:{number}"]))
    names = {"multi-hop": 1, "temporal": 2, "open-domain": 3, "single-hop": 4, "adversarial": 5}
    for category in run.run.scores.categories:
        scores = official[names[category.name]]
        assert category.tally.planned == len(scores)
        assert category.tally.accuracy == pytest.approx(sum(scores) / len(scores), abs=5e-7)
    every = [score for scores in official.values() for score in scores]
    assert 0.1 < sum(every) / len(every) < 0.9
    assert run.run.scores.composite.value == pytest.approx(sum(every) / 1986, abs=5e-7)
    _, stats = write(decoded_run(run, benchmark_session), benchmark_session, tmp_path / "out.json")
    sums = json.loads(stats.read_text())["m-locomo"]["cum_accuracy_by_category"]
    assert sums == {str(name): pytest.approx(sum(scores), abs=1e-6) for name, scores in official.items()}


@pytest.mark.data
def test_an_export_holds_the_released_questions_field_by_field(
    tmp_path: Path, released: Json, benchmark_session: BenchmarkSession
) -> None:
    rows = [
        {"sample_id": each["sample_id"], "qa": [{**qa, "m_prediction": "x"} for qa in each["qa"]]} for each in released
    ]
    out, _ = write(
        decoded_run(graded(tmp_path, rows, "locomo", benchmark_session), benchmark_session),
        benchmark_session,
        tmp_path / "out.json",
    )
    told = json.loads(out.read_text())
    numbers = set()
    for sample, given in zip(told, released, strict=True):
        assert sample["sample_id"] == given["sample_id"]
        for number, (row, qa) in enumerate(zip(sample["qa"], given["qa"], strict=True)):
            assert list(row.items())[: len(qa)] == list(qa.items())
            if isinstance(qa.get("answer"), int):
                numbers.add(f"{given['sample_id']}:{number}")
    assert numbers == NUMBERS
