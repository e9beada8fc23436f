"""Maps libcurl errors to reason codes."""

from __future__ import annotations

import pycurl

from periplus.model import Reason

_HTTP2_STREAM, _ECH_REQUIRED = 92, 101  # libcurl codes without a name in pycurl

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
BAD_CERTIFICATES = frozenset({Reason.TLS_EXPIRED, Reason.TLS_NAME, Reason.TLS_ISSUER})

# Some failures share a libcurl code; the message tells them apart.
_BY_MESSAGE = (
    (pycurl.E_PEER_FAILED_VERIFICATION, "subject name", Reason.TLS_NAME),
    (pycurl.E_PEER_FAILED_VERIFICATION, "has expired", Reason.TLS_EXPIRED),
    (pycurl.E_PEER_FAILED_VERIFICATION, "not yet valid", Reason.TLS_EXPIRED),
    (pycurl.E_PEER_FAILED_VERIFICATION, "self-signed", Reason.TLS_ISSUER),
    (pycurl.E_PEER_FAILED_VERIFICATION, "issuer", Reason.TLS_ISSUER),
    (pycurl.E_PEER_FAILED_VERIFICATION, "verify the first certificate", Reason.TLS_ISSUER),
    (pycurl.E_OPERATION_TIMEDOUT, "Operation too slow", Reason.TOO_SLOW),
    (pycurl.E_OPERATION_TIMEDOUT, "Resolving timed out", Reason.DNS),
    (pycurl.E_RECV_ERROR, "chunk", Reason.BAD_HTTP),
)


def failure_reason(code: int, message: str, connected: bool) -> Reason:
    """Return the reason code of a libcurl error; *connected*: a connection was open when it occurred."""
    for shared_code, phrase, reason in _BY_MESSAGE:
        if code == shared_code and phrase in message:
            return reason
    if code == pycurl.E_UNSUPPORTED_PROTOCOL and not connected:
        return Reason.NOT_WEB
    return _REASONS.get(code, Reason.BAD_HTTP if connected else Reason.CONNECT)
