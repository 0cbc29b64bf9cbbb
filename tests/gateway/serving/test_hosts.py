"""Declared hosts: what goes there, what comes back, what stays out of a system's sight, and what is recorded."""

from __future__ import annotations

import http.client
import json
import socket
import stat
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from memeval.gateway.serving import forwarding
from memeval.gateway.serving.hosts import host_routes
from memeval.records.call import Phase
from memeval.records.errors import BadInput
from memeval.records.submission import Host
from tests.gateway.serving.hosts_helpers import KEY, NAME, HostRig, OpenHosts, Returned, UnixConnection
from tests.gateway.test_faults import _self_signed

MIB = 1024 * 1024
HOST = Host(host=NAME, variable="VENDOR_BASE_URL", key="VENDOR_API_KEY")


def everything(opened: HostRig, *came: Returned) -> str:
    """Return all that a system could see, and all that is recorded."""
    parts: list[Any] = [opened.door.environment, opened.logged, [row.to_json() for row in opened.rows]]
    return repr([*parts, *((each.headers, each.data) for each in came)])


def last(opened: HostRig, count: int = 1) -> Any:
    """Return the last row once there are ``count``: a reply's last byte may arrive just before its row is written."""
    for _ in range(500):
        if len(opened.rows) >= count:
            break
        threading.Event().wait(0.01)
    assert len(opened.rows) == count
    return opened.rows[-1]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("Authorization", form) for form in ("Bearer {}", "Token {}", "Api-Key {}", "{}")),
        *(("x-api-key", "{}"), ("X-Vendor-Secret", "a={}; b=c")),
    ],
)
def test_the_key_arrives_at_the_host_and_never_at_the_system(hosts: OpenHosts, name: str, value: str) -> None:
    opened = hosts()
    came = opened.send("POST", "/echo", b"{}", {name: value.format(opened.door.token)})
    assert dict(opened.vendor.seen[0]["headers"])[name] == value.format(KEY), "the host was given the key"
    assert came.status == 200
    assert dict(came.json["headers"])[name] == value.format(opened.door.token), "the echo shows the placeholder"
    assert KEY not in everything(opened, came)
    assert KEY.replace("/", r"\/") not in everything(opened, came).replace("\\\\", "\\")


def test_the_placeholder_stays_what_it_is_outside_headers(hosts: OpenHosts) -> None:
    opened = hosts()
    token = opened.door.token
    opened.send("POST", f"/echo/{token}?key={token}", f'{{"key": "{token}"}}'.encode())
    seen = opened.vendor.seen[0]
    assert seen["path"] == f"/echo/{token}?key={token}"
    assert seen["size"] == len(f'{{"key": "{token}"}}')


def test_a_request_goes_on_as_it_came(hosts: OpenHosts) -> None:
    opened = hosts()
    for method in ("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD"):
        headers = {
            "X-Mine": "ä b".encode().decode("latin-1"),
            "User-Agent": "sdk/1",
            "Connection": "keep-alive, X-Hop",
            "X-Hop": "1",
            "Cookie": "c=1",
        }
        body = b"abc" if method in ("POST", "PUT", "PATCH", "DELETE") else None
        came = opened.send(method, "/v1/a%2Fb//c/../d?x=1&y=%20&x=2", body, headers)
        seen = opened.vendor.seen[-1]
        sent = {name.lower(): value for name, value in seen["headers"]}
        assert came.status == 200
        assert (seen["method"], seen["path"]) == (method, "/v1/a%2Fb//c/../d?x=1&y=%20&x=2")
        assert seen["size"] == len(body or b"")
        assert sent["host"] == f"127.0.0.1:{opened.vendor.port}"
        assert sent["user-agent"] == "sdk/1"
        assert sent["cookie"] == "c=1"
        assert sent["accept-encoding"] == "identity"
        assert sent["x-mine"].encode("latin-1").decode() == "ä b"
        assert "x-hop" not in sent
        assert "authorization" not in sent, "nothing is added that the system did not send"
    assert came.data == b""


