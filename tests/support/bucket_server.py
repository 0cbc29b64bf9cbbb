"""A real HTTP server that speaks S3, on loopback, and a bucket in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

BUCKET = "memeval-test"
CREDENTIALS = {"MEMEVAL_S3_KEY": "test", "MEMEVAL_S3_SECRET": "not-a-secret"}


@dataclass(frozen=True)
class Bucket:
    endpoint: str
    name: str = BUCKET

    @property
    def environment(self) -> Mapping[str, str]:
        return CREDENTIALS | {"MEMEVAL_S3_ENDPOINT": self.endpoint}

    def client(self) -> S3Client:
        import boto3

        return boto3.client(
            "s3",
            endpoint_url=self.endpoint,
            region_name="us-east-1",
            aws_access_key_id="test",
            aws_secret_access_key="not-a-secret",
        )


@contextmanager
def bucket_server() -> Iterator[Bucket]:
    """Run a server with an empty bucket, with its address in the environment of this process."""
    from moto.server import ThreadedMotoServer  # imported where it is used: it takes a second

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        bucket = Bucket(f"http://{host}:{port}")
        # Only its own variables are taken back: others may be those of a test, when a test is the first to ask for it.
        with pytest.MonkeyPatch.context() as variables:
            for name, value in bucket.environment.items():
                variables.setenv(name, value)
            bucket.client().create_bucket(Bucket=BUCKET)
            yield bucket
    finally:
        server.stop()


@pytest.fixture(scope="module")
def bucket() -> Iterator[Bucket]:
    with bucket_server() as running:
        yield running
