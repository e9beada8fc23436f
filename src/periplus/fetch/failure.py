"""What went wrong, in our words?"""

from __future__ import annotations

import pycurl  # type: ignore[import-untyped]

from periplus.model import Reason

_HTTP2_STREAM, _TOO_LARGE, _ECH_REQUIRED = 92, 100, 101  # codes that pycurl has no name for

_REASONS: dict[int, Reason] = {
    pycurl.E_URL_MALFORMAT: Reason.NOT_WEB,
    pycurl.E_COULDNT_RESOLVE_HOST: Reason.DNS,
    pycurl.E_COULDNT_CONNECT: Reason.CONNECT,
    pycurl.E_OPERATION_TIMEDOUT: Reason.TIMEOUT,
    pycurl.E_SSL_CONNECT_ERROR: Reason.TLS,
    pycurl.E_SSL_CERTPROBLEM: Reason.TLS,
    pycurl.E_SSL_CIPHER: Reason.TLS,
    pycurl.E_PEER_FAILED_VERIFICATION: Reason.TLS,
    pycurl.E_SSL_CACERT_BADFILE: Reason.TLS,
    pycurl.E_SSL_ISSUER_ERROR: Reason.TLS,
    pycurl.E_SSL_INVALIDCERTSTATUS: Reason.TLS,
    _ECH_REQUIRED: Reason.TLS,
    pycurl.E_PARTIAL_FILE: Reason.CUT_SHORT,
    pycurl.E_GOT_NOTHING: Reason.CUT_SHORT,
    pycurl.E_SEND_ERROR: Reason.CUT_SHORT,
    pycurl.E_RECV_ERROR: Reason.CUT_SHORT,
    _HTTP2_STREAM: Reason.CUT_SHORT,
}


def reason_of(code: int, words: str, connected: bool) -> Reason:
    """The reason behind libcurl's error *code*, whose *words* tell apart what shares a code."""
    if code == pycurl.E_OPERATION_TIMEDOUT and words.startswith("Operation too slow"):
        return Reason.TOO_SLOW
    if code == pycurl.E_RECV_ERROR and "chunk" in words:
        return Reason.BAD_HTTP
    if code == pycurl.E_UNSUPPORTED_PROTOCOL and not connected:
        return Reason.NOT_WEB
    return _REASONS.get(code, Reason.BAD_HTTP if connected else Reason.CONNECT)
