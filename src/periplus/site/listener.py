"""Listens on a port, and tells who can reach it. A supervisor needs no library of the server for that."""

from __future__ import annotations

import errno
import socket
from ipaddress import ip_address

from periplus.config import Serving
from periplus.errors import PortTaken, UsageError

_BACKLOG = 2_048  # connections that may wait to be accepted


def listen(host: str, port: int) -> socket.socket:
    """Opens a listening socket first, so a taken port is reported before any other work."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        return socket.create_server(address[:2], family=family, backlog=_BACKLOG)
    except socket.gaierror as error:
        raise UsageError(f"{host!r} is not an address to listen on", error.strerror or "") from error
    except OSError as error:
        raise _listen_error(host, port, error) from error


def _listen_error(host: str, port: int, error: OSError) -> Exception:
    if error.errno == errno.EADDRINUSE:
        why = f"another program listens on {host}"
        return PortTaken(f"port {port} is taken", why, "Stop it, or choose another port with --port.")
    if error.errno == errno.EACCES:
        hint = "Choose one above 1023 with --port."
        return PortTaken(f"port {port} is not allowed", "ports below 1024 require root", hint)
    hint = "127.0.0.1 is this machine only, 0.0.0.0 is all networks."
    return UsageError(f"cannot listen on {host!r}", error.strerror or str(error), hint)


def address_of(listener: socket.socket) -> str:
    """The URL of the site on this socket."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"


def is_loopback(listener: socket.socket) -> bool:
    """Whether only programs on this machine can connect to this socket."""
    return ip_address(listener.getsockname()[0].partition("%")[0]).is_loopback


def is_local_site(settings: Serving, *, is_public: bool) -> bool:
    """Whether only this machine reaches the site; *is_public*: it listens on an address that others reach."""
    return not (is_public or settings.public_address or settings.trusted_proxies)
