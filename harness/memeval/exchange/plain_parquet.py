"""Writes a small table as Parquet without pyarrow: one row group, plain encoding, no compression, always equal bytes.

The format is that of https://github.com/apache/parquet-format. Its metadata is Thrift in the compact protocol.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from enum import IntEnum, StrEnum

from memeval.exchange.parquet import Cell

MAGIC = b"PAR1"


class PlainType(StrEnum):
    """The type of a column. Every column may have missing values."""

    TEXT = "text"
    NUMBER = "number"
    WHOLE = "whole"
    FLAG = "flag"


_PHYSICAL = {PlainType.FLAG: 0, PlainType.WHOLE: 2, PlainType.NUMBER: 5, PlainType.TEXT: 6}
"""Numbers of BOOLEAN, INT64, DOUBLE and BYTE_ARRAY."""

_PLAIN, _RLE = 0, 3
_OPTIONAL = 1
_UTF8 = 0


class _Kind(IntEnum):
    """Types of the compact protocol."""

    I32 = 5
    I64 = 6
    BINARY = 8
    LIST = 9
    STRUCT = 12


_Field = tuple[int, _Kind, bytes]
"""Number, type and encoded value of a field."""


def plain_parquet(types: Mapping[str, PlainType], rows: Sequence[Mapping[str, Cell]]) -> bytes:
    """Return rows as the bytes of a Parquet file.

    Args:
        types: the columns in order, with their types.
        rows: cells by column; a column that a row lacks is null.
    """
    out = bytearray(MAGIC)
    chunks, total = [], 0
    for name, kind in types.items():
        page = _page([row.get(name) for row in rows], kind)
        start = len(out)
        out += page
        total += len(page)
        meta = _struct(
            (1, _Kind.I32, _int(_PHYSICAL[kind])),
            (2, _Kind.LIST, _list(_Kind.I32, [_int(_PLAIN), _int(_RLE)])),
            (3, _Kind.LIST, _list(_Kind.BINARY, [_binary(name.encode())])),
            (4, _Kind.I32, _int(0)),
            (5, _Kind.I64, _int(len(rows))),
            (6, _Kind.I64, _int(len(page))),
            (7, _Kind.I64, _int(len(page))),
            (9, _Kind.I64, _int(start)),
        )
        chunks.append(_struct((2, _Kind.I64, _int(start)), (3, _Kind.STRUCT, meta)))
    group = _struct(
        (1, _Kind.LIST, _list(_Kind.STRUCT, chunks)), (2, _Kind.I64, _int(total)), (3, _Kind.I64, _int(len(rows)))
    )
    footer = _struct(
        (1, _Kind.I32, _int(1)),
        (2, _Kind.LIST, _list(_Kind.STRUCT, _schema(types))),
        (3, _Kind.I64, _int(len(rows))),
        (4, _Kind.LIST, _list(_Kind.STRUCT, [group])),
        (6, _Kind.BINARY, _binary(b"memeval")),
    )
    return bytes(out) + footer + struct.pack("<I", len(footer)) + MAGIC


def _schema(types: Mapping[str, PlainType]) -> list[bytes]:
    root = _struct((4, _Kind.BINARY, _binary(b"schema")), (5, _Kind.I32, _int(len(types))))
    leaves = []
    for name, kind in types.items():
        fields = [
            (1, _Kind.I32, _int(_PHYSICAL[kind])),
            (3, _Kind.I32, _int(_OPTIONAL)),
            (4, _Kind.BINARY, _binary(name.encode())),
        ]
        if kind is PlainType.TEXT:
            fields.append((6, _Kind.I32, _int(_UTF8)))
        leaves.append(_struct(*fields))
    return [root, *leaves]


def _page(cells: Sequence[Cell], kind: PlainType) -> bytes:
    """Return the only page of a column: header, which cells are there, and their values."""
    levels = _levels([cell is not None for cell in cells])
    content = struct.pack("<I", len(levels)) + levels + _values([cell for cell in cells if cell is not None], kind)
    sizes = _struct(
        (1, _Kind.I32, _int(len(cells))),
        (2, _Kind.I32, _int(_PLAIN)),
        (3, _Kind.I32, _int(_RLE)),
        (4, _Kind.I32, _int(_RLE)),
    )
    header = _struct(
        (1, _Kind.I32, _int(0)),
        (2, _Kind.I32, _int(len(content))),
        (3, _Kind.I32, _int(len(content))),
        (5, _Kind.STRUCT, sizes),
    )
    return header + content


def _levels(present: Sequence[bool]) -> bytes:
    """Return which cells are there, as runs of equal bits."""
    out = bytearray()
    start = 0
    for place in range(1, len(present) + 1):
        if place == len(present) or present[place] != present[start]:
            out += _varint((place - start) << 1) + bytes([present[start]])
            start = place
    return bytes(out)


def _values(cells: Sequence[Cell], kind: PlainType) -> bytes:
    if kind is PlainType.FLAG:
        bits = sum(1 << place for place, cell in enumerate(cells) if cell)
        return bits.to_bytes((len(cells) + 7) // 8, "little")
    if kind is PlainType.TEXT:
        texts = [str(cell).encode("utf-8", "replace") for cell in cells]
        return b"".join(struct.pack("<I", len(text)) + text for text in texts)
    return struct.pack(f"<{len(cells)}{'q' if kind is PlainType.WHOLE else 'd'}", *cells)


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


def _int(number: int) -> bytes:
    return _varint(number << 1)  # zigzag; no number here is negative


def _binary(data: bytes) -> bytes:
    return _varint(len(data)) + data


def _list(kind: _Kind, members: Sequence[bytes]) -> bytes:
    count = len(members)
    head = bytes([count << 4 | kind]) if count < 15 else bytes([0xF0 | kind]) + _varint(count)
    return head + b"".join(members)


def _struct(*fields: _Field) -> bytes:
    out, last = bytearray(), 0
    for number, kind, value in fields:
        out.append((number - last) << 4 | kind)
        out += value
        last = number
    return bytes(out) + b"\0"
