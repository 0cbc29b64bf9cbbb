"""Downloads, against a real server on this machine."""

import errno
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import NamedTuple

import pytest

from memeval.benchmarks.data import pull
from memeval.records.base import digest_bytes
from memeval.records.benchmark import Source
from memeval.records.errors import BadInput
from memeval.storage import locked
from tests.support.http_server import running

BODY = bytes(range(256)) * 4096
NAME = "data.json"


@dataclass
class Behaviour:
    """How the server answers, and what it was asked."""

    body: bytes = BODY
    cut_after: int | None = None
    """Close the connection after so many bytes of the body."""
    ranges: bool = True
    status: int | None = None
    location: str | None = None
    wrong_part: bool = False
    length: bool = True
    """Say how long the reply is; else it ends where the connection does."""
    part_of: int | None = None
    """Give no more than so many bytes of a part that is asked for."""
    asked: list[str | None] = field(default_factory=list)
    """``Range`` of every request."""


def handler_for(behaviour: Behaviour) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            asked = self.headers.get("Range")
            behaviour.asked.append(asked)
            if behaviour.location and self.path != "/moved":
                self.send_response(302)
                self.send_header("Location", behaviour.location)
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            if behaviour.status:
                self.send_error(behaviour.status)
                return
            body, start = behaviour.body, 0
            if asked and behaviour.ranges:
                start = int(asked.removeprefix("bytes=").removesuffix("-"))
                if start >= len(body):
                    self.send_error(416)
                    return
                shown = start + 1 if behaviour.wrong_part else start
                self.send_response(206)
                self.send_header("Content-Range", f"bytes {shown}-{len(body) - 1}/{len(body)}")
            else:
                self.send_response(200)
            end = len(body) if behaviour.part_of is None or not start else start + behaviour.part_of
            if behaviour.length:
                self.send_header("Content-Length", str(end - start))
            self.end_headers()
            with suppress(ConnectionError):
                self.wfile.write(body[start:end][: behaviour.cut_after and max(behaviour.cut_after - start, 0)])
            self.close_connection = True

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    return Handler


class Server(NamedTuple):
    source: Source
    behaviour: Behaviour


@pytest.fixture
def server() -> Iterator[Server]:
    behaviour = Behaviour()
    with running(handler_for(behaviour)) as url:
        source = Source(url=f"{url}/{NAME}", filename=NAME, bytes=len(BODY), digest=digest_bytes(BODY))
        yield Server(source, behaviour)


def refusal(source: Source, folder: Path) -> str:
    with pytest.raises(BadInput) as caught:
        pull(source, folder)
    assert not (folder / NAME).exists()
    return str(caught.value)


def part(folder: Path) -> Path:
    return folder / f"{NAME}.part"


def left(folder: Path) -> set[str]:
    """Return what a download left behind."""
    return {path.name for path in folder.iterdir()}


