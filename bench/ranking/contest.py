"""Compares the time of a pass over the links between programs, in several rounds.

Every program runs in its own process and waits for its turn. All run in each round, so that a slow moment of the
machine affects all of them.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from harness import venvs
from harness.errors import BenchError

PEERS = {"scipy": ["scipy>=1.17", "numpy>=2.2"], "networkit": ["networkit>=11.2", "numpy>=2.2"]}
_OWN = ("floor", "ours")
_PASSES = 10  # of every player in every round

Player = subprocess.Popen[str]


class Seconds(NamedTuple):
    """The time of a pass."""

    best: float
    mean: float  # of the best round


def contest(generation: Path, peers: Sequence[str], cache: Path, rounds: int) -> dict[str, Seconds]:
    """The best pass and the best mean of a round, of every program."""
    played: dict[str, list[Seconds]] = {}
    with _started(generation, peers, cache) as players:
        for _ in range(rounds):
            for name, player in players.items():
                played.setdefault(name, []).append(_turn(name, player))
    best = {name: Seconds(min(s.best for s in all_), min(s.mean for s in all_)) for name, all_ in played.items()}
    print(f"seconds a pass: {best}", file=sys.stderr)
    return best


@contextmanager
def _started(generation: Path, peers: Sequence[str], cache: Path) -> Iterator[dict[str, Player]]:
    """Starts a process for each program; the process has the graph in memory."""
    players: dict[str, Player] = {}
    try:
        for name in (*_OWN, *peers):
            print(f"{name}: starting", file=sys.stderr)
            python = sys.executable if name in _OWN else str(venvs.provision(f"rank-{name}", PEERS[name], cache))
            command = [python, "-m", f"ranking.players.{name}", str(generation), str(_PASSES)]
            folder = Path(__file__).resolve().parents[1]
            players[name] = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=folder
            )
            if _answer(name, players[name]) != "ready":
                raise BenchError(f"{name} did not start")
        yield players
    finally:
        for player in players.values():
            player.kill()
            player.communicate()


def _turn(name: str, player: Player) -> Seconds:
    assert player.stdin is not None
    player.stdin.write("go\n")
    player.stdin.flush()
    best, mean = map(float, _answer(name, player).split())
    return Seconds(best, mean)


def _answer(name: str, player: Player) -> str:
    assert player.stdout is not None
    line = player.stdout.readline().strip()
    if not line:
        raise BenchError(f"{name} ended early; its message is above")
    return line
