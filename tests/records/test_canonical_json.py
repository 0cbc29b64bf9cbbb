"""One value, one text, one digest: on every machine, in whatever order it was put together."""

import hashlib
import json
import math
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memeval.records.base import Stored, canonical_json, digest_bytes, digest_of
from memeval.records.call import Api, ModelRequest
from memeval.records.response import Response, RetrievedItem
from tests.records.coming_back import assert_comes_back_equal
from tests.records.models import all_records, all_stored
from tests.records.strategies import JSON, records

IN_SCHEMAS = {model.__name__: model for model in all_records()}
OTHERS = [model for model in all_stored() if model is not IN_SCHEMAS[model.__name__]]
"""Records with the name of another one, which the schemas have; of those, the test of schemas asks the same."""

SIZES = st.builds(
    lambda digits, power: digits * 10.0**power, st.sampled_from([1, -1, 0, 1.5, 123.25]), st.integers(-9, 25)
)
"""Floats around the sizes at which they are written with an exponent."""


@pytest.mark.parametrize("model", OTHERS, ids=lambda model: model.__name__)
@settings(max_examples=15)
@given(data=st.data())
def test_a_stored_record_without_schema_comes_back_with_equal_bytes(model: type[Stored], data: st.DataObject) -> None:
    assert_comes_back_equal(data.draw(records(model)))


@settings(max_examples=200)
@given(response=records(Response), scores=st.lists(SIZES), text=st.text(st.sampled_from('":-0.1e\n\x1f\x7fé\\')))
def test_a_response_without_clocks_is_canonical_json(response: Response, scores: list[float], text: str) -> None:
    items = tuple(RetrievedItem(score=score, text=text, source_ids=(text,)) for score in scores)
    for each in (response, response.model_copy(update={"items": items, "answer": text})):
        assert each.comparable_json() == canonical_json(each.comparable()).encode()


@given(value=JSON)
def test_canonical_json_says_the_same_value(value: Any) -> None:
    assert json.loads(canonical_json(value)) == value


@given(value=st.dictionaries(st.text(max_size=5), JSON, min_size=2), seed=st.integers())
def test_the_order_of_keys_changes_neither_text_nor_digest(value: dict[str, Any], seed: int) -> None:
    pairs = list(value.items())
    random.Random(seed).shuffle(pairs)
    assert canonical_json(dict(pairs)) == canonical_json(value)
    assert digest_of(dict(reversed(pairs))) == digest_of(value)


@given(one=JSON, other=JSON)
def test_different_texts_have_different_digests(one: Any, other: Any) -> None:
    assert (digest_of(one) == digest_of(other)) == (canonical_json(one) == canonical_json(other))


def test_unicode_stands_as_it_is_and_digests_are_of_its_utf_8_bytes() -> None:
    assert canonical_json({"ü": "naïve – 🙂", "a": [1, None, True]}) == '{"a":[1,null,true],"ü":"naïve – 🙂"}'
    assert digest_of("é") == "sha256:" + hashlib.sha256(b'"\xc3\xa9"').hexdigest()
    assert digest_of("é") != digest_of("e\u0301"), "two spellings of a letter are two texts"


def test_the_digest_of_nothing_is_the_known_one() -> None:
    # FIPS 180-4, the empty message.
    assert digest_bytes(b"") == "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_no_number_has_no_canonical_json(value: float) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        canonical_json({"deep": [value]})


@pytest.mark.parametrize("value", [math.nan, -math.inf, "\ud800", {"\udfff": 1}])
def test_a_request_that_no_row_can_hold_is_refused_when_it_is_recorded(value: Any) -> None:
    with pytest.raises(ValueError, match="body"):
        ModelRequest(endpoint="http://localhost", api=Api.CHAT, body={"messages": [value]})
