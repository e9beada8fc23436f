"""Serves a test web for manual tests: `python -m testweb --shape mesh --pages 2000 --hosts 10`"""

from __future__ import annotations

import argparse
import signal
import sys
from contextlib import suppress
from pathlib import Path

from .page import Site
from .shapes import calendar, chain, many_hosts, mesh, session_maze, tree
from .web import TestWeb

_FANOUT = 5


def describe(shape: str, hosts: int, pages: int, seed: int) -> list[Site]:
    """Build the sites asked for. Only meshes of several hosts link to each other."""
    if shape == "mesh" and hosts > 1:
        return many_hosts(hosts, pages, seed)
    names = [f"h{number:04}.test" for number in range(1, hosts + 1)]
    depth = next(d for d in range(64) if sum(_FANOUT**level for level in range(d + 1)) >= pages)
    makers = {
        "chain": lambda host: chain(host, pages),
        "tree": lambda host: tree(host, _FANOUT, depth),
        "mesh": lambda host: mesh(host, pages, seed=seed),
        "calendar": calendar,
        "session-maze": session_maze,
    }
    return [makers[shape](name) for name in names]


def main() -> None:
    """Serve until Ctrl-C."""
    shapes = ["chain", "tree", "mesh", "calendar", "session-maze"]
    parser = argparse.ArgumentParser(prog="python -m testweb", description="Serve a made-up web on loopback.")
    parser.add_argument("--shape", choices=shapes, default="mesh")
    parser.add_argument("--hosts", type=int, default=1, help="how many hosts (default 1)")
    parser.add_argument("--pages", type=int, default=100, help="pages of each host, at least (default 100)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--https", action="store_true", help="serve https too, with a CA made for this run")
    parser.add_argument("--log", type=Path, metavar="FILE", help="write every request to this file")
    options = parser.parse_args()
    sites = describe(options.shape, options.hosts, options.pages, options.seed)
    with TestWeb(sites, https=options.https, log_file=options.log) as web:
        lines = [" ".join(f"--connect-to {mapping}" for mapping in web.connect_to)]
        lines += [f"--cacert {web.ca_file}"] if options.https else []
        sys.stdout.write("\n".join([*lines, f"start at http://{sites[0].host}/", ""]))
        sys.stdout.flush()
        with suppress(KeyboardInterrupt):
            signal.pause()
        sys.stdout.write(f"{len(web.log.entries())} requests\n")


if __name__ == "__main__":
    main()
