"""What does not fit is refused with a sentence that names it, and never bent until it fits."""

import json
from collections.abc import Callable
from typing import Any, ClassVar

import pytest
from pydantic import ValidationError

from memeval.records.base import Stored
from memeval.records.call import Api, Call, Caller, ModelRequest, Phase
from memeval.records.errors import BadInput, NewerSchema
from memeval.records.finding import Notice
from memeval.records.grade import Grade
from memeval.records.journal import LogLine
from memeval.records.ledger import LedgerEntry
from memeval.records.release import Release
from memeval.records.response import Response
from memeval.records.run import Run
from memeval.records.scenario import Scenario
from memeval.records.submission import Submission
from tests.records.models import all_records
from tests.support.runs import make_run

LOG = {"schema_version": 1, "at": "2026-11-01T10:00:00Z", "event": "started"}


def refusal(model: type[Stored], text: str | bytes) -> str:
    with pytest.raises(BadInput) as refused:
        model.parse(text, "here.jsonl:7")
    assert str(refused.value).startswith("here.jsonl:7: ")
    return refused.value.problem


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return make_run(tmp_path_factory.mktemp("results"), "acme", {"kept": 3}).run.data()


def test_every_record_is_strict_closed_and_frozen() -> None:
    for model in all_records():
        config = model.model_config
        assert (config["strict"], config["extra"], config["frozen"]) == (True, "forbid", True), model.__name__


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        (LOG | {"evnet": "x"}, "unknown key 'evnet'. Did you mean 'event'?"),
        ({"schema_version": 1, "at": "now", "evnet": "started"}, "unknown key 'evnet'. Did you mean 'event'?"),
        (LOG | {"zzz": "x"}, "unknown key 'zzz'."),
    ],
    ids=["besides the right one", "instead of it, which is not called missing", "resembles none"],
)
def test_an_unknown_key_is_named_with_the_one_that_was_meant(changed: dict[str, Any], sentence: str) -> None:
    assert refusal(LogLine, json.dumps(changed)) == sentence


NESTED: list[tuple[str, Callable[[dict[str, Any]], dict[str, Any]], str]] = [
    ("a record", lambda run: run["system"] | {"sulg": "x"}, "unknown key 'system.sulg'. Did you mean 'slug'?"),
    (
        "a record in a record",
        lambda run: run["track"] | {"limits": run["track"]["limits"] | {"ask_second": 1.0}},
        "unknown key 'track.limits.ask_second'. Did you mean 'ask_seconds'?",
    ),
    (
        "a list",
        lambda run: run["track"] | {"categories": [run["track"]["categories"][0] | {"wieght": 1.0}]},
        "unknown key 'track.categories.0.wieght'. Did you mean 'weight'?",
    ),
    (
        "a table",
        lambda run: run["files"] | {"grades.jsonl": run["files"]["grades.jsonl"] | {"row": 1}},
        "unknown key 'files.grades.jsonl.row'. Did you mean 'rows'?",
    ),
    (
        "an optional record",
        lambda run: (
            run["scores"]
            | {"composite": run["scores"]["composite"] | {"interval": {"low": 0.1, "high": 0.2, "hihg": 0.3}}}
        ),
        "unknown key 'scores.composite.interval.hihg'. Did you mean 'high'?",
    ),
]


@pytest.mark.parametrize(("where", "change", "sentence"), NESTED, ids=[case[0] for case in NESTED])
def test_advice_on_an_unknown_key_comes_from_the_record_it_stands_in(
    run: dict[str, Any], where: str, change: Callable[[dict[str, Any]], dict[str, Any]], sentence: str
) -> None:
    key = sentence.split("'")[1].split(".")[0]
    assert refusal(Run, json.dumps(run | {key: change(run)})) == sentence


def test_advice_reaches_into_the_steps_of_a_scenario() -> None:
    step = {"step": "ask", "question_id": "q", "question": "?", "timestmap": None}
    sentence = "unknown key 'steps.0.ask.timestmap'. Did you mean 'timestamp'?"
    assert refusal(Scenario, json.dumps({"schema_version": 1, "scenario_id": "s", "steps": [step]})) == sentence


