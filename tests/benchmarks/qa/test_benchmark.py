"""Question sets: what is a row, what systems are shown, what a track says, and the controls."""

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memeval.benchmarks.qa import QaBenchmark, QaDataset, QaSmokeBenchmark
from memeval.benchmarks.qa.dataset import controls
from memeval.benchmarks.qa.rows import FIELDS, MOST_FAULTS, QuestionRow, Scorer, read_rows, rows_of
from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.plan.reading import read_matrix
from memeval.records.errors import BadInput
from memeval.records.scenario import Ask, Retain


def asked(name: str, question: str, needle: str, **more: Any) -> dict[str, Any]:
    return {"id": name, "question": question, "expected_substrings": [needle], **more}


ROWS = [
    asked("one", "Who keeps tortoises?", "Ottoline", reference_answer="Ottoline."),
    asked("two", "Is it Kerrow or Penrow?", "Kerrow", question_date="2026-01-31", tags=["places"]),
]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "my set (2).jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    return path


def opened(path: Path | None, protocol: str = "search-retrieve-only", **parameters: Any) -> QaDataset:
    benchmark = QaSmokeBenchmark() if path is None else QaBenchmark()
    return benchmark.opened(path, parameters, protocol, "full")


def test_a_prepared_store_holds_each_question_above_its_answer(file: Path) -> None:
    (scenario,) = opened(file).scenarios()
    texts = [step for step in scenario.steps if isinstance(step, Retain)]
    assert [text.content for text in texts] == [
        "# Who keeps tortoises?\n\nOttoline.\n",
        "# Is it Kerrow or Penrow?\n\nKerrow\n",  # where there is no reference, the needles
    ]
    assert [(text.text_id, text.source_id) for text in texts] == [("s001", "one"), ("s002", "two")]
    assert [text.metadata for text in texts] == [{"path": "smoke/s001.md"}, {"path": "smoke/s002.md"}]
    assert [key.evidence for key in opened(file).answer_keys()] == [("s001",), ("s002",)]


def test_an_empty_store_holds_nothing(file: Path) -> None:
    (scenario,) = opened(file, store="empty").scenarios()
    assert all(isinstance(step, Ask) for step in scenario.steps)
    assert {key.evidence for key in opened(file, store="empty").answer_keys()} == {None}


@pytest.mark.parametrize(
    ("protocol", "date"), [("search-retrieve-only", "2026-01-31"), ("ask-basic", None), ("ask-augmented", "2026-01-31")]
)
def test_a_date_goes_along_in_all_but_the_basic_scenario(file: Path, protocol: str, date: str | None) -> None:
    (scenario,) = opened(file, protocol).scenarios()
    assert [ask.timestamp for ask in scenario.questions()] == [None, date]


def test_rows_that_repeating_the_question_passes_and_tags_are_slices(file: Path) -> None:
    slices = [key.slices for key in opened(file).answer_keys()]
    assert slices == [{"echo": "no"}, {"echo": "yes", "tag places": "yes"}]


def test_the_track_names_the_file_the_store_and_the_label(file: Path) -> None:
    dataset = opened(file)
    assert dataset.parameters == {"store": "prepared", "label": "plumbing", "file": "my-set-2"}
    assert not dataset.released and opened(None).released
    again = QaBenchmark().opened(file, dataset.parameters, "ask-basic", "full")
    assert again.parameters == dataset.parameters
    assert opened(file, file="other").parameters["file"] == "other"
    assert opened(file).digest == opened(file, store="empty").digest != opened(None).digest


def test_who_decides_is_the_protocols_last_word() -> None:
    benchmark = QaSmokeBenchmark()
    graders = {each.name: benchmark.table(each.name)[0].grader.name for each in benchmark.info.protocols}
    ways = ("search-retrieve-only", "ask-basic", "ask-augmented")
    judged = dict.fromkeys((f"{way}-judged" for way in ways), "qa-judged@1")
    assert graders == dict.fromkeys(ways, "exact-wb@1") | judged


def test_rows_must_have_what_the_protocol_needs(file: Path) -> None:
    assert len(BenchmarkSession.open(QaBenchmark(), file, protocol="ask-basic").keys) == 2
    with pytest.raises(BadInput, match="line 2: 'reference_answer' is missing"):
        BenchmarkSession.open(QaBenchmark(), file, protocol="ask-basic-judged")


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"store": "full"}, "invalid store=full. Choose prepared or empty."),
        ({"label": "gold"}, "invalid label=gold. The label is always plumbing."),
        ({"top_k": 5}, "has no parameter 'top_k'."),
        ({"file": "../x"}, "invalid file name '../x'."),
    ],
)
def test_a_wrong_parameter_is_refused(file: Path, parameters: dict[str, Any], said: str) -> None:
    with pytest.raises(BadInput) as caught:
        opened(file, **parameters)
    assert said in str(caught.value)


