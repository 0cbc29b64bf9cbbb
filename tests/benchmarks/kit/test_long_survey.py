"""What is known of long histories without going through them, and writing them to files."""

import hashlib
import json
import shutil
from functools import partial
from importlib import resources
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import pytest

from memeval.benchmarks.beliefs import BeliefsBenchmark
from memeval.benchmarks.beliefs.long.filler import Filler, LongBeliefs
from memeval.benchmarks.beliefs.long.lives import lives
from memeval.benchmarks.beliefs.wording.editions import wording
from memeval.benchmarks.kit.checks import BrokenRule
from memeval.benchmarks.kit.long import SIZES
from memeval.benchmarks.kit.long import included as including
from memeval.benchmarks.kit.long import survey as surveying
from memeval.benchmarks.kit.long.history import LongHistory, LongSource
from memeval.benchmarks.kit.long.included import COMMAND, datasets
from memeval.benchmarks.kit.long.survey import Survey, code_files, histories, included, made_by, survey, surveyed
from memeval.benchmarks.kit.talk import DraftTurn
from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.run.runtime import disk_space_warning
from memeval.records.scenario import Ingest
from memeval.tokens import count_tokens
from tests.support.calling import Call

BENCHMARK = BeliefsBenchmark()

FILLERS = {"10k": (22,) * 10, "100k": (640,) * 10, "1m": (6_830,) * 10, "10m": (68_300,)}
"""About as many sessions as fill the histories of each tier."""


def of(tier: str) -> tuple[LongHistory, ...]:
    """The histories of a tier, about as long as they are."""
    return histories(LongBeliefs(42, tier, "retrieval", wording("full"), searched=True), FILLERS[tier])


@pytest.fixture(scope="module")
def small() -> tuple[LongHistory, ...]:
    """The histories of the smallest tier."""
    return of("10k")


@pytest.mark.parametrize("tier", list(SIZES))
def test_sessions_come_in_order_of_time_and_those_that_matter_stand_all_over(tier: str) -> None:
    for history in of(tier)[:2]:
        assert all(before < after for before, after in pairwise(history.times()))
        places = sorted(int(name[1:]) for key in history.answer_keys() for name in key.evidence or ())
        shares = [place / history.sessions for place in places]
        assert shares[0] < 0.2 and shares[-1] > 0.7
        assert all(later - earlier < 0.25 for earlier, later in pairwise(shares))


def test_any_session_is_what_it_is_on_the_way_through(small: tuple[LongHistory, ...]) -> None:
    walked = list(small[0])
    assert len(walked) == len(small[0])
    assert [small[0][place] for place in range(len(small[0]))] == walked == list(small[0][:])
    assert small[0][-1] == walked[-1]
    for step in walked[: small[0].sessions]:
        assert isinstance(step, Ingest)
        assert small[0].session(step.session.session_id) == step.session
    with pytest.raises(IndexError):
        small[0][len(walked)]


def test_a_session_deep_in_a_long_history_is_made_without_those_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    (history,) = of("10m")
    made: list[int] = []
    plain = Filler.session

    def counted(self: Filler, number: int) -> object:
        made.append(number)
        return plain(self, number)

    monkeypatch.setattr(Filler, "session", counted)
    assert history.session("s060000").session_id == "s060000"
    assert len(made) <= 1


@pytest.mark.parametrize("name", ["", "s", "s1", "s000000", "s999999", "x000001", "s00000١", "s-00001", "s000001 "])
def test_a_session_that_is_not_there_is_a_key_error(small: tuple[LongHistory, ...], name: str) -> None:
    with pytest.raises(KeyError):
        small[0].session(name)
    with pytest.raises(KeyError):
        small[0].scenario().turn(f"{name}:t01")


def test_evidence_alone_is_an_ordinary_scenario(small: tuple[LongHistory, ...]) -> None:
    key = next(small[0].answer_keys())
    alone = small[0].scenario().only(frozenset(key.evidence or ()))
    assert not alone.is_streamed
    assert [session.session_id for session in alone.sessions()] == list(key.evidence or ())
    assert alone.questions() == small[0].questions()
    assert small[0].scenario().only(frozenset()).steps == small[0].questions()


