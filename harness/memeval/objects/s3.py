"""An object store in an S3-compatible bucket: AWS, Cloudflare R2, MinIO and others, through boto3."""

from __future__ import annotations

import base64
import hashlib
import io
import os
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cached_property, partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, BinaryIO

from memeval.objects.base import NO_HEADERS, BadStore, Headers, ObjectInfo, Place, whole_or_none

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_s3.type_defs import CompletedPartTypeDef, HeadObjectOutputTypeDef, ListObjectsV2OutputTypeDef

_CHUNK_BYTES = 2**20

_PROBE = ".memeval-probe-"
"""The start of the key of a probe. One that was cut off may stay; it is no object."""

PART_BYTES = 8 * 2**20
"""Size of a part, and of the largest object that is sent in one."""

TRIES = 6
"""Number of tries of a request that a fault of the network or of the service ends."""

_ENDPOINT, _REGION = "MEMEVAL_S3_ENDPOINT", "MEMEVAL_S3_REGION"
_KEY, _SECRET = "MEMEVAL_S3_KEY", "MEMEVAL_S3_SECRET"

_SET_REGION = f"Set {_REGION}, or region in memeval.toml."

_SENTENCES = {
    "NoSuchBucket": ("the bucket does not exist.", "Create it, or correct its name or the endpoint."),
    "AccessDenied": ("access is denied.", "Give the credentials the right to list, read and write below the prefix."),
    "403": ("access is denied.", "Give the credentials the right to list, read and write below the prefix."),
    "InvalidAccessKeyId": ("the service does not know the access key.", "Correct the credentials."),
    "SignatureDoesNotMatch": ("the secret key does not fit the access key.", "Correct the credentials."),
    "ExpiredToken": ("the credentials have expired.", "Renew them, and run the same command: it goes on."),
    "ExpiredTokenException": ("the credentials have expired.", "Renew them, and run the same command: it goes on."),
    "TokenRefreshRequired": ("the credentials have expired.", "Renew them, and run the same command: it goes on."),
    "InvalidToken": ("the session token is not valid.", "Renew the credentials."),
    "RequestTimeTooSkewed": ("the clock of this machine is wrong.", "Set the clock."),
    "PermanentRedirect": ("the bucket is in another region.", _SET_REGION),
    "AuthorizationHeaderMalformed": ("the bucket is in another region.", _SET_REGION),
    "IllegalLocationConstraintException": ("the bucket is in another region.", _SET_REGION),
    "301": ("the bucket is in another region.", _SET_REGION),
    "SlowDown": ("the service asks to slow down.", "Run the same command later: it goes on."),
    "503": ("the service asks to slow down.", "Run the same command later: it goes on."),
    "BadDigest": ("what arrived differs from what was sent.", "Run the same command again."),
    "InvalidDigest": ("what arrived differs from what was sent.", "Run the same command again."),
    "InternalError": ("the service failed.", "Run the same command again: it goes on."),
    "500": ("the service failed.", "Run the same command again: it goes on."),
    "RequestTimeout": ("the service did not receive the object in time.", "Run the same command again: it goes on."),
    "QuotaExceeded": ("the bucket is full.", "Raise its quota, or delete old objects."),
    "EntityTooLarge": ("the object is too large for the service.", None),
}

_TAKEN = ("PreconditionFailed", "412", "ConditionalRequestConflict", "409")
"""Codes for a key that is taken, or that another writer is just taking."""
_MISSING = ("NoSuchKey", "404", "NotFound")
_NOT_UNDERSTOOD = ("NotImplemented", "501")


