import ssl
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import Any

import pytest

from memeval.gateway.endpoints import Endpoint
from memeval.gateway.gateway import Gateway, GatewayOptions
from memeval.gateway.record import CallRecord
from memeval.gateway.serving import ModelServer
from memeval.gateway.serving.hosts import host_routes
from memeval.records.call import Traffic
from memeval.records.submission import Host
from tests.gateway.serving import hosts_helpers
from tests.gateway.serving.helpers import KEY, MODELS, Open, Rig, UpstreamWithTools, endpoint_to

OPTIONS = GatewayOptions(timeout_seconds=10, tries=2, first_wait_seconds=0.01, longest_wait_seconds=0.05)

VENDOR = Host(host=hosts_helpers.NAME, variable="VENDOR_BASE_URL", key="VENDOR_API_KEY")


@pytest.fixture
def rig() -> Iterator[Open]:
    """Open a endpoint to a fresh upstream; everything is closed after the test."""
    with ExitStack() as stack:

        def start(
            *, declared: Sequence[str] = MODELS, scenario_calls: int = 1000, gateway: Any = None, **upstream: Any
        ) -> Rig:
            real = stack.enter_context(UpstreamWithTools(key=KEY, **upstream))
            calls = CallRecord(None)
            between = stack.enter_context(Gateway(CallRecord(None), OPTIONS, **(gateway or {})))
            between.open_run("20260101T000000Z-00000000", calls)
            logged: list[tuple[str, str, str]] = []
            server = ModelServer(
                between, endpoint_to(real), declared, scenario_calls, lambda *line: logged.append(line)
            )
            stack.enter_context(server)
            endpoint = server.endpoint()
            endpoint.enter("scenario-1")
            return Rig(real, calls, endpoint, server, logged)

        yield start


@pytest.fixture
def hosts() -> Iterator[hosts_helpers.OpenHosts]:
    """Open a endpoint to a host; everything is closed after the test."""
    with ExitStack() as stack:

        def start(
            *, upstream: str | None = None, secure: ssl.SSLContext | None = None, **options: Any
        ) -> hosts_helpers.HostRig:
            vendor = stack.enter_context(hosts_helpers.Vendor(secure))
            routes = host_routes(
                [VENDOR], {VENDOR.host: upstream or f"{vendor.url}/"}, {"VENDOR_API_KEY": hosts_helpers.KEY}
            )
            between = stack.enter_context(Gateway(CallRecord(None), OPTIONS))
            logged: list[tuple[str, str, str]] = []
            rows: list[Traffic] = []
            server = ModelServer(
                *(between, Endpoint("http://127.0.0.1:9"), (), 10, lambda *line: logged.append(line)),
                hosts=routes,
                traffic=rows.append,
                **options,
            )
            stack.enter_context(server)
            endpoint = server.endpoint()
            endpoint.enter("scenario-1")
            return hosts_helpers.HostRig(vendor, server, endpoint, rows, logged)

        yield start
