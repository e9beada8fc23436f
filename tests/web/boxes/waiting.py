"""Waits for the box of a page."""

from __future__ import annotations

import time
from collections.abc import Mapping
from urllib.parse import urlencode

from web.serving import Answer, Site


def boxed(site: Site, query: str, headers: Mapping[str, str] | None = None) -> Answer:
    """The result page of a query or path, as soon as it has a box; a page does not wait for a late one."""
    path = query if query.startswith("/") else f"/search?{urlencode({'q': query})}"
    for _ in range(200):
        answer = site.get(path, headers)
        if answer.page.select("section.instant"):
            return answer
        time.sleep(0.05)
    raise AssertionError(f"no box for {query}")