def test_a_session_of_a_number_is_the_same_in_a_history_of_any_size(small: tuple[LongHistory, ...]) -> None:
    def said(history: LongHistory) -> list[list[str]]:
        named = {name for key in history.answer_keys() for name in key.evidence or ()}
        steps = (step for step in history[:120] if isinstance(step, Ingest))
        return [[t.content for t in step.session.turns] for step in steps if step.session.session_id not in named]

    smaller, larger = said(small[0]), said(of("100k")[0])
    assert sum(one in larger for one in smaller) >= 20


def test_what_the_source_calls_a_session_is_known_without_making_it(monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = BenchmarkSession.open(BENCHMARK, tier="10k").dataset
    first = next(dataset.scenarios())
    walked = {step.source_id: step.session.session_id for step in first.steps if isinstance(step, Ingest)}
    monkeypatch.setattr(LongHistory, "_step", None)
    assert dataset.ordinals(first.scenario_id) == walked
    with pytest.raises(KeyError):
        dataset.ordinals("nobody's")


def test_every_history_of_the_smallest_tier_is_within_a_hundredth_of_its_size() -> None:
    benchmark_session = BenchmarkSession.open(BENCHMARK, tier="10k")
    for scenario in benchmark_session.dataset.scenarios():
        tokens = sum(count_tokens(turn.content) for each in scenario.each_session() for turn in each.turns)
        assert abs(tokens - SIZES["10k"]) <= SIZES["10k"] / 100


WORDING = wording("full")
SOURCE = LongBeliefs(42, "10k", "judge", WORDING, searched=False)
KEPT = Path("surveys") / "beliefs-2" / "judge" / "10k-42.json"
"""The file of its survey in the cache."""


@pytest.fixture(scope="module")
def known() -> Survey:
    """The smallest tier, gone through."""
    return survey(SOURCE)


@pytest.fixture
def none_included(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A memeval that includes no survey."""
    monkeypatch.setattr(surveying, "included", lambda source: tmp_path / "not included.json")


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, known: Survey, none_included: None) -> Path:
    """The file in which it is kept, in a cache of its own."""
    monkeypatch.setenv("MEMEVAL_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "cache" / KEPT
    path.parent.mkdir(parents=True)
    path.write_text(known.to_json())
    return path


@pytest.fixture
def call(call: Call) -> Call:
    """Call ``memeval data``."""
    return partial(call, "data")


def never(source: LongSource) -> Survey:
    raise AssertionError("gone through again")


def test_what_is_kept_is_believed(kept: Path, known: Survey, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(surveying, "survey", never)
    assert surveyed(SOURCE) == known


@pytest.mark.parametrize(
    "change", [{"made_by": "sha256:" + "0" * 64}, {"seed": 41}, {"tier": "1m"}, b"{", b"[" * 100_000, b"\xff\xfe"]
)
def test_what_is_kept_of_other_histories_or_cannot_be_read_is_made_again(
    kept: Path, known: Survey, monkeypatch: pytest.MonkeyPatch, change: dict[str, object] | bytes
) -> None:
    other = change if isinstance(change, bytes) else known.model_copy(update=change).to_json().encode()
    kept.write_bytes(other)
    again = known.model_copy(update={"digest": "sha256:" + "1" * 64})
    monkeypatch.setattr(surveying, "survey", lambda source: again)
    assert surveyed(SOURCE) == again == Survey.parse(kept.read_bytes(), kept)


def test_where_nothing_can_be_kept_all_is_gone_through_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, known: Survey, none_included: None
) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("MEMEVAL_CACHE", str(tmp_path / "file"))
    assert surveyed(SOURCE) == known


def test_what_memeval_includes_is_current_and_what_a_pass_finds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, known: Survey
) -> None:
    monkeypatch.setenv("MEMEVAL_CACHE", str(tmp_path))
    monkeypatch.setattr(surveying, "survey", never)
    try:
        sources = [dataset.source for dataset in datasets()]
    except AssertionError:
        pytest.fail(f"code or words have changed: run {COMMAND}")
    assert len(sources) == 6 and list(tmp_path.iterdir()) == []
    found = {(source.folder, source.tier): Survey.parse(included(source).read_bytes(), source) for source in sources}
    assert found[SOURCE.folder, "10k"] == known
    assert all(each.made_by == made_by(source) for each, source in zip(found.values(), sources, strict=True))


def test_the_command_writes_what_is_missing_and_leaves_what_is_current(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def place(source: LongSource) -> Path:
        return tmp_path / source.included / f"{source.tier}.json"

    monkeypatch.setattr(including, "included", place)
    including.main()
    assert len(capsys.readouterr().out.splitlines()) == 6
    assert place(SOURCE).read_bytes() == included(SOURCE).read_bytes()
    place(SOURCE).write_text("{}")
    including.main()
    assert capsys.readouterr().out == f"{place(SOURCE)}\n"


def test_an_included_survey_of_other_code_or_damaged_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, known: Survey
) -> None:
    monkeypatch.setenv("MEMEVAL_CACHE", str(tmp_path / "cache"))
    file = tmp_path / "10k-42.json"
    monkeypatch.setattr(surveying, "included", lambda source: file)
    for wrong in (known.to_json().replace(known.made_by, "sha256:" + "0" * 64), known.to_json()[:-9], ""):
        file.write_text(wrong)
        assert surveyed(SOURCE) == known
        (tmp_path / "cache" / KEPT).unlink()


def test_a_changed_word_is_other_code(tmp_path: Path) -> None:
    package = resources.files("memeval").joinpath("benchmarks", "kit", "long")
    assert {"details.toml", "survey.py"} <= {file.name for file in code_files(package)}


def test_what_fills_a_history_may_not_say_what_is_asked_about(monkeypatch: pytest.MonkeyPatch) -> None:
    life = lives(42, WORDING, searched=False)[0]
    said = f"I hear it is {min(life.guarded)}."
    monkeypatch.setattr(Filler, "session", lambda self, number: (life, [DraftTurn("user", said)]))
    with pytest.raises(BrokenRule, match="states the answer to a question"):
        survey(SOURCE)


def test_verify_goes_through_the_histories_again(call: Call, kept: Path, known: Survey) -> None:
    code, out, err = call("verify", "beliefs@2", "--tier", "10k")
    assert code == 0, err
    assert f"115 items, 115 questions, {known.digest}; generated again" in out
    assert f"tokens of each history: {known.tokens[0]:,}, " in out
    wrong = "sha256:" + "0" * 64
    kept.write_text(known.model_copy(update={"digest": wrong}).to_json())
    code, _, err = call("verify", "beliefs@2", "--tier", "10k")
    assert code == 1 and f"the digest of the histories is {known.digest}, but the stored one was {wrong}" in err
    assert Survey.parse(kept.read_bytes(), kept) == known, "it is put right"


def test_a_tier_that_there_is_not_is_a_wrong_call(call: Call) -> None:
    for command in ("verify", "generate"):
        code, _, err = call(command, "beliefs@2", "--tier", "5k", *(("--to", "out") if command == "generate" else ()))
        assert code == 2 and "beliefs@2 has no tier '5k'" in err and "10k, 100k, 1m, 10m" in err


def test_a_tier_is_written_as_its_digest_says(call: Call, kept: Path, known: Survey, tmp_path: Path) -> None:
    code, out, _ = call("generate", "beliefs@2", "--tier", "10k", "--to", "out")
    assert (code, out) == (0, f"beliefs@2: 115 items, {known.digest}\n")
    files = [(tmp_path / "out" / name).read_bytes() for name in ("scenarios.jsonl", "keys.jsonl")]
    assert "sha256:" + hashlib.sha256(b"".join(files)).hexdigest() == known.digest
    assert tuple(len(line) for line in files[0].splitlines(keepends=True)) == known.sizes
    assert len(json.loads(files[0].splitlines()[0])["steps"]) > 50


def test_what_the_disk_has_no_room_for_is_not_begun(
    call: Call, kept: Path, known: Survey, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda place: SimpleNamespace(free=1000))
    code, _, err = call("generate", "beliefs@2", "--tier", "10k", "--to", "some/where")
    assert code == 2 and f"not enough disk space: {sum(known.sizes) / 1e6:,.1f} MB needed" in err
    assert not (tmp_path / "some").exists()


def test_where_writing_fails_nothing_is_left_half_written(
    call: Call, kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: Filler, number: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Filler, "session", full)
    code, _, err = call("generate", "beliefs@2", "--tier", "10k", "--to", "out")
    assert code == 2 and "No space left on device" in err
    assert list((tmp_path / "out").iterdir()) == []


def test_a_run_says_beforehand_where_a_system_may_run_out_of_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda place: SimpleNamespace(free=250))
    assert disk_space_warning(None, 4) is None
    assert disk_space_warning((100, 100, 100), 2) is None
    assert "needs 300 bytes" in str(disk_space_warning((100, 100, 100), 4))
