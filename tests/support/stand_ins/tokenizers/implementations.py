"""A word is a token, whose number is its length."""

from types import SimpleNamespace


class BertWordPieceTokenizer:
    def __init__(self, vocabulary: str) -> None:
        with open(vocabulary, encoding="utf-8") as file:  # noqa: PTH123
            assert file.readline() == "[PAD]\n"
        self.most = 0

    def enable_truncation(self, most: int) -> None:
        self.most = most

    def encode(self, text: str) -> SimpleNamespace:
        return SimpleNamespace(ids=[101, *map(len, text.split()), 102][: self.most])
