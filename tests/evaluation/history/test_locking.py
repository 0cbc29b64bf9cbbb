"""What the adapter brings keeps the version of the submission's lock."""

import sys
from pathlib import Path

import pytest

from memeval.evaluation.history.locking import PythonWanted, pinned, resolve_python
from memeval.records.errors import BadInput
from memeval.systems.environments.install import is_of_the_machine
from tests.support.http_server import Call, serving
from tests.support.package_index import Index, Made

HASH = f"--hash=sha256:{'0' * 64}"


def test_of_several_pins_the_one_for_this_python_counts(tmp_path: Path) -> None:
    here = f"{sys.version_info.major}.{sys.version_info.minor}"
    lines = ("3.1.0 ; python_version > '{}'", "2.4.6 ; python_version == '{}'", "2.5.5 ; python_version > '{}'")
    text = "".join(f"numpy=={line.format(here)} {HASH}\n" for line in lines)
    (tmp_path / "requirements.lock").write_text(f"{text}tokenizers==0.23.3 {HASH}\n", "utf-8")
    assert pinned(tmp_path, ["numpy", "tokenizers"]) == {"numpy": "2.4.6", "tokenizers": "0.23.3"}
    with pytest.raises(BadInput, match="does not pin 'onnxruntime'"):
        pinned(tmp_path, ["onnxruntime"])


@pytest.mark.parametrize("status", [404, 503])
def test_a_package_of_a_later_day_is_named_even_if_its_day_is_unknown(
    status: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    index = Index({"keepsake": [Made("1.0", "2025-01-01", needs=["late"])], "late": [Made("2.0", "2025-03-01")]})

    def answer(call: Call) -> None:
        refused = call.headers["User-Agent"] == "memeval"
        call.reply(status) if refused else index.answer(call)

    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "uv"))
    with serving(answer) as index.address:
        monkeypatch.setenv("UV_DEFAULT_INDEX", f"{index.address}/simple")
        wanted = PythonWanted("keepsake", "1.0", "2025-01-01", (), {})
        if status == 404:
            assert "late 2.0 is of an unknown day: " in "".join(resolve_python(wanted).substituted)
            return
        with pytest.raises(BadInput, match="the index refused the request") as refused:
            resolve_python(wanted)
        assert is_of_the_machine(refused.value)
