"""When does a feed say that a page was published?

A feed often links to a URL that redirects to the page. The ranking has found which URLs are one page: they have the
same node.
"""

from __future__ import annotations

from collections.abc import Mapping

import duckdb
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from periplus.store.ranks import RankTable
from periplus.url import url_id


def prepare_feed_dates(database: duckdb.DuckDBPyConnection, sql: Mapping[str, str], ranks: RankTable | None) -> None:
    """Create the table `feed_dates` from `pages` and `candidates`."""
    listed = database.sql(sql["listed"]).to_arrow_table()
    ids = pa.array([url_id(url) for url in listed["url"].to_pylist()], pa.binary(16))
    dated = {"url_id": ids, "node": pa.array(_nodes(ids, ranks)), "published": listed["published"]}
    database.register("listed_pages", pa.table(dated))
    database.register("candidate_nodes", _candidate_nodes(database, ranks if len(ids) else None))
    database.execute(sql["feed_dates"])
    database.unregister("listed_pages")
    database.unregister("candidate_nodes")


def _candidate_nodes(database: duckdb.DuckDBPyConnection, ranks: RankTable | None) -> pa.Table:
    """URL id and node of the candidates that have a node."""
    known = database.sql("SELECT DISTINCT url_id FROM candidates").to_arrow_table() if ranks is not None else None
    ids = known["url_id"].combine_chunks().cast(pa.binary(16)) if known is not None else pa.array([], pa.binary(16))
    nodes = _nodes(ids, ranks)
    has_node = pa.array(nodes >= 0)
    return pa.table({"url_id": ids.filter(has_node), "node": pa.array(nodes).filter(has_node)})


def _nodes(ids: pa.FixedSizeBinaryArray, ranks: RankTable | None) -> NDArray[np.int64]:
    """The node of each URL id; -1: it has none."""
    if ranks is None or not len(ids):
        return np.full(len(ids), -1, np.int64)
    return ranks.nodes_of(np.frombuffer(ids.buffers()[1], "S16", len(ids), ids.offset * 16))
