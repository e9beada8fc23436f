"""Which page does this one repeat, and which repeat it?"""

from __future__ import annotations

from typing import Any

from periplus.errors import NoIndex
from periplus.index.copies import near_copy
from periplus.index.generations import Generations
from periplus.model import Copy
from periplus.store.catalog import Catalog
from periplus.store.collection import Collection

_SHOWN = 20


def copies_of(catalog: Catalog, collection: Collection, url: str) -> dict[str, Any]:
    """The page that a URL repeats, as the crawl saw it or else as the index has it, and those that repeat it."""
    copy = catalog.copy(url) or _folded(collection, url)
    of = None if copy is None else {"url": copy.original, "exact": copy.bits is None, "bits": copy.bits or 0}
    return {"copy_of": of, "copies": catalog.copies_of(url, _SHOWN)}


def _folded(collection: Collection, url: str) -> Copy | None:
    try:
        return near_copy(Generations(collection.index).current(), url)
    except NoIndex:
        return None
