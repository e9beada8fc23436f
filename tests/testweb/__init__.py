"""The web that the crawler fetches in tests, described as data and served on loopback.

Example:

    with TestWeb([Site("a.test", {"/": Page("Home", links=["/b"]), "/b": Page("B")})]) as web:
        crawl("http://a.test/", connect_to=web.connect_to)
        assert web.log.paths("a.test") == ["/robots.txt", "/", "/b"]
"""

from . import hostile, prose
from .certificates import CertificateAuthority
from .client import ask
from .log import Connection, Entry, RequestLog
from .message import Request
from .page import Certificate, ComputedPages, Handler, Link, Page, Site
from .shapes import calendar, chain, many_hosts, mesh, session_maze, tree
from .web import TestWeb
from .writer import Writer

__all__ = [
    "Certificate",
    "CertificateAuthority",
    "ComputedPages",
    "Connection",
    "Entry",
    "Handler",
    "Link",
    "Page",
    "Request",
    "RequestLog",
    "Site",
    "TestWeb",
    "Writer",
    "ask",
    "calendar",
    "chain",
    "hostile",
    "many_hosts",
    "mesh",
    "prose",
    "session_maze",
    "tree",
]
