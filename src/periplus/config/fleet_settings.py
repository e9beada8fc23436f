"""Defines the settings of a fleet: the database and the object store that its nodes share, and its time limits."""

from __future__ import annotations

import re
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, SecretStr

from periplus.config.value_types import SECRET, Section

_MIB = 1 << 20
_NODE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
_DATABASES = ("postgresql", "postgres")
_STORES = ("s3", "file")
_NO_PREFIX = re.compile(r"//|(^|/)\.\.?(/|$)")


def _database(secret: SecretStr) -> SecretStr:
    scheme, is_url, rest = secret.get_secret_value().partition("://")
    if scheme and (not is_url or scheme not in _DATABASES):
        raise ValueError("must be a URL like postgresql://user@host/name")
    if _has_unquoted_password(rest):
        raise ValueError("in the password, '@', '/', '?' and '%' must be written as %40, %2F, %3F and %25")
    return secret


def _has_unquoted_password(rest: str) -> bool:
    """Whether the password of a URL ends it too early: a part of it would be the host, and be shown in messages."""
    address, query = rest.partition("?")[::2]
    authority, path = address.partition("/")[::2]
    after_colon = authority.rpartition(":")[2]
    is_cut_by_query = ":" in authority and "@" not in authority and "@" in query
    return authority.count("@") > 1 or "@" in path or (is_cut_by_query and not after_colon.strip("]").isdigit())


def _storage(url: str) -> str:
    parts = urlsplit(url)
    if url and (parts.scheme not in _STORES or (parts.scheme == "s3" and not parts.netloc)):
        raise ValueError("must be a URL like s3://bucket/prefix or file:///folder")
    has_keys = "@" in parts.netloc or (parts.scheme == "s3" and ":" in parts.netloc)  # a key with '/' ends it
    if has_keys or parts.query or parts.fragment:
        raise ValueError("must have no keys and no options; keys are in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
    if parts.scheme == "s3" and _NO_PREFIX.search(parts.path.strip("/")):
        raise ValueError("must have a prefix without '//', '.' and '..'")
    return url.rstrip("/")


def _node(name: str) -> str:
    if name and not _NODE_NAME.fullmatch(name):
        raise ValueError("must consist of letters, digits, '.', '_' and '-', at most 63")
    return name


class Fleet(Section):
    """The database and the object store that several machines share; empty: everything is in the collection folder."""

    database: Annotated[SecretStr, AfterValidator(_database)] = Field(
        default=SecretStr(""),
        json_schema_extra=SECRET,
        description="URL of the PostgreSQL database with the catalog, such as `postgresql://user@host/name`; empty: "
        "the file `crawl.db`.",
    )
    storage: Annotated[str, AfterValidator(_storage)] = Field(
        default="",
        description="Where archive, segments, ranks and index are stored: `s3://bucket/prefix`, or `file:///folder` "
        "for a shared folder; empty: in the collection folder.",
    )
    node: Annotated[str, AfterValidator(_node)] = Field(
        default="", description="Name of this node, unique in the fleet; empty: the host name of the machine."
    )
    lease_seconds: float = Field(
        default=20.0,
        ge=1,
        description="Lease duration in seconds. If a worker does not renew its lease in time, other workers take its "
        "hosts.",
    )
    grace_seconds: float = Field(
        default=600.0,
        ge=1,
        description="Seconds without a sign of life after which the pages that a node has not uploaded are "
        "queued again.",
    )
    upload_bytes: int = Field(
        default=64 * _MIB, ge=1024, description="Size in bytes at which an archive file is finished and uploaded."
    )
    upload_seconds: float = Field(
        default=60.0, gt=0, description="Age in seconds at which an archive file is finished and uploaded."
    )
    cache_bytes: int = Field(
        default=64 << 30,
        ge=0,
        description="Size in bytes up to which a search node keeps earlier generations; the live one is always kept.",
    )
