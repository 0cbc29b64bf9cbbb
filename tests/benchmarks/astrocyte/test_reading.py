"""Suites in YAML: what loads, what is relevant, and every way of being wrong, told with its line. All are synthetic."""

import os
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memeval.benchmarks.astrocyte.reading import Suite, read
from memeval.benchmarks.yaml_nodes import BYTES, LISTED
from memeval.records.base import digest_bytes
from memeval.records.errors import BadInput, ExitCode

UPSTREAM = """
name: my-suite
retain:
  - content: "Calvin prefers dark mode"
    tags: [preference]
    fact_type: world
    metadata: {source: chat, turn: 3, sure: true, score: 0.5}
  - content: "Calvin works on the billing team"
    tags: [work]
recall:
  - query: "What does Calvin prefer?"
    expected_contains: ["dark mode"]
    tags: [preference]
    max_results: 5
  - query: "Where does Calvin work?"
    expected_contains: ["billing"]
reflect:
  - query: "Tell me of Calvin"
    expected_topics: ["dark mode", "billing"]
"""
"""What the suites' authors document."""

WHOLE = """
name: example
version: 2
retain:
  - id: r1
    content: "Ida rows."
    tags: [sport, "two words"]
    fact_type: experience
    metadata: {day: 2025-01-15}
    occurred_at: 2025-01-15T09:00:00Z
  - id: r2
    content: "Ida sings in a choir."
    occurred_at: 2025-02-01
    bank: other
recall:
  - id: q1
    query: "Sport?"
    expected_ids: [r1]
    tags: [sport]
    time_range: [2025-01-01, 2025-02-01T00:00:00+01:00]
    category: temporal
    max_results: 3
    query_time: 2025-03-01 12:00:00
    min_score: 0.25
    bank: main
  - id: q2
    query: "Song?"
    bank: other
    expected_contains: [CHOIR]
  - id: q3
    query: "Cars?"
    expected_absent: true
  - id: q4
    query: "Anything?"
    expected_contains: []
    tags: []
reflect:
  - id: f1
    query: "What does Ida do?"
    bank: other
    query_time: 2025-03-01
    expected_topics:
      - sings
      - text: She sings with others
        phrases: [choir, chorus]
    forbidden: ["Ida paints"]
"""

Load = Callable[..., Suite]


@pytest.fixture
def load(tmp_path: Path) -> Load:
    def load(text: str | bytes, name: str = "suite.yaml", **more: object) -> Suite:
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else dedent(text).encode())
        return read(path, **more)  # type: ignore[arg-type]

    return load


def refused(load: Load, text: str | bytes, name: str = "suite.yaml", **more: object) -> list[str]:
    """Return what a file is refused with, by line, without the folder."""
    with pytest.raises(BadInput) as caught:
        load(text, name, **more)
    assert caught.value.exit_code is ExitCode.BAD_INPUT
    return [line.rpartition("/")[2] for line in str(caught.value).splitlines()]


def test_what_the_authors_document_loads_unchanged(load: Load) -> None:
    suite = load(UPSTREAM)
    assert (suite.name, suite.version, suite.warnings) == ("my-suite", 1, ())
    first, second = suite.texts
    assert (first.text_id, first.source_id, first.bank, first.tags) == ("s001", "r1", None, ("preference",))
    assert (first.fact_type, first.metadata) == ("world", {"source": "chat", "turn": 3, "sure": True, "score": 0.5})
    assert (second.fact_type, second.metadata, second.occurred_at) == (None, {}, "")
    assert [(case.step.question_id, case.step.k, case.relevant) for case in suite.recalls] == [
        ("q1", 5, ("s001",)),
        ("q2", 10, ("s002",)),
    ]
    assert [point.phrases for point in suite.reflects[0].points] == [("dark mode",), ("billing",)]
    assert suite.digest == digest_bytes(UPSTREAM.encode())


