"""Files for tests: benchmark data that may not be part of the project, and folders served on loopback."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest


def test_data(name: str) -> Path:
    """Return a file of the folder that ``MEMEVAL_TEST_DATA`` names; skip the test where it is not here."""
    folder = os.environ.get("MEMEVAL_TEST_DATA")
    path = Path(folder) / name if folder else None
    if path is None or not path.is_file():
        pytest.skip(f"{name} is not here; MEMEVAL_TEST_DATA names the folder of benchmark data")
    return path


test_data.__test__ = False  # type: ignore[attr-defined]


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a folder on loopback, and yield its address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder))) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()
