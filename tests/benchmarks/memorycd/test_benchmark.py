"""The benchmark: protocols, parameters, where its files are, scenarios and keys."""

import json
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from memeval.archive.ledger import Ledger
from memeval.benchmarks import find
from memeval.benchmarks.memorycd import MemoryCDBenchmark
from memeval.benchmarks.memorycd.benchmark import UNVERIFIED
from memeval.benchmarks.memorycd.dataset import MemoryCDDataset
from memeval.benchmarks.memorycd.keys import DOMAINS, MemoryCDKey
from memeval.benchmarks.session import BenchmarkSession
from memeval.leaderboard.board import RankStatus, build_board
from memeval.records.base import digest_bytes
from memeval.records.errors import BadInput
from memeval.records.scenario import Retain, Task
from memeval.records.track import Limits
from tests.support.memorycd import item_id, users, write_data, write_lines
from tests.support.runs import make_run

BENCHMARK = MemoryCDBenchmark()
NO_METADATA = tuple(f"The metadata of {domain} is missing." for domain in DOMAINS)
PROTOCOLS = [each.name for each in BENCHMARK.info.protocols]


def opened(path: Path | None, protocol: str = "rating-single", **parameters: str | int) -> MemoryCDDataset:
    return BENCHMARK.opened(path, parameters, protocol, "full")


def retains(dataset: MemoryCDDataset, name: str) -> list[Retain]:
    return [step for step in dataset.scenario(name).steps if isinstance(step, Retain)]


def key_of(key: Any) -> MemoryCDKey:
    assert isinstance(key.key, MemoryCDKey)
    return key.key


def test_the_registry_knows_it_and_its_protocols() -> None:
    assert isinstance(find("memorycd"), MemoryCDBenchmark)
    tasks = ("rating", "title", "review", "ranking")
    assert [f"{task}-{setting}" for setting in ("single", "cross") for task in tasks] == PROTOCOLS
    graders = {name: {each.grader.name for each in BENCHMARK.table(name)} for name in PROTOCOLS}
    assert graders["rating-cross"] == {"memorycd-rating@1"} and graders["ranking-single"] == {"memorycd-ranking@1"}
    assert graders["title-single"] == graders["review-cross"] == {"memorycd-text@1"}
    assert all(each.offline_reader == "habits@1" for each in BENCHMARK.info.protocols)
    assert tuple(each.name for each in BENCHMARK.info.categories) == DOMAINS


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_protocol_asks_three_tests_of_every_user_and_domain(folder: Path, protocol: str) -> None:
    session = BenchmarkSession.open(BENCHMARK, folder, protocol=protocol)
    assert Counter(key.category for key in session.keys) == dict.fromkeys(DOMAINS, 18)
    assert [(plan.items, plan.weight) for plan in BENCHMARK.plan(session.keys, protocol)] == [(18, 0.25)] * 4
    setting = protocol.partition("-")[2]
    for key in session.keys[:7]:
        scenario = session.scenarios[key.scenario_id]
        assert key.scenario_id == f"{setting}:{key.category}:{key.cluster}"
        (task,) = (each for each in scenario.questions() if each.question_id == key.item_id)
        assert isinstance(task, Task) and task.query and task.question.startswith(f"[{protocol.partition('-')[0]}] ")
        assert task.timestamp is None


def test_memories_are_texts_with_what_goes_with_them_and_ids_say_nothing(folder: Path) -> None:
    raw = {each["user_id"]: each for each in users(6)}
    dataset = opened(folder, "rating-cross")
    name = "cross:Books:SYNTH00002"
    taken = retains(dataset, name)
    told = [each for domain in DOMAINS if domain != "Books" for each in raw["SYNTH00002"]["interactions"][domain]]
    assert Counter(step.metadata["text"] for step in taken) == Counter(each["text"] for each in told)
    assert [step.text_id for step in taken] == [f"s{number:03}" for number in range(1, len(told) + 1)]
    assert [step.occurred_at for step in taken] == sorted(step.occurred_at for step in taken)
    for step in taken:
        domain, title = step.source_id.partition(":")[0], step.metadata["title"]
        assert step.content.startswith(f"Domain: {domain}\n  Title: {title}\n")
        assert set(step.metadata) <= {"title", "text", "rating", "item", "product", "category", "description"}
    assert dataset.ordinals(name) == {step.source_id: step.text_id for step in taken}


def test_keys_hold_what_the_person_did(folder: Path) -> None:
    raw = users(6)[0]["interactions"]["Electronics"]
    tests = sorted(raw, key=lambda each: each["timestamp"])[-3:]
    made = {
        protocol: [key_of(key) for key in opened(folder, protocol).answer_keys() if key.cluster == "SYNTH00000"]
        for protocol in PROTOCOLS
    }
    electronics = slice(6, 9)
    for setting in ("single", "cross"):
        assert [key.rating for key in made[f"rating-{setting}"][electronics]] == [each["rating"] for each in tests]
        assert [key.text for key in made[f"title-{setting}"][electronics]] == [each["title"] for each in tests]
        assert [key.text for key in made[f"review-{setting}"][electronics]] == [each["text"] for each in tests]
        for key, each in zip(made[f"ranking-{setting}"][electronics], tests, strict=True):
            assert key.chosen == each["parent_asin"]
            assert sorted(key.candidates) == sorted([each["parent_asin"], *each["negative_parent_asins"]])