def test_a_file_goes_with_the_set_that_reads_one(file: Path) -> None:
    with pytest.raises(BadInput, match=r"needs your own file of questions\. Pass --data FILE"):
        QaBenchmark().open()
    with pytest.raises(BadInput, match="is built in and reads no file"):
        QaSmokeBenchmark().open(file)
    assert not QaBenchmark().available() and QaBenchmark().available(file) and QaSmokeBenchmark().available()


def test_the_page_of_the_built_in_set_tells_its_controls() -> None:
    words, anywhere = controls(opened(None).asked())
    told = " ".join(f"{each.problem} {each.handling}" for each in QaSmokeBenchmark.info.defects)
    assert (len(words.rows), words.missed, anywhere.missed, words.empty, anywhere.empty) == (20, 0, 0, 0, 0)
    assert words.echoed == anywhere.echoed == 2 and "passes 2 of the 20 rows" in told
    assert all(row.item_id in told for row in words.rows if row.echo)
    assert (words.false_passes, words.pairs) == (0, 380) and "0 of 380 pass" in told
    rate = f"{anywhere.false_passes} of 380 ({100 * (anywhere.false_pass_rate or 0):.1f} %)"
    assert rate == "12 of 380 (3.2 %)" and rate in told
    (worst,) = [row for row in anywhere.rows if row.item_id == "symbol-of-potassium"]
    assert len(worst.passed_by) == 5 and "is in 5 of the 19" in told


ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "site/questions.md").read_text("utf-8")


def block(language: str) -> str:
    (found,) = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    return str(found)


def test_the_row_that_it_shows_is_one_and_every_field_is_explained() -> None:
    shown = block("json").encode()
    for scorer in Scorer:
        assert len(rows_of(shown, scorer, "page")) == 1
    assert all(f"`{field}`" in PAGE for field in FIELDS)
    assert set(json.loads(shown)) < set(FIELDS)


def test_its_matrix_file_can_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    path = tmp_path / "daemons.toml"
    path.write_text(block("toml"), encoding="utf-8")
    plan = read_matrix(path)
    assert [system.system for system in plan.systems] == ["jeffs-brain", "jeffs-brain:auto"]


def test_its_controls_are_those_of_the_built_in_set() -> None:
    for each in controls(QaSmokeBenchmark().opened(None, {}, "search-retrieve-only", "full").asked()):
        total, rate = len(each.rows), 100 * (each.false_pass_rate or 0)
        assert (
            f"| `{each.rule}` | {each.echoed} of {total} | {each.empty} of {total} | {total - each.missed} of {total} "
            f"| {each.false_passes} of {each.pairs} ({rate:.1f} %) |"
        ) in PAGE


def test_it_names_every_protocol() -> None:
    for protocol in QaSmokeBenchmark().info.protocols:
        assert f"`{protocol.name.removesuffix('-judged')}`" in PAGE


EXACT, JUDGE = Scorer.EXACT, Scorer.JUDGE
WHOLE = asked("a", "Who?", "Ada", reference_answer="It was Ada.")


def lines(*rows: Any) -> bytes:
    return "".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows).encode()


def refused(data: bytes, scorer: Scorer = EXACT) -> str:
    with pytest.raises(BadInput) as caught:
        rows_of(data, scorer, "set.jsonl")
    return str(caught.value)


def test_a_row_is_read_with_all_that_it_may_have() -> None:
    row = WHOLE | {"expected_substrings": ["Ada", " ", "Lovelace"], "match": "all", "tags": ["x", "x", " y "]}
    (read,) = rows_of(lines(row | {"questionDate": "2026-01-31T09:30:00Z"}), EXACT, "x")
    assert read == QuestionRow(
        id="a",
        question="Who?",
        needles=("Ada", "Lovelace"),
        all_of=True,
        reference="It was Ada.",
        asked_at="2026-01-31T09:30:00Z",
        tags=("x", "y"),
    )


def test_comments_blank_lines_nulls_line_ends_of_windows_and_a_byte_order_mark_do_no_harm() -> None:
    first = json.dumps(WHOLE | {"question_date": None, "tags": None, "match": None})
    second = json.dumps(WHOLE | {"id": "b"})
    data = b"\xef\xbb\xbf# a set\r\n\r\n  # more\r\n" + first.encode() + b"\r\n \t\r\n" + second.encode()
    assert [row.id for row in rows_of(data, EXACT, "x")] == ["a", "b"]


def test_each_scorer_needs_its_own_field_and_no_other() -> None:
    needles = asked("a", "Who?", "Ada")
    reference = {"id": "a", "question": "Who?", "reference_answer": "Ada"}
    (with_needles,) = rows_of(lines(needles), EXACT, "x")
    (with_reference,) = rows_of(lines(reference), JUDGE, "x")
    assert (with_needles.body, with_reference.body) == ("Ada", "Ada")
    for needles_too in (None, ["", " ", "\u200b", "\u00ad\u2060"], []):
        row = reference | {"expected_substrings": needles_too}
        assert "'expected_substrings' is missing or blank" in refused(lines(row))
    assert "'reference_answer' is missing" in refused(lines(needles), JUDGE)
    assert "'reference_answer' is missing" in refused(lines(needles | {"reference_answer": "  "}), JUDGE)


