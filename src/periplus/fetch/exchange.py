"""Receives one HTTP response through a libcurl handle and applies the limits.

libcurl calls back before it connects to an IP address, for every header line and for every part of the body. The
callbacks refuse private addresses, headers that are too long, content types that are not read, and bodies over the
limit.
"""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from http import HTTPStatus
from typing import Any

import pycurl

from periplus.config.settings import Fetching
from periplus.fetch.connections import Socket
from periplus.fetch.failure import failure_reason
from periplus.fetch.memory_budget import LARGE, MemoryBudget
from periplus.fetch.response_limits import SNIFFED, Purpose, ResponseLimit, ResponseLimits, looks_binary
from periplus.fetch.ssrf_guard import refusal_text
from periplus.model import Reason, Response, add_header
from periplus.url import host_of

_STOP = 0  # bytes accepted; libcurl ends the transfer when a callback accepts fewer than it was given
_END_OF_HEAD = b"\r\n"  # a line that starts with either byte is the empty line
_PHRASES = {status.value: status.phrase for status in HTTPStatus}
_NOTHING = ResponseLimit()
_NO_TIMEOUT = 0  # in the terms of libcurl
_ALREADY_RESERVED = -(1 << 62)  # below any number of remaining bytes
_NO_TYPE_NOT_TEXT = "no Content-Type, and the body is not text"


