"""A collection that looks like one of a running crawl, and the console that shows it."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from periplus.config import Console, Serving
from periplus.console.app import create_console
from periplus.console.reader import Sources
from periplus.inspector.alerts import Alert
from periplus.model import Copy, Decision, HostPolicy, Pattern, QueuedUrl, Reason, RobotsFile, UrlState, Verdict
from periplus.site.access.credentials import Credentials
from periplus.site.access.visitors import AccessOptions
from periplus.store.catalog.batch import Batch, Refusal, Settled
from periplus.store.catalog.live_state import Action, LiveState, Role, WorkerRow
from periplus.store.catalog.open_catalog import open_catalog
from periplus.store.collection import create_collection
from periplus.url import host_of
from store.records import WRITTEN, a_fetch, done, failed, queued, refused, retried
from web.serving import Site, serving

SECRET = b"of this test"
NODE = "alexandria"
SEED = "https://docs.example.org/"
ROBOTS = b"User-agent: *\nDisallow: /private/\nAllow: /private/open\nCrawl-delay: 5\nSitemap: https://docs.example.org/sitemap.xml\n"
TRAP = "/calendar?day=*"
SETTINGS = """# my crawl
[scope]
hosts = ["(.+[.])?example[.]org"]  # ours
depth = 12

[politeness]
delay = 0.5
"""

# Every view of the collection, by name.
VIEWS = {
    "overview": "/console/",
    "workers": "/console/workers",
    "commands": "/console/commands",
    "hosts": "/console/hosts",
    "host": "/console/host?host=docs.example.org",
    "url": f"/console/url?url={SEED}guide/5.html",
    "inspector": f"/console/inspect?what={quote(SEED + 'calendar?day=77')}",
    "errors": "/console/errors",
    "error": "/console/errors?reason=timeout",
    "refusals": "/console/refusals",
    "seeds": "/console/seeds",
    "scope": "/console/scope?add_hosts=other[.]example",
    "traps": "/console/traps",
    "robots": f"/console/robots?url={SEED}private/x",
    "runs": "/console/runs",
    "generations": "/console/generations",
    "settings": "/console/settings",
    "mistake": "/console/hosts?order=odd",
    "missing": "/console/nothing",
}


@dataclass
class Filling:
    """What the collection has besides its usual content."""

    texts: tuple[str, ...] = ()  # hostile texts, in every place that can have one
    hosts: int = 60  # besides the named ones
    pages: int = 6  # queued on each of them
    now: float = field(default_factory=time.time)
    is_running: bool = True
    reports_for: float = 600.0  # seconds in which the processes do not count as silent

    @property
    def seen(self) -> float:
        """The time of the last report, which may be ahead."""
        return self.now + self.reports_for


def fill(home: Path, filling: Filling | None = None) -> None:
    """Writes the collection."""
    filling = filling or Filling()
    collection = create_collection(home)
    (home / "periplus.toml").write_text(SETTINGS, encoding="utf-8")
    with closing(open_catalog(collection, create=True)) as catalog:
        run = catalog.begin_run({"urls": [SEED]})
        catalog.commit(_crawled(filling), WRITTEN, run, _summary(run))
        catalog.end_run(run, "completed", _summary(run))
        again = catalog.begin_run({"urls": []})
        catalog.commit(_second(filling), WRITTEN, again, _summary(again))
    with closing(open_catalog(collection, LiveState)) as live:
        _samples(live, filling)
        live.command(Action.PAUSE, {}, origin="cli")
        live.command(Action.RESUME, {}, origin="console")
        last = live.command(Action.ADD_SEEDS, {"urls": [SEED]}, origin="api")
        for text in filling.texts:
            live.command(Action.BLOCK, {"host": text}, node=text, origin=text)
            live.publish(WorkerRow(text, Role.SERVE, 0, 1, filling.now, filling.seen, text, 0, {"address": text}))
        if filling.is_running:
            _workers(live, filling, last)


def _crawled(filling: Filling) -> Batch:
    """Seeds, pages in every state, errors of several kinds, refusals and traps."""
    batch = Batch(seeds=[SEED, "https://api.example.org/"])
    seed = QueuedUrl(SEED, host_of(SEED), 0, 0.0, Reason.SEED, "")
    other = QueuedUrl("https://api.example.org/", "api.example.org", 0, 0.0, Reason.SEED, "")
    sitemap = QueuedUrl(f"{SEED}sitemap.xml", host_of(SEED), 0, 0.0, Reason.SITEMAP, "")
    pages = [queued(f"{SEED}guide/{number}.html", 1.0, via=SEED) for number in range(12)]
    batch.admitted = [seed, other, sitemap, *pages]
    batch.settled = [done(seed), done(other, size=2_000), done(sitemap), *map(done, pages[:5])]
    batch.settled += [
        failed(pages[5]),
        _failed(pages[6], Reason.TIMEOUT, "30 s"),
        _failed(pages[7], Reason.HTTP_ERROR, "503"),
    ]
    batch.settled += [
        _failed(pages[8], Reason.DNS, "no such host"),
        refused(pages[9]),
        retried(pages[10], filling.now + 600),
    ]
    batch.copies = [Copy(pages[1].url, pages[0].url, 2)]
    for number in range(filling.hosts):
        urls = [f"https://h{number:03d}.example.org/{page}" for page in range(1 + filling.pages * (number % 7))]
        batch.admitted += [queued(url, via=SEED) for url in urls]
    batch.robots = [RobotsFile("https://docs.example.org", filling.now - 900, 200, ROBOTS)]
    batch.refused.update({("other.example", Reason.SCOPE_HOST): 5_120, ("docs.example.org", Reason.EXTENSION): 88})
    batch.samples = [
        Refusal(
            "other.example", "https://other.example/a", Decision(Verdict.REFUSED, Reason.SCOPE_HOST, "no match"), SEED
        ),
        Refusal("docs.example.org", f"{SEED}logo.png", Decision(Verdict.REFUSED, Reason.EXTENSION, ".png"), SEED),
    ]
    batch.patterns = [Pattern("docs.example.org", TRAP, 42.0, 60, 55, 1_234, 0, 0, 50)]
    batch.policies = {one.host: one for one in _policies(filling.now)}
    return batch


def _second(filling: Filling) -> Batch:
    """A URL that a trap refuses, and the hostile texts."""
    trapped = queued(f"{SEED}calendar?day=77", via=SEED)
    detail = f"55 of 60 pages like {TRAP} said nothing new"
    decision = Decision(Verdict.REFUSED, Reason.TRAP_LEARNED, detail)
    batch = Batch(admitted=[trapped], settled=[Settled(trapped, UrlState.REFUSED, decision)])
    for number, text in enumerate(filling.texts):
        item = queued(f"https://docs.example.org/{number}?{text}", via=f"https://docs.example.org/?{text}")
        batch.admitted.append(item)
        batch.settled.append(_failed(item, Reason.TLS, text))
        batch.patterns.append(Pattern("docs.example.org", f"/{text}", 90.0, 60, 60, 5, 0, 0, 0))
        rule = Decision(Verdict.REFUSED, Reason.NOT_WEB, text)
        batch.refused[text, Reason.NOT_WEB] += 1
        batch.samples.append(Refusal(text, f"https://x.example/{text}", rule, text))
        batch.policies[f"{number}.example.org"] = HostPolicy(f"{number}.example.org", 1.0, text, filling.now + 9e3, 1)
        batch.admitted.append(queued(f"https://{number}.example.org/"))
        batch.policies[f"{text}.example"] = HostPolicy(f"{text}.example", 1.0, text, filling.now + 9e3, 1)
        batch.seeds.append(item.url)
        batch.robots.append(
            RobotsFile(f"https://{number}.example.org", filling.now, 200, f"User-agent: *\nDisallow: /{text}".encode())
        )
    return batch


def _policies(now: float) -> Iterator[HostPolicy]:
    yield HostPolicy("docs.example.org", 5.0, "Crawl-delay in robots.txt", now + 120, 0)
    yield HostPolicy("h001.example.org", 2.0, "HTTP 429", now + 90, 3)
    yield HostPolicy("h002.example.org", None, "Retry-After of 3600 s", now + 3_500, 1)
    yield HostPolicy("h003.example.org", None, "no response", now + 40, 25)
    yield HostPolicy("h004.example.org", None, "", now + 0.4, 0)


def _failed(item: QueuedUrl, reason: Reason, detail: str) -> Settled:
    decision = Decision(Verdict.DROPPED, reason, detail)
    return Settled(item, UrlState.FAILED, decision, a_fetch(item.url, decision=decision, status=0))


def _summary(run: int) -> dict[str, object]:
    timing = {"idle": 3.0, "robots": 0.5, "delay": 12.0 / run, "connect": 4.0, "fetch": 9.0, "parse": 2.0, "store": 1.5}
    errors, rejected = {"http_error": 3}, {"scope_host": 5_120}
    figures = {"fetched": 1_200 * run, "bytes": 34_000_000, "seconds": 61.2, "pages_per_second": 19.6 * run}
    return {**figures, "errors": errors, "refused": rejected, "timing": timing}


def _samples(live: LiveState, filling: Filling) -> None:
    database = live._database
    with database.transaction():  # one for all, because each is synced to disk
        database.many("add_sample", ((at, json.dumps(figures)) for at, figures in _wave(filling.now)))


def _wave(now: float) -> Iterator[tuple[float, dict[str, float]]]:
    """Ten minutes of a crawl that is sometimes faster and sometimes slower."""
    pages = size = 0
    for step in range(121):
        wave = 1 + 0.3 * math.sin(step / 7) + 0.1 * math.sin(step / 2)
        pages, size = pages + int(475 * wave), size + int(10_500_000 * wave * wave)
        figures = {
            "pages": pages, "bytes": size, "errors": step // 3, "html": 88 * step, "pdf": 7 * step,
            "queued_memory": 4_000 + 20 * step, "queued_disk": 90_000 + 310 * step, "under_way": 48,
            "disk_free_bytes": 81_000_000_000 - 2_000_000 * step, "freshness": 12 + 10 * wave,
            "documents": 80 * step, "workers": 2,
        }  # fmt: skip
        yield now - 5 * (120 - step), figures


def _workers(live: LiveState, filling: Filling, last: int) -> None:
    steps = ("fetch", "delay", "connect", "robots", "parse", "dns", "store")
    texts = (*filling.texts, "guide", "api")
    for number in range(2):
        visits = [
            {
                "url": f"https://h{one:03d}.example.org/{texts[one % len(texts)]}/{one}",
                "step": steps[one % 7],
                "seconds": 0.2 + one / 3,
            }
            for one in range(number, 10, 2)
        ]
        figures = {
            "run_id": 2, "fetched": 5_620, "bytes": 124_000_000, "html": 5_280, "pdf": 340, "other": 0,
            "errors": {"http_error": 21, "timeout": 4}, "under_way": 32, "buffered": 3_200, "hosts": 31,
            "pages_per_second": 47.5, "memory_bytes": 182_000_000, "committed": filling.now - 0.7, "visits": visits,
        }  # fmt: skip
        row = WorkerRow(
            NODE, Role.CRAWL, number, 4711 + number, filling.now - 620, filling.seen, "running", last - number, figures
        )
        live.publish(row)
    index = {
        "step": "index",
        "generation": 7,
        "documents": 9_600,
        "waiting": 310,
        "freshness": 22.0,
        "rate_limit": None,
    }
    live.publish(WorkerRow(NODE, Role.INDEX, 0, 4720, filling.now - 600, filling.seen, "running", 0, index))
    serve = {"address": "http://127.0.0.1:8080/", "generation": 7, "requests": 412}
    live.publish(WorkerRow(NODE, Role.SERVE, 0, 4721, filling.now - 600, filling.now - 60, "running", 0, serve))


ALERTS = [Alert("stale", "Freshness is 70 s.", "Lower fetch.concurrency, or wait.")]


@contextmanager
def showing(home: Path, alerts: list[Alert] | None = None, credentials: Credentials | None = None) -> Iterator[Site]:
    """Serves the console of a collection."""
    known = credentials or Credentials()
    access = AccessOptions(lambda: known, SECRET, Console(), Serving(), prefix="/console")
    sources = Sources(home, alerts=lambda _: alerts or [])
    with serving(create_console(sources, access)) as site:
        yield site


def token_of(site: Site, path: str = "/console/seeds") -> str:
    """The token in the forms of the console."""
    return str(site.get(path).page.select("input[name=token]")[0].attrs["value"])