def test_statuses_and_their_headers_come_back(hosts: OpenHosts) -> None:
    opened = hosts()
    for status in (201, 204, 400, 401, 404, 429, 500, 503):
        came = opened.send("GET", f"/status/{status}")
        assert (came.status, came.header("Retry-After")) == (status, "7")
        assert came.data == (b"" if status == 204 else b'{"detail": "so it is"}')
        assert last(opened, len(opened.rows)).error is None
    assert [row.status for row in opened.rows] == [201, 204, 400, 401, 404, 429, 500, 503]


def test_cookies_pass_and_are_kept_by_nobody_between(hosts: OpenHosts) -> None:
    opened = hosts()
    came = opened.send("GET", "/cookie")
    assert [value for name, value in came.headers if name == "Set-Cookie"] == ["a=1; Path=/", "b=2"]
    opened.send("GET", "/echo")
    assert "Cookie" not in dict(opened.vendor.seen[-1]["headers"])


def test_a_row_says_that_it_was_made_and_not_what_was_said(hosts: OpenHosts) -> None:
    opened = hosts()
    opened.door.in_phase(Phase.SEARCH)
    came = opened.send("POST", "/echo/inner?secret=question", b"What is the capital?")
    row = last(opened)
    assert (row.host, row.method, row.path, row.status) == (NAME, "POST", "/echo/inner", 200)
    assert (row.sent_bytes, row.scenario_id, row.phase, row.error) == (20, "scenario-1", Phase.SEARCH, None)
    assert row.received_bytes == len(came.data) > 100
    assert 0 < row.seconds < 5
    assert not [word for word in ("secret", "capital", opened.door.token) if word in row.to_json()]
    assert opened.door.waited() == 0, "a host's service is the system's own time"


@pytest.mark.parametrize("size", [1, 7, 33, 34, 35, 1000])
def test_the_key_is_taken_out_over_the_borders_of_pieces(hosts: OpenHosts, size: int) -> None:
    opened = hosts()
    token = opened.door.token
    assert opened.send("GET", f"/pieces/{size}").text == f"before {token} between {token} after {KEY[:10]}"


def test_packed_replies_are_unpacked_and_looked_through_or_refused(hosts: OpenHosts) -> None:
    opened = hosts()
    came = opened.send("GET", "/gzip")
    assert (came.text, came.header("Content-Encoding")) == (f"packed {opened.door.token}", None)
    came = opened.send("GET", "/packed")
    assert came.status == 502
    assert KEY not in everything(opened, came)


def test_events_arrive_as_they_are_sent(hosts: OpenHosts) -> None:
    opened = hosts()
    connection = opened.connect()
    connection.request("GET", opened.base[opened.base.index("/memeval-") :] + "/events")
    response = connection.getresponse()
    assert response.readline() + response.readline() == b"data: 1\n\n"
    opened.vendor.go_on.set()
    assert response.read() == b"data: 2\n\n"
    connection.close()


def test_bodies_are_passed_on_piece_by_piece_up_to_a_limit(hosts: OpenHosts, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forwarding, "MOST_BYTES", 3 * MIB)
    opened = hosts()
    assert opened.send("POST", "/status/200", b"x" * (3 * MIB)).status == 200
    assert opened.send("POST", "/status/200", iter([b"x" * MIB] * 3)).status == 200
    assert [seen["size"] for seen in opened.vendor.seen] == [3 * MIB, 3 * MIB]
    assert len(opened.send("GET", f"/size/{3 * MIB}").data) == 3 * MIB
    assert opened.send("POST", "/status/200", iter([b"x" * MIB] * 5)).status == 413
    assert opened.rows[-1].error == "The body is larger than 3,145,728 bytes. Send less at once."
    assert opened.send("GET", f"/size/{3 * MIB + 1}").status == 502
    with pytest.raises(http.client.IncompleteRead):
        opened.send("GET", "/endless")
    assert "is larger than" in last(opened, 6).error
    assert last(opened, 6).received_bytes <= 3 * MIB


def test_a_reply_that_breaks_off_is_never_taken_for_whole(hosts: OpenHosts) -> None:
    opened = hosts()
    with pytest.raises(http.client.IncompleteRead):
        opened.send("GET", "/half")
    row = last(opened)
    assert (row.status, row.received_bytes) == (200, 10)
    assert row.error == f"The connection to the host {NAME} broke before the whole reply was there."


