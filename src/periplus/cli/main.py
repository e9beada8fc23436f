"""Which commands are there, and what happens when one fails?

Commands are loaded when they are called, so that `periplus --help` answers at once.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
from importlib import import_module
from keyword import iskeyword
from typing import Any, NoReturn

import typer
from typer.core import TyperCommand, TyperGroup
from typer.exceptions import TyperException

from periplus import __version__
from periplus.errors import PeriplusError
from periplus.signals import Stopped, stop_signals, stoppable

COMMANDS = {
    "demo": "See it work, offline: documentation of this machine, crawled, ranked and served.",
    "crawl": "Crawl politely until done, a budget is spent, or Ctrl-C; the same command continues.",
    "import": "Take the pages of archives that others made.",
    "rank": "Compute PageRank from the links of the crawled pages.",
    "reparse": "Read archived pages again with today's parser.",
    "index": "Build the index anew from what was crawled.",
    "search": "Search the collection in the terminal.",
    "serve": "Serve the search site.",
    "top": "The pages or hosts with the highest rank.",
    "status": "What a collection holds and what its last crawl did.",
    "runs": "Every crawl so far, newest first, and where its time went.",
    "export": "Write archived pages into a WARC file.",
    "inspect": "Everything known about one URL or host, and why.",
    "traps": "URL patterns that lead to nothing new: list them, or unlearn them.",
    "verify": "Check every file and row of a collection against each other.",
    "doctor": "Check this machine, and say what to do about what will go wrong.",
    "config": "The settings in force, and where each comes from.",
}
_FAILURE = 1
_AFTER_A_STOP = {
    "demo": "What is complete is kept; the same command continues.",
    "crawl": "Everything fetched is kept; the same command continues.",
    "import": "Pages imported so far are kept; the same command continues.",
    "rank": "The last complete ranks stay in use; the same command starts again.",
    "reparse": "Segments finished so far are kept; the same command continues.",
    "index": "The last complete index stays in use; the same command starts again.",
    "export": "Only a complete file is kept; the same command starts again.",
}


def load_command(name: str) -> Any:
    """The command behind a name; a module cannot be called `import`."""
    return typer.main.get_command(import_module(f"periplus.cli.commands.{name}{'_' if iskeyword(name) else ''}").app)


class Commands(TyperGroup):
    """A group that knows the summaries of its commands without importing them."""

    def list_commands(self, ctx: Any) -> list[str]:
        """The names, in the order of a first use."""
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """A stand-in that carries the summary, for help and completion."""
        del ctx
        return TyperCommand(cmd_name, help=COMMANDS[cmd_name]) if cmd_name in COMMANDS else None

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The real command, which is about to run."""
        name, stand_in, rest = super().resolve_command(ctx, args)
        if stand_in is None or name is None:
            return name, stand_in, rest
        return name, load_command(name), rest


app = typer.Typer(
    cls=Commands,
    name="periplus",
    help="Your own search engine: crawl the part of the web you choose, rank it, serve it.",
    epilog="--debug, anywhere on the line, shows the traceback of a failure.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"periplus {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(False, "--version", help="Show the version.", callback=_show_version, is_eager=True),
) -> None:
    del version


def main() -> NoReturn:
    """The `periplus` program; it ends at once, because to free all that was made takes a tenth of a second."""
    code: str | int | None = 0
    try:
        run()
    except SystemExit as end:
        code = end.code
    for number in stop_signals():
        signal.signal(number, signal.SIG_DFL)  # nothing is left that a handler could save
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        code = code or _FAILURE  # nobody has seen all of it
    os._exit(code if isinstance(code, int) else int(code is not None))


def run() -> None:
    """The `periplus` command."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # numpy starts threads to multiply matrices; we have none
    debug = "--debug" in sys.argv
    sys.argv = [argument for argument in sys.argv if argument != "--debug"]
    try:
        with stoppable():
            sys.exit(app(standalone_mode=False))
    except Stopped as stopped:
        _give_up(_stopped(stopped), stopped.exit_code, debug=debug)
    except TyperException as error:
        _give_up(*_mistyped(error), debug=debug)
    except PeriplusError as error:
        _give_up(str(error), error.exit_code, debug=debug)
    except BrokenPipeError:
        # Whoever read our output has seen enough; closing stdout here keeps Python from complaining at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(_FAILURE)
    except Exception as error:
        _give_up(
            f"internal error: {type(error).__name__}: {error}. --debug shows where; please report it.", debug=debug
        )


def _stopped(stopped: Stopped) -> str:
    """What a signal did to the command, and what remains of its work."""
    command = next((word for word in sys.argv[1:] if word in COMMANDS), "")
    return f"{stopped}. {_AFTER_A_STOP.get(command, 'Nothing was changed.')}"


def _mistyped(error: TyperException) -> tuple[str, int]:
    """What is wrong with the words of a command, in one line; a command without words has shown its help."""
    context, code = getattr(error, "ctx", None), getattr(error, "exit_code", _FAILURE)
    message = " ".join(str(getattr(error, "message", error)).split())
    if getattr(error, "param", None) is not None:
        message = " ".join(error.format_message().split())  # names the option too
    if not message:
        sys.exit(code)
    hint = f" `{context.command_path} --help` shows what can be typed." if context is not None else ""
    return message.rstrip(".") + "." + hint, code


def _give_up(message: str, code: int = _FAILURE, *, debug: bool) -> None:
    if debug:
        sys.excepthook(*sys.exc_info())
    line = "".join(character if character.isprintable() else " " for character in message)
    typer.echo(f"periplus: {line}", err=True)
    sys.exit(code)
