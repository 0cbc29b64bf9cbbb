"""The page on data says what is so."""

import json
import re
from pathlib import Path

from memeval.benchmarks import all_benchmarks
from memeval.records.base import validated
from memeval.records.errata import Errata, ErratumKind

PAGE = (Path(__file__).parents[2] / "site" / "data.md").read_text("utf-8")


def test_the_list_is_the_catalogues() -> None:
    for benchmark in all_benchmarks():
        info = benchmark.info
        assert f"{info.id}: {info.items:,} items; {info.licence}" in PAGE
        for source in info.sources:
            digest = source.digest[: len("sha256:") + 8]
            option = "" if source is info.sources[0] else f" --file {source.name}"
            shown = (
                f"{source.name}: {source.bytes:,} bytes, {digest}…; not here: memeval data pull {info.name}{option}\n"
            )
            assert f"  {shown}" in PAGE


def test_the_example_of_errata_can_be_read() -> None:
    (text,) = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
    errata = validated(Errata, json.loads(text), "the page")
    assert {entry.kind for entry in errata.entries} <= set(ErratumKind)
    assert all(f"`{kind}`" in PAGE for kind in ErratumKind)


def test_who_may_publish_what_is_said_as_the_catalogue_has_it() -> None:
    kept = {each.info.title for each in all_benchmarks() if each.info.redistribution == "ids"}
    assert kept >= {"LoCoMo", "LongMemEval", "MemoryCD"}
    assert not [title for title in kept if f"{title} is `ids`" not in PAGE]
