"""What has one server answered so far, and is it enough?

One libcurl handle, and the questions libcurl asks through it: may this address be dialled, is this header wanted, is
more of this body wanted?
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
from periplus.fetch.ssrf_guard import explanation
from periplus.model import Reason, Response, add_header
from periplus.url import host_of

_STOP = 0  # bytes taken; fewer than were offered end the transfer
_END_OF_HEAD = b"\r\n"  # a line that begins with one of them is the empty line
_PHRASES = {status.value: status.phrase for status in HTTPStatus}
_UNREAD = ResponseLimit()
_NO_LIMIT = 0  # to libcurl
_NEVER = -(1 << 62)  # no room is so small
_NOT_TEXT = "no type is given, and it does not look like text"


class Exchange:
    """One request at a time and what came back; used again and again, because handles are dear to make."""

    def __init__(
        self,
        settings: Fetching,
        allowances: ResponseLimits,
        options: dict[int, Any],
        refusal: Callable[[str], Reason | None],
        hold: MemoryBudget,
    ) -> None:
        """*refusal* says why an address must not be dialled, and has the last word about it."""
        self._allowances, self._hold = allowances, hold
        self._milliseconds = options[pycurl.TIMEOUT_MS]
        self._has_own_limit = False  # of time, because it had to wait
        self._header_bytes = settings.header_bytes
        self._refusal = refusal
        self._sent: Callable[[], None] | None = None
        self._verifies = True
        self._way: tuple[str, bool] | None = None  # that the last request took: its place, and whether it was kept open
        self.curl = pycurl.Curl()
        for option, value in options.items():
            self.curl.setopt(option, value)
        self.curl.setopt(pycurl.OPENSOCKETFUNCTION, self._on_dial)
        self.curl.setopt(pycurl.HEADERFUNCTION, self._on_header)
        self.curl.setopt(pycurl.WRITEFUNCTION, self._on_body)

    def begin(self, url: str, purpose: Purpose, place: str, *, keep: bool, sent: Callable[[], None] | None) -> None:
        """Forget the last answer and get ready to ask for *url*.

        *place* is `ADDRESS:PORT`, *keep* whether the connection stays open, *sent* is called when the request leaves.
        """
        if self._has_own_limit:
            self._limit_time(self._milliseconds)
        if sent is not None and self._sent is None:
            self.curl.setopt(pycurl.PREREQFUNCTION, self._on_connected)  # only where it matters: it takes time
        self._url = url
        self._purpose = purpose
        self._sent = sent
        self.connection: Socket | None = None  # the one made for this request; None: one that was open is used
        self._status = 0
        self._head = b""
        self._head_bytes = 0
        self._lines: list[bytes] = []
        self._headers: dict[str, str] = {}
        self._allowance = _UNREAD  # until the head is complete
        self._room = self._room_when_large = 0
        self._waits_since = 0.0  # for room; monotonic, 0: it does not
        self._waited = 0.0  # seconds
        self._sniffing = False
        self._chunks: list[bytes] = []
        self._truncated = False
        self._failure: Reason | None = None
        self._refused: Reason | None = None
        self._detail = ""
        self.curl.setopt(pycurl.URL, url)
        if (place, keep) != self._way:
            self._way = place, keep
            self.curl.setopt(pycurl.CONNECT_TO, [f"::{place}"])
            self.curl.setopt(pycurl.FORBID_REUSE, not keep)

    def verify(self, wanted: bool) -> None:
        """Whether the server has to prove who it is."""
        if wanted != self._verifies:
            self._verifies = wanted
            self.curl.setopt(pycurl.SSL_VERIFYPEER, wanted)
            self.curl.setopt(pycurl.SSL_VERIFYHOST, 2 * wanted)

    def finish(self, fetched_at: float, request: bytes, error: pycurl.error | None) -> Response:
        """The record of what happened; *error* is libcurl's when the transfer did not run to its end."""
        if self._waits_since:  # the server did not
            self._waits_since = 0.0
            self._hold.leave(host_of(self._url))
        ip = self.curl.getinfo(pycurl.PRIMARY_IP)
        body = b"".join(self._chunks)
        self._chunks = []  # a handle may wait long for its next use, and the body is large
        if self._failure is None and not self._truncated:
            self._blame(error, bool(ip))
        if self._sniffing and self._failure is None and looks_binary(body):
            self._stop(Reason.WRONG_TYPE, _NOT_TEXT)
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
            seconds=self.curl.getinfo(pycurl.TOTAL_TIME) - self._waited,
            connect_seconds=self._connect_seconds() if self.connection is not None else 0.0,
        )

    def _connect_seconds(self) -> float:
        return float(max(self.curl.getinfo(pycurl.CONNECT_TIME), self.curl.getinfo(pycurl.APPCONNECT_TIME)))

    def _blame(self, error: pycurl.error | None, connected: bool) -> None:
        if error is None:
            if not self._head:  # libcurl does not mind
                self._stop(Reason.CUT_SHORT, "the answer ended before its headers did")
            return
        code, words = error.args
        if self._refused and code == pycurl.E_COULDNT_CONNECT:
            self._failure = self._refused  # no other address of the host was left
        else:
            self._stop(failure_reason(code, words, connected), words)

    def _stop(self, reason: Reason, detail: str) -> int:
        self._failure, self._detail = reason, detail
        return _STOP

    def _on_dial(self, _purpose: int, address: tuple[int, int, int, tuple[Any, ...]]) -> int:
        """The socket for an address, unless it must not be dialled: then nothing is sent to it."""
        family, kind, protocol, (ip, *_) = address
        refused = self._refusal(ip)
        why = explanation(refused, ip) if refused else ""
        if refused is None:
            try:
                descriptor = socket.socket(family, kind, protocol).detach()
            except OSError as error:
                refused, why = Reason.CONNECT, str(error)
            else:
                self.connection = Socket.of(descriptor)
                return descriptor
        self._refused, self._detail = refused, why
        return int(pycurl.SOCKET_BAD)

    def _on_connected(self, *_ends: str | int) -> int:
        if self._sent is not None:
            self._sent()
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
        return self._on_head(status, lines) if status >= 200 else None  # after an interim answer the real one follows

    def _on_head(self, status: int, lines: list[bytes]) -> int | None:
        if not lines[0].startswith(b"HTTP/1"):  # later versions have no status line of their own
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
        self._allowance = self._allowances.of(self._purpose, status, mime, declared)
        self._room = self._allowance.limit
        is_told = declared and "content-encoding" not in self._headers
        self._expected = min(declared, self._room) if is_told else self._room
        self._room_when_large = self._room - LARGE
        self._sniffing = self._allowance.sniff
        if self._allowance.refused:
            return self._stop(self._allowance.refused, self._allowance.detail)
        return None

    def _on_body(self, chunk: bytes) -> int | None:
        room = self._room - len(chunk)
        if room < self._room_when_large:
            if not self._hold.take(host_of(self._url), self._expected, self._go_on):
                return self._wait()
            self._room_when_large = _NEVER
        if room < 0:
            if not self._allowance.cut:
                return self._stop(Reason.TOO_LARGE, f"more than {self._allowance.limit} bytes")
            self._truncated = True
            chunk = chunk[: self._room]
        self._chunks.append(chunk)
        self._room = room
        if self._sniffing and self._allowance.limit - room >= SNIFFED:
            self._sniffing = False
            if looks_binary(b"".join(self._chunks)[:SNIFFED]):
                return self._stop(Reason.WRONG_TYPE, _NOT_TEXT)
        return _STOP if self._truncated else None

    def _wait(self) -> int:
        """Leave the rest of a body with its server; the time until `_go_on` does not count."""
        self._waits_since = time.monotonic()
        asyncio.get_running_loop().call_soon(self._stop_the_clock)  # libcurl takes no options while it asks something
        return int(pycurl.WRITEFUNC_PAUSE)

    def _stop_the_clock(self) -> None:
        if self._waits_since:
            self._limit_time(_NO_LIMIT)

    def _go_on(self) -> None:
        self._waited, self._waits_since = time.monotonic() - self._waits_since, 0.0
        self._room_when_large = _NEVER
        self._limit_time(self._milliseconds + round(1000 * self._waited))
        with suppress(pycurl.error):  # what came meanwhile is all that is wanted: the transfer itself will say so
            self.curl.pause(pycurl.PAUSE_CONT)

    def _limit_time(self, milliseconds: int) -> None:
        self._has_own_limit = milliseconds != self._milliseconds
        self.curl.setopt(pycurl.TIMEOUT_MS, milliseconds)


def _status(line: bytes) -> int:
    code = line.partition(b" ")[2][:3]
    return int(code) if code.isdigit() else 0
