"""Opens the object store of an address: `s3://bucket/prefix` or `file:///folder`."""

from __future__ import annotations

import logging
from pathlib import Path
from urllib.parse import unquote, urlsplit

from periplus.errors import BucketMissing, ObjectMissing, StorageError, UsageError
from periplus.store.generations import CURRENT
from periplus.store.objects.object_store import ObjectStore

logger = logging.getLogger("periplus.store")

PATIENCE = 240.0  # seconds; requests are signed once, and signatures expire
_CHECK_SECONDS = 3.0
_HINT = "Give s3://BUCKET/PREFIX, or file:///FOLDER for a folder that every node can reach."


def require_bucket(url: str) -> None:
    """Raise `BucketMissing` when the object store answers that it has no such bucket.

    A store that does not answer now is no reason to stop: files wait for it on the node.
    """
    try:
        open_store(url, patience=_CHECK_SECONDS).get(f"index/{CURRENT}")
    except ObjectMissing:
        return  # there is no index yet
    except BucketMissing:
        raise
    except StorageError as error:
        logger.warning("%s; files wait on this node until the store can be used", error.sentence)


def open_store(url: str, *, patience: float = PATIENCE) -> ObjectStore:
    """Open an object store; *patience*: seconds for which a request is repeated after errors."""
    parts = urlsplit(url)
    if parts.scheme == "s3" and parts.netloc and not (parts.query or parts.fragment or "@" in parts.netloc):
        from periplus.store.objects.s3_store import S3ObjectStore  # noqa: PLC0415  # needs an extra

        return S3ObjectStore(url, parts.netloc, unquote(parts.path).strip("/"), patience)
    if parts.scheme == "file" and parts.netloc in {"", "localhost"} and parts.path.strip("/"):
        from periplus.store.objects.folder_store import FolderObjectStore  # noqa: PLC0415  # only one of both is needed

        return FolderObjectStore(url, Path(unquote(parts.path)))
    shown = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}" if parts.netloc else url  # without keys
    raise UsageError(f"{shown!r} is not the address of an object store", hint=_HINT)
