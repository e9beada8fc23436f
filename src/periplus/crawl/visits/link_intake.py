"""Takes in the URLs of seeds, links, redirects and sitemaps: each is admitted, refused or forwarded to its owner.

`EntryUrls` queues the URLs of `--entry` again whenever nothing is left to fetch.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from periplus.crawl.assignment import WorkerContext
from periplus.crawl.coordination.ownership import Ownership
from periplus.crawl.visits.page_errors import PageErrors
from periplus.frontier.admission import Admission
from periplus.frontier.priority import found, listed, plain
from periplus.frontier.queues import Queues
from periplus.frontier.schedule import Schedule
from periplus.frontier.traps import Traps
from periplus.model import Decision, Novelty, Page, QueuedUrl, Reason, Verdict
from periplus.parse.formats.sitemap import Sitemap
from periplus.store.catalog.batch import ForwardedUrl, Refusal
from periplus.store.shares import share_of
from periplus.url import Canonicalizer, host_of, registrable_domain


def pages_of(sitemap: Sitemap, item: QueuedUrl, now: float) -> Iterator[tuple[str, float, float | None]]:
    """Yield the pages of a sitemap, each with its queue priority and the time of its last change.

    The priority and `lastmod` of a sitemap count only for pages of its own registrable domain.
    """
    domain = registrable_domain(item.host)
    for entry in sitemap.urls:
        if registrable_domain(host_of(entry.loc)) == domain:
            yield entry.loc, listed(item.depth, entry.priority, entry.lastmod, now), entry.lastmod
        else:
            yield entry.loc, plain(item.depth), None


def reading(sitemap: Sitemap) -> Decision:
    """The decision that is recorded for a sitemap that was read."""
    found = f"{len(sitemap.urls)} pages and {len(sitemap.sitemaps)} sitemaps listed"
    return Decision(Verdict.READ, Reason.SITEMAP, " ".join((f"{found}.", *sitemap.problems[:3])))


_FOUND = frozenset({Reason.LINK, Reason.LISTED, Reason.SITEMAP})
_KEPT_BY_REDIRECTS = frozenset({Reason.SEED, Reason.SITEMAP})
_NOFOLLOW = Decision(Verdict.REFUSED, Reason.NOFOLLOW)
_CACHED_DECISIONS = 20_000
_LISTED_AT_ONCE = 200  # pages of a sitemap; they take 10 ms


class LinkIntake:
    """Admits every URL that a worker finds to the frontier, or forwards it to the worker that owns its domain."""

    def __init__(
        self, context: WorkerContext, canonicalizer: Canonicalizer, admission: Admission, ownership: Ownership
    ) -> None:
        self._canonicalizer, self._admission, self._ownership = canonicalizer, admission, ownership
        self._queues, self._counters, self._pending = context.queues, context.counters, context.pending
        self._hold, self._max_redirects = context.assignment.hold, context.settings.fetch.redirects
        self._schedule = Schedule(context.settings.recrawl)
        self.errors = PageErrors(context.counters)
        self.new_urls = 0  # admitted or forwarded for the first time, as far as this worker knows
        self._admitted: set[str] = set()  # recent link targets that were admitted, forwarded or known
        self._refused: dict[str, Decision] = {}  # recent link targets that were refused

    # -- URLs named by the user, by robots.txt and by other workers ---------------------------------------------

    def seed(self, url: str) -> Decision | None:
        """Admit a seed; returns the refusal, if a rule refuses it."""
        return self._admit_named(url, Reason.SEED)

    def sitemap(self, url: str) -> Decision | None:
        """Admit a sitemap that the user names; pages that it lists in scope have depth 0, like seeds."""
        return self._admit_named(url, Reason.SITEMAP)

    def entry(self, url: str) -> None:
        """Register an entry URL, which is fetched many times; links to it are not followed."""
        self._admission.scope.add_seed_host(host_of(url))
        self._admission.mark_known(url)
        if self.owns(url):
            self._pending.batch.seeds.append(url)

    def owns(self, url: str) -> bool:
        """Whether this worker fetches a URL."""
        return self._ownership.owns(host_of(url))

    def sitemaps(self, urls: Iterable[str], via: str) -> None:
        """Admit the sitemaps that a robots.txt names; the pages that they list have depth 1."""
        for url in urls:
            if (target := self._canonicalizer.canonical(url)) is not None:
                self._admit(target, 1, Reason.SITEMAP, via=via)

    def receive(self, number: int, found: ForwardedUrl) -> None:
        """Admit a URL that another worker forwarded; an exception costs this URL only."""
        self._pending.batch.received.append(number)
        with self.errors.contained(found.url):
            if found.reason is Reason.SEED:
                self._admission.scope.add_seed_host(host_of(found.url))
            self._admit(found.url, found.depth, found.reason, found.via, found.redirects)

    def refuse_moved_robots(self, url: str, via: str) -> Decision | None:
        """Refuse to follow a robots.txt to a host that `scope.hosts` excludes."""
        host = host_of(url)
        if not self._admission.scope.excludes_host(host):
            return None
        refusal = self._admission.scope.host_refusal(host)
        assert refusal is not None
        self._refuse(url, refusal, via)
        return refusal

    def recheck(self, item: QueuedUrl) -> Decision | None:
        """Refuse a queued URL that the current scope no longer admits; refuse or defer one of a suspected trap."""
        return self._admission.recheck(item)

    @property
    def traps(self) -> Traps:
        """The trap detection of the frontier."""
        return self._admission.traps

    def blocks(self, url: str) -> bool:
        """Whether a URL was removed with `periplus forget`."""
        return self._admission.scope.blocks(url)

    def learn(self, item: QueuedUrl, novelty: Novelty, *, is_repeat: bool, is_certain: bool) -> None:
        """Count a page for the patterns of its URL; URLs that a now cleared pattern refused are queued again."""
        cleared = self.traps.learn(item.url, item.host, novelty, is_repeat=is_repeat, is_certain=is_certain)
        if cleared:
            self._pending.batch.harmless += [(item.host, pattern) for pattern in cleared]
            self.forget_decisions()

    # -- URLs found in responses --------------------------------------------------------------------------------

    def follow(self, item: QueuedUrl, page: Page, quality: float = 1.0, novelty: Novelty = Novelty.NEW) -> None:
        """Admit the links of a page; a page of higher *quality* gives its links a higher priority."""
        queued, refused = len(self._pending.batch.admitted), self.traps.saved
        self._follow_all(item, page, quality)
        if novelty is Novelty.ALIKE:
            links = [link.url for link in self._pending.batch.admitted[queued:]]
            self.traps.count_growth(item.url, item.host, links, self.traps.saved - refused)

    def _follow_all(self, item: QueuedUrl, page: Page, quality: float) -> None:
        if len(self._admitted) + len(self._refused) > _CACHED_DECISIONS:
            self.forget_decisions()
        targets = [target for target, _, nofollow in page.links if not nofollow]
        if len(targets) < len(page.links):
            for link in page.links:
                if link.nofollow:
                    self._refuse(link.target, _NOFOLLOW, item.url)
        self._queues.count_links(targets)
        batch = self._pending.batch
        known = len(targets) + len(batch.admitted) + len(batch.forwarded)
        known -= sum([self._follow(item, url, quality) for url in targets if url not in self._admitted])
        self._counters.known_links += known - len(batch.admitted) - len(batch.forwarded)

    def _follow(self, item: QueuedUrl, url: str, quality: float) -> bool:
        """Admit a link; returns whether a rule refuses it."""
        refusal = self._refused.get(url)
        if refusal is not None:
            self._refuse(url, refusal, "")
            return True
        depth = item.depth + 1
        refusal = self._admit(url, depth, Reason.LINK, via=item.url, priority=found(depth, quality))
        if refusal is None:
            self._admitted.add(url)
        elif refusal.reason is not Reason.TOO_DEEP:  # a link from another page may be less deep
            self._refused[url] = refusal
        return refusal is not None

    def forget_decisions(self) -> None:
        """Decide again about links that were seen before: the scope has changed."""
        self._admitted.clear()
        self._refused.clear()

    def follow_redirect(self, item: QueuedUrl, target: str) -> None:
        """Admit the target of a redirect."""
        if self._is_too_far(item, target):
            return
        if item.reason is Reason.SEED:
            # The seed example.org means the site, also when it redirects to www.example.org.
            self._admission.scope.add_seed_host(host_of(target))
            self._pending.batch.seeds.append(target)
            self.forget_decisions()
        reason = item.reason if item.reason in _KEPT_BY_REDIRECTS else Reason.REDIRECT_TARGET
        self._admit(target, item.depth, reason, via=item.url, redirects=item.redirects + 1)

    def follow_list(self, item: QueuedUrl, sitemap: Sitemap, now: float) -> Iterator[None]:
        """Admit the pages and sitemaps that a sitemap lists; yields every 10 ms, so that other visits can go on."""
        for number, (url, priority, lastmod) in enumerate(pages_of(sitemap, item, now), 1):
            if number % _LISTED_AT_ONCE == 0:
                yield
            before = self.new_urls
            self._admit(url, item.depth, Reason.LISTED, item.url, priority=priority)
            if lastmod is not None and self.new_urls == before:
                self._pending.batch.notices.append(self._schedule.notice(url, lastmod))
        for entry in sitemap.sitemaps:
            if not self._is_too_far(item, entry.loc):
                self._admit(entry.loc, item.depth, Reason.SITEMAP, item.url, item.redirects + 1)

    # -- admission ----------------------------------------------------------------------------------------------

    def _admit_named(self, url: str, reason: Reason) -> Decision | None:
        """Admit a URL that the user names; every worker adds its host to the scope."""
        self._admission.scope.add_seed_host(host_of(url))
        if not self.owns(url):
            return None
        self._pending.batch.seeds.append(url)
        return self._admit(url, 0, reason, via="")

    def _is_too_far(self, item: QueuedUrl, target: str) -> bool:
        """Refuse a redirect, or a sitemap in a sitemap, beyond the limit of hops; returns whether it was refused."""
        if item.redirects < self._max_redirects:
            return False
        detail = f"more than fetch.redirects = {self._max_redirects} in a row"
        self._refuse(target, Decision(Verdict.REFUSED, Reason.TOO_MANY_REDIRECTS, detail), item.url)
        return True

    def _admit(
        self, url: str, depth: int, reason: Reason, via: str, redirects: int = 0, priority: float | None = None
    ) -> Decision | None:
        if not self._ownership.is_sole_worker and self._is_owned_elsewhere(host := host_of(url)):
            return self._forward(ForwardedUrl(share_of(host), url, depth, reason, via, redirects), host)
        outcome = self._admission.admit(
            url, depth=depth, reason=reason, via=via, redirects=redirects, priority=priority
        )
        if isinstance(outcome, QueuedUrl):
            self.new_urls += 1
            if self._hold and via and reason in _FOUND:
                self._pending.batch.admitted.append(outcome._replace(due=math.inf))
                return None
            self._pending.batch.admitted.append(outcome)
            self._queues.add(outcome)
        elif outcome is not None:
            self._refuse(url, outcome, via)
            return outcome
        return None

    def _is_owned_elsewhere(self, host: str) -> bool:
        """Whether another worker admits URLs of a host; any worker refuses hosts outside the scope."""
        return self._admission.scope.covers_host(host) and not self._ownership.owns(host)

    def _forward(self, found: ForwardedUrl, host: str) -> Decision | None:
        outcome = self._admission.forward(found.url, host, found.depth, found.reason)
        if isinstance(outcome, Decision):
            self._refuse(found.url, outcome, found.via)
            return outcome
        if outcome:
            self.new_urls += 1
            self._pending.batch.forwarded.append(found)
        return None

    def _refuse(self, url: str, decision: Decision, via: str) -> None:
        self._counters.refuse(decision.reason)
        if decision.reason is Reason.FORGOTTEN:
            return  # neither the URL nor its host may be stored again
        host = host_of(url)
        self._pending.batch.refused[host, decision.reason] += 1
        if via:
            self._pending.batch.samples.append(Refusal(host, url, decision, via))


_MAX_FRUITLESS = 20  # fetches of all entries in a row without a new URL, after which the crawl may end


class EntryUrls:
    """URLs that return other links at every fetch, such as a random page.

    Entry URLs are not pages: the catalog does not queue them, they are fetched many times, and they are never indexed.
    """

    def __init__(self, urls: Iterable[str], intake: LinkIntake, queues: Queues) -> None:
        self._urls, self._intake, self._queues = list(urls), intake, queues
        self._new_urls = -1  # of the intake at the last call
        self._fruitless = 0

    def requeue(self) -> None:
        """Nothing is left to fetch: queue every entry again, unless the last 20 times brought no new URL."""
        self._fruitless = self._fruitless + 1 if self._intake.new_urls == self._new_urls else 0
        self._new_urls = self._intake.new_urls
        if self._fruitless < _MAX_FRUITLESS:
            for url in filter(self._intake.owns, self._urls):
                self._queues.add(QueuedUrl(url, host_of(url), 0, plain(0), Reason.ENTRY))
