"""How much does the index hold, and how fresh is it?"""

from __future__ import annotations

from periplus.model import CollectionFacts
from periplus.search.open_index import CommonFiles
from periplus.search.shards.group import TrackedShards
from periplus.store.generations import META


def collection_facts(common: CommonFiles, group: TrackedShards) -> CollectionFacts:
    """The figures of a generation. Hosts whose pages were all removed count until the index is built in full."""
    shards = group.ask(lambda shard: shard.facts()).values()
    return CollectionFacts(
        documents=common.documents,
        hosts=common.hosts or max(shard.hosts for shard in shards),
        languages=dict(sorted(common.languages.items(), key=lambda entry: -entry[1])),
        newest=float(max(shard.newest for shard in shards)),
        built_at=(common.folder / META).stat().st_mtime,
        release=common.release,
        generation=common.number,
    )