def test_all_that_memeval_adds_is_read(load: Load) -> None:
    suite = load(WHOLE)
    assert (suite.name, suite.version) == ("example", 2)
    assert suite.texts[0].metadata == {"day": "2025-01-15"}
    assert [text.occurred_at for text in suite.texts] == ["2025-01-15T09:00:00Z", "2025-02-01"]
    q1, q2, q3, q4 = suite.recalls
    assert (q1.step.since, q1.step.until) == ("2025-01-01", "2025-02-01T00:00:00+01:00")
    assert (q1.step.timestamp, q1.step.k, q1.min_score, q1.category) == ("2025-03-01T12:00:00Z", 3, 0.25, "temporal")
    assert (q1.step.bank, q2.step.bank) == (None, "other")
    assert (q1.relevant, q2.relevant, q3.absent, q3.relevant) == (("s001",), ("s002",), True, ())
    assert (q4.graded, q4.step.tags) == (False, None)
    assert suite.warnings == ("q4: no_ground_truth: it has no expected result and is not scored.",)
    (reflect,) = suite.reflects
    assert [(point.text, point.phrases) for point in reflect.points] == [
        ("sings", ("sings",)),
        ("She sings with others", ("choir", "chorus")),
    ]
    step, (forbidden,) = reflect.step, reflect.forbidden
    assert (step.bank, step.timestamp, forbidden.text) == ("other", "2025-03-01", "Ida paints")


def test_a_suite_without_a_name_has_that_of_its_file(load: Load) -> None:
    text = "retain: []\nrecall: [{query: x, expected_absent: true}]"
    assert load(text, "mine.yml").name == "mine"
    assert load(text.encode("utf-8-sig")).texts == (), "empty lists are allowed, and a byte order mark is"


@pytest.mark.parametrize(
    ("keywords", "relevant", "one"),
    [
        ('["ida", "ROWS"]', ("s001", "s003"), False),
        ('["rows on", "in a choir"]', ("s001", "s002"), True),
        ('["choir"]', ("s002",), False),
    ],
)
def test_what_holds_all_keywords_is_relevant_and_where_nothing_does_what_holds_one(
    load: Load, keywords: str, relevant: tuple[str, ...], one: bool
) -> None:
    suite = load(
        f"""
        retain:
          - content: "Ida rows on the lake."
          - content: "Ida sings in a choir."
          - content: "When Ida rows she hums."
          - {{content: "Ida rows on the lake.", bank: other}}
        recall:
          - {{query: "x", expected_contains: {keywords}}}
        """
    )
    assert (suite.recalls[0].relevant, suite.recalls[0].one_keyword) == (relevant, one)


HEAD = "retain:\n  - {id: r1, content: Ida rows., tags: [sport], occurred_at: 2025-01-15}\n"
"""Two lines that retain a text."""


CONFLICT = "conflicts with expected results. Keep one of them."
OUTSIDE = "names 'r1', which does not pass the filter of this search"


def keeps(entry: str) -> str:
    """Return a suite that retains another text, in its third line."""
    return f"{HEAD}  - {{{entry}}}\nrecall: [{{query: x}}]"


