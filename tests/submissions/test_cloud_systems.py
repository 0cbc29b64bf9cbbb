"""Hosted memories, driven through their real clients against servers that play the vendors.

The whole way is real: the client from the submission's lock, in the sandbox, through memeval's socket to the host. In
the suite that is done for one of them, since the packages of all three take longer to install than the suite may take;
with ``MEMEVAL_TEST_ALL_HOSTED`` set it is done for all.
"""

import os
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from memeval.gateway.endpoints import Endpoint
from memeval.gateway.gateway import Gateway
from memeval.gateway.record import CallRecord
from memeval.gateway.serving import ModelEndpoint, ModelServer
from memeval.gateway.serving.hosts import host_routes
from memeval.records.call import Traffic
from memeval.records.track import Limits
from memeval.systems.errors import SystemFailure, SystemNotReady
from memeval.systems.process import SystemProcess
from memeval.systems.sandbox import INSIDE_ORIGIN, SandboxMode, find_sandbox
from memeval.systems.source import find_system
from tests.support.products import SUBMISSIONS, product, submission_of
from tests.support.vendors import LettaServer, Mem0Server, Vendor, ZepServer

KEY = "key-of-the-vendor-that-no-system-may-see"
VENDORS: dict[str, type[Vendor]] = {"zep": ZepServer, "letta": LettaServer, "mem0-cloud": Mem0Server}
DRIVEN = list(VENDORS) if os.environ.get("MEMEVAL_TEST_ALL_HOSTED") else ["zep"]
LIMITS = Limits(load_seconds=60.0, settle_seconds=2.0)

LONG = " ".join(f"word{number}" for number in range(3_000))
TALK = {
    "session_id": "s001",
    "date": "2025-03-04",
    "turns": [
        {"turn_id": "s001:t01", "role": "user", "speaker": "Caroline", "content": "I adopted a greyhound."},
        {"turn_id": "s001:t02", "role": "assistant", "speaker": "Melanie", "content": "I repaired an old bicycle."},
    ],
}


@dataclass
class Hosted:
    """A hosted system with the vendor behind it."""

    vendor: Vendor
    system: SystemProcess
    endpoint: ModelEndpoint
    traffic: list[Traffic]
    printed: list[str]


@pytest.fixture(scope="module", params=DRIVEN)
def running(request: pytest.FixtureRequest) -> Iterator[Hosted]:
    """Start a hosted system in the sandbox; everything is ended after the last test."""
    slug: str = request.param
    source = find_system(slug, SUBMISSIONS)
    submission = submission_of(slug)
    with ExitStack() as stack:
        socket = Path(stack.enter_context(tempfile.TemporaryDirectory(dir="/tmp"))) / "door"
        sandbox = find_sandbox(SandboxMode.BWRAP, print)
        assert sandbox is not None
        vendor = stack.enter_context(VENDORS[slug](KEY))
        host = submission.hosts[0]
        routes = host_routes(submission.hosts, {host.host: vendor.url}, {str(host.key): KEY})
        traffic: list[Traffic] = []
        gateway = stack.enter_context(Gateway(CallRecord(None)))
        server = stack.enter_context(
            ModelServer(
                *(gateway, Endpoint("http://127.0.0.1:9"), (), 10, lambda *line: printed.append(str(line))),
                socket=socket,
                origin=INSIDE_ORIGIN,
                hosts=routes,
                traffic=traffic.append,
            )
        )
        printed: list[str] = []
        endpoint = server.endpoint()
        endpoint.enter("scenario-1")
        built = product(slug)
        launch = replace(
            source.launch,
            interpreter=built.python or source.launch.interpreter,
            own_interpreter=False,
            shown=built.shown,
            path=built.path,
            variables={**source.launch.variables, **built.variables},
            parameters={"poll_seconds": 0.02},
        )
        system = SystemProcess(
            *(launch, LIMITS, printed.append, endpoint.environment), sandbox=replace(sandbox, socket=socket)
        )
        yield Hosted(vendor, stack.enter_context(system), endpoint, traffic, printed)


@pytest.fixture
def hosted(running: Hosted) -> Hosted:
    """Return a hosted system that has been asked for nothing yet."""
    vendor, system = running.vendor, running.system
    vendor.failing = False
    if not system.alive:
        system.start()
    system.reset()
    for seen in (vendor.asked, vendor.deleted, running.traffic):
        seen.clear()
    return running


