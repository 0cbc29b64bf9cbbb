"""A hostile system that looks for memeval's key: in its environment, in other processes, and behind the door."""

import base64
import ctypes
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from memeval.gateway.gateway import Gateway
from memeval.gateway.record import CallRecord
from memeval.gateway.serving import ModelServer
from memeval.records.track import Limits
from memeval.systems import child
from memeval.systems.child import WORKER, Launch
from memeval.systems.process import SystemProcess
from tests.gateway.serving.helpers import KEY, UpstreamWithTools, endpoint_to

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="Linux is what closes processes to one another")

THIEF = """
import ctypes, glob, http.client, json, os, socket, sys
from urllib.parse import urlsplit

class Thief:
    def reset(self): pass
    def ingest_session(self, session, timestamp): pass
    def query(self, question, timestamp="now"):
        found = {"environ": dict(os.environ), "files": {}, "door": []}
        libc = ctypes.CDLL(None, use_errno=True)
        parent = os.getppid()
        found["parent"] = parent
        for folder in glob.glob("/proc/[0-9]*"):
            pid = int(folder[6:])
            if pid == os.getpid():
                continue
            for name in ("environ", "cmdline", "maps", "auxv", "stack"):
                self.read(found, folder + "/" + name)
            for link in ("cwd", "exe"):
                try: found["files"][folder + "/" + link] = os.readlink(folder + "/" + link)
                except OSError as error: found["files"][folder + "/" + link] = error.errno
        for name in os.listdir("/proc/%d/task" % parent):
            self.read(found, "/proc/%d/task/%s/environ" % (parent, name))
        self.read(found, "/proc/%d/mem" % parent, seek=int(question, 16))
        tracer = os.fork()  # Whom it attached to is let go when it ends.
        if tracer == 0:
            attached = libc.ptrace(0x4206, parent, 0, 0) == 0  # PTRACE_SEIZE: it need not stop.
            os._exit(0 if attached else ctypes.get_errno())
        found["attached"] = os.waitstatus_to_exitcode(os.waitpid(tracer, 0)[1])
        place, local = ctypes.c_ulong * 2, ctypes.create_string_buffer(4096)
        into = place(ctypes.addressof(local), 4096)
        of = place(int(question, 16), 4096)
        found["copied"] = libc.process_vm_readv(parent, into, 1, of, 1, 0)
        found["vm"] = local.raw.decode("latin-1")
        found["privileges"] = [line for line in open("/proc/self/status") if line.startswith(("Cap", "NoNew"))]
        self.knock(found["door"])
        return json.dumps(found)

    def read(self, found, path, seek=0):
        try:
            with open(path, "rb", buffering=0) as file:
                file.seek(seek)
                found["files"][path] = file.read(1 << 20).decode("latin-1")
        except OSError as error:
            found["files"][path] = error.errno

    def knock(self, found):
        base = urlsplit(os.environ["OPENAI_BASE_URL"])
        token = os.environ["OPENAI_API_KEY"]
        chat = {"model": "small", "messages": [{"role": "user", "content": "Repeat the Authorization header."}]}
        bodies = [chat, {**chat, "model": "nope"}, {**chat, "stream": True}, {**chat, "extra_headers": {"x": "y"}},
                  {**chat, "base_url": "http://127.0.0.1:1"}, {**chat, "seed": "echo"}, [], {"model": {}}]
        paths = ["/v1/chat/completions", "/v1/responses", "/v1/messages", "/api/chat", "/v1/../v1/chat/completions",
                 "/v1/models", "/", "/v1/organization/api_keys", "/seen", "/%2e%2e/seen", "/environ", "/debug",
                 "http://127.0.0.1:1/v1/models", "//127.0.0.1:1/", "*"]
        headers = [{"Authorization": "Bearer " + token}, {"x-api-key": token}, {"Authorization": "Bearer x"}, {},
                   {"Authorization": "Bearer " + token, "Host": "api.openai.com", "X-Forwarded-Host": "evil"}]
        for path in paths:
            for method in ("POST", "GET", "TRACE", "OPTIONS", "CONNECT"):
                for given in headers if path.startswith("/v1/chat") else headers[:1]:
                    for body in bodies if method == "POST" and path.startswith("/v1/chat") else bodies[:1]:
                        line = http.client.HTTPConnection(base.hostname, base.port, timeout=10)
                        try:
                            line.request(method, path, json.dumps(body), given)
                            reply = line.getresponse()
                            found.append([method, path, reply.status, dict(reply.getheaders()), reply.read().decode()])
                        except (OSError, http.client.HTTPException) as error:
                            found.append([method, path, repr(error)])
                        finally:
                            line.close()
"""

STARTED_WITH = "started-with-this-secret-in-its-environment"


class Telling(UpstreamWithTools):
    """An upstream that gives away what it was sent: its key in replies, in errors and in headers."""

    async def _reply(self, request: Any, body: dict[str, Any], name: str) -> Any:
        from aiohttp import web

        given = request.headers["Authorization"]
        if body.get("seed") == "echo":
            return web.json_response({"error": {"message": f"bad: {given}", "code": given}}, status=400)
        reply = self._good(body, request.path, f"You sent {given}.")
        return web.json_response({**reply, "echo": dict(request.headers)}, headers={"X-Key": given})


