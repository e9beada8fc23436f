"""What has one server answered so far, and is it enough?

One libcurl handle with the options that never change, and the callbacks through which libcurl asks: may I dial this
address, do you want this header, do you want more of this body?
"""

from __future__ import annotations

import socket
from http import HTTPStatus
from typing import Any

import pycurl

from periplus.fetch.allowance import SNIFFED, Allowance, Allowances, Purpose, looks_binary
from periplus.fetch.failure import reason_of
from periplus.fetch.guard import refusal
from periplus.model import Reason, Response

_STOP = 0  # the number of bytes taken, as libcurl counts it
_PHRASES = {status.value: status.phrase for status in HTTPStatus}


class Exchange:
    """One request at a time and what came back; used again and again, because making a handle is dear."""

    def __init__(self, options: dict[int, Any], allowances: Allowances, header_bytes: int, dial: Dial) -> None:
        self.curl = pycurl.Curl()
        for option, value in options.items():
            self.curl.setopt(option, value)
        self.curl.setopt(pycurl.HEADERFUNCTION, self._on_header)
        self.curl.setopt(pycurl.WRITEFUNCTION, self._on_body)
        self.curl.setopt(pycurl.OPENSOCKETFUNCTION, self._on_dial)
