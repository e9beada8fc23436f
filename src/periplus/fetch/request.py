"""Builds a request: the User-Agent header, the other headers and the libcurl options."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import pycurl

from periplus import __version__
from periplus.config.settings import Fetching
from periplus.errors import ConfigError
from periplus.fetch.certificates import certificate_authorities
from periplus.fetch.connections import IDLE_SECONDS
from periplus.fetch.response_limits import Purpose

PRODUCT = "Periplus"  # the product token in robots.txt


def user_agent(contact: str) -> str:
    """Build the User-Agent header: product, version, and the contact of the crawl's operator."""
    product = f"{PRODUCT}/{__version__}"
    contact = contact.strip(" ")
    if not (contact.isascii() and contact.isprintable()):
        # A line break would start another header, and other bytes are not valid in a header.
        hint = "Write a URL or a mail address in ASCII, for example https://example.org/crawler"
        raise ConfigError(f"the contact {contact!r} cannot be sent in a header", hint=hint)
    return f"{product} (+{contact})" if contact else product


ACCEPT = "text/html,application/xhtml+xml,text/plain;q=0.9,application/pdf;q=0.9,application/xml;q=0.8,*/*;q=0.1"
SLOW_SECONDS = 10  # a transfer slower than `fetch.slowest` for this long is aborted
_BUFFER_BYTES = 256 * 1024  # holds most pages in one read; all handles share one buffer
_HTTP_AND_HTTPS = pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS


def accept_encoding() -> str:
    """Return the Accept-Encoding header: the content encodings that this libcurl decodes."""
    features = pycurl.version_info()[4]
    known = (("gzip", pycurl.VERSION_LIBZ), ("deflate", pycurl.VERSION_LIBZ), ("br", pycurl.VERSION_BROTLI))
    return ", ".join(name for name, bit in (*known, ("zstd", pycurl.VERSION_ZSTD)) if features & bit)


def constant_options(settings: Fetching, user_agent: str) -> dict[int, Any]:
    """Return the libcurl options that are set once per handle."""
    ca_file, ca_folder = certificate_authorities(settings.ca_file)
    options: dict[int, Any] = {
        pycurl.NOSIGNAL: 1,
        pycurl.PROTOCOLS: _HTTP_AND_HTTPS,
        pycurl.REDIR_PROTOCOLS: _HTTP_AND_HTTPS,
        pycurl.PROXY: "",  # also keeps libcurl from reading the environment
        pycurl.FOLLOWLOCATION: 0,  # the frontier admits every redirect target like a new URL
        pycurl.PATH_AS_IS: 1,  # the URL is canonical already
        pycurl.HTTP_VERSION: pycurl.CURL_HTTP_VERSION_2TLS,
        pycurl.HTTP09_ALLOWED: 0,
        pycurl.USERAGENT: user_agent,
        pycurl.HTTPHEADER: [f"Accept: {ACCEPT}"],
        pycurl.ACCEPT_ENCODING: accept_encoding(),
        pycurl.CONNECTTIMEOUT_MS: _milliseconds(settings.connect_timeout),
        pycurl.TIMEOUT_MS: _milliseconds(settings.timeout),
        pycurl.LOW_SPEED_LIMIT: settings.slowest,
        pycurl.LOW_SPEED_TIME: SLOW_SECONDS,
        pycurl.MAXAGE_CONN: IDLE_SECONDS,
        pycurl.BUFFERSIZE: _BUFFER_BYTES,
        pycurl.SSL_VERIFYPEER: 1,
        pycurl.SSL_VERIFYHOST: 2,
    }
    options |= {pycurl.CAINFO: ca_file} if ca_file else {pycurl.CAPATH: ca_folder}
    return options


def _milliseconds(seconds: float) -> int:
    return max(1, round(seconds * 1000))  # 0 would mean no limit


# Groups: scheme, host, port, path.
_CANONICAL_URL = re.compile(r"(https?)://(\[[0-9A-Fa-f:.]+\]|[!-\"$-.0-9;->A-~]+)(?::(\d{1,9}))?(/[!-\"$-~]*)")
_PORTS = {"http": 80, "https": 443}


class HttpRequest(NamedTuple):
    """One request, before the host is resolved."""

    url: str
    purpose: Purpose
    host: str
    origin: str  # scheme, host and port: requests to one origin can share a connection
    port: int
    conditions: list[str]  # header lines of a conditional request, or of one with a body
    raw: bytes  # as sent over HTTP/1.1, for the archive
    body: bytes | None = None  # None: GET, otherwise POST


class RequestBuilder:
    """Builds requests with one User-Agent header."""

    def __init__(self, user_agent: str) -> None:
        self._common_headers = (
            f"User-Agent: {user_agent}\r\nAccept-Encoding: {accept_encoding()}\r\nAccept: {ACCEPT}\r\n"
        )

    def build(self, url: str, purpose: Purpose, etag: str, last_modified: str) -> HttpRequest | None:
        """Build the request for a canonical URL; None when the URL is not canonical."""
        parts = _CANONICAL_URL.fullmatch(url)
        if parts is None:
            return None
        scheme, host, port, path = parts.groups()
        authority = f"{host}:{port}" if port else host
        conditions = _conditional_headers(etag, last_modified) if etag or last_modified else []
        lines = "".join(f"{line}\r\n" for line in conditions)
        raw = f"GET {path} HTTP/1.1\r\nHost: {authority}\r\n{self._common_headers}{lines}\r\n".encode("ascii")
        number = int(port) if port else _PORTS[scheme]
        return HttpRequest(url, purpose, host, f"{scheme}://{authority}", number, conditions, raw)

    def build_post(self, url: str, body: bytes, content_type: str) -> HttpRequest | None:
        """Build a POST request, which is never archived; None when the URL is not canonical."""
        request = self.build(url, Purpose.SERVICE, "", "")
        lines = [f"Content-Type: {content_type}", "Expect:"]  # an empty Expect: libcurl does not wait for status 100
        return request and request._replace(conditions=lines, raw=b"", body=body)


def _conditional_headers(etag: str, last_modified: str) -> list[str]:
    """Return If-None-Match and If-Modified-Since lines, without values that are not valid in a header."""
    pairs = (("If-None-Match", etag), ("If-Modified-Since", last_modified))
    return [f"{name}: {value}" for name, value in pairs if value and value.isascii() and value.isprintable()]