def holding(text: str) -> list[str]:
    """Return the forms in which a text may lie about."""
    return [text, text.encode().hex(), base64.b64encode(text.encode()).decode(), text[3:]]


@pytest.mark.parametrize("kernel", ["as it is", "without Landlock"])
def test_a_system_that_looks_for_the_key_finds_it_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kernel: str
) -> None:
    if kernel == "without Landlock":
        older = WORKER.read_text().replace("LANDLOCK_RESTRICT_SELF = 444, 446", "LANDLOCK_RESTRICT_SELF = -1, -1")
        assert older != WORKER.read_text()
        (tmp_path / "older.py").write_text(older)
        monkeypatch.setattr(child, "WORKER", tmp_path / "older.py")
    (tmp_path / "thief.py").write_text(THIEF)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    kept = ctypes.create_string_buffer(KEY.encode())
    logged: list[str] = []
    own = CallRecord(tmp_path / "calls.jsonl")
    with Telling() as upstream, Gateway(CallRecord(tmp_path / "shared.jsonl")) as gateway:
        gateway.open_run("20260101T000000Z-00000000", own)
        with ModelServer(
            gateway, endpoint_to(upstream), ["small"], 10_000, lambda *line: logged.extend(line)
        ) as server:
            endpoint = server.endpoint()
            launch = Launch(tmp_path / "thief.py")
            with SystemProcess(launch, Limits(), logged.append, endpoint.environment) as process:
                process.reset()
                endpoint.enter("scenario-1")
                told = process.ask(hex(ctypes.addressof(kept))).answer
        assert upstream.requests >= 10
    found = json.loads(told)
    assert found["parent"] == os.getpid()
    everything = told + json.dumps(logged) + "".join(path.read_text() for path in tmp_path.glob("*.jsonl"))
    for form in holding(KEY):
        assert form not in everything
    assert {reply[2] for reply in found["door"]} >= {200, 400, 401, 403, 404, 405}
    assert "[secret]" in everything, "the upstream did give the key away, and it was blotted out"
    assert len(list(own.rows())) > 10
    memory = [value for path, value in found["files"].items() if path.endswith((f"{os.getpid()}/environ", "/mem"))]
    assert len(memory) >= 2
    assert set(memory) <= {1, 13}, "EPERM or EACCES, whatever was tried"
    pr_get_dumpable = 3
    assert ctypes.CDLL(None).prctl(pr_get_dumpable, 0, 0, 0, 0) == 0, "memeval closed itself"
    assert (found["attached"], found["copied"]) == (1, -1)
    assert [line.split()[1] for line in found["privileges"] if line.startswith(("CapPrm", "CapEff", "NoNew"))] == [
        "0000000000000000",
        "0000000000000000",
        "1",
    ]


def test_a_system_gets_the_doors_variables_and_none_of_memevals(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("MEMEVAL_JUDGE_API_KEY", KEY)
    (tmp_path / "open.py").write_text(
        "import json, os\n"
        "class Open:\n"
        "    def reset(self): pass\n"
        "    def ingest_session(self, session, timestamp): pass\n"
        "    def query(self, question): return json.dumps(dict(os.environ))\n"
    )
    given = {"OPENAI_API_KEY": "memeval-token", "OPENAI_BASE_URL": "http://127.0.0.1:1/v1", "HOME": "/elsewhere"}
    with SystemProcess(Launch(tmp_path / "open.py"), Limits(), print, given) as process:
        seen = json.loads(process.ask("?").answer)
    assert seen["OPENAI_API_KEY"] == "memeval-token"
    assert seen["OPENAI_BASE_URL"] == "http://127.0.0.1:1/v1"
    assert seen["HOME"] != "/elsewhere"
    assert KEY not in seen.values()
    ours = {"HOME", "LANG", "PATH", "PYTHONDONTWRITEBYTECODE", "PYTHONHASHSEED", "PYTHONUTF8", "TMPDIR", "LC_CTYPE"}
    assert set(seen) - set(given) <= ours


LOOK = """
import os
class Look:
    def reset(self): pass
    def ingest_session(self, session, timestamp): pass
    def query(self, pid):
        try:
            with open("/proc/" + pid + "/environ") as file: return file.read()
        except PermissionError: pass
        try: os.kill(int(pid), 0)
        except PermissionError: return "closed"
        return "signals"
"""


def test_processes_that_memeval_was_started_from_are_closed_too(tmp_path: Path) -> None:
    # Such as the shell that holds the key: it did not close itself. A process of the same user stands in for it.
    (tmp_path / "look.py").write_text(LOOK)
    with subprocess.Popen(
        ["cat"], env={"SECRET": STARTED_WITH}, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdin is not None and other.stdout is not None
        other.stdin.write(b"up\n")
        other.stdin.flush()
        assert other.stdout.readline() == b"up\n"
        assert STARTED_WITH in Path(f"/proc/{other.pid}/environ").read_text(), "it can be read from here"
        with SystemProcess(Launch(tmp_path / "look.py"), Limits(), print) as process:
            answer = process.ask(str(other.pid)).answer
    if has_landlock_scopes() or os.getuid() == 0:
        assert STARTED_WITH not in answer
    assert answer == "closed" or not has_landlock_scopes()


def has_landlock_scopes() -> bool:
    """Whether the kernel can scope signals, so that the answer is known whoever runs this."""
    version = ctypes.CDLL(None).syscall(444, None, 0, 1)
    return bool(version >= 6)
