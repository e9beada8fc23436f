"""Random histories of a small collection: pages come, change, are copied, and go; links and ranks change."""

from __future__ import annotations

import random
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

from periplus.model import Decision, Quality, QueuedUrl, Reason, UrlState, Verdict
from periplus.store.catalog.batch import Batch, Settled, Written
from periplus.store.catalog.open_catalog import open_catalog
from periplus.store.collection import Collection
from periplus.url import host_of
from search.library import Doc, give_ranks, shelve

# fmt: off
WORDS = [
    "harbour", "lighthouse", "reef", "tide", "anchor", "sail", "coast", "merge", "merges", "merging", "commits",
    "Häuser", "Haus", "maison", "ville", "C++", "std::map", "--help", "deep", "water", "the", "of", "東京",
    "2024", "rare",
]
# fmt: on
LANGUAGES = ("en", "de", "fr", "pl")
_HOSTS = ("a.test", "b.test", "www.c.test", "d.test")
_GOOD = Quality(length=0.25, share=0.1)


@dataclass
class History:
    """A collection, and the random changes made to it."""

    home: Path
    chance: random.Random
    pages: dict[str, Doc] = field(default_factory=dict)
    clock: float = 1_700_000_000.0

    def begin(self, pages: int) -> Collection:
        """Pages in every language, so that no later one leads to a full build."""
        self._write([self._new(language) for language in (*LANGUAGES, *self.chance.choices(LANGUAGES, k=pages))])
        return self._link()

    def step(self) -> Collection:
        """Some changes at once, as between two builds."""
        actions = (self._add, self._add, self._change, self._copy, self._near_copy, self._hide, self._vanish)
        for _ in range(self.chance.randint(1, 4)):
            self.chance.choice(actions)()
        return self._link() if self.chance.random() < 0.5 else Collection(self.home)

    def _add(self) -> None:
        self._write([self._new() for _ in range(self.chance.randint(1, 3))])

    def _change(self) -> None:
        page = self._any()
        self._write([self._new(page.language, page.url)])

    def _copy(self) -> None:
        page, other = self._any(), self._new()
        self._write([replace(page, url=other.url, at=other.at, body=page.payload)])

    def _near_copy(self) -> None:
        page, other = self._any(), self._new()
        text = f"{page.text} {self.chance.choice(WORDS)}"
        self._write([replace(page, url=other.url, at=other.at, body=None, text=text, signature=page.signature ^ 1)])

    def _hide(self) -> None:
        page = self._any()
        self._write([replace(page, noindex=True, at=self._now(), body=None)])

    def _vanish(self) -> None:
        url = self._any().url
        item = QueuedUrl(url, host_of(url), 0, 0.0, Reason.LINK, visits=1, visited=self._now())
        settled = Settled(item, UrlState.REFUSED, Decision(Verdict.REFUSED, Reason.ROBOTS))
        with closing(open_catalog(Collection(self.home))) as catalog:
            catalog.commit(Batch(settled=[settled]), Written(0, "w00-000001.warc.gz", 0), 1, {})

    def _link(self) -> Collection:
        """New ranks and anchor texts; most pages keep theirs."""
        collection, chance = Collection(self.home), random.Random(len(self.pages) // 4)
        ranks = {url: chance.choice([1.0, 1.0, 1.5, 7.0, 300.0]) for url in self.pages}
        anchors = {url: chance.sample(WORDS, 2) for url in self.pages if chance.random() < 0.3}
        give_ranks(collection, ranks, anchors)
        return collection

    def _write(self, docs: list[Doc]) -> None:
        self.pages |= {doc.url: doc for doc in docs}
        shelve(self.home, docs, reparsed=self.chance.random() < 0.7)

    def _any(self) -> Doc:
        return self.chance.choice(list(self.pages.values()))

    def _now(self) -> float:
        self.clock += 60.0
        return self.clock

    def _new(self, language: str | None = None, url: str = "") -> Doc:
        chance = self.chance
        url = url or f"http://{chance.choice(_HOSTS)}/{chance.choice(WORDS)}/{len(self.pages)}-{chance.random():.6f}"
        return Doc(
            url,
            title=" ".join(chance.choices(WORDS, k=3)) + f" {chance.random():.3f}",
            text=" ".join(chance.choices(WORDS, k=chance.randint(0, 40))) + f" word{chance.randint(0, 30)}",
            description=chance.choice(WORDS),
            headings=tuple(chance.choices(WORDS, k=2)),
            language=language or chance.choice(LANGUAGES),
            at=self._now(),
            signature=chance.getrandbits(62) | 1 << 61,
            quality=_GOOD,
        )