def test_faults_on_the_way_are_sentences_that_a_client_may_try_again(hosts: OpenHosts) -> None:
    opened = hosts()
    dropped = opened.send("POST", "/drop", b"{}")
    assert (dropped.status, dropped.header("x-should-retry")) == (502, None)
    assert f"The connection to the host {NAME} broke" in dropped.json["error"]["message"]
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        there = f"http://127.0.0.1:{closed.getsockname()[1]}"
        gone = hosts(upstream=there)
        assert f"The host {NAME} cannot be reached at {there}." in gone.send("GET", "/").text
    assert (last(gone).status, last(gone).error) == (None, f"The host {NAME} cannot be reached at {there}.")


def test_a_host_that_does_not_end_is_left(hosts: OpenHosts, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forwarding, "MOST_SECONDS", 0.3)
    opened = hosts()
    with pytest.raises(http.client.IncompleteRead):
        opened.send("GET", "/events")
    assert "did not reply in full within" in last(opened).error


def test_only_a_certificate_that_somebody_vouches_for_is_accepted(
    hosts: OpenHosts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secure = _self_signed(tmp_path)
    refused = hosts(secure=secure)
    came = refused.send("GET", "/echo")
    assert (came.status, "No secure connection" in came.text) == (502, True)
    assert not refused.vendor.seen
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "server.pem"))
    trusted = hosts(secure=secure)
    assert trusted.send("GET", "/echo").status == 200
    assert dict(trusted.vendor.seen[0]["headers"])["Authorization"] == f"Token {KEY}"


@pytest.mark.parametrize(
    ("there", "arrives"),
    [
        ("/v2/x?a=1", "/v2/x?a=1"),
        ("{url}/v2/x", "/v2/x"),
        ("https://api.vendor.test/v2", "/v2"),
        ("next", "/to/next"),
        ("https://elsewhere.test/v2", None),
        ("//elsewhere.test/v2", None),
        ("https://api.vendor.test.elsewhere.test/", None),
        ("https://api.vendor.test@elsewhere.test/", None),
        ("http://[", None),
    ],
)
def test_redirects_come_back_and_lead_to_the_same_host_only(hosts: OpenHosts, there: str, arrives: str | None) -> None:
    opened = hosts()
    there = there.format(url=opened.vendor.url)
    came = opened.send("GET", "/to/" + quote(there, safe=""))
    assert came.status == 307
    assert len(opened.vendor.seen) == 1, "nobody follows it on the way"
    if arrives is None:
        assert came.header("Location") is None
        assert opened.logged == [
            ("host", f"The host {NAME} sent the system on to another host, which was not passed on.", "scenario-1")
        ]
    else:
        assert came.header("Location") == f"/{opened.door.token}/hosts/{NAME}{arrives}"
        assert not opened.logged


def test_other_hosts_are_refused_and_that_is_told(hosts: OpenHosts) -> None:
    opened = hosts()
    for _ in range(25):
        came = opened.send("GET", "/x", at=f"http://any/{opened.door.token}/hosts/elsewhere.test")
        assert came.status == 403
    sentence = f"The host 'elsewhere.test' is not declared by the submission. It declares: {NAME}."
    assert came.json["error"]["message"].startswith(sentence)
    assert opened.logged == [("door", sentence, "scenario-1")]
    assert [(row.host, row.path, row.status, row.error) for row in opened.rows] == [
        ("elsewhere.test", "/x", None, sentence)
    ] * 20
    opened.door.enter("scenario-2")
    assert opened.logged[-1][1] == "5 further requests to undeclared hosts were refused and not recorded."
    assert not opened.vendor.seen


def test_there_is_no_way_without_a_token_or_with_another_servers(hosts: OpenHosts) -> None:
    first, second = hosts(), hosts()
    for path in (f"/hosts/{NAME}/echo", f"/memeval-0/hosts/{NAME}/echo", f"/{second.door.token}/hosts/{NAME}/echo"):
        assert first.send("GET", path, at="http://any", headers={}).status == 401
    assert not first.vendor.seen


