"""How much does the index hold, and how fresh is it?"""

from __future__ import annotations

import numpy as np

from periplus.model import CollectionFacts
from periplus.search.open_index import OpenIndex
from periplus.store.generations import META


def collection_facts(index: OpenIndex) -> CollectionFacts:
    """The figures of an open index. Hosts whose pages were all removed count until the index is built in full."""
    return CollectionFacts(
        documents=index.documents,
        hosts=len(np.unique(index.hosts)),
        languages=dict(sorted(index.languages.items(), key=lambda entry: -entry[1])),
        newest=float(index.newest_date()),
        built_at=(index.folder / META).stat().st_mtime,
        release=index.release,
        generation=index.number,
    )
