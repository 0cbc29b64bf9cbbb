"""Declared hosts: what goes there, what comes back, what stays out of a system's sight, and what is recorded."""

import http.client
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
from memeval.gateway.serving.hosts import host_routes, key_example
from memeval.records.call import Phase
from memeval.records.errors import BadInput
from memeval.records.submission import Host
from tests.gateway.serving.hosts_helpers import KEY, NAME, HostRig, OpenHosts, Returned, UnixConnection
from tests.gateway.test_faults import _self_signed

MIB = 1024 * 1024
HOST = Host(host=NAME, variable="VENDOR_BASE_URL", key="VENDOR_API_KEY")


def everything(opened: HostRig, *came: Returned) -> str:
    """Return all that a system could see, and all that is recorded."""
    parts: list[Any] = [opened.endpoint.environment, opened.logged, [row.to_json() for row in opened.rows]]
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
    came = opened.send("POST", "/echo", b"{}", {name: value.format(opened.endpoint.token)})
    assert dict(opened.vendor.seen[0]["headers"])[name] == value.format(KEY), "the host was given the key"
    assert came.status == 200
    assert dict(came.json["headers"])[name] == value.format(opened.endpoint.token), "the echo shows the placeholder"
    assert KEY not in everything(opened, came)
    assert KEY.replace("/", r"\/") not in everything(opened, came).replace("\\\\", "\\")


def test_the_placeholder_stays_what_it_is_outside_headers(hosts: OpenHosts) -> None:
    opened = hosts()
    token = opened.endpoint.token
    opened.send("POST", f"/echo/{token}?key={token}", f'{{"key": "{token}"}}'.encode())
    seen = opened.vendor.seen[0]
    assert seen["path"] == f"/echo/{token}?key={token}"
    assert seen["size"] == len(f'{{"key": "{token}"}}')


def test_a_request_is_forwarded_unchanged(hosts: OpenHosts) -> None:
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
        assert (sent["host"], sent["user-agent"]) == (f"127.0.0.1:{opened.vendor.port}", "sdk/1")
        assert (sent["cookie"], sent["accept-encoding"]) == ("c=1", "identity")
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


def test_cookies_are_forwarded_and_not_stored(hosts: OpenHosts) -> None:
    opened = hosts()
    came = opened.send("GET", "/cookie")
    assert [value for name, value in came.headers if name == "Set-Cookie"] == ["a=1; Path=/", "b=2"]
    opened.send("GET", "/echo")
    assert "Cookie" not in dict(opened.vendor.seen[-1]["headers"])


def test_a_traffic_row_has_no_content(hosts: OpenHosts) -> None:
    opened = hosts()
    opened.endpoint.in_phase(Phase.SEARCH)
    came = opened.send("POST", "/echo/inner?secret=question", b"What is the capital?")
    row = last(opened)
    assert (row.host, row.method, row.path, row.status) == (NAME, "POST", "/echo/inner", 200)
    assert (row.sent_bytes, row.scenario_id, row.phase, row.error) == (20, "scenario-1", Phase.SEARCH, None)
    assert row.received_bytes == len(came.data) > 100
    assert 0 < row.seconds < 5
    assert not [word for word in ("secret", "capital", opened.endpoint.token) if word in row.to_json()]
    assert opened.endpoint.waited() == 0, "a host's service is the system's own time"


@pytest.mark.parametrize("size", [1, 7, 33, 34, 35, 1000])
def test_a_key_split_between_pieces_is_redacted(hosts: OpenHosts, size: int) -> None:
    opened = hosts()
    token = opened.endpoint.token
    assert opened.send("GET", f"/pieces/{size}").text == f"before {token} between {token} after {KEY[:10]}"


def test_compressed_replies_are_redacted_or_refused(hosts: OpenHosts) -> None:
    opened = hosts()
    came = opened.send("GET", "/gzip")
    assert (came.text, came.header("Content-Encoding")) == (f"packed {opened.endpoint.token}", None)
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
    assert opened.rows[-1].error == "The body is larger than 3,145,728 bytes. Send a smaller request."
    assert opened.send("GET", f"/size/{3 * MIB + 1}").status == 502
    with pytest.raises(http.client.IncompleteRead):
        opened.send("GET", "/endless")
    assert "is larger than" in last(opened, 6).error
    assert last(opened, 6).received_bytes <= 3 * MIB


def test_a_truncated_reply_never_looks_complete(hosts: OpenHosts) -> None:
    opened = hosts()
    with pytest.raises(http.client.IncompleteRead):
        opened.send("GET", "/half")
    row = last(opened)
    assert (row.status, row.received_bytes) == (200, 10)
    assert row.error == f"The connection to the host {NAME} broke before the reply was complete."


def test_connection_faults_are_messages_that_a_client_may_retry(hosts: OpenHosts) -> None:
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


