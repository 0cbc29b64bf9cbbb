"""Generated data is what it was under every hash seed, and parameters that cannot be are refused in a sentence."""

import os
import subprocess
import sys

import pytest

from memeval.benchmarks import find
from memeval.benchmarks.memorycd.keys import DOMAINS
from memeval.records.errors import BadInput

DIGESTS = {
    "beliefs@2 retrieval full": "sha256:95a76ec5ef9f7ed3889f6ec1274ff22b2f4d8e8c666d3d60fee36124909e7375",
    "beliefs@2 retrieval withheld-1": "sha256:62cb84032bb9cece220ec687ccfa39e05362f2e58c2e6b88a5ecb01d9c274a53",
    "beliefs@2 judge full": "sha256:eeae7f8aa80f7cfbc21363b6a4154dc280e50086fa293d1831d4503a080bc4b0",
    "beliefs@2 retrieval quick": "sha256:1fd8896f2af52e318ebb121e593af01a06a10d958008d8af826c487cf552a0b1",
    "lifecycle@1 search full": "sha256:672cd934b862e1e9e49a880cfa564c3f9580f053d73c43bbeb6ed9db80df0e5f",
    "lifecycle@1 banks full": "sha256:943fedab494e9aec9fee8a2c181c23811c4a78d5ac8daa7262ffca664bdda867",
    "lifecycle@1 export full": "sha256:3f646a97eadca738e2660bbfcefd5a578f77e165fdbd9faca72c3e2880f8d9ce",
    "lifecycle@1 topic full": "sha256:6390a929418fc4331375c3ed6f0e6fd7c900d61189b0b43869570e4505800ae8",
    "lifecycle@1 at-once full": "sha256:99638d45ddbb115e0d2b1ae0855a33794e1d9c9a43a235bb731dabce81653f2d",
    "astrocyte-stress@1 recall full": "sha256:5fbc2a4c599c0b6f3b7a3e7e5fb961f95a2c2deab7a7f0abd1142c1eed1b0140",
}
"""Golden: our own generators at seed 42, by benchmark, protocol and tier. Stored runs name these digests."""

SMALL = """
from memeval.benchmarks import find
for name, parameters, protocols in (
    ("beliefs@2", {"size": 6}, ["retrieval"]),
    ("lifecycle@1", {"seed": 7, "size": 1}, ["search", "banks", "export", "topic"]),
    ("astrocyte-stress@1", {"retains": 40, "banks": 2, "recalls": 60}, ["recall"]),
):
    for protocol in protocols:
        print(find(name).opened(None, parameters, protocol, "full").digest)
"""