def test_both_layouts_and_any_packing_are_the_same_data(tmp_path: Path, folder: Path) -> None:
    documented = write_data(tmp_path / "documented", users(6), released=False)
    kept = tmp_path / "all" / "memorycd"
    write_data(kept, users(6))
    other = opened(folder)
    named = folder / "users" / "cross_domain_users_sampled.jsonl.gz"
    for path in (documented, documented / "data" / "cross_domain.jsonl", kept.parent, named):
        assert BENCHMARK.available(path)
        found = opened(path)
        assert found.digest == other.digest and list(found.answer_keys()) == list(other.answer_keys())
        assert found.notes == (UNVERIFIED,)


def test_it_is_found_in_the_folder_of_all_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMEVAL_DATA", str(tmp_path))
    assert not BENCHMARK.available()
    with pytest.raises(BadInput, match=r"is missing\. Download https://"):
        opened(None)
    write_data(tmp_path / "memorycd", users(3))
    assert BENCHMARK.available()
    assert len(list(opened(None).answer_keys())) == 36


def test_several_files_of_users_are_refused(tmp_path: Path) -> None:
    write_data(tmp_path, users(3))
    write_lines(tmp_path / "data" / "cross_domain.jsonl", users(3))
    with pytest.raises(BadInput, match=r"several user files: .*Name one of them with --data"):
        opened(tmp_path)
    assert BENCHMARK.available(tmp_path)
    assert opened(tmp_path / "data" / "cross_domain.jsonl").digest


def test_missing_metadata_is_told_and_bad_metadata_passed_over(tmp_path: Path) -> None:
    write_lines(tmp_path / "cross_domain.jsonl", users(3))
    bare = opened(tmp_path)
    assert bare.notes == (*NO_METADATA, UNVERIFIED)
    steps = retains(bare, "single:Books:SYNTH00000")
    assert steps and all("product" not in step.metadata for step in steps)
    one = item_id("Books", 0)
    lines: list[Any] = [
        {"parent_asin": one, "title": "First"},
        {"parent_asin": "", "title": "x"},
        {"parent_asin": one, "title": "Last", "average_rating": "4.1", "description": ["a", "it's"]},
        {"parent_asin": "B1", "title": ["x"]},
        {"parent_asin": "B1", "description": 5},
    ]
    write_lines(tmp_path / "meta_Books.jsonl", lines)
    found = opened(tmp_path)
    assert [note.partition(" was")[0] for note in found.notes[:3]] == [f"meta_Books.jsonl: Line {n}" for n in (2, 4, 5)]
    product = found.product(one, "Books")
    assert product is not None and product.average is None
    assert (product.title, product.description) == ("Last", """['a', "it's"]""")
    assert found.product(one, "Electronics") is None
    assert found.digest != bare.digest
    (tmp_path / "meta_Books.jsonl").write_text("")
    with pytest.raises(BadInput, match=r"meta_Books\.jsonl: the file is empty"):
        opened(tmp_path)


def test_of_domains_that_know_a_product_the_last_counts_across_domains_alone(tmp_path: Path) -> None:
    write_lines(tmp_path / "cross_domain.jsonl", users(3))
    for domain in ("Books", "Electronics"):
        write_lines(tmp_path / f"meta_{domain}.jsonl", [{"parent_asin": "B1", "title": domain}])
    single, cross = opened(tmp_path), opened(tmp_path, "rating-cross")
    titles = [getattr(each.product("B1", "Books"), "title", None) for each in (single, cross)]
    assert titles == ["Books", "Electronics"]
    assert single.product("", "Books") is None


def test_tests_without_what_a_task_needs_are_left_out_and_counted(tmp_path: Path) -> None:
    reviews = [
        {"parent_asin": "B0AAAAAAA1", "rating": 4, "title": "t", "text": "x", "timestamp": 1},
        {"parent_asin": "B0AAAAAAA2", "rating": None, "title": "t", "text": "x", "timestamp": 2},
        {"parent_asin": "B0AAAAAAA3", "rating": 9, "title": " ", "text": "x", "timestamp": 3},
        {"rating": 5, "title": "t", "text": "", "timestamp": 4, "negative_parent_asins": ["B0AAAAAAA1"]},
    ]
    other = {"Books": reviews[:3], "Electronics": [reviews[0]] * 4}
    lines = [{"user_id": "A", "interactions": {"Books": reviews}}, {"user_id": "B", "interactions": other}]
    write_lines(tmp_path / "cross_domain.jsonl", lines)
    asked = {}
    for protocol in ("rating-single", "title-single", "review-single"):
        dataset = opened(tmp_path, protocol)
        asked[protocol] = [key.item_id for key in dataset.answer_keys() if key.category == "Books"]
    assert asked == {"rating-single": ["single:Books:A:3"], "title-single": ["single:Books:A:1"], "review-single": []}
    tally = opened(tmp_path, "review-single").tallies["Books"]
    assert (tally.eligible, tally.skipped, tally.untested) == (1, 0, 1)
    with pytest.raises(BadInput, match="no questions: no user has enough reviews"):
        list(opened(tmp_path, "ranking-single").answer_keys())
    across = opened(tmp_path, "rating-cross")
    names = [key.item_id for key in across.answer_keys()]
    assert names == ["cross:Books:B:1", *(f"cross:Electronics:B:{number}" for number in (1, 2, 3))]
    assert (across.tallies["Books"].eligible, across.tallies["Books"].skipped) == (2, 1)


