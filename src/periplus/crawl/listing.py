"""What does a sitemap say about the pages of its site?"""

from __future__ import annotations

from collections.abc import Iterator

from periplus.frontier.priority import listed, plain
from periplus.model import Decision, QueuedUrl, Reason, Verdict
from periplus.parse.sitemap import Sitemap
from periplus.url import host_of, registrable_domain


def pages_of(sitemap: Sitemap, item: QueuedUrl, now: float) -> Iterator[tuple[str, float, float | None]]:
    """The pages it lists, each with its priority in the queue and the time of its last change.

    What it tells about them counts only for pages of its own registrable domain: it cannot speak for others.
    """
    domain = registrable_domain(item.host)
    for entry in sitemap.urls:
        if registrable_domain(host_of(entry.loc)) == domain:
            yield entry.loc, listed(item.depth, entry.priority, entry.lastmod, now), entry.lastmod
        else:
            yield entry.loc, plain(item.depth), None


def reading(sitemap: Sitemap) -> Decision:
    """What is noted about a sitemap that was read."""
    found = f"{len(sitemap.urls)} pages and {len(sitemap.sitemaps)} sitemaps listed"
    return Decision(Verdict.READ, Reason.SITEMAP, " ".join((f"{found}.", *sitemap.problems[:3])))
