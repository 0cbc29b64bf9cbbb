"""Samples of the small published file."""

from collections.abc import Sequence

from memeval.archive.rows import pack
from memeval.records.base import digest_bytes
from memeval.records.label import LabelSample, SampleRow, Stratum
from memeval.records.regraded import RegradedFile
from tests.claims.conftest import graded, keys

__all__ = ["graded", "keys"]

GUIDE = b"Read."


def sample_of(done: RegradedFile, strata: Sequence[Stratum], drawn: Sequence[SampleRow]) -> LabelSample:
    assert done.data_digest and done.judge
    return LabelSample(
        name="small",
        benchmark=done.benchmark,
        data_digest=done.data_digest,
        judge=done.judge,
        seed=0,
        files={"acme/answers": done.rows_digest},
        strata=tuple(strata),
        rows_digest=pack(drawn)[1].digest,
        guide_digest=digest_bytes(GUIDE),
        drawn_at="2026-11-23",
    )