def test_users_are_counted_off_after_those_without_reviews_enough(tmp_path: Path) -> None:
    few = {"user_id": "FEW", "interactions": {"Books": [{"rating": 5}] * 3}}
    write_lines(tmp_path / "cross_domain.jsonl", [few, *users(4)])
    dataset = opened(tmp_path, users=2)
    assert {key.cluster for key in dataset.answer_keys()} == {"SYNTH00000", "SYNTH00001"}
    assert dataset.parameters == {"users": 2}
    across = opened(tmp_path, "rating-cross", users=2)
    assert {key.cluster for key in across.answer_keys() if key.category == "Books"} == {"SYNTH00000"}
    assert across.tallies["Books"].skipped == 1


def test_a_clean_memory_knows_nothing_of_the_future_and_the_released_one_says_how_much(folder: Path) -> None:
    released, clean = opened(folder, "ranking-cross"), opened(folder, "ranking-cross", form="clean")
    assert {key.slices["future"] for key in clean.answer_keys()} == {"no"}
    assert "yes" in {key.slices["future"] for key in released.answer_keys()}
    assert all(tally.later == 0 for tally in clean.tallies.values())
    assert any(tally.later > 0 for tally in released.tallies.values())
    assert clean.parameters == {"form": "clean"} and released.parameters == {}
    for name in clean.scenario_ids():
        parted = clean.parted(name)
        assert all(each.time < parted.tests[0].time for each in parted.memory)


def test_sources_are_chosen_by_name(folder: Path) -> None:
    dataset = opened(folder, "rating-cross", sources="Electronics+Books")
    kept = {step.source_id.partition(":")[0] for step in retains(dataset, "cross:Books:SYNTH00001")}
    assert kept == {"Electronics"}


def test_the_quick_tier_is_the_same_users_wherever_it_is_drawn(tmp_path: Path) -> None:
    write_data(tmp_path, users(30))
    one, other = (
        BenchmarkSession.open(BENCHMARK, tmp_path, protocol=name, tier="quick").keys
        for name in ("rating-single", "title-cross")
    )
    assert {key.cluster for key in one} == {key.cluster for key in other}
    assert (len({key.cluster for key in one}), len(one), len(other)) == (25, 300, 300)


def released_size(folder: Path) -> Path:
    """Write a file with as many users as the released one has, 323, and not one of its words."""
    line = json.dumps({"interactions": {"Books": [{"rating": 5, "timestamp": n} for n in range(4)]}})
    path = folder / "cross_domain.jsonl"
    path.write_text("".join(f'{{"user_id": "U{n}", {line[1:]}\n' for n in range(323)))
    return path


def test_a_file_with_as_many_users_as_the_release_is_unverified_and_not_ranked(tmp_path: Path) -> None:
    path = released_size(tmp_path)
    found = opened(path)
    assert not found.released
    assert found.notes[-1] == UNVERIFIED
    track = BenchmarkSession.open(BENCHMARK, path).track(reader=None, limits=Limits())
    for told in (track, track.model_copy(update={"released": True})):  # earlier versions went by the number of users
        run = make_run(tmp_path / str(told.released), "acme", track=told)
        (row,) = build_board([run], Ledger(tmp_path)).runs
        assert (row.standing, row.rank) == (RankStatus.UNVERIFIED, None)


def test_the_file_whose_digest_is_in_the_catalogue_is_the_release(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = released_size(tmp_path)
    digest = digest_bytes(path.read_bytes())
    monkeypatch.setattr(MemoryCDBenchmark, "info", BENCHMARK.info.model_copy(update={"released_digests": (digest,)}))
    found = MemoryCDBenchmark().opened(path, None, "rating-single", "full")
    assert found.released and found.notes == NO_METADATA
    path.write_text(path.read_text().replace('"rating": 5', '"rating": 4', 1))
    assert not MemoryCDBenchmark().opened(path, None, "rating-single", "full").released


def test_scenarios_are_the_same_from_any_thread(folder: Path) -> None:
    dataset = opened(folder, "ranking-cross")
    names = list(dataset.scenario_ids())
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(dataset.scenario, names))
    assert found == list(opened(folder, "ranking-cross").scenarios())
