"""Lists the commands, runs one, and prints its error as one line.

A command's module is imported only when the command runs, so `periplus --help` is fast.
"""

from __future__ import annotations

import atexit
import difflib
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from keyword import iskeyword
from typing import Any, NoReturn

import typer
from typer.core import TyperCommand, TyperGroup
from typer.exceptions import TyperException

from periplus import __version__
from periplus.errors import PeriplusError, UsageError
from periplus.signals import Stopped, stop_signals, stoppable

COMMANDS = {
    "demo": "Try it offline: crawl, rank and serve the documentation on this machine.",
    "init": "Write a commented periplus.toml for a new collection.",
    "up": "Crawl, index and serve at once, until Ctrl-C; the same command continues.",
    "crawl": "Crawl politely until the queue is empty, a budget is reached, or Ctrl-C; the same command continues.",
    "worker": "Crawl as a node of a fleet until it is stopped; the same command continues.",
    "import": "Import pages from WARC or ARC files.",
    "seed": "Add seeds to a collection, take them back, or list them.",
    "pause": "Pause the crawl: requests under way finish, and no new ones start.",
    "resume": "Continue a paused crawl.",
    "start": "Start the crawl of a running `periplus up` again.",
    "stop": "End the running crawl when its requests under way have finished.",
    "block": "Fetch nothing more from a host.",
    "unblock": "Fetch from a blocked host again.",
    "retry": "Fetch the failed URLs of a host, or one URL, again.",
    "rank": "Compute PageRank from the links of the crawled pages.",
    "reparse": "Re-extract text from archived pages.",
    "index": "Build the search index from the crawled pages.",
    "compact": "Merge small segments into larger ones.",
    "search": "Search the collection in the terminal.",
    "serve": "Serve the search site.",
    "watch": "Save queries that report new and changed pages, as a feed or to a webhook.",
    "eval": "Measure the ranking with judged queries.",
    "tune": "Learn the weights of the ranking from judged queries.",
    "top": "List the pages or hosts with the highest PageRank.",
    "status": "Show the URLs, pages and index of a collection, its last crawl, and the next step.",
    "runs": "List the crawls so far, with the time spent in each step.",
    "generations": "List the generations of index and ranks, and which is live.",
    "export": "Write archived pages to a WARC file.",
    "inspect": "Show everything known about one URL, host or word, and why.",
    "traps": "List URL patterns suspected to be crawler traps, or unlearn them.",
    "prune": "Remove old versions of pages from the archive.",
    "forget": "Remove a page or a host from the whole collection, and block its return.",
    "verify": "Check that the files of a collection are undamaged and agree.",
    "repair": "Rebuild damaged files of a collection from its archive.",
    "doctor": "Check this machine and say how to fix problems.",
    "config": "Show the effective settings and where each comes from.",
    "password": "Set the password of the console.",
    "token": "Add, list or remove the tokens with which programs use the console.",
}
_FAILURE = 1
_KEPT_AFTER_STOP = {
    "up": "Everything fetched is kept; the same command continues.",
    "demo": "What is complete is kept; the same command continues.",
    "crawl": "Everything fetched is kept; the same command continues.",
    "worker": "Everything fetched is kept; the same command continues.",
    "import": "Pages imported so far are kept; the same command continues.",
    "rank": "The last complete ranks stay in use; the same command starts again.",
    "reparse": "Segments finished so far are kept; the same command continues.",
    "index": "The last complete index stays in use; the same command starts again.",
    "compact": "Segments merged so far are kept; the same command continues.",
    "repair": "Nothing intact is lost; the same command continues.",
    "prune": "Files pruned so far are kept; the same command continues.",
    "forget": "It stays blocked, but is not removed completely; the same command continues.",
    "export": "Only a complete file is kept; the same command starts again.",
}


def load_command(name: str) -> Any:
    """Imports a command by its name; the module of `import` is called `import_`, because `import` is a keyword."""
    module = import_module(f"periplus.cli.commands.{name}{'_' if iskeyword(name) else ''}")
    command = typer.main.get_command(module.app)
    for one in (command, *getattr(command, "commands", {}).values()):
        one.get_params = _without_types(one.get_params)
    return command


def _without_types(get_params: Callable[[Any], list[Any]]) -> Callable[[Any], list[Any]]:
    """Hides the `<bool>` that help pages show behind the flags of the library, such as `--help`."""

    def get_plain_params(ctx: Any) -> list[Any]:
        params = get_params(ctx)
        for param in params:
            if getattr(param, "is_flag", False) and param.metavar is None:
                param.metavar = ""
        return params

    return get_plain_params


