"""Builds a request: the User-Agent header, the other headers and the libcurl options."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import pycurl

from periplus import __version__
from periplus.config.settings import Fetching
from periplus.errors import ConfigError
from periplus.fetch.certificates import certificate_authorities
from periplus.fetch.connections import KEPT_SECONDS
from periplus.fetch.response_limits import Purpose

PRODUCT = "Periplus"  # what a robots.txt calls us


def user_agent(contact: str) -> str:
    """The User-Agent header: product, version, and where a webmaster reaches whoever is crawling."""
    product = f"{PRODUCT}/{__version__}"
    contact = contact.strip(" ")
    if not (contact.isascii() and contact.isprintable()):
        # A line break would start a header of its own, and other bytes have no meaning in one.
        hint = "Write a URL or a mail address in ASCII, for example https://example.org/crawler"
        raise ConfigError(f"the contact {contact!r} cannot be sent in a header", hint=hint)
    return f"{product} (+{contact})" if contact else product


ACCEPT = "text/html,application/xhtml+xml,text/plain;q=0.9,application/pdf;q=0.9,application/xml;q=0.8,*/*;q=0.1"
SLOW_SECONDS = 10  # a transfer may be slower than `fetch.slowest` for so long
_BUFFER_BYTES = 256 * 1024  # most pages in one read; all handles share one buffer
_WEB = pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS


def accept_encoding() -> str:
    """The encodings that this libcurl undoes; naming others would bring pages nobody can read."""
    features = pycurl.version_info()[4]
    known = (("gzip", pycurl.VERSION_LIBZ), ("deflate", pycurl.VERSION_LIBZ), ("br", pycurl.VERSION_BROTLI))
    return ", ".join(name for name, bit in (*known, ("zstd", pycurl.VERSION_ZSTD)) if features & bit)


def constant_options(settings: Fetching, user_agent: str) -> dict[int, Any]:
    """The options that are set once for each handle."""
    ca_file, ca_folder = certificate_authorities(settings.ca_file)
    options: dict[int, Any] = {
        pycurl.NOSIGNAL: 1,
        pycurl.PROTOCOLS: _WEB,
        pycurl.REDIR_PROTOCOLS: _WEB,
        pycurl.PROXY: "",  # also keeps libcurl from reading the environment
        pycurl.FOLLOWLOCATION: 0,  # every hop is admitted by the frontier like a new URL
        pycurl.PATH_AS_IS: 1,  # the address is canonical already
        pycurl.HTTP_VERSION: pycurl.CURL_HTTP_VERSION_2TLS,
        pycurl.HTTP09_ALLOWED: 0,
        pycurl.USERAGENT: user_agent,
        pycurl.HTTPHEADER: [f"Accept: {ACCEPT}"],
        pycurl.ACCEPT_ENCODING: accept_encoding(),
        pycurl.CONNECTTIMEOUT_MS: _milliseconds(settings.connect_timeout),
        pycurl.TIMEOUT_MS: _milliseconds(settings.timeout),
        pycurl.LOW_SPEED_LIMIT: settings.slowest,
        pycurl.LOW_SPEED_TIME: SLOW_SECONDS,
        pycurl.MAXAGE_CONN: KEPT_SECONDS,
        pycurl.BUFFERSIZE: _BUFFER_BYTES,
        pycurl.SSL_VERIFYPEER: 1,
        pycurl.SSL_VERIFYHOST: 2,
    }
    options |= {pycurl.CAINFO: ca_file} if ca_file else {pycurl.CAPATH: ca_folder}
    return options


def _milliseconds(seconds: float) -> int:
    return max(1, round(seconds * 1000))  # 0 would mean no limit at all


# Addresses as the frontier writes them: scheme, host, port, path.
_ADDRESS = re.compile(r"(https?)://(\[[0-9A-Fa-f:.]+\]|[!-\"$-.0-9;->A-~]+)(?::(\d{1,9}))?(/[!-\"$-~]*)")
_PORTS = {"http": 80, "https": 443}


class HttpRequest(NamedTuple):
    """One request, before it is known where it goes."""

    url: str
    purpose: Purpose
    host: str
    origin: str  # scheme, host and port: what a connection is for
    port: int
    conditions: list[str]  # header lines that not every request has
    request: bytes  # as it is sent over HTTP/1.1, for the archive


class RequestBuilder:
    """Puts requests into words under one name."""

    def __init__(self, user_agent: str) -> None:
        self._same = f"User-Agent: {user_agent}\r\nAccept-Encoding: {accept_encoding()}\r\nAccept: {ACCEPT}\r\n"

    def about(self, url: str, purpose: Purpose, etag: str, last_modified: str) -> HttpRequest | None:
        """The request for a canonical address; None when it is not one."""
        parts = _ADDRESS.fullmatch(url)
        if parts is None:
            return None
        scheme, host, port, path = parts.groups()
        authority = f"{host}:{port}" if port else host
        conditions = _conditions(etag, last_modified) if etag or last_modified else []
        lines = "".join(f"{line}\r\n" for line in conditions)
        request = f"GET {path} HTTP/1.1\r\nHost: {authority}\r\n{self._same}{lines}\r\n".encode("ascii")
        number = int(port) if port else _PORTS[scheme]
        return HttpRequest(url, purpose, host, f"{scheme}://{authority}", number, conditions, request)


def _conditions(etag: str, last_modified: str) -> list[str]:
    """Header lines that ask for the page only if it has changed; what a server sent is not trusted to be a header."""
    pairs = (("If-None-Match", etag), ("If-Modified-Since", last_modified))
    return [f"{name}: {value}" for name, value in pairs if value and value.isascii() and value.isprintable()]
