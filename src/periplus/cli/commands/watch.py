"""periplus watch: saves standing queries, lists, checks and removes them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from periplus.cli.options import DEFAULT_HOME, Home, Json
from periplus.cli.output import moment, plural, print_json, print_table, printable
from periplus.config import load
from periplus.errors import UsageError
from periplus.search.engine import SearchEngine
from periplus.standing.check import Checked, check_standing_queries
from periplus.standing.registry import StandingQuery
from periplus.standing.saved_queries import SavedQueries
from periplus.store.collection import Collection, open_collection

_HEADINGS = ("id", "query", "items", "last check", "webhook")

app = typer.Typer(add_completion=False, no_args_is_help=True)


@app.callback()
def group() -> None:
    """Save queries that report new and changed pages, as a feed or to a webhook."""


@app.command()
def add(
    query: Annotated[list[str], typer.Argument(metavar="QUERY", help="Words that a page must have, and operators.")],
    home: Home = DEFAULT_HOME,
    webhook: Annotated[
        str, typer.Option(metavar="URL", help="Also send what is found to this URL, as JSON with POST.")
    ] = "",
    as_json: Json = False,
) -> None:
    """Save a query. It reports pages that are new or changed from now on, if they have all its words.

    The feed is /standing/ID.rss on the search site. After every `periplus index`, run `periplus watch check`.
    """
    collection = open_collection(home)
    with _opened(home, collection) as engine:
        added = SavedQueries(collection).add(engine, " ".join(query), webhook)
    if as_json:
        print_json(described(added))
    else:
        typer.echo(printable(f"Saved as {added.id}. Feed on the search site: /standing/{added.id}.rss"))


@app.command(name="list")
def list_queries(home: Home = DEFAULT_HOME, as_json: Json = False) -> None:
    """List the saved queries, with the state of their webhooks."""
    queries = SavedQueries(open_collection(home)).all()
    if as_json:
        print_json({"queries": [described(query) for query in queries]})
    elif queries:
        rows = [
            (query.id, query.query, f"{query.items:,}", moment(query.checked_at), webhook_state(query))
            for query in queries
        ]
        print_table(rows, _HEADINGS)
    else:
        typer.echo("There are no standing queries. `periplus watch add QUERY` saves one.")


@app.command()
def remove(
    name: Annotated[str, typer.Argument(metavar="ID", help="The id of the query, as `periplus watch list` shows it.")],
    home: Home = DEFAULT_HOME,
) -> None:
    """Remove a saved query with its feed."""
    collection = open_collection(home)
    found = SavedQueries(collection).remove(name)
    if found is None:
        raise UsageError(f"there is no standing query {name!r}", hint="`periplus watch list` shows the ids.")
    typer.echo(printable(f"Removed {found.query}."))


@app.command()
def check(home: Home = DEFAULT_HOME, as_json: Json = False) -> None:
    """Report the pages that are new or changed since the last check, and send what waits to the webhooks."""
    collection = open_collection(home)
    with _opened(home, collection) as engine:
        checked = check_standing_queries(collection, load(home).settings, engine)
    if as_json:
        print_json(asdict(checked))
    else:
        _show(checked, {query.id: query.query for query in SavedQueries(collection).all()})


def described(query: StandingQuery) -> dict[str, Any]:
    """The JSON object of a standing query."""
    found = asdict(query)
    for hidden in ("number", "generation", "delivered"):
        del found[hidden]
    return found | {"feed": f"/standing/{query.id}.rss"}


def webhook_state(query: StandingQuery) -> str:
    """The webhook of a query, what waits for it, and its last failure."""
    if not query.webhook:
        return "-"
    if not query.failures:
        return f"{query.webhook} ({query.waiting:,} waiting)" if query.waiting else query.webhook
    again = "at the next check" if query.next_attempt <= time.time() else f"after {moment(query.next_attempt)}"
    return (
        f"{query.webhook}: {query.failure} ({plural(query.failures, 'failure')} in a row, "
        f"{query.waiting:,} waiting, next attempt {again})"
    )


def _show(checked: Checked, names: dict[str, str]) -> None:
    for name, count in checked.found.items():
        typer.echo(printable(f"{plural(count, 'page')}: {names.get(name, name)}"))
    for name, failure in checked.deliveries.items():
        if failure:
            typer.echo(printable(f"periplus: the webhook of {name} failed: {failure}. It is tried again."), err=True)
    if not checked.found:
        queries = "1 standing query" if checked.queries == 1 else f"{checked.queries:,} standing queries"
        typer.echo(f"{queries}, nothing new in generation {checked.generation}.")


@contextmanager
def _opened(home: Path, collection: Collection) -> Iterator[SearchEngine]:
    with closing(SearchEngine.open(collection, load(home).settings)) as engine:
        yield engine
