"""Gives commands to the processes of a collection: the command line, the console and the HTTP API call these functions.

A command works whether or not a crawl is running. What must outlast the crawl is written to its tables in the same
transaction; a running crawl reads the command within a second. `control.state.wait_until_obeyed` waits for that.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass

from periplus.config import Settings, load
from periplus.control.state import crawl_state
from periplus.errors import UsageError
from periplus.frontier.scope import ScopeRules
from periplus.model import Decision, Reason
from periplus.store.catalog.batch import ForwardedUrl
from periplus.store.catalog.live_state import Action, LiveState, Role
from periplus.store.catalog.open_catalog import open_catalog
from periplus.store.catalog.queries import Queries
from periplus.store.catalog.user_changes import UserChanges
from periplus.store.collection import Collection
from periplus.store.shares import share_of
from periplus.url import Canonicalizer, host_of, parse

# -- the crawl --------------------------------------------------------------------------------------------------------


def pause(collection: Collection, node: str = "", origin: str = "cli") -> int:
    """Start no new requests; those under way finish. A crawl that starts later starts paused."""
    return _tell(collection, Action.PAUSE, node, origin)


def resume(collection: Collection, node: str = "", origin: str = "cli") -> int:
    """Continue a paused crawl."""
    return _tell(collection, Action.RESUME, node, origin)


def drain(collection: Collection, node: str = "", origin: str = "cli") -> int:
    """End the crawls that run now, when their requests under way have finished."""
    return _tell(collection, Action.DRAIN, node, origin)


def stop(collection: Collection, node: str = "", origin: str = "cli") -> int:
    """End the crawls that run now and drop their requests under way; their URLs stay queued."""
    return _tell(collection, Action.STOP, node, origin)


def start(collection: Collection, node: str = "", origin: str = "cli") -> int:
    """Begin a crawl again that was drained or stopped; a running `periplus up` does it.

    Raises `UsageError` when no such process is running.
    """
    alive = [one.row for one in crawl_state(collection).processes if one.is_alive and one.row.role is Role.INDEX]
    if not any(node in ("", row.node) for row in alive):
        raise UsageError("no `periplus up` is running", hint="Start it: `periplus up` continues the crawl.")
    return _tell(collection, Action.START, node, origin)


def _tell(collection: Collection, action: Action, node: str, origin: str) -> int:
    with closing(open_catalog(collection, LiveState)) as live:
        return live.command(action, {}, node=node, origin=origin)


# -- seeds ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SeedOutcome:
    """What became of a URL that was given as a seed or sitemap."""

    url: str  # in canonical form
    refusal: Decision | None  # the rule that refuses it; None: it is queued, or will be
    is_known: bool = False  # it was crawled before and is recrawled when it is due


def add_seeds(
    collection: Collection,
    settings: Settings,
    urls: Sequence[str],
    sitemaps: Sequence[str] = (),
    origin: str = "cli",
) -> list[SeedOutcome]:
    """Add seeds and sitemaps; a running crawl fetches them, otherwise the next one.

    Raises `BadUrl` for text that is no URL; nothing is added then.
    """
    canonicalizer = Canonicalizer.of(settings.addresses)
    named = [(parse(url, canonicalizer).text, Reason.SEED) for url in urls]
    named += [(parse(url, canonicalizer).text, Reason.SITEMAP) for url in sitemaps]
    with closing(open_catalog(collection, UserChanges)) as catalog:
        hosts = map(host_of, (*catalog.seeds(), *(url for url, _ in named)))
        rules = ScopeRules(settings.scope, hosts, catalog.blocked_hosts(), catalog.block_list())
        outcomes = [_outcome(catalog, rules, url, reason) for url, reason in named]
        admitted = [
            ForwardedUrl(share_of(host_of(url)), url, 0, reason, "", 0)
            for (url, reason), outcome in zip(named, outcomes, strict=True)
            if outcome.refusal is None
        ]
        if admitted:
            catalog.add_seeds(admitted, origin)
    return outcomes


def _outcome(catalog: Queries, rules: ScopeRules, url: str, reason: Reason) -> SeedOutcome:
    refuse = rules.list_refusal(url, host_of(url)) if reason is Reason.SITEMAP else rules.refusal(url, host_of(url), 0)
    row = catalog.url(url)
    return SeedOutcome(url, refuse, is_known=row is not None and row["visits"] > 0 and reason is Reason.SEED)


@dataclass(frozen=True, slots=True)
class RemovedSeed:
    """What was taken back with a seed."""

    urls: list[str]  # the seed, and the seeds that exist only because it redirects to them
    refused: int  # queued URLs that are not fetched any more
    hosts: list[str]  # that are out of scope now
    is_configured: bool  # `scope.seeds` still names it: the next crawl would add it again


def remove_seed(collection: Collection, url: str, origin: str = "cli") -> RemovedSeed:
    """Take a seed back: it is not fetched if it is still queued.

    When its host has no other seed and `scope.hosts` does not match it, the host leaves the scope and all its queued
    URLs are refused. Pages that were fetched stay. Raises `UsageError` when the URL is no seed.
    """
    settings = load(collection.home).settings
    canonicalizer = Canonicalizer.of(settings.addresses)
    seed = parse(url, canonicalizer).text
    with closing(open_catalog(collection, UserChanges)) as catalog:
        seeds = catalog.seeds()
        if seed not in seeds:
            raise UsageError(f"{seed} is no seed", hint="`periplus seed list` lists the seeds.")
        removed = [seed, *catalog.redirected_seeds(seed)]
        left = [host_of(other) for other in seeds if other not in removed]
        rules = ScopeRules(settings.scope, left)
        refusals = {host: rules.host_refusal(host) for host in map(host_of, removed)}
        out_of_scope = {host: refusal for host, refusal in refusals.items() if refusal is not None}
        refused = catalog.remove_seed(removed, out_of_scope, origin)
    configured = {parse(one, canonicalizer).text for one in settings.scope.seeds}
    return RemovedSeed(removed, refused, sorted(out_of_scope), is_configured=seed in configured)


# -- hosts, patterns and URLs -----------------------------------------------------------------------------------------


def block(collection: Collection, host: str, origin: str = "cli") -> int:
    """Fetch nothing more from a host; returns the number of queued URLs that are refused.

    Links to the host are refused from now on. Requests under way finish.
    """
    with closing(open_catalog(collection, UserChanges)) as catalog:
        return catalog.block(_host(host), origin)


def unblock(collection: Collection, host: str, origin: str = "cli") -> int:
    """Fetch from a blocked host again; returns the number of URLs that are queued again.

    Raises `UsageError` when the host is not blocked. Links that were found during the block are found again when
    their pages are recrawled.
    """
    with closing(open_catalog(collection, UserChanges)) as catalog:
        name = _host(host)
        if name not in catalog.blocked_hosts():
            raise UsageError(f"{name} is not blocked", hint="`periplus block --list` lists the blocked hosts.")
        return catalog.unblock(name, origin)


def unlearn(collection: Collection, host: str, pattern: str, origin: str = "cli") -> int:
    """Never suspect a URL pattern of a host again; returns the number of queued URLs that it had refused."""
    with closing(open_catalog(collection, UserChanges)) as catalog:
        found = next((one for one in catalog.patterns_of(host) if one.pattern == pattern), None)
        if found is None:
            raise UsageError(f"{host} has no pattern {pattern}", hint="`periplus traps` lists the suspected ones.")
        return catalog.unlearn(found, origin)


def retry(collection: Collection, url_or_host: str, origin: str = "cli") -> int:
    """Forget the errors of a host and queue its failed URLs, or queue a URL whatever its state; returns their number.

    Raises `UsageError` for a URL or host that the collection does not know.
    """
    is_url = "/" in url_or_host
    canonicalizer = Canonicalizer.of(load(collection.home).settings.addresses)
    name = parse(url_or_host, canonicalizer).text if is_url else _host(url_or_host)
    with closing(open_catalog(collection, UserChanges)) as catalog:
        if (catalog.url(name) if is_url else catalog.policy(name)) is None:
            raise UsageError(f"{name} is unknown", hint=f"`periplus seed add {name}` adds a new one.")
        return catalog.retry_url(name, origin) if is_url else catalog.retry_host(name, origin)


def _host(text: str) -> str:
    """The canonical name of a host; a URL stands for its host."""
    return host_of(parse(text if "://" in text else f"http://{text}/", Canonicalizer()).text)
