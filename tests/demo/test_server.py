"""The documentation server serves several hosts on one loopback address, and nothing else."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path

import pytest

from periplus.demo.library import Site
from periplus.demo.server import LOOPBACK, DocumentationServer, listen
from periplus.errors import PortTaken


@pytest.fixture
def server(tmp_path: Path) -> Iterator[DocumentationServer]:
    (tmp_path / "index.html").write_text("<title>Valgrind</title>", encoding="utf-8")
    (tmp_path / "style.css").write_text("p {}", encoding="utf-8")
    (tmp_path / "secret").write_text("a password", encoding="utf-8")
    site = Site(
        "valgrind.docs.localhost", "Valgrind", {f"/{name}": tmp_path / name for name in ("index.html", "style.css")}
    )
    with DocumentationServer(0) as opened, opened.serving([site]):
        yield opened


def fetch(server: DocumentationServer, host: str, path: str, method: str = "GET") -> tuple[int, str, str]:
    connection = HTTPConnection(LOOPBACK, server.port, timeout=5)
    connection.request(method, path, headers={"Host": host})
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, answer.getheader("content-type", ""), text


def test_hosts_are_selected_by_name(server: DocumentationServer) -> None:
    assert fetch(server, "valgrind.docs.localhost", "/") == (200, "text/html", "<title>Valgrind</title>")
    assert fetch(server, f"Valgrind.docs.localhost:{server.port}", "/style.css")[:2] == (200, "text/css")
    assert fetch(server, "elsewhere.localhost", "/")[0] == 404


def test_the_entrance_leads_to_every_host(server: DocumentationServer) -> None:
    status, _, text = fetch(server, "docs.localhost", "/")
    assert status == 200
    assert f'href="http://valgrind.docs.localhost:{server.port}/"' in text
    assert server.index_url == f"http://docs.localhost:{server.port}/"


def test_robots_are_welcome_everywhere(server: DocumentationServer) -> None:
    for host in server.hosts:
        assert fetch(server, host, "/robots.txt") == (200, "text/plain", "User-agent: *\nAllow: /\n")


@pytest.mark.parametrize("path", ["/secret", "/../secret", "/%2e%2e/secret", "/index.html/", "/%00", "/%ff"])
def test_nothing_but_the_files_it_was_given_is_served(server: DocumentationServer, path: str) -> None:
    assert fetch(server, "valgrind.docs.localhost", path)[0] == 404


def test_a_page_that_has_vanished_is_not_found(server: DocumentationServer, tmp_path: Path) -> None:
    (tmp_path / "index.html").unlink()
    assert fetch(server, "valgrind.docs.localhost", "/")[0] == 404


def test_heads_are_answered_without_a_body(server: DocumentationServer) -> None:
    assert fetch(server, "valgrind.docs.localhost", "/", "HEAD") == (200, "text/html", "")


def test_connect_to_lists_exactly_these_hosts(server: DocumentationServer) -> None:
    at = f"{server.port}:127.0.0.1:{server.port}"
    assert server.connect_to == [f"docs.localhost:{at}", f"valgrind.docs.localhost:{at}"]


def test_only_this_machine_can_reach_it(server: DocumentationServer) -> None:
    assert server.server_address[0] == "127.0.0.1"


def test_a_port_that_is_taken_is_passed_over_unless_it_is_the_only_one() -> None:
    with listen() as first, listen() as second:
        assert second.port != first.port
        with pytest.raises(PortTaken, match=f"port {first.port} is taken"):
            listen(first.port)


def test_it_stops_answering_when_the_demo_ends(tmp_path: Path) -> None:
    with DocumentationServer(0) as server:
        port = server.port
        with server.serving([]):
            pass
    with pytest.raises(OSError, match="refused"):
        socket.create_connection((LOOPBACK, port), timeout=1).close()
