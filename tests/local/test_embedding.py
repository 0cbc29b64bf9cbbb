"""Embeddings on this machine: each text by itself, in both forms that clients ask for."""

import base64
import json
import urllib.error
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memeval.local.catalogue import find_model, installed_engine
from memeval.local.server import LocalServer, ServerEnded
from tests.support.tiny_model import NAME, pin, posted, stand_in

FIELDS: dict[str, Any] = {"kind": "embeddings", "architecture": "onnx", "template": None, "context": 256}


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[LocalServer]:
    pin(monkeypatch, tmp_path, b"an ONNX file", **FIELDS)
    stand_in(monkeypatch)
    with LocalServer(find_model(NAME)) as made:
        yield made


def embedded(made: LocalServer, **body: Any) -> Any:
    return posted(made, body, "/embeddings")


def test_vectors_have_length_one_and_do_not_depend_on_their_neighbours(started: LocalServer) -> None:
    both = embedded(started, input=["one text", "another longer text"])
    vectors = [np.array(each["embedding"]) for each in both["data"]]
    assert [vector.shape for vector in vectors] == [(384,), (384,)]
    assert [float(np.linalg.norm(vector)) for vector in vectors] == pytest.approx([1, 1], abs=1e-6)
    alone = embedded(started, input="another longer text")["data"][0]["embedding"]
    assert alone == both["data"][1]["embedding"]
    assert both["usage"] == {"prompt_tokens": 9, "total_tokens": 9}


def test_the_form_of_official_clients_holds_the_same_numbers(started: LocalServer) -> None:
    plain = embedded(started, input="text")["data"][0]["embedding"]
    packed = embedded(started, input="text", encoding_format="base64")["data"][0]["embedding"]
    assert np.frombuffer(base64.b64decode(packed), dtype=np.float32).tolist() == plain


@pytest.mark.parametrize(
    ("body", "path", "status"),
    [
        ({"input": []}, "/embeddings", 400),
        ({"input": [1, 2]}, "/embeddings", 400),
        ({"input": ["x"] * 3000}, "/embeddings", 400),
        ({"input": "x", "dimensions": 12}, "/embeddings", 400),
        ({}, "/embeddings", 400),
        ({"messages": []}, "/chat/completions", 404),
    ],
)
def test_other_requests_are_refused(started: LocalServer, body: dict[str, Any], path: str, status: int) -> None:
    with pytest.raises(urllib.error.HTTPError) as error:
        posted(started, body, path)
    assert error.value.code == status


def test_a_damaged_model_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pin(monkeypatch, tmp_path, b"BAD", **FIELDS)
    stand_in(monkeypatch)
    with LocalServer(find_model(NAME)) as made, pytest.raises(ServerEnded, match="the model is damaged"):
        made.address()


def test_its_setup_names_engine_and_vocabulary(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pin(monkeypatch, tmp_path, b"an ONNX file", here=False, **FIELDS)
    stand_in(monkeypatch)
    model = find_model(NAME)
    setup = json.loads(model.setup(installed_engine(model.kind)))
    assert setup["engine"] == "onnxruntime 1.0, tokenizers 1.0"
    assert setup["vocabulary"] == "sha256:07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"
    assert "template" not in setup