NO_DOMAINS = f"It must be distinct domains joined by '+': {', '.join(DOMAINS)}."
REFUSED: list[tuple[str, dict[str, str | int], str]] = [
    ("deepmemeval@1", {"seed": 1}, "has no parameter 'seed'"),
    ("beam@1", {"size": "1M"}, "beam@1 has no parameter 'size'"),
    ("factconsolidation@1", {"size": 6}, "factconsolidation@1 has no parameter 'size'"),
    ("lifebench@1", {"users": 3}, "lifebench@1 has no parameter 'users'"),
    ("locomo@1", {"adversarial": "choice", "seed": 1}, "has no parameter seed=1. Use adversarial=choice"),
    ("locomo@1", {"adversarial": "open"}, "has no parameter adversarial=open"),
    ("longmemeval@1", {"file": "xl"}, "longmemeval@1 has no file 'xl'. Choose one of: s, oracle, m."),
    ("longmemeval@1", {"file": 1}, "longmemeval@1 has no file '1'. Choose one of: s, oracle, m."),
    ("longmemeval@1", {"seed": 1}, "longmemeval@1 has no parameter 'seed'. It has: file=s|oracle|m."),
    ("memorycd@1", {"form": "dirty"}, "memorycd@1: invalid form='dirty'. It must be 'released' or 'clean'."),
    ("memorycd@1", {"tests": 0}, "memorycd@1: invalid tests=0. It must be a whole number of at least 1."),
    ("memorycd@1", {"tests": -1}, "memorycd@1: invalid tests=-1."),
    ("memorycd@1", {"tests": "three"}, "memorycd@1: invalid tests='three'."),
    ("memorycd@1", {"users": -1}, "memorycd@1: invalid users=-1. It must be a whole number of at least 0."),
    ("memorycd@1", {"sources": "Books+Toys"}, NO_DOMAINS),
    ("memorycd@1", {"sources": ""}, NO_DOMAINS),
    ("memorycd@1", {"sources": "Books+Books"}, NO_DOMAINS),
    ("memorycd@1", {"task": "rating"}, "memorycd@1 has no parameter 'task'. It has: form, tests, users, sources."),
    ("memorycd@1", {"\u202e": 1}, "memorycd@1 has no parameter '"),
    ("precisionmembench@1", {"seed": 1}, "no parameter 'seed'"),
    ("vehiclemembench@1", {"users": 3}, "vehiclemembench@1 has no parameter 'users'"),
    ("beliefs@2", {"size": 0}, "invalid size=0"),
    ("beliefs@2", {"size": 100_000}, "from 1 to 2000 people"),
    ("beliefs@2", {"size": "many"}, "whole number"),
    ("beliefs@2", {"seed": -1}, "invalid seed=-1"),
    ("beliefs@2", {"colour": "red"}, "no parameter 'colour'"),
    ("lifecycle@1", {"size": 0}, "invalid size=0"),
    ("lifecycle@1", {"seed": "x"}, "invalid seed=x"),
    ("lifecycle@1", {"seed": -1}, "invalid seed=-1"),
    ("lifecycle@1", {"sise": 1}, "no parameter 'sise'"),
    ("astrocyte-basic@1", {"x": 1}, "has no parameter 'x'"),
    ("astrocyte-stress@1", {"size": 1}, "has no parameter 'size'. It has: seed, retains, banks, recalls."),
    ("astrocyte-stress@1", {"seed": -1}, "invalid seed=-1."),
    ("astrocyte-stress@1", {"seed": "x"}, "invalid seed=x."),
    ("astrocyte-stress@1", {"recalls": 0}, "astrocyte-stress@1: invalid recalls=0. It must be from 60 to 100000."),
    ("astrocyte-stress@1", {"retains": 10**9}, "invalid retains=1000000000."),
    ("astrocyte-stress@1", {"banks": 3}, "invalid retains=1000 with banks=3. Each bank must have the same number of"),
    ("astrocyte-stress@1", {"banks": 100}, "invalid retains=1000 with banks=100. Each bank must have the same number"),
    ("astrocyte-stress@1", {"banks": 1}, "the same number of texts, from 20 to 400."),
]


@pytest.mark.parametrize("place", DIGESTS)
def test_the_data_is_what_it_was(place: str) -> None:
    benchmark, protocol, tier = place.split()
    assert find(benchmark).opened(None, None, protocol, tier).digest == DIGESTS[place]
    assert find(benchmark).info.generated


def test_equal_seeds_give_equal_bytes_under_any_hash_seed() -> None:
    command, environments = [sys.executable, "-c", SMALL], [os.environ | {"PYTHONHASHSEED": n} for n in ("0", "4711")]
    found = [subprocess.check_output(command, env=environment, text=True) for environment in environments]
    assert found[0] == found[1] and len(set(found[0].split())) == 6
    for name, parameters in (("beliefs@2", {"size": 6, "seed": 43}), ("astrocyte-stress@1", {"seed": 43})):
        other = find(name).open(None, parameters).digest
        assert other not in found[0] and other not in DIGESTS.values()


@pytest.mark.parametrize(("benchmark", "parameters", "said"), REFUSED)
def test_parameters_that_cannot_be_are_refused(benchmark: str, parameters: dict[str, str | int], said: str) -> None:
    with pytest.raises(BadInput) as caught:
        find(benchmark).open(None, parameters)
    assert said in str(caught.value) and str(caught.value).isprintable()