def test_a_file_comes_whole_and_progress_is_told(server: Server, tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    folder = tmp_path / "new" / "folder"
    path = pull(server.source, folder, lambda done, total: told.append((done, total)))
    assert path == folder / NAME and path.read_bytes() == BODY
    assert left(folder) == {NAME}
    assert told[-1] == (len(BODY), len(BODY)) and told == sorted(told) and len(told) > 1


def test_a_file_that_is_here_is_not_fetched_again(server: Server, tmp_path: Path) -> None:
    pull(server.source, tmp_path)
    pull(server.source, tmp_path)
    assert len(server.behaviour.asked) == 1


def test_a_file_of_other_bytes_is_replaced(server: Server, tmp_path: Path) -> None:
    (tmp_path / NAME).write_bytes(b"old")
    assert pull(server.source, tmp_path).read_bytes() == BODY


def test_a_cut_download_goes_on_where_it_was_cut(server: Server, tmp_path: Path) -> None:
    server.behaviour.cut_after = 300_000
    message = refusal(server.source, tmp_path)
    assert "the connection was cut" in message and "after 300,000 of 1,048,576 bytes" in message
    assert "Run the same command to resume" in message
    assert part(tmp_path).stat().st_size == 300_000
    server.behaviour.cut_after = 700_000
    assert "after 700,000 of" in refusal(server.source, tmp_path)
    server.behaviour.cut_after = None
    assert pull(server.source, tmp_path).read_bytes() == BODY
    assert server.behaviour.asked == [None, "bytes=300000-", "bytes=700000-"]
    assert left(tmp_path) == {NAME}


def test_a_server_without_ranges_gives_the_file_from_the_start(server: Server, tmp_path: Path) -> None:
    server.behaviour.cut_after = 300_000
    refusal(server.source, tmp_path)
    server.behaviour.cut_after, server.behaviour.ranges = None, False
    assert pull(server.source, tmp_path).read_bytes() == BODY


def test_a_patchwork_is_refused_and_the_next_try_starts_afresh(server: Server, tmp_path: Path) -> None:
    server.behaviour.body, server.behaviour.cut_after = b"x" * len(BODY), 300_000
    refusal(server.source, tmp_path)
    server.behaviour.body, server.behaviour.cut_after = BODY, None
    assert "digest" in refusal(server.source, tmp_path)
    assert pull(server.source, tmp_path).read_bytes() == BODY


def test_wrong_bytes_are_not_kept(server: Server, tmp_path: Path) -> None:
    server.behaviour.body = b"y" * len(BODY)
    message = refusal(server.source, tmp_path)
    assert digest_bytes(server.behaviour.body) in message and server.source.digest in message
    assert left(tmp_path) == set()


@pytest.mark.parametrize("size", [10, len(BODY) + 1])
def test_another_size_is_refused_before_anything_is_written(server: Server, tmp_path: Path, size: int) -> None:
    server.behaviour.body = b"y" * size
    assert f"has {size:,} bytes, expected 1,048,576" in refusal(server.source, tmp_path)
    assert left(tmp_path) == set()


def test_a_reply_without_a_length_is_read_to_the_size_that_the_benchmark_names(server: Server, tmp_path: Path) -> None:
    server.behaviour.length, server.behaviour.cut_after = False, 400_000
    assert "after 400,000 of 1,048,576 bytes" in refusal(server.source, tmp_path)
    server.behaviour.ranges, server.behaviour.cut_after = False, None
    assert pull(server.source, tmp_path).read_bytes() == BODY


@pytest.mark.parametrize("more", [b"", b"y"])
def test_of_a_server_that_sends_without_end_no_more_is_kept_than_was_promised(
    server: Server, tmp_path: Path, more: bytes
) -> None:
    server.behaviour.length = False
    server.behaviour.body = more + BODY + b"x" * 3_000_000
    if more:
        assert "the download does not match: its digest is" in refusal(server.source, tmp_path)
        assert left(tmp_path) == set()
    else:
        assert pull(server.source, tmp_path).read_bytes() == BODY


def test_a_server_may_give_a_shorter_part_than_was_asked_for(server: Server, tmp_path: Path) -> None:
    part(tmp_path).write_bytes(BODY[:1000])
    server.behaviour.part_of = 5000
    assert "after 6,000 of" in refusal(server.source, tmp_path)
    server.behaviour.part_of = None
    assert pull(server.source, tmp_path).read_bytes() == BODY


def test_another_part_than_asked_for_is_refused(server: Server, tmp_path: Path) -> None:
    part(tmp_path).write_bytes(BODY[:1000])
    server.behaviour.wrong_part = True
    assert "a different part of the file" in refusal(server.source, tmp_path)
    assert pull(server.source, tmp_path).read_bytes() == BODY


def test_a_part_that_is_too_long_is_thrown_away(server: Server, tmp_path: Path) -> None:
    part(tmp_path).write_bytes(BODY + b"more")
    assert pull(server.source, tmp_path).read_bytes() == BODY
    assert server.behaviour.asked == [None]


def test_a_whole_part_needs_no_server(tmp_path: Path) -> None:
    part(tmp_path).write_bytes(BODY)
    nowhere = Source(url="http://127.0.0.1:9/x", filename=NAME, bytes=len(BODY), digest=digest_bytes(BODY))
    assert pull(nowhere, tmp_path).read_bytes() == BODY


@pytest.mark.parametrize(("status", "sentence"), [(404, "file not found (404)"), (503, "refused the request (503)")])
def test_a_refusal_is_a_sentence(server: Server, tmp_path: Path, status: int, sentence: str) -> None:
    server.behaviour.status = status
    assert sentence in refusal(server.source, tmp_path)
    assert left(tmp_path) == set()


def test_nobody_listening_is_a_sentence(tmp_path: Path) -> None:
    nowhere = Source(url="http://127.0.0.1:9/x", filename=NAME, bytes=5, digest=digest_bytes(b"12345"))
    assert "http://127.0.0.1:9/x: cannot be reached" in refusal(nowhere, tmp_path)


def test_a_redirect_is_followed(server: Server, tmp_path: Path) -> None:
    server.behaviour.location = "/moved"
    assert pull(server.source, tmp_path).read_bytes() == BODY


@pytest.mark.parametrize("target", ["ftp://127.0.0.1/x", "file:///etc/hostname", "data:,x"])
def test_a_redirect_to_something_else_is_not(server: Server, tmp_path: Path, target: str) -> None:
    server.behaviour.location = target
    assert "memeval does not follow" in refusal(server.source, tmp_path)


def test_a_circle_of_redirects_ends(server: Server, tmp_path: Path) -> None:
    server.behaviour.location = f"/{NAME}"
    assert "does not follow (302)" in refusal(server.source, tmp_path)


@pytest.mark.parametrize("url", ["ftp://127.0.0.1/x", "file:///etc/hostname", "/etc/hostname"])
def test_other_kinds_of_address_are_refused(tmp_path: Path, url: str) -> None:
    source = Source(url=url, filename=NAME, bytes=1, digest=digest_bytes(b"1"))
    assert "only http and https" in refusal(source, tmp_path)


def test_a_full_disk_is_noticed_before_the_download(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = shutil.disk_usage(tmp_path)._replace(free=3_000_000)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: full)
    assert "not enough disk space: 18 MB needed, 3 MB free" in refusal(server.source, tmp_path)
    assert server.behaviour.asked == []


def test_a_disk_that_fills_up_is_a_sentence_and_the_part_stays(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    assert "the disk is full (No space left on device). Free some space." in refusal(server.source, tmp_path)
    monkeypatch.undo()
    assert pull(server.source, tmp_path).read_bytes() == BODY


def test_a_disk_with_less_room_than_it_says_stops_the_download_and_what_came_stays(
    server: Server, tmp_path: Path
) -> None:
    code = (
        "import resource, sys\nfrom pathlib import Path\nfrom memeval.benchmarks.data import pull\n"
        "from memeval.records.benchmark import Source\nfrom memeval.records.errors import BadInput\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (500_000, 500_000))\n"
        "try:\n    pull(Source.model_validate_json(sys.argv[1]), Path(sys.argv[2]))\n"
        "except BadInput as error:\n    print(error)"
    )
    command = [sys.executable, "-c", code, server.source.to_json(), str(tmp_path)]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "the disk is full (File too large). Free some space. Run the same command to resume" in said
    assert not (tmp_path / NAME).exists() and part(tmp_path).stat().st_size == 500_000
    assert pull(server.source, tmp_path).read_bytes() == BODY
    assert server.behaviour.asked[-1] == "bytes=500000-"


def test_a_folder_that_cannot_be_made_is_a_sentence(server: Server, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(BadInput, match="cannot write to this folder"):
        pull(server.source, tmp_path / "file" / "below")


def test_two_downloads_at_once_do_not_meet(server: Server, tmp_path: Path) -> None:
    with locked(tmp_path):
        assert "another download into this folder is running" in refusal(server.source, tmp_path)


def test_a_killed_download_goes_on(server: Server, tmp_path: Path) -> None:
    code = (
        "import os, sys\nfrom pathlib import Path\nfrom memeval.benchmarks.data import pull\n"
        "from memeval.records.benchmark import Source\n"
        "pull(Source.model_validate_json(sys.argv[1]), Path(sys.argv[2]), lambda done, total: os.kill(os.getpid(), 9))"
    )
    killed = subprocess.run([sys.executable, "-c", code, server.source.to_json(), str(tmp_path)], env=os.environ)
    assert killed.returncode == -9 and not (tmp_path / NAME).exists()
    assert pull(server.source, tmp_path).read_bytes() == BODY
