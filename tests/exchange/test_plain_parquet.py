"""Parquet without pyarrow, as pyarrow reads it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memeval.exchange.parquet import Row
from memeval.exchange.plain_parquet import PlainType, plain_parquet
from tests.support.products import PYARROW, run_with

pytestmark = pytest.mark.products

TYPES = {"text": PlainType.TEXT, "number": PlainType.NUMBER, "whole": PlainType.WHOLE, "flag": PlainType.FLAG}
READ = """
import json, sys
from pyarrow.parquet import read_table
for path in sys.argv[1:]:
    table = read_table(path)
    types = {field.name: str(field.type) for field in table.schema}
    print(json.dumps({"types": types, "rows": table.to_pylist()}))
"""


def test_pyarrow_reads_every_type_and_missing_values(tmp_path: Path) -> None:
    full: Row = {"text": "é 🙂 \u202e=1", "number": -2.5, "whole": -(2**40), "flag": True}
    tables: list[list[Row]] = [
        [],
        [{}],
        [full, {}, {**full, "flag": False, "text": ""}, {"whole": 0}] * 70,
    ]
    paths = [tmp_path / f"{number}.parquet" for number in range(len(tables))]
    for path, rows in zip(paths, tables, strict=True):
        path.write_bytes(plain_parquet(TYPES, rows))
    done = run_with(PYARROW, "-c", READ, *map(str, paths))
    assert done.returncode == 0, done.stderr
    for line, rows in zip(done.stdout.splitlines(), tables, strict=True):
        found = json.loads(line)
        assert found["types"] == {"text": "string", "number": "double", "whole": "int64", "flag": "bool"}
        assert found["rows"] == [{name: row.get(name) for name in TYPES} for row in rows]


def test_more_columns_than_a_short_list_holds_are_read(tmp_path: Path) -> None:
    types = {f"column {number}": PlainType.NUMBER for number in range(40)}
    path = tmp_path / "wide.parquet"
    path.write_bytes(plain_parquet(types, [dict.fromkeys(types, 0.5)]))
    done = run_with(PYARROW, "-c", READ, str(path))
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["rows"] == [dict.fromkeys(types, 0.5)]
