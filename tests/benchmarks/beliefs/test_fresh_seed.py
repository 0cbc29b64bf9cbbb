"""Fresh editions: announced before their seed is drawn, fetched from a real server, and refused where one is off."""

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memeval.benchmarks import find, known_ids
from memeval.benchmarks.beliefs import BeliefsBenchmark
from memeval.benchmarks.beliefs.fresh import FreshBeliefsBenchmark
from memeval.benchmarks.beliefs.fresh.editions import Beacon, Edition, editions
from memeval.benchmarks.beliefs.fresh.value import ELSEWHERE, FILENAME, LARGEST, BeaconValue
from memeval.benchmarks.session import BenchmarkSession
from memeval.records.errors import BadInput
from tests.support.http_server import Call, serving

BEACON = editions().beacon

DRAWN = Edition(id="beliefs-fresh-202308@2", month="August 2023", at="2023-08-23T15:59:24Z", round=1000)
"""An edition of the past, for tests alone."""

TO_COME = DRAWN.model_copy(update={"at": "2999-12-01T12:00:00Z"})

RANDOMNESS = "fe290beca10872ef2fb164d2aa4442de4566183ec51c56ff3cd603d930e54fdd"
SIGNATURE = "b44679b9a59af2ec876b1a6b1ad52ea9b1615fc3982b19576350f93447cb1125e342b73a8dd2bacbe47e4b6b63ed5e39"
"""Golden: round 1000 of drand's quicknet, as its documentation shows it."""

REPLY = {"round": 1000, "randomness": RANDOMNESS, "signature": SIGNATURE}


def forged(**parts: object) -> bytes:
    return json.dumps(REPLY | parts).encode()


@dataclass
class Server:
    """What the beacon replies, and what it was asked."""

    body: bytes = forged()
    status: int = 200
    location: str | None = None
    length: int | None = None
    url: str = ""
    asked: list[str] = field(default_factory=list)


@pytest.fixture
def server() -> Iterator[Server]:
    told = Server()

    def reply(call: Call) -> None:
        told.asked.append(call.path)
        location = {"Location": told.location} if told.location else {}
        length = len(told.body) if told.length is None else told.length
        call.reply(told.status, told.body, {"Content-Length": str(length), "Connection": "close", **location})

    with serving(reply) as told.url:
        yield told


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MEMEVAL_DATA", str(tmp_path))
    monkeypatch.delenv(ELSEWHERE, raising=False)
    return tmp_path / DRAWN.name


def at(*urls: str) -> Beacon:
    return BEACON.model_copy(update={"urls": urls})


def fresh(server: Server, edition: Edition = DRAWN) -> FreshBeliefsBenchmark:
    return FreshBeliefsBenchmark(edition, at(server.url))


# -- what is announced ---------------------------------------------------------------------------------------------


def test_the_first_edition_is_the_one_that_was_announced() -> None:
    first = editions().editions[0]
    assert (first.id, first.at, first.round) == ("beliefs-fresh-202701@2", "2027-01-15T12:00:00Z", 35737012)
    assert BEACON.address(BEACON.urls[0], first.round) == f"https://api.drand.sh/{BEACON.chain}/public/35737012"


def test_no_edition_is_called_drawn_before_its_moment() -> None:
    for each in editions().editions:
        assert not each.drawn or each.moment < datetime.now(UTC)
        told = find(each.id).info
        assert ("will draw" in told.summary, "will draw" in told.made) == (not each.drawn, not each.drawn)
        assert (" drew " in told.summary, " drew " in told.made) == (each.drawn, each.drawn)


@pytest.mark.parametrize("packs", [(), ("cedar", "dogwood")])
def test_an_edition_speaks_of_its_draw_in_the_future_until_it_is_marked_as_drawn(packs: tuple[str, ...]) -> None:
    announced = DRAWN.model_copy(update={"packs": packs})
    told = FreshBeliefsBenchmark(announced).info
    assert "will draw" in told.summary and "will draw" in told.made and " drew " not in told.summary + told.made
    told = FreshBeliefsBenchmark(announced.model_copy(update={"drawn": True})).info
    assert " drew " in told.summary and " drew " in told.made and "will draw" not in told.summary + told.made


def test_every_edition_has_the_round_of_its_moment_and_a_place_among_the_benchmarks() -> None:
    for each in editions().editions:
        assert BEACON.round_at(each.moment) == each.round
        assert find(each.name).info.id == each.id in known_ids()
        assert each.id == f"beliefs-fresh-{each.moment:%Y%m}@2"
        told = find(each.id).info
        assert str(each.round) in told.summary and each.at in told.summary and BEACON.chain in told.made
    assert len({each.id for each in editions().editions}) == len(editions().editions)


