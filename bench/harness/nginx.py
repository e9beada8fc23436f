"""Serves the web with nginx and writes an access log."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from harness import packages
from harness.errors import BenchError
from harness.machine import pinned
from harness.web import Site, Web

START_SECONDS = 10.0
LOG_FORMAT = "$msec $host $request_method $status $body_bytes_sent $sent_http_content_type $request_uri"

MAIN = """\
daemon off;
worker_processes 1;
{user}pid {folder}/nginx.pid;
error_log {folder}/error.log warn;
events {{ worker_connections 8192; }}
http {{
    types {{
        text/html html htm; text/plain txt; text/css css; application/javascript js;
        image/png png; image/gif gif; image/jpeg jpg jpeg; image/svg+xml svg; application/pdf pdf;
    }}
    default_type application/octet-stream;
    log_format bench '{log_format}';
    access_log {folder}/access.log bench;
    log_not_found off;
    sendfile on;
    tcp_nopush on;
    keepalive_timeout 300s;
    keepalive_requests 1000000;
    absolute_redirect off;  # a redirect must not leak the port that the crawler never asked for
    open_file_cache max=20000 inactive=600s;
    server_names_hash_bucket_size 128;
    client_body_temp_path {folder}/tmp; proxy_temp_path {folder}/tmp; fastcgi_temp_path {folder}/tmp;
    uwsgi_temp_path {folder}/tmp; scgi_temp_path {folder}/tmp;
    # Links that leave the bench's web end here: one refusal a host, nothing to fetch.
    server {{
        listen 127.0.0.1:{port} default_server backlog=4096;
        location = /robots.txt {{ default_type text/plain; return 200 "User-agent: *\\nDisallow: /\\n"; }}
        location / {{ return 404; }}
    }}
{servers}}}
"""

SERVER = """\
    server {{
        listen 127.0.0.1:{port};
        server_name {site.host};
        root {site.root};
        index index.html;
        location = /robots.txt {{ default_type text/plain; return 200 "User-agent: *\\nDisallow:\\n"; }}
    }}
"""


@dataclass(frozen=True)
class Server:
    """A running web server and its access log."""

    port: int
    log: Path


def find(cache: Path) -> str:
    """The installed nginx, or one unpacked into the cache; installing the package would start a service."""
    installed = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")
    if installed:
        return installed
    binary = packages.unpack(["nginx"], cache)["nginx"] / "usr/sbin/nginx"
    probe = [str(binary), "-v"]
    if not binary.exists() or subprocess.run(probe, check=False, stderr=subprocess.DEVNULL).returncode:
        raise BenchError("nginx is needed to serve the web: apt-get install nginx-light")
    return str(binary)


@contextmanager
def serve(binary: str, web: Web, folder: Path, core: int) -> Iterator[Server]:
    """Serves the web from one worker on one core until the block ends."""
    (folder / "tmp").mkdir(parents=True, exist_ok=True)
    port = _free_port()
    config = folder / "nginx.conf"
    config.write_text(_config(web, folder, port))
    command = pinned([binary, "-p", str(folder), "-e", str(folder / "error.log"), "-c", str(config)], [core])
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)
    try:
        _wait_until_open(process, port, folder)
        yield Server(port, folder / "access.log")
    finally:
        _stop(process)


def _config(web: Web, folder: Path, port: int) -> str:
    servers = "".join(SERVER.format(port=port, site=_quoted(site)) for site in web.sites)
    # As root, nginx would hand the worker to an account that may not read the cache.
    user = "user root;\n" if os.geteuid() == 0 else ""
    log_format = LOG_FORMAT.replace(" ", "\\t")  # a content type may hold spaces
    return MAIN.format(user=user, folder=folder, port=port, log_format=log_format, servers=servers)


def _quoted(site: Site) -> Site:
    return Site(site.host, Path(f'"{site.root}"'), site.seeds, site.pages)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_until_open(process: subprocess.Popen[bytes], port: int, folder: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.02)
    log = folder / "error.log"
    reason = log.read_text().strip()[-300:] if log.exists() else "no message"
    raise BenchError(f"nginx did not start on port {port}: {reason}")


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
