"""periplus search: searches the collection in the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from periplus.cli.fleet_index import collection_with
from periplus.cli.options import DEFAULT_HOME, Home, Json
from periplus.cli.output import print_json, printable
from periplus.config import load
from periplus.errors import UsageError
from periplus.model import Hit, Results
from periplus.search.engine import SearchEngine
from periplus.search.interpret import Mode
from periplus.web.results.entries import count

_WAIT_SECONDS = 2.0  # for the check of the large files, after the results are shown

app = typer.Typer(add_completion=False)


@app.command()
def command(
    query: Annotated[list[str], typer.Argument(metavar="QUERY", help="Words to search for.")],
    home: Home = DEFAULT_HOME,
    page: Annotated[int, typer.Option(min=1, max=100, metavar="N", help="Page of results.")] = 1,
    size: Annotated[int, typer.Option(min=1, max=100, metavar="N", help="Results per page.")] = 15,
    require_all: Annotated[bool, typer.Option("--and", help="Only pages with all words.")] = False,
    any_word: Annotated[bool, typer.Option("--or", help="Pages with any of the words.")] = False,
    exact: Annotated[bool, typer.Option("--exact", help="Do not correct the spelling.")] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Show the parts of each score.")] = False,
    as_json: Json = False,
) -> None:
    """Search the collection. The query may contain "phrases", -exclusions, OR, AND, parentheses and operators.

    Operators: site:, intitle:, inurl:, filetype:, lang:, before: and after:.
    """
    if require_all and any_word:
        raise UsageError("--and and --or cannot be combined")
    mode = Mode.AND if require_all else Mode.OR if any_word else Mode.AUTO
    engine = SearchEngine.open(collection_with(home, "index"), load(home).settings)
    try:
        results = engine.search(" ".join(query), page=page, size=size, explain=explain, mode=mode, verbatim=exact)
        if as_json:
            print_json(results_json(results))
        else:
            _show(results)
        if (damage := engine.damage(_WAIT_SECONDS)) is not None:
            raise damage
    finally:
        engine.close()


def results_json(results: Results) -> dict[str, Any]:
    """The JSON object of `search --json`; the API answers with the same keys."""
    found = asdict(results)
    found["results"], found["partial"] = found.pop("hits"), bool(results.missing_shards)
    return found


def _show(results: Results) -> None:
    console = Console(highlight=False)
    for hint in _hints(results):
        console.print(Text(f"({printable(hint)})", style="yellow"))
    for place, hit in enumerate(results.hits, (results.page - 1) * results.size + 1):
        _show_hit(console, place, hit)
    console.print(Text(f"{count(results)} ({results.seconds:.3f} s)", style="dim"))


def _hints(results: Results) -> Iterator[str]:
    if results.corrected:
        yield f"Showing results for {results.corrected}. --exact searches for {results.query}."
    if results.suggestion:
        yield f"Did you mean {results.suggestion}?"
    yield from results.hints
    if results.excluded:
        yield f"without {', '.join(results.excluded)}"


def _show_hit(console: Console, place: int, hit: Hit) -> None:
    console.print(Text(f"{place:>3}. {printable(hit.title)}", style="bold"))
    console.print(Text(f"     {printable(hit.url)}", style="green"), soft_wrap=True)
    # A control character becomes one blank, so the offsets of the highlights stay right.
    snippet = Text("".join(character if character.isprintable() else " " for character in hit.snippet))
    for start, end in hit.highlights:
        snippet.stylize("bold", start, end)
    console.print(Text("     ").append_text(snippet))
    if hit.explain:
        parts = "  ".join(f"{name} {value:.4f}" for name, value in hit.explain.items() if value)
        console.print(Text(f"     {hit.score:.4f} = {parts}", style="dim"))
