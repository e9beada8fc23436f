"""Which hosts are there, when is each fetched next and why, and what is known about one?"""

from __future__ import annotations

from collections import Counter
from typing import Any

from periplus.console.processes import crawl_word
from periplus.console.reader import Query, Reader, Sources
from periplus.errors import UsageError
from periplus.inspector.host_report import host_name, host_report
from periplus.inspector.next_fetch import NextFetch, next_fetch
from periplus.store.catalog.listings import HOST_FILTERS, HOST_ORDERS, HostQuery, HostRow

ROWS = 50
_STATES_READ = 20_000  # URLs of a host whose reasons are counted


def hosts(sources: Sources, reader: Reader, query: Query) -> dict[str, Any]:
    """A page of the list of hosts."""
    del sources
    wanted = HostQuery(
        order=_choice("order", query.get("order", "queued"), HOST_ORDERS),
        only=_choice("only", query.get("only", ""), HOST_FILTERS),
        contains=query.get("contains", "").strip().lower()[:253],
        after=_key(query.get("after", "")),
    )
    found = reader.listings.hosts(wanted, reader.now, ROWS + 1)
    crawl = crawl_word(reader.state)
    last = found[ROWS - 1] if len(found) > ROWS else None
    return {
        "order": wanted.order,
        "only": wanted.only,
        "contains": wanted.contains,
        "hosts": [host_json(reader, row, crawl) for row, _ in found[:ROWS]],
        "next": f"{last[1]:.17g}:{last[0].host}" if last else None,
    }


def host(sources: Sources, reader: Reader, query: Query) -> dict[str, Any]:
    """Everything about one host."""
    del sources
    name = host_name(query.get("host", ""))
    row = reader.listings.host(name)
    states = Counter(reader.listings.first_states(name, _STATES_READ)) if row else None
    found = host_report(reader.catalog, reader.settings, name, states)
    if row is None:
        return found | {"blocked": reader.listings.blocked_since(name)}
    listed = host_json(reader, row, crawl_word(reader.state))
    done = row.urls - row.queued - row.refused - row.failed
    by_state = {"known": row.urls, "queued": row.queued, "done": done, "refused": row.refused, "failed": row.failed}
    return found | {
        "urls": by_state,
        "blocked": row.blocked,
        "next": listed["next"],
        "is_sample": row.urls > _STATES_READ,
    }


def upcoming(reader: Reader, row: HostRow) -> NextFetch:
    """The next fetch of a host."""
    return next_fetch(row, crawl_word(reader.state), reader.settings.politeness, reader.now)


def host_json(reader: Reader, row: HostRow, crawl: str) -> dict[str, Any]:
    """A row of the list."""
    return row._asdict() | {"next": next_fetch(row, crawl, reader.settings.politeness, reader.now)._asdict()}


def _choice(name: str, text: str, choices: tuple[str, ...]) -> str:
    if text not in choices:
        raise UsageError(f"{name}={text!r} is not possible", hint=f"Choose one of {', '.join(filter(None, choices))}.")
    return text


def _key(text: str) -> tuple[float, str] | None:
    """The key of the row before the page, as the link to the next page has it."""
    if not text:
        return None
    figure, _, name = text.partition(":")
    try:
        return float(figure), name
    except ValueError:
        raise UsageError(f"after={text!r} is not the key of a row", hint="Use the link to the next page.") from None
