"""What is known about one URL, and why is a page or a host not here?"""

from __future__ import annotations

from typing import Any

from periplus.console.reader import Query, Ranker, Reader, Sources
from periplus.console.views.hosts import host as host_view
from periplus.console.views.hosts import upcoming
from periplus.errors import UsageError
from periplus.inspector.url_report import has_index, url_report
from periplus.inspector.verdict import BEST, PageFacts, host_verdict, verdict_of
from periplus.store.catalog.live_state import Role

_LONGEST = 4_096  # characters of a URL


def url(sources: Sources, reader: Reader, query: Query) -> dict[str, Any]:
    """The whole history of one URL, with the verdict about it."""
    text = _typed(query, "url")
    found = url_report(reader.collection, reader.settings, reader.catalog, text, with_quality=False)
    return found | {"verdict": verdict_of(_facts(sources, reader, found, query)).as_json()}


def inspect(sources: Sources, reader: Reader, query: Query) -> dict[str, Any]:
    """The verdict about what the user typed: a URL or a host."""
    if not query.get("what", "").strip():
        return {"what": "", "query": "", "kind": ""}
    text = _typed(query, "what")
    words = query.get("q", "").strip()[:500]
    if "/" not in text:
        found = host_view(sources, reader, {"host": text})
        verdict = host_verdict(found)
        return {
            "what": text,
            "query": words,
            "kind": "host",
            "host": found["host"],
            "verdict": verdict.as_json(),
            "report": found,
        }
    found = url_report(reader.collection, reader.settings, reader.catalog, text, with_quality=False)
    verdict = verdict_of(_facts(sources, reader, found, query))
    return {"what": text, "query": words, "kind": "url", "verdict": verdict.as_json(), "report": found}


def _facts(sources: Sources, reader: Reader, found: dict[str, Any], query: Query) -> PageFacts:
    row = reader.listings.host(found["host"])
    words = query.get("q", "").strip()[:500]
    return PageFacts(
        report=found,
        blocked=reader.listings.blocked_since(found["host"]),
        upcoming=upcoming(reader, row) if row else None,
        has_index=has_index(reader.collection),
        builds_index=any(one.row.role is Role.INDEX and one.is_alive for one in reader.state.processes),
        query=words if sources.ranker else "",
        place=_place(sources.ranker, words, found["url"]) if sources.ranker and words else None,
    )


def _place(ranker: Ranker, words: str, address: str) -> int | None:
    """The place of a page among the results of a query; None when it is not among the best."""
    hits = ranker.search(words, page=1, size=BEST).hits
    return next((place for place, hit in enumerate(hits, 1) if hit.url == address), None)


def _typed(query: Query, name: str) -> str:
    text = query.get(name, "").strip()
    if not text:
        raise UsageError("missing URL", hint=f"Add it: ?{name}=https://example.org/.")
    if len(text) > _LONGEST:
        raise UsageError(f"the URL is too long ({len(text):,} characters)", f"the limit is {_LONGEST:,}")
    return text if "://" in text or "/" not in text else f"https://{text}"
