"""The nginx file of the fleet's documentation works: two search nodes behind one address, and one of them dies."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from cli.commands.test_serve import serving, until_it_answers
from crawl.crawling import wait
from search.library import Doc, index, shelve
from web.serving import Site

FILE = Path(__file__).parents[2] / "docs" / "operate" / "fleet" / "nginx.conf"
UNPACKED = Path(sys.prefix) / "nginx" / "usr" / "sbin"  # by tools/bootstrap
NGINX = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin:{UNPACKED}")
REQUESTS = 20

pytestmark = [pytest.mark.slow, pytest.mark.skipif(NGINX is None, reason="needs nginx")]


@contextmanager
def proxied(folder: Path, ports: list[int]) -> Iterator[Site]:
    """The file with the addresses of this machine and without a certificate, served by nginx."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    text = re.sub(r"ssl_certificate\S*\s.*;", "", FILE.read_text())
    text = text.replace("listen 443 ssl;", f"listen 127.0.0.1:{port};")
    for address, node in zip(re.findall(r"server (\S+:8080)", text), ports, strict=True):
        text = text.replace(address, f"127.0.0.1:{node}")
    folders = "".join(f"{kind}_temp_path {folder};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    main = (
        f"daemon off; pid {folder}/pid; error_log {folder}/log; {'user root;' if os.geteuid() == 0 else ''} events {{}}"
    )
    (folder / "nginx.conf").write_text(f"{main}\nhttp {{ access_log off; {folders}\n{text}\n}}\n")
    command = [str(NGINX), "-p", str(folder), "-e", str(folder / "log"), "-c", str(folder / "nginx.conf")]
    process = subprocess.Popen(command, start_new_session=True)
    try:
        until_it_answers(Site("127.0.0.1", port))
        assert process.poll() is None, (folder / "log").read_text()
        yield Site("127.0.0.1", port)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def test_readers_do_not_notice_that_one_of_two_search_nodes_dies(tmp_path: Path) -> None:
    homes = [tmp_path / "a", tmp_path / "b"]
    for home in homes:
        index(shelve(home, [Doc("http://harbours.example/ostia", "Ostia", "The harbour of Rome.")]))
    (tmp_path / "nginx").mkdir()
    with (
        serving(homes[0]) as (dying, first, _),
        serving(homes[1]) as (_, second, _),
        proxied(tmp_path / "nginx", [first.port, second.port]) as site,
    ):
        for number in range(REQUESTS):
            if number == REQUESTS // 2:
                dying.kill()
                wait(dying)
            answer = site.get("/api/search", q=f"harbour {number}")
            assert (answer.status, answer.json["total"]) == (200, 1)
        assert site.get("/metrics").status == 404, "figures of the nodes are not for readers"
