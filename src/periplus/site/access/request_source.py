"""Where does a request come from: this machine, a name that this site answers to, a page of this site?

A page of another site can make a browser send requests here. Two tricks are refused. By DNS rebinding, a name of the
other site leads to the address of this one; then the Host header has that name. By request forgery, a form of the other
site is sent here; then the headers `Sec-Fetch-Site` or `Origin` name the other site.
"""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import Scope

from periplus.site.client_address import parsed_address
from periplus.site.front import CLIENT

_PROXY_HEADERS = frozenset({b"forwarded", b"via", b"x-real-ip"})


def is_local(scope: Scope) -> bool:
    """Whether a program on this machine sends the request, to a loopback name and not through a proxy."""
    address = parsed_address(client_of(scope))
    if address is None or not address.is_loopback:
        return False
    passed_on = any(name in _PROXY_HEADERS or name.startswith(b"x-forwarded") for name, _ in scope["headers"])
    return not passed_on and is_loopback_name(requested_name(scope))


def client_of(scope: Scope) -> str:
    """The IP address of the client, as the outermost layer of the site has found it."""
    peer = scope["client"][0] if scope.get("client") else ""
    return str(scope.get(CLIENT, peer))


def requested_name(scope: Scope) -> str:
    """The name in the Host header, in lower case and without the port; empty unless there is exactly one header."""
    hosts = [value for name, value in scope["headers"] if name == b"host"]
    return host_name(hosts[0].decode("latin-1")) if len(hosts) == 1 else ""


def host_name(host: str) -> str:
    """The name of `HOST` or `HOST:PORT`; an IP address in its usual form; empty when it is not valid."""
    try:
        name = (urlsplit(f"//{host}").hostname or "").removesuffix(".")
    except ValueError:
        return ""
    address = parsed_address(name)
    return name if address is None else str(address)


def is_loopback_name(name: str) -> bool:
    """Whether a name is `localhost` or a loopback address."""
    address = parsed_address(name)
    return name == "localhost" or (address is not None and address.is_loopback)


class HostNames:
    """The names that a site answers to."""

    def __init__(self, names: Iterable[str], public_address: str = "") -> None:
        """*public_address*: the URL of the site."""
        self._names = {*names, host_name(urlsplit(public_address).netloc)} - {""}

    def allow(self, scope: Scope) -> bool:
        """Whether the Host header is a loopback name, the address that the client connected to, or an allowed name."""
        name, server = requested_name(scope), scope.get("server")
        return is_loopback_name(name) or name in self._names or (bool(name) and name == _address(server))


def _address(server: tuple[str, int] | None) -> str:
    """The IP address that a connection was made to, in its usual form."""
    address = parsed_address(server[0]) if server else None
    return "" if address is None else str(address)


def scheme_of(scope: Scope) -> str:
    """`http` or `https`, as the browser sees it.

    A proxy names it in X-Forwarded-Proto. A client that forges this header changes the answer to itself only, because
    a page of another site cannot set it.
    """
    return Headers(scope=scope).get("x-forwarded-proto") or str(scope.get("scheme", "http"))


def is_same_origin(scope: Scope, public_address: str = "") -> bool:
    """Whether a page of this site sent the form: browsers say so in `Sec-Fetch-Site`, older ones in `Origin`."""
    headers = Headers(scope=scope)
    site = headers.get("sec-fetch-site")
    if site is not None:
        return site == "same-origin"
    own = {f"{scheme_of(scope)}://{headers.get('host', '')}", public_address}
    return headers.get("origin", "") in own - {""}