def asks(entry: str) -> str:
    """Return a suite that makes one search, in its fourth line."""
    return f"{HEAD}recall:\n  - {{{entry}}}\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (asks("qery: x"), "suite.yaml:4: recall: unknown key 'qery'. Did you mean 'query'?"),
        (asks("query: x, zzz: 1"), "suite.yaml:4: recall: unknown key 'zzz'. Choose one of: id, query,"),
        (asks("query: x, expected_contains: rows"), "'expected_contains' must be a list, not the text 'rows'."),
        (asks("query: x, tags: {a: b}"), "'tags' must be a list, not keys with values."),
        (asks("query: x, tags: [2024]"), "'tags' must be text, not the number 2024. Put it in quotes."),
        (asks("query: x, tags: [[a]]"), "'tags' must be text, not a list."),
        (asks("query: 42"), "'query' must be text, not the number 42. Put it in quotes."),
        (asks("query: no"), "'query' must be text, not the boolean false. Put it in quotes."),
        (asks("query: null"), "suite.yaml:4: recall: 'query' is missing."),
        (asks("query: ' '"), "'query' is blank."),
        (asks("expected_ids: [r1]"), "suite.yaml:4: recall: 'query' is missing."),
        (asks("query: x, expected_ids: [r11]"), "names 'r11', which is not the id of a text. Did you mean 'r1'?"),
        (asks("query: x, expected_ids: [r1], tags: [music]"), OUTSIDE),
        (asks("query: x, expected_contains: [rows, sings]"), "has 'sings', which no text for this search contains."),
        (asks("query: x, expected_contains: [rows], tags: [music]"), "has 'rows', which no text for this search"),
        (asks("query: x, bank: mian"), "'bank' names 'mian', a bank without texts. Did you mean 'main'?"),
        (asks("query: x, bank: '../..'"), "'bank' must be a name of at most 64 letters"),
        (asks("query: x, expected_absent: true, expected_ids: [r1]"), CONFLICT),
        (asks("query: x, expected_absent: 'true'"), "must be true or false, not the text 'true'."),
        (asks("query: x, max_results: 0"), "'max_results' must be from 1 to 1000."),
        (asks("query: x, max_results: 1001"), "'max_results' must be from 1 to 1000."),
        (asks("query: x, max_results: 1.5"), "'max_results' must be a whole number, not the number 1.5."),
        (asks("query: x, max_results: 9999999999999999999"), "must be a whole number"),
        (asks("query: x, min_score: .inf"), "'min_score' must be a number"),
        (asks("query: x, query_time: soon"), "must be a date such as 2025-01-15 or 2025-01-15T09:00:00Z."),
        (asks("query: x, query_time: 1736900000"), "must be a date such as"),
        (asks("query: x, query_time: 2025-02-30"), "must be a date such as"),
        (asks("query: x, time_range: [2025-01-01]"), "must be two dates, start and end."),
        (asks("query: x, time_range: 2025-01-01"), "'time_range' must be a list, not the text '2025-01-01'."),
        (asks("query: x, time_range: [2025-02-01, 2025-01-01]"), "The end must be later."),
        (asks("query: x, time_range: [2025-01-01, 2025-01-01T00:00:00Z]"), "The end must be later."),
        (asks("query: x, query: y"), "the key 'query' occurs twice."),
        (asks("query: x, [a]: y"), "a key must be text, not a list or a mapping."),
        (asks("query: x, id: 'a\\u202eb'"), "'id' must be a name of at most 64"),
        (f"{HEAD}recall:\n  - just text\n", "suite.yaml:4: the suite: 'recall' must be keys with values, not the text"),
        (f"{HEAD}recall: x\n", "suite.yaml:3: the suite: 'recall' must be a list, not the text 'x'."),
        (f"{HEAD}recall:\n  - {{id: a, query: x}}\n  - {{id: a, query: y}}\n", "'id' 'a' is already used in line 4."),
        (keeps("id: r1, content: y"), "suite.yaml:3: retain: 'id' 'r1' is already used"),
        (keeps("tags: [a]"), "suite.yaml:3: retain: 'content' is missing."),
        (keeps("content: y, metadata: [a]"), "must be keys with values, not a list."),
        (keeps("content: y, metadata: {a: [b]}"), "must have short names with texts, num"),
        (f"{HEAD}reflect:\n  - {{query: x, expected_topics: [{{phrases: [a]}}]}}\n", "'text' is missing."),
        (f"{HEAD}reflect: [{{query: x, expected_topics: ice}}]", "'expected_topics' must be a list, not the text 'ice"),
        (f"{HEAD}version: 1.5\nrecall: [{{query: x}}]", "'version' must be a whole number or text."),
        (HEAD, "suite.yaml:1: the suite has no questions. Add 'recall' or 'reflect'."),
        ("recall: [{query: x}]", "suite.yaml:1: the suite: 'retain' is missing."),
        ("- a\n- b\n", "suite.yaml:1: the suite must be keys with values, not a list."),
        ("", "suite.yaml: the file is empty."),
        ("# nothing but a remark\n", "suite.yaml: the file is empty."),
        ("a: [", "not valid YAML"),
        ("retain:\n\t- x", "suite.yaml:2: not valid YAML"),
        ("a: 1\n---\nb: 2\n", "not valid YAML (but found another document)"),
        ("a: &x 1\nb: *x\n", "suite.yaml:1: anchors (&) and aliases (*) are not supported. Repeat the text."),
        ("a: !!python/object/apply:os.system [ls]", "suite.yaml:1: tags (!) are not supported."),
        ("a: " + "[" * 9 + "]" * 9, "suite.yaml:1: lists and mappings are nested more than 8 deep."),
        ("a: " + "[" * 50_000, "are nested more than 8 deep."),
        (b"a: \xff\n", "suite.yaml:1: the file is not UTF-8 text. Save it as UTF-8."),
        ("name: x\n".encode("utf-16"), "the file is not UTF-8 text."),
        (b"a: \x00", "not valid YAML"),
        (b"#" * (BYTES + 1), "the file has 8,000,001 bytes; the limit for YAML is 8,000,000."),
    ],
)
def test_what_is_wrong_is_told_with_its_line(load: Load, text: str | bytes, said: str) -> None:
    assert said in "\n".join(refused(load, text))


