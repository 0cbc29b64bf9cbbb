"""The data of a benchmark as the site needs it: opened only by what is not kept from an earlier build."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

from memeval.archive.run_cache import kept_by_name
from memeval.benchmarks.base import Benchmark, Dataset, Parameters
from memeval.records.base import Digest, digest_of
from memeval.records.errors import MemevalError
from memeval.records.track import Track


@dataclass(frozen=True)
class BenchmarkData:
    """The data of a track, if it is on this machine."""

    key: str
    """Its name in addresses: benchmark, digest, and a short digest of :attr:`asked`."""
    digest: str
    missing: str | None
    opened: "OpenData | None" = field(compare=False)
    """``None`` if it is not on this machine."""
    benchmark: Benchmark | None = field(default=None, compare=False)
    is_shipped: bool = False
    """Whether memeval's own code makes or reads the data, so that the digest tells what follows from it."""
    asked: str = ""
    """With what it is opened; see :func:`asked_of`."""

    @property
    def is_here(self) -> bool:
        return self.opened is not None

    @property
    def dataset(self) -> Dataset | None:
        """The data, opened when it is first needed; ``None`` if it is not on this machine."""
        return None if self.opened is None else self.opened.dataset

    def kept(self, name: str, kind: str, make: Callable[[Dataset], bytes], more: str = "") -> bytes:
        """Return what ``make`` returns for the data, kept from build to build; empty if it is not on this machine.

        ``more``: what it depends on besides. What another package makes of a digest can change, so it is not kept.
        """
        opened = self.opened
        if opened is None:
            return b""
        if not self.is_shipped:
            return make(opened.dataset)
        return kept_by_name(name, kind, f"{self.digest} {self.asked} {more}", lambda: make(opened.dataset))


def asked_of(track: Track) -> str:
    """Return protocol, tier and parameters of a track: what is asked depends on them, and not on the digest."""
    return json.dumps([track.protocol, track.tier, dict(track.parameters)], sort_keys=True)


def data_of(track: Track, benchmark: Benchmark | None, missing: str | None) -> BenchmarkData:
    """Return the data of a track; ``missing`` says why the benchmark is ``None``."""
    asked = asked_of(track)
    opened: OpenData | None = None
    if benchmark is not None:
        opened = OpenData(benchmark, track.parameters or None, track.protocol, track.tier)
        try:
            is_same = opened.digest() == track.data_digest
        except MemevalError as error:
            opened, missing = None, error.problem
        else:
            if not is_same:
                opened, missing = None, "the data on this machine differs from the data of these runs."
    return BenchmarkData(
        key=f"{track.benchmark}-{track.data_digest[7:19]}-{digest_of(asked)[7:15]}",
        digest=track.data_digest,
        benchmark=benchmark,
        missing=missing,
        opened=opened,
        is_shipped=benchmark is not None and _is_shipped(benchmark),
        asked=asked,
    )


def _is_shipped(benchmark: Benchmark) -> bool:
    return type(benchmark).__module__.startswith("memeval.benchmarks.")


class OpenData:
    """The data of a benchmark, opened when it is first needed.

    ``parameters``: parameters of the generator, or the name of the file.
    """

    def __init__(self, benchmark: Benchmark, parameters: Parameters | None, protocol: str, tier: str) -> None:
        self._benchmark = benchmark
        self._asked = (None if parameters is None else dict(parameters), protocol, tier)

    def digest(self) -> Digest:
        """Return the digest of the data. That of data that memeval generates is known from an earlier build.

        Raises ``BadInput`` if the data is not on this machine.
        """
        info = self._benchmark.info
        if not info.generated or not _is_shipped(self._benchmark):
            return self.dataset.digest
        name = json.dumps([info.id, *self._asked], sort_keys=True)
        return kept_by_name(name, "data-digest", "", lambda: self.dataset.digest.encode()).decode()

    @cached_property
    def dataset(self) -> Dataset:
        """The data; opening it can take seconds. Raises ``BadInput`` if it is not on this machine."""
        parameters, protocol, tier = self._asked
        return self._benchmark.opened(None, parameters, protocol, tier)