def test_two_doors_each_have_a_placeholder_of_their_own(hosts: OpenHosts) -> None:
    opened = hosts()
    other = opened.server.door()
    headers = {"Authorization": f"Token {other.token}"}
    came = opened.send("GET", "/echo", headers=headers)
    assert dict(opened.vendor.seen[0]["headers"])["Authorization"] == f"Token {other.token}", "not this door's"
    assert KEY not in everything(opened, came)
    assert other.environment["VENDOR_BASE_URL"] != opened.base


def test_a_websocket_is_refused(hosts: OpenHosts) -> None:
    opened = hosts()
    upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Key": "x", "Sec-WebSocket-Version": "13"}
    came = opened.send("GET", "/echo", headers=upgrade)
    assert came.status == 501
    assert "memeval passes no WebSocket on" in came.text
    assert not opened.vendor.seen


def test_a_loop_of_requests_ends(hosts: OpenHosts, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forwarding, "MOST_EXCHANGES", 2)
    opened = hosts()
    assert [opened.send("GET", "/echo").status for _ in range(3)] == [200, 200, 429]
    opened.door.enter("scenario-2")
    assert opened.send("GET", "/echo").status == 200


@pytest.fixture
def short() -> Iterator[Path]:
    """Return a folder whose path is short enough for a socket."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        yield Path(folder)


def test_both_addresses_lead_to_the_same_place(hosts: OpenHosts, short: Path) -> None:
    path = short / "door"
    opened = hosts(socket=path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    for connection in (opened.connect(), UnixConnection(path)):
        connection.request("GET", f"/{opened.door.token}/hosts/{NAME}/echo")
        assert connection.getresponse().status == 200
        connection.request("GET", "/v1/models", headers={"Authorization": f"Bearer {opened.door.token}"})
        connection.close()
    assert len(opened.vendor.seen) == 2
    opened.server.__exit__(None, None, None)
    assert not path.exists()


def test_systems_are_told_the_address_that_they_can_reach(hosts: OpenHosts, short: Path) -> None:
    opened = hosts(socket=short / "door", origin="http://127.0.0.1:7878")
    environment = opened.door.environment
    assert environment["VENDOR_BASE_URL"] == f"http://127.0.0.1:7878/{opened.door.token}/hosts/{NAME}"
    assert environment["VENDOR_API_KEY"] == opened.door.token
    assert environment["OPENAI_BASE_URL"] == "http://127.0.0.1:7878/v1"


@pytest.mark.parametrize("name", ["taken", "x" * 200])
def test_a_socket_that_cannot_be_made_is_a_sentence(hosts: OpenHosts, short: Path, name: str) -> None:
    (short / "taken").write_text("mine")
    with pytest.raises(BadInput, match="no socket can be made there"):
        hosts(socket=short / name)
    assert (short / "taken").read_text() == "mine"


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "10.1.2.3", "100.64.0.1", "169.254.169.254", "0.0.0.0"),
        *("::1", "fe80::1%lo", "fd00:ec2::254", "::ffff:127.0.0.1"),
    ],
)
def test_a_name_that_leads_to_the_machines_own_network_leads_nowhere(
    hosts: OpenHosts, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    real, opened = socket.getaddrinfo, hosts(upstream=f"https://{NAME}")
    port = opened.vendor.port

    def looked_up(host: str, *rest: Any, **named: Any) -> Any:
        return real(address if host == NAME else host, *(port if each == 443 else each for each in rest), **named)

    monkeypatch.setattr(socket, "getaddrinfo", looked_up)
    said = f"The name of the host {NAME} leads to this machine or its own network, where no system may go."
    assert said in opened.send("GET", "/").text
    assert (last(opened).status, last(opened).error) == (None, said)


class TestRoutes:
    """What is refused before a run begins."""

    def test_a_host_is_reached_over_https_with_the_key_of_its_variable(self) -> None:
        route = host_routes([HOST], {}, {"VENDOR_API_KEY": f" {KEY}\n"})[NAME]
        assert (route.origin, route.key) == (f"https://{NAME}", KEY)
        assert KEY not in repr(route)

    @pytest.mark.parametrize(
        ("given", "said"),
        [
            ({}, f"needs a key for {NAME}, and VENDOR_API_KEY is not set. Set VENDOR_API_KEY"),
            ({"VENDOR_API_KEY": " "}, "VENDOR_API_KEY is not set"),
            ({"VENDOR_API_KEY": "short"}, "shorter than 8 signs"),
            ({"VENDOR_API_KEY": "with a blank in it"}, "signs that no key has"),
        ],
    )
    def test_a_key_that_cannot_be_used_is_named_with_its_host(self, given: dict[str, str], said: str) -> None:
        with pytest.raises(BadInput) as raised:
            host_routes([HOST], {}, given)
        assert said in str(raised.value)
        assert NAME in str(raised.value)
        assert "blank" not in str(raised.value), "what was given is shown nowhere"

    @pytest.mark.parametrize(
        ("changed", "said"),
        [
            ({"host": "169.254.169.254"}, "an address, not a name"),
            ({"host": "api.openai.com"}, "models are reached through memeval's own endpoint"),
            ({"key": "OPENAI_API_KEY"}, "OPENAI_API_KEY is not for submissions to use"),
            ({"key": "AWS_SECRET_ACCESS_KEY"}, "is not for submissions to use"),
            ({"key": "HF_TOKEN"}, "HF_TOKEN is not named for this host, so it may hold a key to another."),
            ({"host": "hf.vendor.test", "key": "HF_TOKEN"}, "Begin its name with a part of the host's, as in VENDOR_"),
            ({"variable": "MEMEVAL_JUDGE_BASE_URL"}, "is not for submissions to use"),
            ({"variable": "VENDOR_API_KEY"}, "VENDOR_API_KEY is used twice"),
        ],
    )
    def test_what_no_submission_may_declare_is_refused(self, changed: dict[str, Any], said: str) -> None:
        given = dict.fromkeys(("VENDOR_API_KEY", "OPENAI_API_KEY", "AWS_SECRET_ACCESS_KEY"), KEY)
        with pytest.raises(BadInput) as raised:
            host_routes([HOST.model_copy(update=changed)], {}, given)
        assert said in str(raised.value)

    @pytest.mark.parametrize(
        ("host", "key"),
        [
            ("api.getzep.com", "ZEP_API_KEY"),
            ("my-memory.co.uk", "MYMEMORY_KEY"),
            ("eu.api.mem-0.ai", "MEM0_API_KEY"),
            ("api.q.ai", "QAI_KEY"),
        ],
    )
    def test_a_key_is_named_for_its_host(self, host: str, key: str) -> None:
        assert host_routes([Host(host=host, variable="BASE_URL", key=key)], {}, {key: KEY})[host].key == KEY

    def test_hosts_and_overrides_fit_together(self) -> None:
        keys = {"VENDOR_API_KEY": KEY}
        with pytest.raises(BadInput, match="declared twice"):
            host_routes([HOST, HOST], {}, keys)
        with pytest.raises(BadInput, match=r"does not declare the host 'other.test'. It declares: api.vendor.test"):
            host_routes([HOST], {"other.test": "http://127.0.0.1:1"}, keys)
        with pytest.raises(BadInput, match="not an http or https URL"):
            host_routes([HOST], {NAME: "ftp://127.0.0.1"}, keys)
        assert host_routes([HOST], {NAME: "http://127.0.0.1:1/base/"}, keys)[NAME].origin == "http://127.0.0.1:1/base"


def test_a_system_with_models_and_hosts_has_both(hosts: OpenHosts) -> None:
    opened = hosts()
    connection = opened.connect()
    connection.request("GET", "/v1/models", headers={"Authorization": f"Bearer {opened.door.token}"})
    assert json.loads(connection.getresponse().read())["data"] == []
    connection.close()
    assert opened.send("GET", "/echo").status == 200


def test_a_system_that_breaks_off_leaves_a_row(hosts: OpenHosts) -> None:
    opened = hosts()
    connection = opened.connect()
    connection.putrequest("POST", f"/{opened.door.token}/hosts/{NAME}/echo")
    connection.putheader("Content-Length", "100")
    connection.endheaders()
    connection.send(b"x" * 10)
    connection.close()
    row = last(opened)
    assert (row.status, row.error) == (None, "The body cannot be read.")
    assert not opened.vendor.seen, "half a request was not taken for a whole"
    assert opened.send("GET", "/echo").status == 200