@pytest.mark.products
def test_what_was_said_is_found_once_it_is_settled_with_who_said_it_and_when(hosted: Hosted) -> None:
    vendor, system = hosted.vendor, hosted.system
    system.ingest([(TALK, "2025-03-04T18:30:00+02:00")])
    assert system.search("greyhound", 5).items == (), "nothing is there before it is indexed"
    assert system.settle() is not None
    for query, speaker, turn in (("adopted a greyhound", "Caroline", 1), ("repaired bicycle", "Melanie", 2)):
        items = system.search(query, 1).items
        assert items is not None
        assert len(items) == 1, "no more than k"
        assert speaker in items[0].text
        assert "2025-03-04" in items[0].text
        assert items[0].source_ids in (("s001",), (f"s001:t0{turn}",))
    assert [each.at for each in next(iter(vendor.spaces.values()))] in (
        ["2025-03-04T18:30:00+02:00"] * 2,
        ["2025-03-04T16:30:00+00:00"] * 2,
    )
    assert not [each for each in vendor.asked if "assistant: " in repr(each.body)], "people stay people"


@pytest.mark.products
def test_every_scenario_has_a_place_of_its_own_that_is_deleted_behind_it(hosted: Hosted) -> None:
    vendor, system = hosted.vendor, hosted.system
    system.ingest([(TALK, "2025-03-04")])
    system.settle()
    first = next(iter(vendor.spaces))
    system.reset()
    assert first not in vendor.spaces
    assert system.search("greyhound", 5).items == ()
    system.ingest([(TALK, "2025-03-04")])
    assert first not in vendor.spaces
    system.close()
    assert not vendor.spaces
    assert len(set(vendor.deleted)) == 2


@pytest.mark.products
def test_the_key_arrives_at_the_vendor_and_nowhere_else(hosted: Hosted) -> None:
    vendor, system = hosted.vendor, hosted.system
    system.ingest([(TALK, "2025-03-04")])
    system.settle()
    token = hosted.endpoint.token
    assert vendor.asked and {each.headers["Authorization"] for each in vendor.asked} == {f"{vendor.scheme} {KEY}"}
    assert not [each for each in vendor.asked if token in repr(each)], "and the placeholder not at the vendor"
    seen = repr((dict(hosted.endpoint.environment), hosted.printed, [row.to_json() for row in hosted.traffic]))
    assert KEY not in seen
    assert {row.host for row in hosted.traffic} == {submission_of(system_slug(vendor)).hosts[0].host}
    assert {row.status for row in hosted.traffic} == {200}


@pytest.mark.products
def test_long_texts_are_split_and_nothing_of_them_is_cut(hosted: Hosted) -> None:
    vendor, system = hosted.vendor, hosted.system
    long = {**TALK, "turns": [{"turn_id": "s001:t01", "role": "user", "content": LONG}]}
    system.ingest([(long, "2025-03-04")])
    assert system.settle() is not None
    kept = next(iter(vendor.spaces.values()))
    assert len(kept) > 1
    texts = (each.text.removeprefix("User (user): ").removeprefix("User: ").strip() for each in kept)
    assert " ".join(texts) == LONG
    items = system.search(LONG[:1000], 3).items
    assert items, "a long question is asked whole"


@pytest.mark.products
def test_what_cannot_be_taken_in_is_an_error(hosted: Hosted) -> None:
    hosted.vendor.failing = True
    hosted.system.ingest([(TALK, "2025-03-04")])
    with pytest.raises((SystemFailure, SystemNotReady)) as raised:
        hosted.system.settle()
    assert "could not take in" in str(raised.value) or "not ready" in str(raised.value)


@pytest.mark.parametrize("slug", VENDORS)
def test_each_says_what_it_needs_and_that_nobody_has_run_it(slug: str) -> None:
    submission = submission_of(slug)
    assert submission.vendor is not None and submission.vendor.never_run
    assert not submission.deterministic
    assert [host.key for host in submission.hosts] == [submission.hosts[0].variable.replace("BASE_URL", "API_KEY")]
    text = (SUBMISSIONS / slug / "README.md").read_text()
    for word in ("never been run", "Event time", "Indexing", "speakers", "Limits", "deleted"):
        assert word in text


def system_slug(vendor: Any) -> str:
    return next(slug for slug, kind in VENDORS.items() if isinstance(vendor, kind))
