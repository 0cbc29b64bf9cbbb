"""The surveys that memeval includes: of each benchmark with tiers by length, with its own seed.

``python -m memeval.benchmarks.kit.long.included`` writes them again, after a change of the code or the words.
"""

from collections.abc import Iterator
from pathlib import Path

from memeval.benchmarks import all_benchmarks
from memeval.benchmarks.kit.long import SIZES
from memeval.benchmarks.kit.long.survey import LongDataset, included
from memeval.records.errors import BadInput
from memeval.storage import write_whole

LARGEST = 1_000_000
"""Tokens of the longest histories whose surveys are included: longer ones take minutes to generate."""

COMMAND = "python -m memeval.benchmarks.kit.long.included"


def datasets() -> Iterator[LongDataset]:
    for benchmark in all_benchmarks():
        info = benchmark.info
        tiers = [tier.name for tier in info.tiers if SIZES.get(tier.name, LARGEST + 1) <= LARGEST]
        for protocol, tier in ((each.name, tier) for each in info.protocols for tier in tiers):
            try:
                dataset = benchmark.opened(None, None, protocol, tier)
            except BadInput:  # the protocol has no such tier
                continue
            if isinstance(dataset, LongDataset):
                yield dataset


def main() -> None:
    for dataset in datasets():
        path = Path(str(included(dataset.source)))
        content = dataset.survey.to_json().encode()
        if not path.is_file() or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, content)
            print(path)


if __name__ == "__main__":
    main()
