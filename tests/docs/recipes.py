"""Runs the commands of a page of the documentation, as a reader would type them.

A `console` block has commands after `$ ` and their output. Every command must succeed, and every line of output that
the page shows must be among the real ones, in order: numbers may differ, and an ellipsis stands for anything. A `toml`
block is added to `periplus.toml` of the collection. Blocks of other kinds are not run.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import time
import tomllib
import urllib.request
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_PROGRAMS = {"periplus", "export", "cp", "mv", "tar", "rm", "ls"}  # what a page may run
_SERVING = re.compile(r"Serving .* at (http://\S+)")
_SECONDS = 120.0  # for one command, on a busy machine


@dataclass(frozen=True)
class Step:
    """A command and the output that the page shows, or settings to write."""

    command: str = ""
    shown: list[str] = field(default_factory=list)
    settings: Mapping[str, Any] | None = None


def steps_of(page: Path) -> Iterator[Step]:
    """The commands and settings of a page, in order."""
    for kind, text in _BLOCK.findall(page.read_text(encoding="utf-8")):
        if kind == "toml":
            yield Step(settings=tomllib.loads(text))
        elif kind == "console":
            yield from _commands(text)


def _commands(text: str) -> Iterator[Step]:
    step: Step | None = None
    for line in text.splitlines():
        if line.startswith("$ "):
            if step is not None:
                yield step
            step = Step(line[2:])
        elif step is not None:
            step.shown.append(line)
    if step is not None:
        yield step


class Reader:
    """Types the commands of a page in a folder."""

    def __init__(self, folder: Path, environment: Mapping[str, str], programs: Iterable[str] = ()) -> None:
        """*programs*: further ones that the page may run."""
        self._folder, self._environment = folder, dict(environment)
        self._programs = _PROGRAMS.union(programs)

    def follow(self, step: Step) -> None:
        """Runs a command, or writes settings."""
        if step.settings is not None:
            self._write(step.settings)
            return
        program, *arguments = shlex.split(step.command, comments=True)
        assert program in self._programs, f"{program} may not be run"
        if program == "export":
            self._environment |= dict(argument.split("=", 1) for argument in arguments)
        elif program == "periplus" and arguments[:1] == ["serve"]:
            self._serve(arguments)
        else:
            self._run(step)

    def _run(self, step: Step) -> None:
        done = subprocess.run(
            ["bash", "-c", f"set -o pipefail; {step.command}"],
            cwd=self._folder,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
        assert done.returncode == 0, f"$ {step.command}\n{done.stdout}"
        missing = missing_line(step.shown, done.stdout.splitlines())
        assert missing is None, f"$ {step.command}\n{done.stdout}\nThe page shows: {missing}"

    def _serve(self, arguments: list[str]) -> None:
        """Starts the site on a free port, opens its first page and stops it."""
        command = ["periplus", *arguments, "--port", "0"]
        site = subprocess.Popen(command, cwd=self._folder, env=self._environment, stderr=subprocess.PIPE, text=True)
        assert site.stderr is not None
        try:
            found = _SERVING.match(site.stderr.readline())
            assert found is not None, f"$ {shlex.join(command)}"
            with urllib.request.urlopen(found[1], timeout=_SECONDS) as answer:
                assert answer.status == 200
        finally:
            time.sleep(0.1)
            site.send_signal(signal.SIGINT)
            site.communicate(timeout=_SECONDS)
        assert site.returncode == 0

    def _write(self, settings: Mapping[str, Any]) -> None:
        home = self._folder / self._environment["PERIPLUS_HOME"]
        home.mkdir(exist_ok=True)
        file = home / "periplus.toml"
        known = tomllib.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
        for section, values in settings.items():
            known[section] = known.get(section, {}) | values
        lines = [line for section, values in known.items() for line in (f"[{section}]", *_pairs(values))]
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _pairs(values: Mapping[str, Any]) -> Iterator[str]:
    for name, value in values.items():
        yield f"{name} = {_toml(value)}"


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(name)} = {_toml(one)}" for name, one in value.items()) + "}"
    return json.dumps(value)


def missing_line(shown: list[str], real: list[str]) -> str | None:
    """The first line of a page that the real output does not have, in the order of the page."""
    rest = iter(real)
    for line in shown:
        pattern = _pattern(line)
        if not any(pattern.fullmatch(_comparable(one)) for one in rest):
            return line
    return None


def _pattern(line: str) -> re.Pattern[str]:
    return re.compile(".*".join(map(re.escape, _comparable(line).split("…"))))


def _comparable(line: str) -> str:
    """The line with the same id and the same number everywhere."""
    return re.sub(r"\d+(?:[.,]\d+)*", "0", re.sub(r"\b[0-9a-f]{16}\b", "id", line.rstrip()))


def clean_environment(programs: Path, **settings: str) -> dict[str, str]:
    """The environment of the commands: no settings of the user, and `periplus` on the path."""
    bare = {name: value for name, value in os.environ.items() if not name.startswith("PERIPLUS_")}
    return bare | {"PATH": f"{programs}:{os.environ['PATH']}", "COLUMNS": "200", **settings}
