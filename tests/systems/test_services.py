"""Services: found and named, started fresh beside a system, with and without a sandbox, and ended with it."""

import hashlib
import json
import os
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from memeval.records.errors import BadInput
from memeval.records.run import ServiceIdentity
from memeval.records.submission import Service, ServiceName
from memeval.systems import inside_services
from memeval.systems.child import Launch
from memeval.systems.launching import service_identities
from memeval.systems.process import SystemProcess
from memeval.systems.sandbox import SandboxMode, find_sandbox
from tests.systems.helpers import PATIENT, session

BOTH = (
    Service(name=ServiceName.REDIS, variable="REDIS_URL"),
    Service(name=ServiceName.POSTGRES, variable="DATABASE_URL"),
)

ADAPTER = """
import json, os, socket, subprocess
from urllib.parse import urlsplit

class System:
    def ask_redis(self, *words):
        command = b"*%d\\r\\n" % len(words) + b"".join(b"$%d\\r\\n%s\\r\\n" % (len(w), w.encode()) for w in words)
        self.line.sendall(command)
        kind = self.words.readline()
        return self.words.readline().strip().decode() if kind[:1] == b"$" else kind.strip().decode()

    def reset(self):
        url = urlsplit(os.environ["REDIS_URL"])
        self.line = socket.create_connection((url.hostname, url.port))
        self.words = self.line.makefile("rb")
        self.refused = self.ask_redis("PING")
        self.ask_redis("AUTH", url.password)
        by_path = socket.socket(socket.AF_UNIX)
        by_path.connect(os.environ["REDIS_URL_SOCKET"])

    def sql(self, statement, address):
        done = subprocess.run(["psql", "-X", address, "-Atc", statement], stdout=-1, stderr=-2, text=True)
        return done.stdout.strip()

    def ingest_session(self, session, timestamp):
        self.ask_redis("SET", "said", session["turns"][0]["content"])
        self.sql("create table said as select lower('ÄRGER') as word", os.environ["DATABASE_URL"])

    def query(self, question, timestamp="now"):
        return json.dumps({
            "redis": self.ask_redis("GET", "said"),
            "unknown to redis": self.refused,
            "postgres": self.sql("select word from said", os.environ["DATABASE_URL"]),
            "by socket": self.sql("select 6 * 7", os.environ["DATABASE_URL_SOCKET"]),
            "folder": os.path.dirname(os.environ["REDIS_URL_SOCKET"]),
        })
"""


INSTALLED = all(inside_services.find(service.name) for service in BOTH)
needs_services = pytest.mark.skipif(
    not INSTALLED, reason="no PostgreSQL or no Redis here; install the packages postgresql and redis-server"
)


def awaited(true: Callable[[], bool], seconds: float = 20.0) -> bool:
    """Wait for something to be so; return whether it is."""
    deadline = time.monotonic() + seconds
    while not true() and time.monotonic() < deadline:
        time.sleep(0.02)
    return true()


