"""A track is all that must be equal before two numbers may be compared; a fingerprint, all that decides the answers."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memeval.records.base import digest_of
from memeval.records.run import Inputs, View
from memeval.records.track import CategoryPlan, Limits, Track
from tests.records.strategies import records
from tests.support.runs import make_run, make_track

TRACK = make_track()

OTHER_PARTS: dict[str, Any] = {
    "benchmark": "made-up@2",
    "data_digest": digest_of("other data"),
    "parameters": {"seed": 1},
    "protocol": "f1",
    "tier": "small",
    "categories": TRACK.categories[::-1],
    "reader": "extractive@2",
    "judge": "rules@4",
    "judge_endpoint": "https://judge.example",
    "reader_endpoint": "https://reader.example",
    "judge_label": "ours",
    "prompts": {"judge": digest_of("prompt")},
    "tokenizer": "cl100k_base",
    "limits": Limits(ask_seconds=61.0),
    "sample": digest_of("a few"),
    "errata": digest_of("errata"),
    "released": False,
}

OTHER_INPUTS: dict[str, Any] = {
    "track": make_track(tier="small"),
    "submission_digest": digest_of("other files"),
    "environment_digest": digest_of("other packages"),
    "parameters": {"k": 5},
    "declared_models": ("model-x",),
    "view": View.EVIDENCE,
    "hosts": {"api.acme.example": "http://127.0.0.1:8000"},
    "limit": 10,
}

INPUTS = Inputs(track=TRACK, submission_digest=digest_of("files"), environment_digest=digest_of("packages"))


@pytest.mark.parametrize("part", Track.model_fields)
def test_a_track_with_another_part_is_another_track(part: str) -> None:
    other = make_track(**{part: OTHER_PARTS[part]})
    assert other.data()[part] != TRACK.data()[part]
    assert other.id != TRACK.id


@pytest.mark.parametrize("limit", Limits.model_fields)
def test_a_track_with_another_limit_is_another_track(limit: str) -> None:
    longer = Limits(**{limit: getattr(Limits(), limit) + 1})
    assert make_track(limits=longer).id != TRACK.id


@pytest.mark.parametrize("part", CategoryPlan.model_fields)
def test_a_track_that_plans_a_category_otherwise_is_another_track(part: str) -> None:
    other: dict[str, Any] = {"name": "renamed", "weight": 0.25, "items": 49, "grader": "judged@2", "shared": True}
    first, *rest = TRACK.categories
    changed = CategoryPlan(**first.data() | {part: other[part]})
    assert make_track(categories=(changed, *rest)).id != TRACK.id


@settings(max_examples=30)
@given(one=records(Track), other=records(Track), part=st.sampled_from(sorted(Track.model_fields)))
def test_tracks_share_an_id_only_where_every_part_is_equal(one: Track, other: Track, part: str) -> None:
    mixed = one.model_copy(update={part: getattr(other, part)})
    assert (mixed.id == one.id) == (mixed.to_json() == one.to_json())


def test_an_id_is_twelve_digits_of_the_sha_256_of_the_parts_as_anyone_can_hash_them() -> None:
    text = json.dumps(
        TRACK.model_dump(mode="json", exclude_defaults=True), sort_keys=True, ensure_ascii=False, separators=(",", ":")
    )
    assert TRACK.id == hashlib.sha256(text.encode()).hexdigest()[:12]


@pytest.mark.parametrize("part", Inputs.model_fields)
def test_other_inputs_have_another_fingerprint(part: str) -> None:
    other = INPUTS.model_copy(update={part: OTHER_INPUTS[part]})
    assert other.fingerprint != INPUTS.fingerprint
    assert len(other.fingerprint) == 64


def test_a_fingerprint_rests_on_what_decides_the_answers_and_on_nothing_else() -> None:
    # The list of the design: no clock, argv, concurrency, path or commit among it.
    assert set(Inputs.model_fields) == set(OTHER_INPUTS)
    inputs = INPUTS.model_copy(update={"parameters": {"b": 2, "a": 1}})
    text = json.dumps(
        inputs.model_dump(mode="json", exclude_defaults=True), sort_keys=True, ensure_ascii=False, separators=(",", ":")
    )
    assert inputs.fingerprint == hashlib.sha256(text.encode()).hexdigest()


def test_the_same_inputs_at_another_time_and_place_are_another_run_of_the_same_fingerprint(tmp_path: Path) -> None:
    one = make_run(tmp_path / "here", "acme").run
    other = make_run(tmp_path / "there", "acme", started="2026-12-01T10:00:00+00:00").run
    assert one.fingerprint == other.fingerprint
    assert one.run_id != other.run_id
    assert one.run_id.endswith(f"-{one.fingerprint[:8]}")


def test_a_part_that_is_added_later_leaves_the_ids_of_earlier_tracks_as_they_are() -> None:
    class LaterTrack(Track):
        """A track of a later memeval."""

        weather: str = "as ever"

    class LaterLimits(Limits):
        """Limits of a later memeval."""

        memory_mb: int | None = None

    later = LaterTrack(**{name: getattr(TRACK, name) for name in Track.model_fields})
    assert later.id == TRACK.id
    assert later.model_copy(update={"weather": "hail"}).id != TRACK.id
    assert LaterLimits().identity() == Limits().identity()