def test_every_fault_is_named_with_its_line() -> None:
    said = refused(lines("# one", WHOLE, {"question": 7}, WHOLE, "{", "[]", WHOLE | {"id": "c", "tags": "x"}))
    assert said == (
        "set.jsonl: 5 rows are invalid.\n"
        "  line 3: 'id' is missing. 'question': text belongs here.\n"
        "  line 4: the id 'a' is already used in line 2.\n"
        "  line 5: the line is cut off: it ends in the middle of a value.\n"
        "  line 6: not a JSON object.\n"
        "  line 7: 'tags': a list belongs here.\n"
        "  Fix the file and run again."
    )


@pytest.mark.parametrize(
    ("change", "said"),
    [
        *(({"id": name}, "'id': must not be blank.") for name in ("", " ")),
        *(({"id": name}, "'id': must be printable, without spaces around it.") for name in ("a\nb", " a")),
        ({"id": "x" * 201}, "'id': String should have at most 200 characters."),
        *(({"id": name}, "'id': text belongs here.") for name in (7, True, None)),
        ({"question": ""}, "'question': must not be blank."),
        ({"question": ["Who?"]}, "'question': text belongs here."),
        ({"question": "\ud800"}, "'question': Input should be a valid string"),
        ({"question": "a\0b"}, "'question': must not contain a NUL character."),
        *(({"expected_substrings": one}, "'expected_substrings': a list belongs here.") for one in ("Ada", {"Ada": 1})),
        *(({"expected_substrings": ["Ada", one]}, "'expected_substrings.1': text belongs here.") for one in (0, None)),
        ({"expected_substrings": ["Ada"] * 101}, "List should have at most 100 items"),
        ({"expected_substrings": ["A" * 1001]}, "String should have at most 1000 characters"),
        ({"reference_answer": 7}, "'reference_answer': text belongs here."),
        *(({"match": one}, "'match': Input should be 'any' or 'all'.") for one in ("both", ["any"])),
        *(({"question_date": day}, "must be an ISO 8601 date that exists") for day in ("31.1.2026", "2026-02-30")),
        ({"question_date": 20260131}, "'question_date': text belongs here."),
        ({"question_date": "2026-01-01", "questionDate": "2026-01-02"}, "'question_date' and 'questionDate' differ."),
        ({"tags": ["a\tb"]}, "'tags.0': must be printable"),
        ({"tags": ["x" * 41]}, "'tags.0': String should have at most 40 characters"),
        ({"expected_substring": ["Ada"]}, "Did you mean 'expected_substrings'?"),
        ({"weather": 1}, "unknown field 'weather'."),
    ],
)
def test_a_value_that_does_not_belong_is_refused(change: dict[str, Any], said: str) -> None:
    assert said in refused(lines(WHOLE | change))


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "the file is empty."),
        (b" \n\t\n", "the file is empty."),
        (b"# nothing\n", "the file has no rows."),
        (gzip.compress(lines(WHOLE)), "compressed with gzip"),
        (lines(WHOLE).decode().encode("utf-16"), "the file is UTF-16."),
        (json.dumps([WHOLE], indent=1).encode(), "the file is a JSON list."),
        (lines(WHOLE)[:-20], "line 1: the line is cut off"),
        (b'{"id": "\xff"}\n', "not UTF-8 at byte 8, in line 1."),
        (b'{"id": "a", "id": "b"}\n', "occurs twice"),
        (b'{"id": NaN}\n', "'id': text belongs here."),
        (b'{"id": ' + b"9" * 5000 + b"}\n", "'id': text belongs here."),
        (b"[" * 100_000 + b"\n", "the file is a JSON list."),
        (b'{"id": ' + b"[" * 100_000 + b"\n", "nested too deep"),
    ],
)
def test_what_is_no_question_set_is_refused_by_what_it_is(data: bytes, said: str) -> None:
    assert said in refused(data)


def test_a_file_of_nothing_but_faults_is_refused_in_a_bounded_sentence() -> None:
    said = refused(b"x\n" * 1000)
    assert "1,000 rows are invalid." in said
    assert said.count("\n  line ") == MOST_FAULTS
    assert "… and 950 more" in said


def test_a_file_that_is_not_there_or_is_a_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"no\.jsonl: file not found"):
        read_rows(tmp_path / "no.jsonl", EXACT)
    with pytest.raises(BadInput, match="this is not a file"):
        read_rows(tmp_path, EXACT)


@given(st.binary(max_size=200) | st.text(max_size=80).map(str.encode))
@example(b'{"id": "a", "question": "b", "expected_substrings": ["c"]}')
def test_whatever_the_bytes_there_are_rows_or_a_sentence(data: bytes) -> None:
    try:
        rows = rows_of(data, EXACT, "x")
    except BadInput as error:
        assert str(error)
    else:
        assert all(row.id and row.question and row.needles for row in rows)
