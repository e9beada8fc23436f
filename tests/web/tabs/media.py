"""Images, videos and news for the tests of the tabs."""

from __future__ import annotations

from dataclasses import replace

from periplus.model import FacetCounts, MediaHit
from web.engines import CRAWLED, HARBOUR, FakeEngine

PLAN = MediaHit(
    url="https://pictures.example/plans/ostia%20plan.png",
    words="A plan of the harbour of Ostia",
    context="The hexagonal basin of Trajan lies behind the older harbour.",
    page_url="https://harbours.example/ostia",
    page_title="Ostia: the harbour of Rome",
    host="harbours.example",
    score=2.5,
    date=CRAWLED,
)
FILM = replace(PLAN, url="https://www.youtube.com/watch?v=abc123", words="A walk through Ostia")
LONG = "Averyverylongwordwithoutanyplacetobreakwhichmustnotmakethepagescrollsidewaysonasmallscreen"
IMAGES = [
    PLAN,
    replace(PLAN, url=f"https://pictures.example/{LONG}.jpg", words=f"{LONG} {LONG}", page_title=LONG, date=None),
    replace(PLAN, url="https://pictures.example/", words="", context=""),
    replace(PLAN, words="خريطة الميناء", page_title="ميناء أوستيا"),
    *(replace(PLAN, url=f"https://pictures.example/{n}.webp", words=f"Harbour {n}") for n in range(60)),
]
VIDEOS = [
    FILM,
    replace(FILM, url="https://vimeo.com/1", words="Ships in a lock", context="", date=None),
    replace(FILM, url="https://films.example/harbour.mp4", words=""),
    replace(FILM, url="https://tube.example/videos/embed/1", words=LONG, page_title=LONG),
    replace(FILM, url="javascript:alert(1)", page_url="data:text/html,x"),
]
NEWS = [
    replace(HARBOUR, url=f"https://harbours.example/{n}", title=f"Story {n}", date=CRAWLED - 86_400.0 * n, explain={})
    for n in range(12)
]
COUNTS = FacetCounts(
    languages=(("en", 30), ("de", 12)),
    types=(("html", 40), ("pdf", 7)),
    sites=((f"{'long-name.' * 8}example", 40), ("b.example", 2)),
    newer=(("day", 1), ("week", 2), ("month", 3), ("year", 42)),
)


def engine(**fields: object) -> FakeEngine:
    """An engine with results on every tab; *fields* replace those of the engine."""
    given: dict[str, object] = {"images": IMAGES, "videos": VIDEOS, "news_hits": NEWS, "counts": COUNTS, "total": 50}
    return FakeEngine(**given | {"hits": 50 * [HARBOUR]} | fields)  # type: ignore[arg-type]