class Commands(TyperGroup):
    """A command group that shows the summaries of its commands without importing them."""

    def get_params(self, ctx: Any) -> list[Any]:
        """The options of `periplus` itself."""
        return _without_types(super().get_params)(ctx)

    def list_commands(self, ctx: Any) -> list[str]:
        """The command names, in the order a new user needs them."""
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """A placeholder with the summary, for the help page."""
        del ctx
        return TyperCommand(cmd_name, help=COMMANDS[cmd_name]) if cmd_name in COMMANDS else None

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Imports the command that is about to run."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            raise UsageError(f"there is no command {args[0]}", hint=_nearest_command(args[0]))
        name, placeholder, rest = super().resolve_command(ctx, args)
        if placeholder is None or name is None:
            return name, placeholder, rest
        return name, load_command(name), rest


def _nearest_command(typed: str) -> str:
    nearest = difflib.get_close_matches(typed, COMMANDS, n=1, cutoff=0.6)
    return f"Did you mean `periplus {nearest[0]}`?" if nearest else "Run `periplus help`."


app = typer.Typer(
    cls=Commands,
    name="periplus",
    help="Your own search engine: crawl the part of the web you choose, rank it, serve it.",
    epilog="`periplus help COMMAND` shows the options of a command. Add --debug to any command to see the traceback of "
    "an error.",
    no_args_is_help=True,
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
    """Runs the `periplus` program and exits without freeing memory, which would take 0.1 seconds."""
    code: str | int | None = 0
    try:
        run()
    except SystemExit as end:
        code = end.code
    for number in stop_signals():
        signal.signal(number, signal.SIG_DFL)  # all files are closed by now
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        code = code or _FAILURE  # some output is lost
    os._exit(code if isinstance(code, int) else int(code is not None))


def run() -> None:
    """Runs the command on the command line; raises SystemExit with its exit code."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # numpy would start threads for matrix products we never compute
    debug = "--debug" in sys.argv
    sys.argv = _without_help_command([argument for argument in sys.argv if argument != "--debug"])
    try:
        with stoppable():
            sys.exit(app(prog_name="periplus", standalone_mode=False))
    except Stopped as stopped:
        _fail(_stop_message(stopped), stopped.exit_code, debug=debug)
    except TyperException as error:
        _fail(*_usage_message(error), debug=debug)
    except PeriplusError as error:
        _fail(str(error), error.exit_code, debug=debug, error=error)
    except BrokenPipeError:
        # The reader of stdout (`head`, for example) has closed it; without this, Python prints an error at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(_FAILURE)
    except Exception as error:
        _fail(
            f"internal error: {type(error).__name__}: {error}. Please report it with the output of --debug.",
            debug=debug,
        )


def _without_help_command(arguments: list[str]) -> list[str]:
    """`periplus help crawl` as `periplus crawl --help`."""
    return [arguments[0], *arguments[2:], "--help"] if arguments[1:2] == ["help"] else arguments


def _stop_message(stopped: Stopped) -> str:
    """Names the signal that stopped the command, and what is kept of its work."""
    command = next((word for word in sys.argv[1:] if word in COMMANDS), "")
    return f"{stopped}. {_KEPT_AFTER_STOP.get(command, 'Nothing was changed.')}"


def _usage_message(error: TyperException) -> tuple[str, int]:
    """The error in the command line as one line, and the exit code; exits when typer has printed the help page."""
    context, code = getattr(error, "ctx", None), getattr(error, "exit_code", _FAILURE)
    message = " ".join(str(getattr(error, "message", error)).split())
    if getattr(error, "param", None) is not None:
        message = " ".join(error.format_message().split())  # includes the option's name
    if not message:
        sys.exit(code)
    hint = f" Run `{context.command_path} --help`." if context is not None else ""
    return message.rstrip(".") + "." + hint, code


def _fail(message: str, code: int = _FAILURE, *, debug: bool, error: PeriplusError | None = None) -> None:
    """Prints the error as one line on stderr, and with --json as the object on stdout; exits."""
    if debug:
        sys.excepthook(*sys.exc_info())
    line = "".join(character if character.isprintable() else " " for character in message)
    typer.echo(f"periplus: {line}", err=True)
    if "--json" in sys.argv and not isinstance(sys.exception(), Stopped):
        _print_json_error(error.sentence if error else line, error.hint if error else "", code)
    sys.exit(code)


def _print_json_error(message: str, hint: str, code: int) -> None:
    """Prints the error as a JSON object, unless the command has printed its object before it failed."""
    from periplus.cli.output import has_printed_json, print_json  # noqa: PLC0415  # slow to import, and rarely needed

    if not has_printed_json():
        with suppress(OSError):  # stdout may be what failed
            print_json({"error": {"message": message, "hint": hint, "exit_code": code}})