def test_a_file_beyond_any_memory_is_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "suite.yaml"
    path.touch()
    os.truncate(path, 1 << 40)
    with pytest.raises(BadInput, match="the file has 1,099,511,627,776"):
        read(path)


def test_all_problems_are_told_at_once_in_order(load: Load) -> None:
    text = f"""{HEAD}recall:
  - {{qery: x}}
  - {{query: x, expected_ids: [r11], max_results: 0}}
nmae: x
"""
    assert refused(load, text) == [
        "suite.yaml:4: recall: 'query' is missing.",
        "suite.yaml:4: recall: unknown key 'qery'. Did you mean 'query'?",
        "suite.yaml:5: recall: 'max_results' must be from 1 to 1000.",
        "suite.yaml:6: the suite: unknown key 'nmae'. Did you mean 'name'?",
    ]
    entries = "  - {query: x, expected_ids: [r11]}\n  - {query: x, bank: mian}\n"
    assert len(refused(load, f"{HEAD}recall:\n{entries}")) == 2


def test_endless_problems_are_counted(load: Load) -> None:
    text = HEAD + "recall:\n" + "  - {zzz: 1}\n" * 200
    lines = refused(load, text)
    assert len(lines) == LISTED + 1
    assert lines[-1] == f"suite.yaml: {400 - LISTED} more problems."


def test_a_search_may_not_name_a_text_of_another_bank(load: Load) -> None:
    text = f"{HEAD}  - {{id: r2, content: y, bank: b2}}\nrecall:\n  - {{query: x, expected_ids: [r2]}}\n"
    assert refused(load, text) == ["suite.yaml:5: recall: 'expected_ids' names 'r2', which is in the bank 'b2'."]


def test_where_categories_are_given_every_search_has_one_of_them(load: Load) -> None:
    text = asks("query: x, expected_ids: [r1], category: exakt")
    assert refused(load, text, categories=["exact", "negative"]) == [
        "suite.yaml:4: recall: 'category' must be one of: exact, negative."
    ]
    assert "'category' must be one of" in refused(load, asks("query: x, expected_ids: [r1]"), categories=["exact"])[0]
    assert load(text.replace("exakt", "exact"), categories=["exact"]).recalls[0].category == "exact"


def test_a_file_that_is_not_there_or_of_another_kind_is_refused(load: Load, tmp_path: Path) -> None:
    assert refused(load, UPSTREAM, "suite.json") == ["suite.json: not a YAML file: expected the suffix .yaml or .yml."]
    with pytest.raises(BadInput, match="cannot read the file"):
        read(tmp_path / "none.yaml")
    (tmp_path / "folder.yaml").mkdir()
    with pytest.raises(BadInput, match="cannot read the file"):
        read(tmp_path / "folder.yaml")


def test_a_suite_that_breaks_off_is_refused(load: Load) -> None:
    for at in range(10, len(WHOLE) - 60, 97):
        try:
            suite = load(WHOLE[:at])
        except BadInput:
            continue
        assert suite.recalls, "what is left may be a suite by itself"


@settings(max_examples=40)
@given(st.text(max_size=200) | st.from_regex(r"(retain|recall|name):( \[.{0,20}\]|\n( - |   )[a-z]+: .{0,20})+"))
def test_whatever_a_file_holds_it_is_a_suite_or_refused(text: str) -> None:
    try:
        found = read(Path("any.yaml"), text.encode("utf-8", "surrogatepass"))
    except BadInput as refusal:
        assert str(refusal).startswith("any.yaml")
    else:
        assert found.recalls or found.reflects
