"""Shards of a benchmark's data: with its words, or without any of them."""

import gzip

from memeval.site.items.benchmark_shards import benchmark_shards
from tests.support.tiny import TinyDataset, scenario


def test_where_text_is_private_a_shard_has_no_word_and_no_time_of_the_data() -> None:
    made = scenario(0)
    asked = made.steps[-1].model_copy(update={"timestamp": "2031-03-04T09:00:00Z"})
    dataset = TinyDataset([made.model_copy(update={"steps": (*made.steps[:-1], asked)})])
    for words in (True, False):
        contents = [shard.content for shard in benchmark_shards(dataset, words)]
        text = b"".join(gzip.decompress(each) for each in contents if isinstance(each, bytes)).decode()
        for said in ("Lima", "Which city", "Good to know", "2025-01-05", "2031-03-04", "Ada"):
            assert (said in text) is words, said
        assert "tiny-000" in text and "s001:t01" in text