class Exchange:
    """One request and its response; reused for later requests, because libcurl handles are slow to create."""

    def __init__(
        self,
        settings: Fetching,
        limits: ResponseLimits,
        options: dict[int, Any],
        refusal: Callable[[str], Reason | None],
        memory: MemoryBudget,
    ) -> None:
        """*refusal* returns why connecting to an IP address is not allowed; it decides when the socket is opened."""
        self._limits, self._memory = limits, memory
        self._timeout_ms = options[pycurl.TIMEOUT_MS]
        self._has_changed_timeout = False  # the handle was paused
        self._header_bytes = settings.header_bytes
        self._refusal = refusal
        self._on_sent: Callable[[], None] | None = None
        self._checks_certificate = True
        self._target: tuple[str, bool] | None = None  # ADDRESS:PORT and keep-alive
        self.curl = pycurl.Curl()
        for option, value in options.items():
            self.curl.setopt(option, value)
        self.curl.setopt(pycurl.OPENSOCKETFUNCTION, self._on_open_socket)
        self.curl.setopt(pycurl.HEADERFUNCTION, self._on_header)
        self.curl.setopt(pycurl.WRITEFUNCTION, self._on_body)

    def prepare(
        self, url: str, purpose: Purpose, target: str, *, keep_alive: bool, on_sent: Callable[[], None] | None
    ) -> None:
        """Discard the last response and set the options for the request of *url*.

        *target* is `ADDRESS:PORT`. *keep_alive*: the connection stays open afterwards. *on_sent* is called when
        libcurl is connected and sends the request.
        """
        if self._has_changed_timeout:
            self._set_timeout(self._timeout_ms)
        if on_sent is not None and self._on_sent is None:
            self.curl.setopt(pycurl.PREREQFUNCTION, self._on_connected)  # only when needed: the callback takes time
        self._url = url
        self._purpose = purpose
        self._on_sent = on_sent
        self.connection: Socket | None = None  # opened for this request; None: an idle one is used
        self._status = 0
        self._head = b""
        self._head_bytes = 0
        self._lines: list[bytes] = []
        self._headers: dict[str, str] = {}
        self._limit = _NOTHING  # until the head is complete
        self._remaining = self._remaining_when_large = 0
        self._paused_since = 0.0  # monotonic seconds; 0: the transfer is not paused
        self._paused_seconds = 0.0
        self._sniffing = False
        self._chunks: list[bytes] = []
        self._truncated = False
        self._failure: Reason | None = None
        self._refused: Reason | None = None
        self._detail = ""
        self.curl.setopt(pycurl.URL, url)
        if (target, keep_alive) != self._target:
            self._target = target, keep_alive
            self.curl.setopt(pycurl.CONNECT_TO, [f"::{target}"])
            self.curl.setopt(pycurl.FORBID_REUSE, not keep_alive)

    def set_certificate_check(self, enabled: bool) -> None:
        """Switch the verification of the server's certificate on or off."""
        if enabled != self._checks_certificate:
            self._checks_certificate = enabled
            self.curl.setopt(pycurl.SSL_VERIFYPEER, enabled)
            self.curl.setopt(pycurl.SSL_VERIFYHOST, 2 * enabled)

    def finish(self, fetched_at: float, request: bytes, error: pycurl.error | None) -> Response:
        """Build the response; *error* is libcurl's error when the transfer failed."""
        if self._paused_since:  # the transfer ended while it was paused
            self._paused_since = 0.0
            self._memory.release(host_of(self._url))
        ip = self.curl.getinfo(pycurl.PRIMARY_IP)
        body = b"".join(self._chunks)
        self._chunks = []  # frees the body: an idle handle may be kept for long
        if self._failure is None and not self._truncated:
            self._record_error(error, bool(ip))
        if self._sniffing and self._failure is None and looks_binary(body):
            self._stop(Reason.WRONG_TYPE, _NO_TYPE_NOT_TEXT)
        failed = self._failure is not None
        return Response(
            url=self._url,
            fetched_at=fetched_at,
            status=self._status,
            head=self._head,
            headers=self._headers,
            body=b"" if failed else body,
            truncated=self._truncated and not failed,
            request=request,
            ip=ip,
            failure=self._failure,
            detail=self._detail if failed else "",
            seconds=self.curl.getinfo(pycurl.TOTAL_TIME) - self._paused_seconds,
            connect_seconds=self._connect_seconds() if self.connection is not None else 0.0,
        )

    @property
    def is_connected(self) -> bool:
        """Whether the request was sent, or is about to be, while the transfer is under way."""
        return bool(self.curl.getinfo(pycurl.PRETRANSFER_TIME))

    def _connect_seconds(self) -> float:
        return float(max(self.curl.getinfo(pycurl.CONNECT_TIME), self.curl.getinfo(pycurl.APPCONNECT_TIME)))

    def _record_error(self, error: pycurl.error | None, connected: bool) -> None:
        if error is None:
            if not self._head:  # libcurl reports no error for that
                self._stop(Reason.CUT_SHORT, "the response ended before its headers did")
            return
        code, message = error.args
        if self._refused and code == pycurl.E_COULDNT_CONNECT:
            self._failure = self._refused  # the host has no other address
        else:
            self._stop(failure_reason(code, message, connected), message)

    def _stop(self, reason: Reason, detail: str) -> int:
        self._failure, self._detail = reason, detail
        return _STOP

    def _on_open_socket(self, _purpose: int, address: tuple[int, int, int, tuple[Any, ...]]) -> int:
        """Open the socket for an IP address, or refuse to connect; nothing is sent to a refused address."""
        family, kind, protocol, (ip, *_) = address
        refused = self._refusal(ip)
        detail = refusal_text(refused, ip) if refused else ""
        if refused is None:
            try:
                descriptor = socket.socket(family, kind, protocol).detach()
            except OSError as error:
                refused, detail = Reason.CONNECT, str(error)
            else:
                self.connection = Socket.of(descriptor)
                return descriptor
        self._refused, self._detail = refused, detail
        return int(pycurl.SOCKET_BAD)

    def _on_connected(self, *_ends: str | int) -> int:
        if self._on_sent is not None:
            self._on_sent()
        return int(pycurl.PREREQFUNC_OK)

    def _on_header(self, line: bytes) -> int | None:
        self._head_bytes += len(line)
        if self._head_bytes > self._header_bytes:
            return self._stop(Reason.BAD_HTTP, f"more than {self._header_bytes} bytes of headers")
        if self._head:
            return None  # a trailer
        if line[0] not in _END_OF_HEAD:
            self._lines.append(line)
            return None
        lines, self._lines = self._lines, []
        status = _status(lines[0]) if lines else 0
        return self._on_head(status, lines) if status >= 200 else None  # 1xx: the final response follows

    def _on_head(self, status: int, lines: list[bytes]) -> int | None:
        if not lines[0].startswith(b"HTTP/1"):  # HTTP/2 and later have no status line
            lines[0] = f"HTTP/1.1 {status} {_PHRASES.get(status, '')}\r\n".encode()
        self._status = status
        self._head = b"".join(lines)
        if self._head.count(b"\r\n") < len(lines):
            self._head = b"".join([line.rstrip(b"\r\n") + b"\r\n" for line in lines])
        for line in self._head.decode("latin-1").split("\r\n")[1:-1]:
            name, _, value = line.partition(":")
            add_header(self._headers, name.rstrip().lower(), value.strip())
        mime = self._headers.get("content-type", "").partition(";")[0].strip().lower()
        length = self._headers.get("content-length", "")
        declared = int(length) if length.isdecimal() and len(length) < 20 else 0
        self._limit = self._limits.of(self._purpose, status, mime, declared)
        self._remaining = self._limit.limit
        is_exact = declared and "content-encoding" not in self._headers
        self._expected = min(declared, self._remaining) if is_exact else self._remaining
        self._remaining_when_large = self._remaining - LARGE
        self._sniffing = self._limit.sniff
        if self._limit.refused:
            return self._stop(self._limit.refused, self._limit.detail)
        return None

    def _on_body(self, chunk: bytes) -> int | None:
        room = self._remaining - len(chunk)
        if room < self._remaining_when_large:
            if not self._memory.reserve(host_of(self._url), self._expected, self._resume):
                return self._pause()
            self._remaining_when_large = _ALREADY_RESERVED
        if room < 0:
            if not self._limit.cut:
                return self._stop(Reason.TOO_LARGE, f"more than {self._limit.limit} bytes")
            self._truncated = True
            chunk = chunk[: self._remaining]
        self._chunks.append(chunk)
        self._remaining = room
        if self._sniffing and self._limit.limit - room >= SNIFFED:
            self._sniffing = False
            if looks_binary(b"".join(self._chunks)[:SNIFFED]):
                return self._stop(Reason.WRONG_TYPE, _NO_TYPE_NOT_TEXT)
        return _STOP if self._truncated else None

    def _pause(self) -> int:
        """Pause the transfer until memory is free; the pause does not count towards the timeout."""
        self._paused_since = time.monotonic()
        asyncio.get_running_loop().call_soon(self._suspend_timeout)  # libcurl accepts no options in a callback
        return int(pycurl.WRITEFUNC_PAUSE)

    def _suspend_timeout(self) -> None:
        if self._paused_since:
            self._set_timeout(_NO_TIMEOUT)

    def _resume(self) -> None:
        self._paused_seconds, self._paused_since = time.monotonic() - self._paused_since, 0.0
        self._remaining_when_large = _ALREADY_RESERVED
        self._set_timeout(self._timeout_ms + round(1000 * self._paused_seconds))
        with suppress(pycurl.error):  # the transfer ended meanwhile and reports its own result
            self.curl.pause(pycurl.PAUSE_CONT)

    def _set_timeout(self, milliseconds: int) -> None:
        self._has_changed_timeout = milliseconds != self._timeout_ms
        self.curl.setopt(pycurl.TIMEOUT_MS, milliseconds)


def _status(line: bytes) -> int:
    code = line.partition(b" ")[2][:3]
    return int(code) if code.isdigit() else 0
