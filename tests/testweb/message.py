"""Parses a request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache


class MalformedRequestError(Exception):
    """The bytes are not a valid request; the client gets a 400."""


@dataclass(frozen=True, slots=True)
class Request:
    """One request as it was received."""

    method: str
    path: str  # path and query, undecoded: what the client really wrote
    authority: str  # the Host header in lower case, with its port if one was sent
    headers: Mapping[str, str]  # names in lower case
    scheme: str  # "http" or "https": which port it arrived at
    connection: int  # which TCP connection carried it
    keep_alive: bool

    @property
    def host(self) -> str:
        """The host name alone, the key of sites and of log queries."""
        return host_of(self.authority)

    @property
    def url(self) -> str:
        """The URL as a crawler writes it, without a default port."""
        default_port = ":443" if self.scheme == "https" else ":80"
        return f"{self.scheme}://{self.authority.removesuffix(default_port)}{self.path}"


def host_of(authority: str) -> str:
    """Cut the port off a Host header; the brackets of an IPv6 literal stay."""
    host, colon, port = authority.rpartition(":")
    return host if colon and port.isdigit() else authority


def parse_request(head: bytes, scheme: str, connection: int) -> Request:
    """Read everything before the blank line. Bytes map to latin-1, so nothing the client sent is lost."""
    line, _, block = head.partition(b"\r\n")
    words = line.decode("latin-1").split(" ")
    if len(words) != 3 or not words[1].startswith("/") or not words[2].startswith("HTTP/1."):
        raise MalformedRequestError(line)
    headers = parse_headers(block)
    if not headers.get("host"):
        raise MalformedRequestError("no Host header")
    wish = headers.get("connection", "").lower()
    keep_alive = "close" not in wish and (words[2] != "HTTP/1.0" or "keep-alive" in wish)
    return Request(words[0], words[1], headers["host"].lower(), headers, scheme, connection, keep_alive)


# A crawler sends a host the same headers again and again: shared, they keep a long log small.
@lru_cache(maxsize=4096)
def parse_headers(block: bytes) -> Mapping[str, str]:
    """Read header lines; a repeated name is joined with a comma, as RFC 9110 allows."""
    headers: dict[str, str] = {}
    for line in block.decode("latin-1").split("\r\n"):
        name, colon, value = line.partition(":")
        if colon:
            name, value = name.lower(), value.strip()
            headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return headers
