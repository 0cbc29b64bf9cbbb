"""Sentence embeddings behind the front: an ONNX model whose vectors are means of its last hidden states.

Each text is computed by itself, so a vector does not depend on the texts beside it.
"""

import base64
import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from memeval.local.front import refused

_MOST_TEXTS = 2_048


class Embedder:
    """``settings``: those of the process; ``context`` is the number of tokens of a text that the model reads."""

    def __init__(self, settings: dict[str, Any]) -> None:
        numpy: Any = importlib.import_module("numpy")
        runtime: Any = importlib.import_module("onnxruntime")
        tokenizers: Any = importlib.import_module("tokenizers.implementations")
        options = runtime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = settings["threads"]
        path = Path(settings["path"])
        self._numpy = numpy
        self._session = runtime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        self._tokenizer = tokenizers.BertWordPieceTokenizer(settings["vocabulary"])
        self._tokenizer.enable_truncation(settings["context"])
        self.name = settings["name"]

    def answer(self, path: str, body: dict[str, Any], prefix: int) -> dict[str, Any] | Iterator[bytes]:
        if path.rstrip("/") != "/v1/embeddings":
            raise refused(404, f"this model has no {path[:100]}: it turns texts into vectors at /v1/embeddings")
        given = body.get("input")
        texts = [given] if isinstance(given, str) else given
        if not isinstance(texts, list) or not texts or not all(isinstance(text, str) for text in texts):
            raise refused(400, "'input' is neither a text nor a list of texts")
        if len(texts) > _MOST_TEXTS:
            raise refused(400, f"'input' has more than {_MOST_TEXTS} texts")
        if body.get("dimensions") not in (None, 384):
            raise refused(400, "this model's vectors have 384 dimensions")
        encoded = [self._tokenizer.encode(text).ids for text in texts]
        form = "base64" if body.get("encoding_format") == "base64" else "float"
        data = [
            {"object": "embedding", "index": place, "embedding": self._written(self._vector(ids), form)}
            for place, ids in enumerate(encoded)
        ]
        tokens = sum(map(len, encoded))
        usage = {"prompt_tokens": tokens, "total_tokens": tokens}
        return {"object": "list", "model": self.name, "data": data, "usage": usage}

    def _vector(self, ids: list[int]) -> Any:
        numpy = self._numpy
        row = numpy.array([ids], dtype=numpy.int64)
        fed = {"input_ids": row, "attention_mask": numpy.ones_like(row), "token_type_ids": numpy.zeros_like(row)}
        (hidden,) = self._session.run(None, fed)
        mean = hidden[0].mean(axis=0)
        return (mean / numpy.linalg.norm(mean)).astype(numpy.float32)

    @staticmethod
    def _written(vector: Any, form: str) -> str | list[float]:
        return base64.b64encode(vector.tobytes()).decode() if form == "base64" else vector.tolist()
