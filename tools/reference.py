"""Generates the reference pages from the code.

`make docs` writes docs/reference/{commands,settings,reasons}.md; a test fails when they are out of date.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from periplus.cli.main import COMMANDS, load_command
from periplus.config import Settings, sections
from periplus.model import Reason, Verdict

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "reference"
_MADE = "<!-- Made by `make docs` from the code: change the code, not this page. -->\n"
_ABOUT_SETTINGS = """\
Values are layered: defaults, then `periplus.toml` in the collection, then the environment
(`PERIPLUS_FETCH__TIMEOUT=20`; lists with commas, tables as `name=value,name=value`), then command-line flags. Unknown
keys are errors.
`periplus config show --origin` shows the effective settings and where each comes from.
"""
_ABOUT_REASONS = """\
Every decision about a URL has a verdict and one reason code; `periplus inspect url` shows them, and summaries count
them.
"""
_ABOUT_COMMANDS = """\
stdout is data, stderr is messages. Add `--debug` to any command to see the traceback of an error.

| exit code | meaning |
|---|---|
| 0 | Success. A crawl that has reached its budget and a stopped site are successes too. |
| 1 | Failure. |
| 2 | The command line or a setting is invalid; nothing was done. |
| 3 | Part of the work is done and kept. |
| 130 | Stopped by Ctrl-C (SIGINT). A crawl ends with 130 after SIGTERM too. |
| 143 | Stopped by SIGTERM. |

After Ctrl-C or SIGTERM, every command removes its incomplete files and exits with one line on stderr. A second signal,
more than one second later, ends the command at once; the next run removes incomplete files. A crawl first finishes the
active requests. SIGINT stays ignored when the command was started with SIGINT ignored, as by `nohup` or in the
background of a shell script; SIGTERM still works.
"""


def pages() -> dict[str, str]:
    """Every generated page, by file name."""
    return {"commands.md": _commands(), "settings.md": _settings(), "reasons.md": _reasons()}


def _settings() -> str:
    lines = [
        "# Settings\n",
        _MADE,
        _ABOUT_SETTINGS,
    ]
    for section, model in sections():
        lines.append(f"## `[{section}]`\n")
        lines.append(f"{model.__doc__}\n")
        lines.append("| setting | default | meaning |\n|---|---|---|")
        for name, entry in model.model_fields.items():
            default = getattr(getattr(Settings(), section), name)
            lines.append(f"| `{name}` | {_value(default)} | {entry.description} |")
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def _value(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"`{name} = {part}`" for name, part in value.items()) or "(none)"
    if isinstance(value, list):
        return ", ".join(f"`{part}`" for part in value) or "(none)"
    return f"`{str(value).lower() if isinstance(value, bool) else value}`" if value != "" else "(empty)"


def _reasons() -> str:
    lines = [
        "# Verdicts and reasons\n",
        _MADE,
        _ABOUT_REASONS,
        "Verdicts: " + ", ".join(f"`{verdict}`" for verdict in Verdict) + ".\n",
        "Reasons: " + ", ".join(f"`{reason}`" for reason in Reason) + ".",
    ]
    return "\n".join(lines) + "\n"


def _commands() -> str:
    lines = [
        "# Commands\n",
        _MADE,
        _ABOUT_COMMANDS,
    ]
    for name in COMMANDS:
        for path, leaf in _leaves(f"periplus {name}", load_command(name)):
            lines += [f"## `{path}`\n", f"{leaf.help}\n", *_options(leaf), ""]
    return "\n".join(lines).rstrip() + "\n"


def _leaves(path: str, command: Any) -> Iterator[tuple[str, Any]]:
    children = getattr(command, "commands", None)
    if not children:
        yield path, command
        return
    for name, child in children.items():
        yield from _leaves(f"{path} {name}", child)


def _options(command: Any) -> Iterator[str]:
    yield "| argument | default | meaning |\n|---|---|---|"
    for parameter in command.params:
        spelled = (
            ", ".join(parameter.opts)
            if parameter.param_type_name == "option"
            else (parameter.metavar or parameter.name.upper())
        )
        default = parameter.default
        shown = f"`{default}`" if default not in (None, False, [], ()) and not callable(default) else ""
        yield f"| `{spelled}` | {shown} | {parameter.help or ''} |"


def main() -> int:
    """Writes the pages, or with --check lists those that are out of date."""
    stale = [name for name, text in pages().items() if not _is_current(name, text)]
    if "--check" in sys.argv:
        sys.stderr.write("".join(f"docs/reference/{name} is out of date: run `make docs`\n" for name in stale))
        return 1 if stale else 0
    for name in stale:
        (FOLDER / name).write_text(pages()[name], encoding="utf-8")
    return 0


def _is_current(name: str, text: str) -> bool:
    path = FOLDER / name
    return path.exists() and path.read_text(encoding="utf-8") == text


if __name__ == "__main__":
    sys.exit(main())