def test_a_host_that_never_finishes_times_out(hosts: OpenHosts, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forwarding, "MOST_SECONDS", 0.3)
    opened = hosts()
    with pytest.raises(http.client.IncompleteRead):
        opened.send("GET", "/events")
    assert "did not reply in full within" in last(opened).error


def test_only_a_trusted_certificate_is_accepted(
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
            ("host", f"The host {NAME} redirected the system to another host; the redirect was removed.", "scenario-1")
        ]
    else:
        assert came.header("Location") == f"/{opened.endpoint.token}/hosts/{NAME}{arrives}"
        assert not opened.logged


def test_undeclared_hosts_are_refused_and_logged(hosts: OpenHosts) -> None:
    opened = hosts()
    for _ in range(25):
        came = opened.send("GET", "/x", at=f"http://any/{opened.endpoint.token}/hosts/elsewhere.test")
        assert came.status == 403
    sentence = f"The host 'elsewhere.test' is not declared by the submission. It declares: {NAME}."
    assert came.json["error"]["message"].startswith(sentence)
    assert opened.logged == [("endpoint", sentence, "scenario-1")]
    assert [(row.host, row.path, row.status, row.error) for row in opened.rows] == [
        ("elsewhere.test", "/x", None, sentence)
    ] * 20
    opened.endpoint.enter("scenario-2")
    assert opened.logged[-1][1] == "5 further requests to undeclared hosts were refused and not recorded."
    assert not opened.vendor.seen


def test_a_missing_or_foreign_token_is_refused(hosts: OpenHosts) -> None:
    first, second = hosts(), hosts()
    for path in (f"/hosts/{NAME}/echo", f"/memeval-0/hosts/{NAME}/echo", f"/{second.endpoint.token}/hosts/{NAME}/echo"):
        assert first.send("GET", path, at="http://any", headers={}).status == 401
    assert not first.vendor.seen


def test_two_endpoints_each_have_a_placeholder_of_their_own(hosts: OpenHosts) -> None:
    opened = hosts()
    other = opened.server.endpoint()
    headers = {"Authorization": f"Token {other.token}"}
    came = opened.send("GET", "/echo", headers=headers)
    assert dict(opened.vendor.seen[0]["headers"])["Authorization"] == f"Token {other.token}", "not this endpoint's"
    assert KEY not in everything(opened, came)
    assert other.environment["VENDOR_BASE_URL"] != opened.base


def test_a_websocket_is_refused(hosts: OpenHosts) -> None:
    opened = hosts()
    upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Key": "x", "Sec-WebSocket-Version": "13"}
    came = opened.send("GET", "/echo", headers=upgrade)
    assert came.status == 501
    assert "memeval does not forward WebSockets" in came.text
    assert not opened.vendor.seen


def test_a_loop_of_requests_reaches_the_limit(hosts: OpenHosts, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forwarding, "MOST_EXCHANGES", 2)
    opened = hosts()
    assert [opened.send("GET", "/echo").status for _ in range(3)] == [200, 200, 429]
    opened.endpoint.enter("scenario-2")
    assert opened.send("GET", "/echo").status == 200


