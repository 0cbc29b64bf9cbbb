"""What the adapter brings keeps the version of the submission's lock."""

import sys
from pathlib import Path

import pytest

from memeval.evaluation.history.locking import pinned
from memeval.records.errors import BadInput

HASH = f"--hash=sha256:{'0' * 64}"


def test_of_several_pins_the_one_for_this_python_counts(tmp_path: Path) -> None:
    here = f"{sys.version_info.major}.{sys.version_info.minor}"
    lines = ("3.1.0 ; python_version > '{}'", "2.4.6 ; python_version == '{}'", "2.5.5 ; python_version > '{}'")
    text = "".join(f"numpy=={line.format(here)} {HASH}\n" for line in lines)
    (tmp_path / "requirements.lock").write_text(f"{text}tokenizers==0.23.3 {HASH}\n", "utf-8")
    assert pinned(tmp_path, ["numpy", "tokenizers"]) == {"numpy": "2.4.6", "tokenizers": "0.23.3"}
    with pytest.raises(BadInput, match="does not pin 'onnxruntime'"):
        pinned(tmp_path, ["onnxruntime"])