@pytest.mark.parametrize(("seconds", "number"), [(0, 1), (2, 1), (3, 2), (2997, 1000), (2999, 1000), (3000, 1001)])
def test_a_round_is_drawn_every_three_seconds_from_the_first_on(seconds: int, number: int) -> None:
    assert BEACON.round_at(datetime.fromtimestamp(BEACON.genesis + seconds, UTC)) == number


def test_the_table_is_that_of_beliefs(server: Server) -> None:
    plain, benchmark = BeliefsBenchmark(), fresh(server)
    for protocol in plain.info.protocols:
        ours, theirs = benchmark.table(protocol.name), plain.table(protocol.name)
        assert [line.name for line in ours] == [line.name for line in theirs]
    differing = {name for name, value in benchmark.info if value != getattr(plain.info, name)}
    assert differing == {"id", "title", "summary", "made", "quick", "seed_of", "tiers"}
    assert benchmark.info.tiers == plain.info.tiers[:1]


# -- before it is drawn --------------------------------------------------------------------------------------------


def test_before_its_moment_nothing_is_asked_and_every_refusal_says_when_and_where(server: Server, folder: Path) -> None:
    benchmark = fresh(server, TO_COME)
    assert not benchmark.available()
    for refused in (benchmark.open, lambda: BenchmarkSession.open(benchmark, protocol="shared")):
        with pytest.raises(BadInput) as caught:
            refused()
        for word in ("2999-12-01T12:00:00Z", "round 1000", server.url, "memeval data pull beliefs-fresh-202308"):
            assert word in str(caught.value)
    with pytest.raises(BadInput, match=r"drawn at 2999-12-01T12:00:00Z.*clock of this machine says \d{4}-\d\d-\d\dT"):
        benchmark.pull()
    assert server.asked == [] and not folder.exists()


# -- fetching ------------------------------------------------------------------------------------------------------


def test_the_value_is_fetched_stored_and_made_into_the_seed(server: Server, folder: Path) -> None:
    benchmark = fresh(server)
    assert benchmark.pull() == folder / FILENAME and benchmark.available()
    assert server.asked == [f"/{BEACON.chain}/public/1000"]
    dataset = benchmark.open(parameters={"size": 3})
    assert dataset.parameters == {"seed": int(RANDOMNESS[:12], 16), "size": 3}
    assert int(RANDOMNESS[:12], 16) == 279452247171336
    plain = BeliefsBenchmark().open(parameters=dataset.parameters)
    assert dataset.digest == plain.digest and dataset.released
    stored = BeaconValue.parse((folder / FILENAME).read_bytes(), folder)
    assert stored.source == f"{server.url}/{BEACON.chain}/public/1000"


def test_a_value_that_is_here_is_not_fetched_again_and_a_damaged_one_is(server: Server, folder: Path) -> None:
    benchmark = fresh(server)
    place = benchmark.pull()
    whole = place.read_bytes()
    benchmark.pull()
    assert len(server.asked) == 1
    for damage in (whole[:40], b"", b"\xff", whole.replace(b"1000", b"1001"), b"[" * 100_000):
        place.write_bytes(damage)
        with pytest.raises(BadInput, match=r"memeval data pull|round 1001"):
            benchmark.open(parameters={"size": 1})
        assert benchmark.pull().read_bytes() == whole
    assert len(server.asked) == 6


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (forged(round=1001), "this is round 1001, but beliefs-fresh-202308@2 needs round 1000"),
        (forged(randomness="0" * 64), "not the SHA-256 of the signature"),
        (forged(signature="0" * 96), "not the SHA-256 of the signature"),
        (forged(signature=SIGNATURE[:-2]), "'signature'"),
        (forged(randomness=RANDOMNESS.upper()), "'randomness'"),
        (forged(randomness=7), "'randomness'"),
        (forged(round="1000"), "'round'"),
        (forged(round=True), "'round'"),
        (b'{"round": 1000}', "'randomness'"),
        (forged()[:-9], "the reply is not JSON"),
        (b"", "the reply is not JSON"),
        (b"\xff\xfe", "the reply is not JSON"),
        (b"[]", "not a value of a beacon"),
        (b"[" * 60_000, "the reply is not JSON"),
        (b" " * (LARGEST + 1), "too large"),
    ],
)
def test_a_reply_that_is_not_the_value_is_refused_and_leaves_nothing(
    server: Server, folder: Path, body: bytes, sentence: str
) -> None:
    server.body = body
    with pytest.raises(BadInput, match=re.escape(sentence)):
        fresh(server).pull()
    assert not folder.exists() or list(folder.iterdir()) == []


