"""Counting context tokens; see :mod:`memeval.tokens`, which data that is made to a size counts with as well."""

from __future__ import annotations

from memeval.tokens import count_tokens, tokenizer_name

__all__ = ["count_tokens", "tokenizer_name"]
