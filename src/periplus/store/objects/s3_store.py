"""An object store in S3 or a compatible service, through the library obstore.

Endpoint, region and keys come from the usual environment: AWS_ENDPOINT_URL, AWS_REGION, AWS_ACCESS_KEY_ID,
AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN; without keys, from the role of the machine. Server errors and broken
connections are repeated with growing delays.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit

from periplus.errors import BucketMissing, ObjectChanged, ObjectMissing, PeriplusError, StorageUnavailable, UsageError
from periplus.store.durable import reporting_full_disk
from periplus.store.objects.object_store import Content, ObjectFacts

try:
    from obstore import exceptions
    from obstore.store import S3Store
except ModuleNotFoundError as missing:  # pragma: no cover
    what, why = "S3 storage is not available", f"the library {missing.name} is not installed"
    raise PeriplusError(what, why, "Install it with `pip install 'periplus[s3]'`.") from missing

_Result = TypeVar("_Result")

_ENDPOINTS = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT")
_HEADERS = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_REGION", "AWS_DEFAULT_REGION")
_PLAIN = re.compile(r"[!-~]+")
_MOST_RETRIES = 100  # the time limit ends retries, not their number
_LONGEST_BACKOFF = timedelta(seconds=5)
_READ_SECONDS = (15, 120)  # without a byte of the answer; a part of an upload must arrive in this time
_REQUEST_SECONDS = 3600  # a whole file is one request
_PART = 8 << 20  # bytes; a request body is held in memory
_PARTS = 9_000  # S3 allows 10,000
_PARTS_AT_ONCE = 4
_DELETED_AT_ONCE = 1000  # S3's limit
_RESTART_SECONDS = 1.0  # after a connection that broke within an answer
_REFUSED = re.compile(r"status code: (\d{3}) [^:]*: .*?<Code>([^<]+)</Code>", re.DOTALL)
_ADDRESS = re.compile(r"Error performing [A-Z]+ (https?://[^/\s]+)")
_STATUS = re.compile(r"status code: (\d{3} [A-Z][A-Za-z ]+)")


class S3ObjectStore:
    """Objects of one bucket whose keys begin with a prefix."""

    def __init__(self, url: str, bucket: str, prefix: str, patience: float) -> None:
        self.url, self._patience = url, patience
        endpoint = _endpoint()
        _require_plain_keys()
        try:
            self._store = S3Store(
                bucket,
                prefix=prefix or None,
                client_options={
                    "allow_http": endpoint.startswith("http://"),
                    "timeout": timedelta(seconds=_REQUEST_SECONDS),
                    "read_timeout": timedelta(seconds=sorted((patience, *_READ_SECONDS))[1]),
                },
                retry_config={
                    "max_retries": _MOST_RETRIES,
                    "retry_timeout": timedelta(seconds=patience),
                    "backoff": {"max_backoff": _LONGEST_BACKOFF},
                },
            )
        except (exceptions.BaseError, ValueError) as error:
            raise StorageUnavailable(f"{url} cannot be opened", _first_line(error), _HINT) from error

    def put(self, name: str, data: bytes) -> None:
        """Write an object."""
        with self._reporting(name):
            self._store.put(name, data, use_multipart=False)

    def put_file(self, name: str, path: Path) -> None:
        """Write an object with the content of a file; in parts when it is large."""
        part = max(_PART, path.stat().st_size // _PARTS + 1)
        with self._reporting(name):
            self._store.put(name, path, chunk_size=part, max_concurrency=_PARTS_AT_ONCE)

    def put_if(self, name: str, data: bytes, tag: str | None) -> str:
        """Write an object if its present tag is *tag*."""
        with self._reporting(name):
            try:
                made = self._store.put(name, data, mode="create" if tag is None else {"e_tag": tag})
            except (exceptions.AlreadyExistsError, exceptions.PreconditionError, FileNotFoundError) as error:
                present = self._present(name)
                if present is None or present.data != data:  # else the write had landed, but its answer was lost
                    raise ObjectChanged(f"another process has written {name}") from error
                return present.tag
        return made["e_tag"] or ""

    def _present(self, name: str) -> Content | None:
        try:
            return self.get(name)
        except ObjectMissing:
            return None

    def get(self, name: str) -> Content:
        """Read a small object."""

        def read() -> Content:
            found = self._store.get(name)
            return Content(bytes(found.bytes()), found.meta["e_tag"] or "")

        with self._reporting(name):
            return self._repeated(read)

    def get_file(self, name: str, path: Path, go_on: Callable[[], object] = bool) -> None:
        """Write the content of an object to a file; goes on where a connection broke."""
        with self._reporting(name), reporting_full_disk(path.parent), path.open("wb") as file:
            size = self._store.head(name)["size"]

            def read_on() -> None:
                go_on()
                if file.tell() < size:
                    for chunk in self._store.get(name, options={"range": (file.tell(), size)}).stream(_PART):
                        file.write(chunk)
                        go_on()

            self._repeated(read_on, file.tell)

    def read_range(self, name: str, offset: int, length: int) -> bytes:
        """Read bytes of an object."""
        with self._reporting(name):
            return self._repeated(lambda: bytes(self._store.get_range(name, start=offset, length=length)))

    def list(self, folder: str) -> Iterator[ObjectFacts]:
        """Every object of a folder and its sub-folders."""
        with self._reporting(folder):
            for chunk in self._store.list(folder, chunk_size=1000):
                yield from (ObjectFacts(one["path"], one["size"], one["last_modified"].timestamp()) for one in chunk)

    def delete(self, names: Iterable[str]) -> None:
        """Delete objects."""
        every = list(names)
        for start in range(0, len(every), _DELETED_AT_ONCE):
            with self._reporting(every[start]):
                self._store.delete(every[start : start + _DELETED_AT_ONCE])

    def _repeated(self, read: Callable[[], _Result], progress: Callable[[], int] = int) -> _Result:
        """Repeat a read whose connection broke within the answer; obstore repeats requests without an answer.

        *progress*: when it has grown, the time for repeating begins anew.
        """
        reached, end = progress(), time.monotonic() + self._patience
        while True:
            try:
                return read()
            except exceptions.GenericError as error:
                if progress() > reached:
                    reached, end = progress(), time.monotonic() + self._patience
                if "RetryError" in str(error) or time.monotonic() > end:
                    raise
                time.sleep(_RESTART_SECONDS)

    @contextmanager
    def _reporting(self, name: str) -> Iterator[None]:
        """Raise our errors instead of those of the library."""
        try:
            yield
        except FileNotFoundError as error:
            if "NoSuchBucket" in str(error):
                hint = "Create the bucket, or correct `fleet.storage`."
                raise BucketMissing(f"{self.url} cannot be used", "the bucket does not exist", hint) from error
            raise ObjectMissing(f"{self.url} has no object {name}") from error
        except (exceptions.PermissionDeniedError, exceptions.UnauthenticatedError) as error:
            raise self._unavailable(error, "the service refuses these keys") from error
        except exceptions.BaseError as error:
            raise self._unavailable(error, "") from error

    def _unavailable(self, error: Exception, why: str) -> StorageUnavailable:
        return StorageUnavailable(f"{self.url} cannot be used", why or _reason(str(error)), _HINT)


def _endpoint() -> str:
    """The address of a service that is not Amazon's, or nothing; the library would panic at a wrong one."""
    name, address = next(((one, found) for one in _ENDPOINTS if (found := os.environ.get(one))), ("", ""))
    if name and not _is_address(address):
        hint = "Write https://HOST or http://HOST:PORT."
        raise UsageError(f"{name} in the environment is not valid", "it must be the URL of the S3 service", hint)
    return address


