"""How good does this page look, and why?"""

from __future__ import annotations

from contextlib import closing
from typing import Any

from periplus.config import Settings
from periplus.errors import DamagedFile
from periplus.model import Quality
from periplus.parse.page import PageParser
from periplus.store.archive import read_response
from periplus.store.catalog import Catalog
from periplus.store.collection import Collection
from periplus.url import Canonicalizer


def quality_of(catalog: Catalog, collection: Collection, settings: Settings, url: str) -> dict[str, Any] | None:
    """What each clue adds to the quality of a page, read closely from the archive.

    None for what was never fetched, or is damaged: whoever asks about such a page wants all the rest that is known.
    """
    version = catalog.version_of(url)
    if version is None or version.position is None:
        return None
    try:
        response = read_response(collection.archive, version.position)
    except DamagedFile:
        return None
    canonicalizer = Canonicalizer.of(settings.addresses)
    parser = PageParser(canonicalizer, links_per_page=settings.scope.links_per_page, settings=settings.parse)
    with closing(parser):
        quality: Quality = parser.parse(response).quality
    return {"score": round(quality.score, 3), **{name: round(part, 3) for name, part in quality._asdict().items()}}