@pytest.mark.parametrize("status", [404, 425, 500])
def test_a_server_that_refuses_is_named_with_the_moment(server: Server, folder: Path, status: int) -> None:
    server.status = status
    with pytest.raises(BadInput, match=rf"refused the request \({status}\)") as caught:
        fresh(server).pull()
    assert "2023-08-23T15:59:24Z. Check the clock of this machine" in str(caught.value)


def test_a_connection_that_is_cut_and_a_server_that_is_gone_are_refused(server: Server, folder: Path) -> None:
    server.length, server.body = len(server.body), server.body[:-30]
    with pytest.raises(BadInput, match="the reply is not JSON"):
        fresh(server).pull()
    with pytest.raises(BadInput, match="cannot be reached"):
        FreshBeliefsBenchmark(DRAWN, at("http://127.0.0.1:1")).pull()


def test_no_other_kind_of_address_is_opened(server: Server, folder: Path) -> None:
    with pytest.raises(BadInput, match="only http and https"):
        FreshBeliefsBenchmark(DRAWN, at("file:///etc")).pull()
    server.status, server.location = 302, "file:///etc/passwd"
    with pytest.raises(BadInput, match=re.escape("refused the request (302)")):
        fresh(server).pull()


def test_where_one_address_fails_the_next_is_asked(server: Server, folder: Path) -> None:
    benchmark = FreshBeliefsBenchmark(DRAWN, at("http://127.0.0.1:1", server.url))
    assert benchmark.pull().is_file()
    assert benchmark.open(parameters={"size": 1}).released


def test_a_value_from_elsewhere_can_be_run_and_is_never_ranked(
    server: Server, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    signature = hashlib.sha384(b"nobody's").hexdigest()
    server.body = forged(signature=signature, randomness=hashlib.sha256(bytes.fromhex(signature)).hexdigest())
    monkeypatch.setenv(ELSEWHERE, server.url)
    benchmark = FreshBeliefsBenchmark(DRAWN)
    benchmark.pull()
    dataset = benchmark.open(parameters={"size": 1})
    assert not dataset.released and dataset.parameters["seed"] != int(RANDOMNESS[:12], 16)


# -- opening -------------------------------------------------------------------------------------------------------


def test_a_copy_of_the_value_can_be_named(server: Server, folder: Path, tmp_path: Path) -> None:
    benchmark = fresh(server)
    place = benchmark.pull()
    copy = place.rename(tmp_path / "copy.json")
    assert not benchmark.available() and benchmark.available(copy)
    assert benchmark.open(copy, {"size": 1}).parameters["size"] == 1
    with pytest.raises(BadInput, match="the seed of beliefs-fresh-202308@2 is missing"):
        benchmark.open(parameters={"size": 1})


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"seed": 1}, "beliefs-fresh-202308@2 has no parameter 'seed'"),
        ({"size": 0}, "beliefs-fresh-202308@2: invalid size=0. It must be from 1 to "),
        ({"sise": 3}, "beliefs-fresh-202308@2 has no parameter 'sise'"),
    ],
)
def test_its_seed_cannot_be_chosen(
    server: Server, folder: Path, parameters: dict[str, str | int], sentence: str
) -> None:
    benchmark = fresh(server)
    benchmark.pull()
    with pytest.raises(BadInput, match=re.escape(sentence)):
        benchmark.open(parameters=parameters)


@pytest.mark.parametrize("protocol", ["retrieval", "judge", "shared", "stored"])
def test_it_is_asked_in_every_way_that_beliefs_is(server: Server, folder: Path, protocol: str) -> None:
    benchmark = fresh(server)
    benchmark.pull()
    benchmark_session = BenchmarkSession.open(benchmark, None, {"size": 3}, protocol=protocol)
    assert benchmark_session.keys and benchmark_session.dataset.parameters["seed"] == int(RANDOMNESS[:12], 16)


def test_a_value_of_another_edition_is_refused(server: Server, folder: Path) -> None:
    place = fresh(server).pull()
    other = DRAWN.model_copy(update={"id": "beliefs-fresh-202309@2"})
    with pytest.raises(BadInput, match="the value of beliefs-fresh-202308@2"):
        fresh(server, other).open(place)
