"""One Dask cluster for all tests of this folder, a package so that it ends with them: to start it takes long."""

from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture(scope="package")
def cluster() -> Iterator[Any]:
    """A Dask scheduler and two workers of one thread, as processes."""
    from distributed import LocalCluster  # only here: every process that collects tests reads this file

    with LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address=None
    ) as cluster:
        yield cluster