@pytest.fixture
def short() -> Iterator[Path]:
    """Return a folder whose path is short enough for a socket."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        yield Path(folder)


def test_the_socket_and_the_port_serve_models_and_hosts(hosts: OpenHosts, short: Path) -> None:
    path = short / "endpoint"
    opened = hosts(socket=path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    for connection in (opened.connect(), UnixConnection(path)):
        for address in (f"/{opened.endpoint.token}/hosts/{NAME}/echo", "/v1/models"):
            connection.request("GET", address, headers={"Authorization": f"Bearer {opened.endpoint.token}"})
            response = connection.getresponse()
            assert response.status == 200 and response.read()
        connection.close()
    assert len(opened.vendor.seen) == 2
    opened.server.__exit__(None, None, None)
    assert not path.exists()


def test_systems_are_told_the_address_that_they_can_reach(hosts: OpenHosts, short: Path) -> None:
    opened = hosts(socket=short / "endpoint", origin="http://127.0.0.1:7878")
    environment = opened.endpoint.environment
    assert environment["VENDOR_BASE_URL"] == f"http://127.0.0.1:7878/{opened.endpoint.token}/hosts/{NAME}"
    assert environment["VENDOR_API_KEY"] == opened.endpoint.token
    assert environment["OPENAI_BASE_URL"] == "http://127.0.0.1:7878/v1"


@pytest.mark.parametrize("name", ["taken", "x" * 200])
def test_a_socket_that_cannot_be_created_is_an_error_message(hosts: OpenHosts, short: Path, name: str) -> None:
    (short / "taken").write_text("mine")
    with pytest.raises(BadInput, match="cannot create a socket"):
        hosts(socket=short / name)
    assert (short / "taken").read_text() == "mine"


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "10.1.2.3", "100.64.0.1", "169.254.169.254", "0.0.0.0"),
        *("::1", "fe80::1%lo", "fd00:ec2::254", "::ffff:127.0.0.1"),
    ],
)
def test_a_name_of_the_local_network_is_refused(
    hosts: OpenHosts, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    real, opened = socket.getaddrinfo, hosts(upstream=f"https://{NAME}")
    port = opened.vendor.port

    def looked_up(host: str, *rest: Any, **named: Any) -> Any:
        return real(address if host == NAME else host, *(port if each == 443 else each for each in rest), **named)

    monkeypatch.setattr(socket, "getaddrinfo", looked_up)
    said = f"The host {NAME} resolves to this machine or its local network, which systems may not reach."
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
            ({"VENDOR_API_KEY": "short"}, "shorter than 8 characters"),
            ({"VENDOR_API_KEY": "with a blank in it"}, "with invalid characters"),
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
            ({"host": "169.254.169.254"}, "an IP address, not a name"),
            ({"host": "api.openai.com"}, "model calls must use memeval's own endpoint"),
            ({"key": "OPENAI_API_KEY"}, "submissions may not use the variable OPENAI_API_KEY"),
            ({"key": "AWS_SECRET_ACCESS_KEY"}, "submissions may not use the variable"),
            ({"key": "HF_TOKEN"}, "HF_TOKEN is not named after this host, so it may contain the key of another."),
            ({"host": "hf.vendor.test", "key": "HF_TOKEN"}, "Begin its name with the host's, as in VENDOR_API_KEY"),
            ({"host": "voyage.x7k.dev", "key": "VOYAGE_API_KEY"}, "Begin its name with the host's, as in X7K_API_KEY"),
            ({"host": "evil-data.com", "key": "VIL_API_KEY"}, "is not named after this host"),
            ({"host": "db-data.com", "key": "DB_PASSWORD"}, "is not named after this host"),
            ({"host": "evil.com", "key": "COM_API_KEY"}, "is not named after this host"),
            ({"variable": "MEMEVAL_JUDGE_BASE_URL"}, "submissions may not use the variable"),
            ({"variable": "VENDOR_API_KEY"}, "VENDOR_API_KEY is used twice"),
        ],
    )
    def test_forbidden_hosts_and_variables_are_refused(self, changed: dict[str, Any], said: str) -> None:
        given = dict.fromkeys(("VENDOR_API_KEY", "OPENAI_API_KEY", "AWS_SECRET_ACCESS_KEY"), KEY)
        with pytest.raises(BadInput) as raised:
            host_routes([HOST.model_copy(update=changed)], {}, given)
        assert said in str(raised.value)

    @pytest.mark.parametrize(
        ("host", "key"),
        [
            ("api.getzep.com", "ZEP_API_KEY"),
            ("my-memory.co.uk", "MYMEMORY_KEY"),
            ("api.tavily-search.com", "TAVILY_API_KEY"),
            ("eu.api.mem-0.ai", "MEM0_API_KEY"),
            ("api.q.ai", "QAI_KEY"),
        ],
    )
    def test_a_key_is_named_for_its_host(self, host: str, key: str) -> None:
        for name in (key, key_example(host)):
            assert host_routes([Host(host=host, variable="BASE_URL", key=name)], {}, {name: KEY})[host].key == KEY

    def test_hosts_and_overrides_fit_together(self) -> None:
        keys = {"VENDOR_API_KEY": KEY}
        with pytest.raises(BadInput, match="declared twice"):
            host_routes([HOST, HOST], {}, keys)
        with pytest.raises(BadInput, match=r"does not declare the host 'other.test'. It declares: api.vendor.test"):
            host_routes([HOST], {"other.test": "http://127.0.0.1:1"}, keys)
        with pytest.raises(BadInput, match="not an http or https URL"):
            host_routes([HOST], {NAME: "ftp://127.0.0.1"}, keys)
        assert host_routes([HOST], {NAME: "http://127.0.0.1:1/base/"}, keys)[NAME].origin == "http://127.0.0.1:1/base"


@pytest.mark.parametrize(
    ("header", "value", "half"),
    [("Content-Length", "100", b"x" * 10), ("Transfer-Encoding", "chunked", b"a\r\n" + b"x" * 10 + b"\r\n")],
)
def test_half_a_request_stays_half_at_the_host_and_leaves_a_traffic_row(
    hosts: OpenHosts, header: str, value: str, half: bytes
) -> None:
    opened = hosts()
    connection = opened.connect()
    connection.putrequest("POST", f"/{opened.endpoint.token}/hosts/{NAME}/echo")
    connection.putheader(header, value)
    connection.endheaders()
    connection.send(half)
    assert opened.vendor.called.wait(20)
    connection.close()
    row = last(opened)
    assert (row.status, row.error, row.sent_bytes) == (None, "The body cannot be read.", 10)
    assert opened.vendor.broken.wait(20)
    assert not opened.vendor.seen, "half a request was not taken for a whole"
    assert opened.send("GET", "/echo").status == 200
