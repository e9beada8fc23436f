"""What does libcurl have to know about every request?"""

from __future__ import annotations

from typing import Any

import pycurl

from periplus.config.settings import Fetching
from periplus.fetch.connections import KEPT_SECONDS
from periplus.fetch.trust import certificate_authorities

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
