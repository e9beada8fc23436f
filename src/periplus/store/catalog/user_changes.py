"""Writes what the user changes in a collection while a crawl may be running: seeds, blocked hosts, requeued URLs.

Every change and the command that tells running workers about it are one transaction. A crawl that starts later finds
the change in the tables and does not need the command.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from periplus.model import NEVER_SUSPECTED, Decision, Pattern, Reason, UrlState
from periplus.store.catalog.batch import ForwardedUrl
from periplus.store.catalog.catalog import Catalog
from periplus.store.catalog.host_changes import apply_block, clear_failures, refuse_queue, requeue_reason, retry_host
from periplus.store.catalog.live_state import Action
from periplus.url import host_of

_NOT_QUEUED = (UrlState.FAILED, UrlState.REFUSED, UrlState.DONE)


class UserChanges(Catalog):
    """The catalog, for the process that gives a command."""

    def add_seeds(self, named: Sequence[ForwardedUrl], origin: str) -> int:
        """Add seeds and sitemaps, which their workers admit, now or in the next crawl; returns the requeued URLs.

        Known ones are queued again if they failed or were refused, sitemaps in any case. URLs of their hosts that
        were out of scope are queued again.
        """
        seeds = [one.url for one in named if one.reason is Reason.SEED]
        sitemaps = [one.url for one in named if one.reason is Reason.SITEMAP]
        with self._changing() as counts:
            self._database.many("add_seed", ((one.url, time.time()) for one in named))
            self._database.many("add_forwarded_url", named)
            counts.update(self._requeue_in("requeue", seeds, _NOT_QUEUED[:2]))
            counts.update(self._requeue_in("requeue_sitemap", sitemaps, (*_NOT_QUEUED, UrlState.QUEUED)))
            for host in {host_of(one.url) for one in named}:
                counts.update(requeue_reason(self._database, host, Reason.SCOPE_HOST))
            self._command(Action.ADD_SEEDS, {"urls": seeds, "sitemaps": sitemaps}, origin)
        return counts["queued"]

    def redirected_seeds(self, url: str) -> list[str]:
        """Seeds that exist only because a seed redirects to them, also over several redirects."""
        chain = [url]
        for via in chain:  # the list grows
            chain += [seed for (seed,) in self._database.rows("redirected_seeds", via) if seed not in chain]
        return chain[1:]

    def remove_seed(self, urls: Sequence[str], out_of_scope: dict[str, Decision], origin: str) -> int:
        """Remove a seed and those it redirected to; returns the number of refused URLs.

        These are the seeds that were not fetched, and the queued URLs of hosts that are out of scope now.
        """
        with self._changing() as counts:
            now = time.time()
            for url in urls:
                self._database.run("remove_seed", url)
                self._database.run("remove_named_forwards", url)
                number = self._database.run("withdraw_seed", now, url).rowcount
                counts.update(refused=number, queued=-number)
            for host, decision in out_of_scope.items():
                counts.update(refuse_queue(self._database, host, decision.reason, decision.detail))
            self._command(Action.REMOVE_SEED, {"url": urls[0], "urls": list(urls)}, origin)
        return counts["refused"]

    def block(self, host: str, origin: str) -> int:
        """Block a host; returns the number of its queued URLs, which are refused."""
        with self._changing() as counts:
            self._database.run("block_host", host, time.time())
            counts.update(apply_block(self._database, host))
            self._command(Action.BLOCK, {"host": host}, origin)
        return counts["refused"]

    def unblock(self, host: str, origin: str) -> int:
        """Unblock a host; returns the number of URLs that are queued again."""
        with self._changing() as counts:
            self._database.run("unblock_host", host)
            counts.update(apply_block(self._database, host))
            self._command(Action.UNBLOCK, {"host": host}, origin)
        return counts["queued"]

    def unlearn(self, pattern: Pattern, origin: str) -> int:
        """Never suspect a URL pattern again; returns the number of queued URLs that it had refused."""
        trusted = pattern._replace(score=NEVER_SUSPECTED, saved=0, spent=0)
        with self._changing() as counts:
            self._database.many("set_pattern", [trusted])
            counts.update(self._requeue_refused([(trusted.host, trusted.pattern)]))
            arguments = {"host": trusted.host, "pattern": trusted.pattern}
            self._command(Action.UNLEARN, arguments, origin)
        return counts["queued"]

    def retry_host(self, host: str, origin: str) -> int:
        """Forget the errors of a host and queue its failed URLs; returns their number."""
        with self._changing() as counts:
            counts.update(retry_host(self._database, host))
            self._command(Action.RETRY, {"host": host}, origin)
        return counts["queued"]

    def retry_url(self, url: str, origin: str) -> int:
        """Queue a known URL whatever its state, and forget the errors of its host; returns 0 if it was queued."""
        with self._changing() as counts:
            counts.update(self._requeue_in("requeue_url", [url], _NOT_QUEUED))
            clear_failures(self._database, host_of(url))
            self._command(Action.RETRY, {"url": url}, origin)
        return counts["queued"]

    @contextmanager
    def _changing(self) -> Iterator[Counter[str]]:
        """One transaction; the counters of the collection change by what the block adds."""
        counts: Counter[str] = Counter()
        with self._database.transaction():
            yield counts
            self._database.many("add_to_counter", _nonzero(counts))

    def _command(self, action: Action, arguments: dict[str, Any], origin: str) -> None:
        self._database.row("add_command", time.time(), action, "", json.dumps(arguments), origin)


def _nonzero(counts: Counter[str]) -> Iterable[tuple[str, int]]:
    return [(name, number) for name, number in counts.items() if number]
