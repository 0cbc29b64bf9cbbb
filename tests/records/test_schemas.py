"""The exported JSON Schemas say of every file what memeval says of it, in words and in rules."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from memeval.cli.project import file_records
from memeval.records.base import Stored
from memeval.records.schema import descriptions
from tests.records.coming_back import assert_comes_back_equal
from tests.records.models import all_records, all_stored, exported
from tests.records.strategies import records

FILES = sorted(file_records())
MODELS = {model.__name__: model for model in all_records()}


def test_every_stored_record_has_a_schema() -> None:
    assert {model.__name__ for model in all_stored()} <= {schema["title"] for schema in exported().values()}


@pytest.mark.parametrize("name", FILES)
def test_a_schema_is_a_valid_one_of_the_draft_it_names(name: str) -> None:
    assert exported()[name]["$schema"] == Draft202012Validator.META_SCHEMA["$id"]
    Draft202012Validator.check_schema(exported()[name])


@pytest.mark.parametrize("name", FILES)
@settings(max_examples=8)
@given(data=st.data())
def test_a_stored_record_comes_back_equal_and_a_schema_takes_every_record_and_no_unknown_key(
    name: str, data: st.DataObject
) -> None:
    # Both are asked of one record: to draw it takes longer than to ask.
    made = data.draw(records(MODELS[exported()[name]["title"]]))
    if isinstance(made, Stored):
        assert_comes_back_equal(made)
    record = made.data()
    validator = Draft202012Validator(exported()[name])
    validator.validate(record)
    assert not validator.is_valid(record | {"unheard_of": 1})


@pytest.mark.parametrize("name", FILES)
def test_a_schema_asks_for_every_key_that_memeval_asks_for(name: str) -> None:
    fields = MODELS[exported()[name]["title"]].model_fields
    assert set(exported()[name].get("required", ())) >= {field for field, info in fields.items() if info.is_required()}


def test_every_record_and_every_field_states_its_meaning() -> None:
    for model in all_records():
        assert model.__doc__ and model.__doc__.strip(), model
        assert [name for name in model.model_fields if not descriptions(model).get(name, "").strip()] == [], model


@pytest.mark.parametrize("name", FILES)
def test_the_words_reach_the_schema(name: str) -> None:
    own = {title: part for title, part in exported()[name].get("$defs", {}).items() if title != "JsonValue"}
    for title, part in (own | {exported()[name]["title"]: exported()[name]}).items():
        assert part["description"], title
        for field, rules in part.get("properties", {}).items():
            assert rules.get("description"), f"{title}.{field}"
