"""What writing a record and reading it again must give."""

import json

from memeval.records.base import Stored


def assert_comes_back_equal(record: Stored) -> None:
    """Assert that a record is read as it was written, and then written with equal bytes."""
    line = record.to_json()
    again = type(record).parse(line.encode(), "file:1")
    assert again == record
    assert again.to_json() == line
    assert "\n" not in line
    assert json.loads(line)["schema_version"] == record.SCHEMA
