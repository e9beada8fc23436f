"""periplus seed: adds seeds to a collection, takes them back, and lists them."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

import typer

from periplus.cli.options import DEFAULT_HOME, Home, Json
from periplus.cli.output import plural, print_json, print_table, printable
from periplus.cli.reply import Reply, show, wait_for_reply
from periplus.config import load
from periplus.control.orders import RemovedSeed, SeedOutcome, add_seeds, remove_seed
from periplus.control.state import seed_states
from periplus.errors import NothingToCrawl, UsageError
from periplus.store.collection import open_collection

app = typer.Typer(add_completion=False, no_args_is_help=True)


@app.callback()
def group() -> None:
    """Seeds of a collection: the URLs that a crawl begins with."""


@app.command()
def add(
    urls: Annotated[list[str] | None, typer.Argument(metavar="[URL]...", help="URLs to begin with.")] = None,
    sitemap: Annotated[list[str] | None, typer.Option(metavar="URL", help="A sitemap; may be repeated.")] = None,
    home: Home = DEFAULT_HOME,
    as_json: Json = False,
) -> None:
    """Add seeds and sitemaps: a running crawl fetches them at once, otherwise the next one."""
    if not urls and not sitemap:
        raise UsageError("name a URL", hint="For example: periplus seed add https://example.org/")
    collection = open_collection(home)
    outcomes = add_seeds(collection, load(home).settings, urls or [], sitemap or [])
    reply = wait_for_reply(collection)
    show(_added(outcomes, reply), {"seeds": [_outcome(one) for one in outcomes]}, reply, as_json=as_json)
    refused = [one for one in outcomes if one.refusal is not None]
    if len(refused) == len(outcomes):
        first = refused[0]
        why = f"{first.url}: {first.refusal.reason} ({first.refusal.detail})" if first.refusal else ""
        raise NothingToCrawl("no seed was added", why, "`periplus crawl --dry-run URL` shows the scope.")


def _added(outcomes: list[SeedOutcome], reply: Reply) -> str:
    refused = [one for one in outcomes if one.refusal is not None]
    known = sum(one.is_known and one.refusal is None for one in outcomes)
    added = len(outcomes) - len(refused)
    them = "it" if added == 1 else "them"
    when = f"The running crawl fetches {them}." if reply.is_running else f"Run `periplus crawl` to fetch {them}."
    parts = [f"Added {plural(added, 'seed')}."]
    if known:
        parts.append(f"{known:,} of them {'was' if known == 1 else 'were'} crawled before.")
    parts += [f"Refused {one.url}: {one.refusal.reason} ({one.refusal.detail})." for one in refused if one.refusal]
    return " ".join([*parts, when if added > known else ""])


def _outcome(one: SeedOutcome) -> dict[str, Any]:
    reason, detail = (one.refusal.reason.value, one.refusal.detail) if one.refusal else ("", "")
    return {
        "url": one.url,
        "admitted": one.refusal is None,
        "known": one.is_known,
        "reason": reason,
        "detail": detail,
    }


@app.command()
def remove(
    url: Annotated[str, typer.Argument(metavar="URL", help="The seed to take back.")],
    home: Home = DEFAULT_HOME,
    as_json: Json = False,
) -> None:
    """Take a seed back. When its host leaves the scope, its queued URLs are refused; fetched pages stay."""
    collection = open_collection(home)
    removed = remove_seed(collection, url)
    reply = wait_for_reply(collection)
    show(_removed(removed), asdict(removed), reply, as_json=as_json)


def _removed(removed: RemovedSeed) -> str:
    parts = [f"Removed the {'seed' if len(removed.urls) == 1 else 'seeds'} {', '.join(removed.urls)}."]
    if removed.hosts:
        parts.append(f"{', '.join(removed.hosts)} left the scope.")
    if removed.refused:
        parts.append(f"{plural(removed.refused, 'queued URL')} will not be fetched.")
    if removed.is_configured:
        parts.append("`scope.seeds` in periplus.toml still names it: remove it there, or the next crawl adds it again.")
    return " ".join(parts)


@app.command("list")
def list_(home: Home = DEFAULT_HOME, as_json: Json = False) -> None:
    """List the seeds, each with the state of its URL."""
    found = seed_states(open_collection(home))
    if as_json:
        print_json({"seeds": found})
    elif found:
        print_table(
            [(one["url"], one["state"], printable(one["reason"])) for one in found], ("seed", "state", "reason")
        )
    else:
        typer.echo("There is no seed. `periplus seed add URL` adds one.")
