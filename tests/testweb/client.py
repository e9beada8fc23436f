"""Sends one request to a test web."""

from __future__ import annotations

import http.client
import socket
import ssl
from collections.abc import Mapping
from urllib.parse import urlsplit

from .web import ADDRESS, TestWeb


def ask(
    web: TestWeb, url: str, headers: Mapping[str, str] | None = None, method: str = "GET"
) -> tuple[http.client.HTTPResponse, bytes]:
    """Send one request on a new connection; return the response and its body. Redirects are not followed."""
    parts = urlsplit(url)
    client = http.client.HTTPConnection(parts.netloc)
    client.sock = _connect(web, parts.scheme, parts.hostname or "")
    try:
        client.request(method, parts._replace(scheme="", netloc="").geturl(), headers=headers or {})
        response = client.getresponse()
        return response, response.read()
    finally:
        client.close()


def _connect(web: TestWeb, scheme: str, host: str) -> socket.socket:
    if scheme == "http":
        return socket.create_connection((ADDRESS, web.http_port), timeout=5)
    raw = socket.create_connection((ADDRESS, web.https_port), timeout=5)
    try:
        return ssl.create_default_context(cafile=str(web.ca_file)).wrap_socket(raw, server_hostname=host)
    except OSError:  # a certificate the client does not trust, or a connection broken in the handshake
        raw.close()
        raise