class BucketStore:
    """Objects of a bucket whose keys begin with a prefix.

    Credentials come from ``MEMEVAL_S3_KEY`` and ``MEMEVAL_S3_SECRET``, or from where boto3 finds them: environment,
    profile, or role of the machine. The endpoint comes from the place, ``MEMEVAL_S3_ENDPOINT`` or
    ``AWS_ENDPOINT_URL_S3``.
    """

    def __init__(self, place: Place) -> None:
        self._place = place
        self._bucket = place.bucket or ""
        self._prefix = f"{place.prefix}/" if place.prefix else ""
        self._opening = Lock()

    @property
    def url(self) -> str:
        return f"s3://{self._bucket}/{self._prefix}".rstrip("/")

    @cached_property
    def refuses_overwriting(self) -> bool:
        """Whether the service refuses a second object under a key; found with a probe, which is deleted again."""
        key = f"{_PROBE}{uuid.uuid4().hex}"
        try:
            self._put(key, b"1", NO_HEADERS, {"IfNoneMatch": "*"})
            return not self._put(key, b"2", NO_HEADERS, {"IfNoneMatch": "*"})
        except _NotUnderstood:
            return False
        except BadStore as error:  # the probe's key says nothing to a user
            raise BadStore(error.problem, where=self.url, remedy=error.remedy) from None
        finally:
            with suppress(BadStore):
                self.delete(key)

    def create(self, key: str, content: bytes | Path, headers: Headers = NO_HEADERS) -> bool:
        if self.refuses_overwriting:
            return self._put(key, content, headers, {"IfNoneMatch": "*"})
        if self.info(key) is not None:
            return False
        return self._put(key, content, headers, {})

    def replace(
        self, key: str, content: bytes | Path, headers: Headers = NO_HEADERS, *, seen: str | None = None
    ) -> bool:
        if seen is None or self.refuses_overwriting:
            return self._put(key, content, headers, {} if seen is None else {"IfMatch": f'"{seen}"'})
        found = self.info(key)
        if found is None or found.etag != seen:
            return False
        return self._put(key, content, headers, {})

    def read(self, key: str) -> bytes:
        def read_once() -> bytes:
            reply = self._client.get_object(**self._named(key))
            _refuse_cut(reply)
            return reply["Body"].read()

        content: bytes = self._tried(key, read_once)
        return content

    def download(self, key: str, path: Path) -> None:
        def download_once() -> None:
            reply = self._client.get_object(**self._named(key))
            _refuse_cut(reply)
            with whole_or_none(path) as stream:
                for chunk in reply["Body"].iter_chunks(_CHUNK_BYTES):
                    stream.write(chunk)

        self._tried(key, download_once)

    def info(self, key: str) -> ObjectInfo | None:
        from botocore.exceptions import ClientError

        def ask() -> HeadObjectOutputTypeDef:
            try:
                reply = self._client.head_object(**self._named(key))
                _refuse_cut(reply)
                return reply
            except ClientError as error:
                if _code(error) not in _MISSING:  # the reply has no body; that of another request says what is wrong
                    self._client.list_objects_v2(Bucket=self._bucket, Prefix=self._prefix + key, MaxKeys=1)
                raise

        try:
            found = self._tried(key, ask)
        except KeyError:
            return None
        return ObjectInfo(key, found["ContentLength"], found["ETag"].strip('"'), found["LastModified"])

    def list(self, prefix: str = "") -> Iterator[ObjectInfo]:
        more: dict[str, Any] = {}

        def list_once() -> ListObjectsV2OutputTypeDef:
            reply = self._client.list_objects_v2(Bucket=self._bucket, Prefix=self._prefix + prefix, **more)
            _refuse_without(reply, "IsTruncated")
            return reply

        while True:
            page = self._tried(prefix, list_once)
            for each in page.get("Contents", ()):
                name = each["Key"].removeprefix(self._prefix)
                if not name.startswith(_PROBE):
                    yield ObjectInfo(name, each["Size"], each["ETag"].strip('"'), each["LastModified"])
            if not page["IsTruncated"]:
                return
            more = {"ContinuationToken": page["NextContinuationToken"]}

    def delete(self, key: str) -> None:
        with self._sentences(key):
            self._client.delete_object(**self._named(key))

    @property
    def _client(self) -> S3Client:
        with self._opening:  # threads may share a client, but not make one at the same time
            return self._opened

    @cached_property
    def _opened(self) -> S3Client:
        import boto3
        from botocore.config import Config

        usual = os.environ.get("AWS_DEFAULT_REGION") or ("auto" if os.environ.get(_ENDPOINT) else None)
        own: dict[str, Any] = {}
        if os.environ.get(_KEY) and os.environ.get(_SECRET):
            own = {"aws_access_key_id": os.environ[_KEY], "aws_secret_access_key": os.environ[_SECRET]}
        with self._sentences(""):
            return boto3.client(
                "s3",
                endpoint_url=self._place.endpoint or os.environ.get(_ENDPOINT) or None,
                region_name=self._place.region or os.environ.get(_REGION) or os.environ.get("AWS_REGION") or usual,
                config=Config(
                    retries={"mode": "standard", "total_max_attempts": TRIES},
                    connect_timeout=10,
                    read_timeout=60,
                    max_pool_connections=32,
                    # Other services than AWS refuse its newer checksums; every request here has a Content-MD5.
                    request_checksum_calculation="when_required",
                    response_checksum_validation="when_required",
                ),
                **own,
            )

    def _named(self, key: str) -> dict[str, Any]:
        return {"Bucket": self._bucket, "Key": self._prefix + key}

    def _put(self, key: str, content: bytes | Path, headers: Headers, condition: Mapping[str, Any]) -> bool:
        extra: dict[str, Any] = {"ContentType": headers.content_type}
        if headers.cache is not None:
            extra["CacheControl"] = headers.cache
        with _stream(content) as (stream, size):
            if size > PART_BYTES:
                return self._send_parts(key, stream, extra, condition)
            body = stream.read()
            return self._conditional(
                key,
                lambda: self._client.put_object(
                    **self._named(key), Body=body, ContentMD5=_md5(body), **extra, **condition
                ),
            )

    def _send_parts(self, key: str, stream: BinaryIO, extra: Mapping[str, Any], condition: Mapping[str, Any]) -> bool:
        named = self._named(key)
        with self._sentences(key):
            upload = {**named, "UploadId": self._client.create_multipart_upload(**named, **extra)["UploadId"]}
        try:
            parts: list[CompletedPartTypeDef] = []
            while body := stream.read(PART_BYTES):
                number = len(parts) + 1
                sent = self._tried(key, partial(self._send_part, upload, number, body))
                parts.append({"PartNumber": number, "ETag": sent})
            done = self._conditional(
                key,
                lambda: self._client.complete_multipart_upload(**upload, MultipartUpload={"Parts": parts}, **condition),
            )
        except BaseException:
            self._abort(upload)
            raise
        if not done:
            self._abort(upload)
        return done

    def _send_part(self, upload: Mapping[str, Any], number: int, body: bytes) -> str:
        sent = self._client.upload_part(**upload, PartNumber=number, Body=body, ContentMD5=_md5(body))
        _refuse_without(sent, "ETag")
        return sent["ETag"]

    def _abort(self, upload: Mapping[str, Any]) -> None:
        with suppress(Exception):  # the error that ended the upload is the one to report
            self._client.abort_multipart_upload(**upload)

    def _conditional(self, key: str, send: Callable[[], Mapping[str, Any]]) -> bool:
        """Call the service, and return False if the condition of the call does not hold.

        After a reply that was cut off, the call is made again: the object may be there now, which is False too.
        """
        from botocore.exceptions import ClientError

        def send_once() -> bool:
            try:
                _refuse_without(send(), "ETag")
            except ClientError as error:
                code = _code(error)
                if code in _TAKEN:
                    return False
                if code in _NOT_UNDERSTOOD:
                    raise _NotUnderstood("the service does not know conditional writing.", where=self.url) from None
                raise
            return True

        try:
            done: bool = self._tried(key, send_once)
        except KeyError:
            raise BadStore("the object changed while it was replaced.", where=f"{self.url}/{key}") from None
        return done

    def _tried(self, key: str, call: Callable[[], Any]) -> Any:
        """Call the service; a reply that is cut off is asked for again. Raises KeyError: there is no such object."""
        from botocore.exceptions import ClientError, IncompleteReadError, ReadTimeoutError, ResponseStreamingError
        from botocore.parsers import ResponseParserError

        with self._sentences(key):
            for remaining in reversed(range(TRIES)):
                try:
                    return call()
                except (IncompleteReadError, ReadTimeoutError, ResponseParserError, ResponseStreamingError):
                    if not remaining:
                        raise
                except ClientError as error:
                    if _code(error) in _MISSING:
                        raise KeyError(key) from None
                    raise
        raise AssertionError("unreachable")

    @contextmanager
    def _sentences(self, key: str) -> Iterator[None]:
        """Turn the errors of boto3 into sentences; no secret is in them."""
        from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError, PartialCredentialsError
        from botocore.parsers import ResponseParserError

        where = f"{self.url}/{key}" if key else self.url
        try:
            yield
        except ClientError as error:
            code = _code(error)
            problem, remedy = _SENTENCES.get(code, (f"the service refused with {code or 'no code'}.", None))
            raise BadStore(problem, where=where, remedy=remedy) from None
        except (NoCredentialsError, PartialCredentialsError):
            raise BadStore(
                "there are no credentials for the bucket.",
                where=where,
                remedy=f"Set {_KEY} and {_SECRET}, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.",
            ) from None
        except RecursionError:  # boto3 looks for the region of the bucket again and again
            problem, remedy = _SENTENCES["PermanentRedirect"]
            raise BadStore(problem, where=where, remedy=remedy) from None
        except (BotoCoreError, ResponseParserError, ValueError) as error:
            raise BadStore(
                f"the service cannot be reached ({type(error).__name__}).",
                where=where,
                remedy="Check the endpoint and the network, and run the same command again: it goes on.",
            ) from None


class _NotUnderstood(BadStore):
    """The service does not know conditional writing."""


def _refuse_cut(reply: Mapping[str, Any]) -> None:
    """Refuse a reply to GET or HEAD with cut headers: they look like absent ones. boto3 refuses a cut body itself."""
    _refuse_without(reply, "ContentLength", "ETag", "LastModified")


def _refuse_without(reply: Mapping[str, Any], *names: str) -> None:
    """Refuse a reply that lacks what every complete reply has."""
    from botocore.exceptions import IncompleteReadError

    if any(name not in reply for name in names):
        raise IncompleteReadError(actual_bytes=0, expected_bytes=1)


def _code(error: Any) -> str:
    return str(error.response.get("Error", {}).get("Code", ""))


def _md5(body: bytes) -> str:
    return base64.b64encode(hashlib.md5(body, usedforsecurity=False).digest()).decode()


@contextmanager
def _stream(content: bytes | Path) -> Iterator[tuple[BinaryIO, int]]:
    if isinstance(content, bytes):
        yield io.BytesIO(content), len(content)
        return
    with content.open("rb") as stream:
        yield stream, content.stat().st_size
