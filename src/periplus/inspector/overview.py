"""What does a collection hold, and what did its last crawl do?"""

from __future__ import annotations

import time
from typing import Any

from periplus.inspector.runs import last_run
from periplus.inspector.versions import due_by_class
from periplus.store.catalog import Catalog
from periplus.store.collection import Collection


def overview(collection: Collection, catalog: Catalog) -> dict[str, Any]:
    """The shape that `status --json` prints."""
    archives = catalog.archives()
    segments = catalog.segments()
    return {
        "home": str(collection.home),
        "urls": catalog.counters(),
        "refused_links": catalog.refusals(),
        "archive": {"files": len(archives), "bytes": sum(file.committed for file in archives)},
        "segments": {
            "files": len(segments),
            "bytes": sum(segment.size for segment in segments),
            "pages": sum(segment.rows for segment in segments if segment.kind == "pages"),
            "links": sum(segment.rows for segment in segments if segment.kind == "links"),
            "unsealed_archive_bytes": sum(file.committed - file.sealed for file in archives),
        },
        "due": due_by_class(catalog, time.time()),
        "seeds": catalog.seeds(),
        "last_run": last_run(collection, catalog),
    }
