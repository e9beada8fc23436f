"""Every libcurl error has a reason code."""

from __future__ import annotations

import pycurl
import pytest

from periplus.fetch.failure import failure_reason
from periplus.model import Reason


@pytest.mark.parametrize(
    ("code", "message", "reason"),
    [
        (pycurl.E_COULDNT_RESOLVE_HOST, "Could not resolve host: x", Reason.DNS),
        (pycurl.E_COULDNT_CONNECT, "Failed to connect", Reason.CONNECT),
        (pycurl.E_OPERATION_TIMEDOUT, "Operation timed out after 1 milliseconds", Reason.TIMEOUT),
        (pycurl.E_OPERATION_TIMEDOUT, "Operation too slow. Less than 1 bytes/sec", Reason.TOO_SLOW),
        (pycurl.E_OPERATION_TIMEDOUT, "Resolving timed out after 1000 milliseconds", Reason.DNS),
        (pycurl.E_SSL_CONNECT_ERROR, "handshake failure", Reason.TLS),
        (pycurl.E_PEER_FAILED_VERIFICATION, "certificate has expired (10)", Reason.TLS_EXPIRED),
        (pycurl.E_PEER_FAILED_VERIFICATION, "certificate is not yet valid (9)", Reason.TLS_EXPIRED),
        (pycurl.E_PEER_FAILED_VERIFICATION, "no alternative certificate subject name matches x", Reason.TLS_NAME),
        (pycurl.E_PEER_FAILED_VERIFICATION, "self-signed certificate in certificate chain (19)", Reason.TLS_ISSUER),
        (pycurl.E_PEER_FAILED_VERIFICATION, "unable to get local issuer certificate (20)", Reason.TLS_ISSUER),
        (pycurl.E_PEER_FAILED_VERIFICATION, "unable to verify the first certificate (21)", Reason.TLS_ISSUER),
        (pycurl.E_PEER_FAILED_VERIFICATION, "certificate revoked (23)", Reason.TLS),
        (pycurl.E_GOT_NOTHING, "Empty reply from server", Reason.CUT_SHORT),
        (pycurl.E_RECV_ERROR, "Recv failure: Connection reset by peer", Reason.CUT_SHORT),
        (pycurl.E_RECV_ERROR, "Malformed encoding found in chunked-encoding", Reason.BAD_HTTP),
        (pycurl.E_BAD_CONTENT_ENCODING, "Unrecognized content encoding type", Reason.BAD_HTTP),
        (pycurl.E_HTTP2, "Error in the HTTP2 framing layer", Reason.BAD_HTTP),
        (pycurl.E_UNSUPPORTED_PROTOCOL, "Received HTTP/0.9 when not allowed", Reason.BAD_HTTP),
    ],
)
def test_a_libcurl_error_has_the_right_reason(code: int, message: str, reason: Reason) -> None:
    assert failure_reason(code, message, connected=True) is reason


@pytest.mark.parametrize("code", range(1, 110))
def test_an_unknown_libcurl_error_has_a_reason(code: int) -> None:
    assert failure_reason(code, "", connected=False) in Reason
    assert failure_reason(code, "", connected=True) in Reason


def test_a_url_that_libcurl_does_not_support_is_not_a_web_url() -> None:
    assert failure_reason(pycurl.E_URL_MALFORMAT, "", connected=False) is Reason.NOT_WEB
    assert failure_reason(pycurl.E_UNSUPPORTED_PROTOCOL, "", connected=False) is Reason.NOT_WEB
