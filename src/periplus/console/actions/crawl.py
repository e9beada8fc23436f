"""Pause, resume, drain and stop crawls; add seeds and take them back."""

from __future__ import annotations

from collections.abc import Callable

from periplus.console.actions.action import Action, Desk, Form, Outcome, lines_of, required
from periplus.control import orders
from periplus.errors import UsageError

_MOST_SEEDS = 1_000  # in one form
_REFUSED_SHOWN = 5


def _switch(order: Callable[..., int], sentence: str) -> Callable[[Desk, Form], Outcome]:
    """An action that gives one order to a node, or to all."""

    def perform(desk: Desk, form: Form) -> Outcome:
        node = form.get("node", "")
        command = order(desk.collection, node, desk.origin)
        return Outcome(f"{sentence} on {node}." if node else f"{sentence}.", {"command": command, "node": node})

    return perform


def _on(form: Form) -> str:
    return f"on {form['node']}" if form.get("node") else "on every node"


def _add_seeds(desk: Desk, form: Form) -> Outcome:
    urls, sitemaps = lines_of(form, "urls") + lines_of(form, "url"), lines_of(form, "sitemaps")
    if not urls and not sitemaps:
        raise UsageError("no URL was given", hint="Write one URL in each line.")
    if len(urls) + len(sitemaps) > _MOST_SEEDS:
        raise UsageError(f"{len(urls) + len(sitemaps):,} URLs at once", f"the limit is {_MOST_SEEDS:,}")
    outcomes = orders.add_seeds(desk.collection, desk.settings, urls, sitemaps, origin=desk.origin)
    return Outcome(f"Added {len(urls) + len(sitemaps)}.", {"outcomes": outcomes})


def _remove_seed(desk: Desk, form: Form) -> Outcome:
    url = required(form, "url")
    orders.remove_seed(desk.collection, url, origin=desk.origin)
    return Outcome(f"{url} is no seed any more.", {"url": url})


def _recrawl(desk: Desk, form: Form) -> Outcome:
    url = required(form, "url")
    orders.add_seeds(desk.collection, desk.settings, [url], origin=desk.origin)
    return Outcome(f"{url} is fetched next.", {"url": url})


def _retry(desk: Desk, form: Form) -> Outcome:
    what = form.get("url", "").strip() or required(form, "host")
    orders.retry(desk.collection, what, origin=desk.origin)
    return Outcome(f"Failed URLs of {what} are tried again.", {"what": what})


ACTIONS = (
    Action("pause", _switch(orders.pause, "The crawl pauses"), "Pause"),
    Action("resume", _switch(orders.resume, "The crawl goes on"), "Resume"),
    Action(
        "drain",
        _switch(orders.drain, "The crawl finishes its requests and ends"),
        "Drain",
        lambda form: f"End the crawl {_on(form)}, after the requests under way? `periplus crawl` continues it later.",
    ),
    Action(
        "stop",
        _switch(orders.stop, "The crawl drops its requests and ends"),
        "Stop",
        lambda form: f"End the crawl {_on(form)} at once? Requests under way are dropped and made again later.",
    ),
    Action("seed", _add_seeds, "Add"),
    Action(
        "unseed",
        _remove_seed,
        "Take back",
        lambda form: f"Take back the seed {form.get('url', '')}? Pages that were crawled from it stay.",
    ),
    Action("retry", _retry, "Try again"),
    Action("recrawl", _recrawl, "Recrawl"),
)
