"""Pause, resume, drain, stop and start crawls; add seeds and take them back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict

from periplus.console.actions.action import Action, Desk, Form, Outcome, lines_of, required
from periplus.console.display import plural
from periplus.control import orders
from periplus.control.orders import SeedOutcome
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
    return Outcome(_seeds_sentence(outcomes), {"outcomes": [_outcome(one) for one in outcomes]})


def _outcome(one: SeedOutcome) -> dict[str, object]:
    refusal = one.refusal
    why = {"reason": refusal.reason.value, "detail": refusal.detail} if refusal else {"reason": "", "detail": ""}
    return {"url": one.url, "admitted": refusal is None, "is_known": one.is_known, **why}


def _seeds_sentence(outcomes: Sequence[SeedOutcome]) -> str:
    """How many seeds were added, and which were refused."""
    refused = [f"{one.url} ({one.refusal.detail or one.refusal.reason})" for one in outcomes if one.refusal]
    known = sum(one.is_known for one in outcomes if not one.refusal)
    said = [f"{plural(len(outcomes) - len(refused), 'URL')} added"]
    said += [f"{plural(known, 'of them was', 'of them were')} crawled before and come when due"] if known else []
    if refused:
        more = f" and {len(refused) - _REFUSED_SHOWN:,} more" if len(refused) > _REFUSED_SHOWN else ""
        said.append(f"refused: {', '.join(refused[:_REFUSED_SHOWN])}{more}")
    return f"{'; '.join(said)}."


def _remove_seed(desk: Desk, form: Form) -> Outcome:
    removed = orders.remove_seed(desk.collection, required(form, "url"), origin=desk.origin)
    sentence = f"{removed.urls[0]} is no seed any more; {plural(removed.refused, 'queued URL')} refused."
    if removed.hosts:
        sentence += f" Out of scope now: {', '.join(removed.hosts)}."
    if removed.is_configured:
        sentence += " scope.seeds in periplus.toml still names it: the next crawl adds it again."
    return Outcome(sentence, asdict(removed))


def _recrawl(desk: Desk, form: Form) -> Outcome:
    url = required(form, "url")
    queued = orders.retry(desk.collection, url, origin=desk.origin)
    return Outcome(f"{url} is queued." if queued else f"{url} was queued already.", {"url": url, "queued": queued})


def _retry(desk: Desk, form: Form) -> Outcome:
    what = form.get("url", "").strip() or required(form, "host")
    queued = orders.retry(desk.collection, what, origin=desk.origin)
    return Outcome(f"Queued {plural(queued, 'URL')} of {what} again.", {"what": what, "queued": queued})


ACTIONS = (
    Action("pause", _switch(orders.pause, "The crawl pauses"), "Pause"),
    Action("resume", _switch(orders.resume, "The crawl goes on"), "Resume"),
    Action("start", _switch(orders.start, "The crawl starts again"), "Start"),
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