def running_in(folder: str) -> list[str]:
    """Return the commands of processes that were started in a folder below ``folder``."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_bytes().decode(errors="replace")
        except OSError:
            continue
        if f"{folder}/" in command:
            found.append(command)
    return found


@needs_services
@pytest.mark.parametrize("mode", [SandboxMode.BWRAP, SandboxMode.NONE])
def test_a_system_uses_its_databases_and_they_end_with_it(tmp_path: Path, mode: SandboxMode) -> None:
    file = tmp_path / "adapter.py"
    file.write_text(ADAPTER, "utf-8")
    log: list[str] = []
    sandbox = find_sandbox(mode, log.append)
    launch = Launch(file, folder=tmp_path, services=BOTH)
    limits = PATIENT.model_copy(update={"load_seconds": 120.0})
    with SystemProcess(launch, limits, log.append, sandbox=sandbox) as system:
        system.start()
        system.reset()
        system.ingest([(session(1, "Uses Redis."), "2025-01-02")])
        said = json.loads(system.ask("What is used?", "2025-01-03").answer)
        folder = str(Path(said.pop("folder")).parent)
        if sandbox is None:
            assert running_in(folder)
    assert said == {
        "redis": "Uses Redis.",
        "unknown to redis": "-NOAUTH Authentication required.",
        "postgres": "ärger",
        "by socket": "42",
    }, log
    assert awaited(lambda: not running_in(folder) and not Path(folder).exists())
    assert any("database system is ready" in line for line in log)


@needs_services
def test_services_are_named_with_version_and_digest() -> None:
    postgres, redis = service_identities([*BOTH, BOTH[0]])
    assert (postgres.name, redis.name) == (ServiceName.POSTGRES, ServiceName.REDIS)
    assert postgres.version.split(" with")[0][:2].isdigit() and " pgvector" in postgres.version.replace("out", "")
    program = inside_services.find("redis")
    assert program is not None
    digest = f"sha256:{hashlib.sha256(program.read_bytes()).hexdigest()}"
    assert redis == ServiceIdentity(name=ServiceName.REDIS, version=redis.version, digest=digest)
    said = subprocess.run([str(program), "--version"], capture_output=True, text=True, check=True).stdout
    assert f"v={redis.version} " in said


@pytest.mark.parametrize(
    ("name", "package"),
    [(ServiceName.POSTGRES, "'postgresql'"), (ServiceName.REDIS, "'redis-server'"), (ServiceName.NEO4J, "'neo4j'")],
)
def test_a_missing_service_is_refused_with_what_to_install(
    name: ServiceName, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inside_services, "SEARCHED", ["usr/nowhere"])
    with pytest.raises(BadInput, match="which is not installed") as refused:
        service_identities([Service(name=name, variable="SERVICE_URL")])
    assert package in str(refused.value.remedy)


def with_programs(folder: Path, **programs: str) -> Path:
    """Return a copy of what starts services that finds only these programs: Python files, by their names."""
    bin_folder = folder / "bin"
    bin_folder.mkdir()
    for name, source in programs.items():
        program = bin_folder / name.replace("_", "-")
        program.write_text(f"#!{sys.executable}\n{textwrap.dedent(source)}", "utf-8")
        program.chmod(0o755)
    source = Path(inside_services.__file__).read_text("utf-8")
    searched = next(line for line in source.splitlines() if line.startswith("SEARCHED = "))
    copy = folder / "inside_services.py"
    copy.write_text(source.replace(searched, f"SEARCHED = [{str(bin_folder)[1:]!r}]"), "utf-8")
    return copy


def started(copy: Path, name: str) -> subprocess.CompletedProcess[str]:
    """Start a service, print the variables, and end."""
    code = f"import inside_services as i; print(i.start([{{'name': {name!r}, 'variable': 'SERVICE_URL'}}]))"
    environment = {**os.environ, "TMPDIR": str(copy.parent / "home"), "PYTHONPATH": str(copy.parent)}
    return subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60)


# Neo4j's makers alone distribute it: this stands in for its start, its settings and its handshake.
NEO4J = """
    import os, pathlib, socket, sys
    settings = dict(
        line.split("=", 1) for line in (pathlib.Path(os.environ["NEO4J_CONF"]) / "neo4j.conf").read_text().splitlines()
    )
    assert sys.argv[1:] == ["console"]
    assert settings["dbms.security.auth_enabled"] == "false"
    host, port = settings["server.bolt.listen_address"].split(":")
    listener = socket.create_server((host, int(port)))
    print("Bolt enabled", flush=True)
    while True:
        line = listener.accept()[0]
        if line.recv(20)[:4] == b"\\x60\\x60\\xb0\\x17":
            line.sendall(b"\\0\\0\\4\\4")
"""


def test_neo4j_is_started_by_its_settings_and_reached_over_bolt(tmp_path: Path) -> None:
    done = started(with_programs(tmp_path, neo4j=NEO4J), "neo4j")
    assert done.stdout.startswith("{'SERVICE_URL': 'bolt://127.0.0.1:"), done.stderr
    assert "Bolt enabled" in done.stderr
    assert awaited(lambda: not list(tmp_path.glob("services-*")))


def test_a_service_that_ends_at_its_start_is_a_sentence(tmp_path: Path) -> None:
    done = started(with_programs(tmp_path, redis_server="import sys; sys.exit('no memory')"), "redis")
    assert done.returncode == 1
    assert "no memory" in done.stderr
    assert "Redis ended at its start with exit code 1; see its output in the log." in done.stderr
    assert awaited(lambda: not list(tmp_path.glob("services-*")))


def test_a_service_that_is_not_there_is_a_sentence(tmp_path: Path) -> None:
    done = started(with_programs(tmp_path), "postgres")
    assert done.stderr.strip() == "the service 'postgres' is not installed: program postgres not found."