def test_a_missing_key_is_named_wherever_it_is_missing(run: dict[str, Any]) -> None:
    assert refusal(Run, json.dumps({k: v for k, v in run.items() if k != "seeds"})) == "'seeds' is missing."
    tally = {k: v for k, v in run["scores"]["overall"].items() if k != "errors"}
    sentence = "'scores.overall.errors' is missing."
    assert refusal(Run, json.dumps(run | {"scores": run["scores"] | {"overall": tally}})) == sentence


@pytest.mark.parametrize(
    ("model", "field", "value"),
    [
        (Grade, "verdict", "true"),
        (Grade, "verdict", 1),
        (Grade, "value", "0.5"),
        (Grade, "state", "fine"),
        (Grade, "flags", "hedged"),
        (Grade, "flags", ["unheard-of"]),
        (Grade, "slices", {"difficulty": 3}),
        (Grade, "item_id", 3),
        (Grade, "item_id", None),
        (Grade, "judgment_key", "sha256:ABC"),
        (Grade, "judgment_key", "sha256:" + "0" * 64 + "\n"),
        (Response, "attempt", 0),
        (Response, "attempt", 1.5),
        (Response, "attempt", "1"),
        (Response, "attempt", True),
    ],
)
def test_another_type_is_refused(
    tmp_path_factory: pytest.TempPathFactory, model: type[Stored], field: str, value: object
) -> None:
    folder = make_run(tmp_path_factory.mktemp("results"), "acme")
    row = next(iter(folder.grades() if model is Grade else folder.responses()))
    assert model.parse(row.to_json(), "untouched") == row
    assert refusal(model, json.dumps(row.data() | {field: value})).startswith(f"'{field}")


@pytest.mark.parametrize("slug", ["", "Acme", "../acme", "a/b", "a--b", "-a", "a-", "a b", "é", "a\n", "a" * 65])
def test_a_slug_is_safe_as_a_folder_and_in_an_address(slug: str) -> None:
    Submission(slug="a" * 64, name="A", version="1")
    with pytest.raises(ValidationError, match="slug"):
        Submission(slug=slug, name="A", version="1")


@pytest.mark.parametrize("day", ["2026-02-30", "2026-13-01", "20260101", "2026-1-1", "today"])
def test_a_day_is_a_date(day: str) -> None:
    Notice(sent="2028-02-29")
    with pytest.raises(ValidationError, match="sent"):
        Notice(sent=day)


@pytest.mark.parametrize("at", ["yesterday", "2026-11-01", "2026-11-01T10:00:00", "0001-01-01T00:00:00+10:00"])
def test_the_time_of_a_ledger_line_has_an_offset(at: str) -> None:
    line: dict[str, Any] = {
        "schema_version": 2,
        "event": "started",
        "by": "Ada",
        "reason": "it starts",
        "previous": None,
    }
    LedgerEntry.parse(json.dumps({**line, "at": "2026-11-01T10:00:00Z"}), "untouched")
    assert (
        refusal(LedgerEntry, json.dumps({**line, "at": at})) == f"'at': '{at}' is not a time with an offset from UTC."
    )


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_no_number_is_read_where_there_is_none(run: dict[str, Any], word: str) -> None:
    text = json.dumps(run | {"cost": {"usd": 0.125, "reason": None}})
    assert text.count("0.125") == 1
    assert refusal(Run, text.replace("0.125", word)).startswith("'cost.usd'")


@pytest.mark.parametrize("word", ["NaN", "-Infinity", "1e999", "[1, [NaN]]"])
def test_no_number_is_read_where_anything_may_stand(word: str) -> None:
    request = ModelRequest(endpoint="http://localhost", api=Api.CHAT, body={"t": 0.125})
    call = Call(key=request.key, caller=Caller.JUDGE, phase=Phase.JUDGE, request=request, reply="yes", at="now")
    text = call.to_json()
    assert Call.parse(text.replace("0.125", "1.5"), "untouched").request.body == {"t": 1.5}
    assert refusal(Call, text.replace("0.125", word)).startswith("'request.body")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (b"", "not valid JSON (Expecting value"),
        (b"\n", "not valid JSON (Expecting value"),
        (b"{", "not valid JSON (Expecting property name"),
        (b'{"schema_version":1} {}', "not valid JSON (Extra data"),
        (b"[]", "expected a JSON object, found list."),
        (b"3", "expected a JSON object, found int."),
        (b"null", "expected a JSON object, found NoneType."),
        (b'"{}"', "expected a JSON object, found str."),
        (b'{"at":"\xff"}', "not valid JSON ('utf-8' codec can't decode byte 0xff"),
        (json.dumps(LOG).encode("utf-16"), "not valid JSON ('utf-8' codec"),
        (b"\xef\xbb\xbf" + json.dumps(LOG).encode(), "not valid JSON (Unexpected UTF-8 BOM"),
        (json.dumps(LOG | {"detail": "\ud800"}).encode(), "not valid JSON ("),
        (json.dumps(LOG).replace('"started"', "9" * 5000), "not valid JSON (Exceeds the limit"),
    ],
)
def test_what_is_no_json_object_in_utf_8_is_refused(text: bytes | str, sentence: str) -> None:
    assert refusal(LogLine, text).startswith(sentence)