def _is_address(address: str) -> bool:
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError:
        return False
    is_plain = "@" not in parts.netloc and _PLAIN.fullmatch(address) is not None and port != 0
    return is_plain and parts.scheme in {"http", "https"} and bool(parts.hostname)


def _require_plain_keys() -> None:
    """Refuse keys and regions that no header can hold: a file with a key often ends with a line break."""
    for name in _HEADERS:
        if (value := os.environ.get(name)) and not _PLAIN.fullmatch(value):
            why = "it has a space, a line break or another character that no key has"
            raise UsageError(f"{name} in the environment is not valid", why, "Set it again without them.")


_HINT = (
    "Check the bucket, AWS_ENDPOINT_URL, AWS_REGION, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, "
    "and that the service is running."
)


def _reason(text: str) -> str:
    """The reason in a message of the library, without its debugging lines."""
    if refused := _REFUSED.search(text):
        return f"it answers {refused[1]} ({refused[2]})"
    if status := _STATUS.search(text):
        return f"it answers {status[1].strip()}"
    if "Connection refused" in text:
        return "connection refused"
    if "169.254.169.254" in text:
        return "there are no keys, and this machine has no role"
    if (address := _ADDRESS.search(text)) and "error sending request" in text:
        return f"no connection to {address[1]}"
    return _first_line(text)


def _first_line(error: object) -> str:
    return str(error).partition("\n")[0]
