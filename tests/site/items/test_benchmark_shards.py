"""Shards of a benchmark's data: with its words, or without any of them."""

import gzip

from memeval.records.scenario import Forget, Recall, Retain
from memeval.site.items.benchmark_shards import benchmark_shards
from tests.support.tiny import TinyDataset, scenario


def test_where_text_is_private_a_shard_has_no_word_and_no_time_of_the_data() -> None:
    made = scenario(0)
    asked = made.steps[-1].model_copy(update={"timestamp": "2031-03-04T09:00:00Z"})
    of_bank = (
        Retain(text_id="s009", content="Rex barks.", bank="zoe", fact_type="canine", source_id="9"),
        Forget(query="about ferrets"),
        Recall(question_id="q9", question="Who barks?", bank="yves", tags=("indoors",), since="2032-05-06"),
    )
    dataset = TinyDataset([made.model_copy(update={"steps": (*made.steps[:-1], *of_bank, asked)})])
    for words in (True, False):
        contents = [shard.content for shard in benchmark_shards(dataset, words)]
        text = b"".join(gzip.decompress(each) for each in contents if isinstance(each, bytes)).decode()
        for said in ("Lima", "Which city", "Good to know", "2025-01-05", "2031-03-04", "Ada"):
            assert (said in text) is words, said
        for said in ("Rex", "zoe", "canine", "ferrets", "yves", "indoors", "2032-05-06"):
            assert (said in text) is words, said
        assert "tiny-000" in text and "s001:t01" in text