@pytest.mark.parametrize("brackets", [("[", "]"), ('{"a":', "}")])
def test_no_depth_of_nesting_is_more_than_a_refusal(brackets: tuple[str, str]) -> None:
    for depth in (150, 250, *range(700, 1001), 100_000):  # at one or two depths JSON is read and not written again
        nested = brackets[0] * depth + "1" + brackets[1] * depth
        refusal(LogLine, json.dumps(LOG)[:-1] + f', "detail": {nested}}}')


@pytest.mark.parametrize("twice", ['"event":"stopped"', '"event":"started"', '"schema_version":1'])
def test_a_record_with_a_repeated_key_is_refused(twice: str) -> None:
    name = twice.split('"')[1]
    sentence = f"not valid JSON (the key '{name}' occurs twice)."
    assert refusal(LogLine, json.dumps(LOG)[:-1] + f",{twice}}}") == sentence


NO_VERSIONS: tuple[object, ...] = (True, False, "1", 1.0, None, [1], {})


@pytest.mark.parametrize("stated", [{}, *({"schema_version": each} for each in NO_VERSIONS)])
def test_a_schema_version_that_is_missing_or_not_an_integer_is_refused(stated: dict[str, object]) -> None:
    text = json.dumps({"at": "now", "event": "started"} | stated)
    assert refusal(LogLine, text) == "LogLine without a schema_version."


@pytest.mark.parametrize(
    ("record", "version"),
    [(LogLine, 0), (LogLine, -1), (LogLine, -(10**30)), *((each, each.SCHEMA - 1) for each in (LedgerEntry, Release))],
)
def test_a_record_of_an_older_schema_is_refused_before_its_fields(record: type[Stored], version: int) -> None:
    assert refusal(record, json.dumps({"schema_version": version, "unheard_of": 1})) == (
        f"{record.__name__} has schema version {version}, and this memeval reads {record.SCHEMA}."
    )


def test_a_record_cannot_be_defined_to_be_written_under_another_version_than_its_own() -> None:
    with pytest.raises(TypeError, match="Forgetful has SCHEMA 2: give it 'schema_version: int = 2' too"):

        class Forgetful(Stored):
            """Would write version 1."""

            SCHEMA: ClassVar[int] = 2


def test_a_lone_surrogate_is_refused_however_it_is_written() -> None:
    text = '{"schema_version": 1, "at": "now", "event": "%s"}'
    for given in (text % "\ud800", text % "\\ud800", (text % "\\ud800").encode()):
        with pytest.raises(BadInput, match="unexpected end of hex escape"):
            LogLine.parse(given, "f")


@pytest.mark.parametrize("version", [2, 10**30])
def test_a_newer_schema_asks_for_a_newer_memeval_whatever_else_it_holds(version: int) -> None:
    with pytest.raises(NewerSchema) as refused:
        LogLine.parse(json.dumps({"schema_version": version, "unheard_of": 1}), "log.jsonl:3")
    assert str(refused.value) == (
        f"log.jsonl:3: LogLine has schema version {version}, and this memeval reads 1. Update memeval."
    )


def test_records_have_no_mutable_class_state() -> None:
    one, other = Submission(slug="a", name="A", version="1"), Submission(slug="b", name="B", version="1")
    one.parameters["k"] = 1
    assert other.parameters == {} and Submission(slug="c", name="C", version="1").parameters == {}
