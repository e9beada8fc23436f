"""Aggregates the anchor texts of every page; the index searches them with the page's own text.

Each host counts once per text, and texts are ordered by weight, strongest first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from periplus.graph.build import Graph, ids_in
from periplus.graph.rank_writer import RankWriter
from periplus.graph.sql_tables import Tables

SCHEMA = pa.schema(
    [
        ("target_id", pa.binary(16)),
        ("anchors", pa.list_(pa.string())),  # strongest first
        ("weights", pa.list_(pa.float32())),
        ("weight", pa.float32()),  # their sum
        ("in_links", pa.uint32()),  # number of counted pages that link here, with or without a text
    ]
)
_TARGETS_AT_ONCE = 1 << 15

# Anchor texts that fit any page, in the most common languages.
# fmt: off
BOILERPLATE = [
    "click here", "click", "here", "this", "this page", "this link", "link", "more", "read more", "learn more",
    "find out more", "see more", "details", "more info", "more information", "info", "view", "open", "go", "continue",
    "continue reading", "next", "next page", "previous", "prev", "previous page", "back", "up", "top", "back to top",
    "home", "homepage", "home page", "index", "start", "website", "web site", "site", "page", "permalink", "source",
    "download", "login", "log in", "sign in", "sign up", "register", "contact", "contact us", "about", "about us",
    "share", "print", "reply", "comments", "edit", "full text", "pdf", "html", "image", "[1]", "1", "2", "3", "4", "5",
    "hier", "hier klicken", "mehr", "weiter", "weiterlesen", "mehr lesen", "mehr erfahren", "zurück", "startseite",
    "ici", "cliquez ici", "lire la suite", "en savoir plus", "suite", "suivant", "précédent", "accueil", "retour",
    "aquí", "haga clic aquí", "leer más", "más", "siguiente", "anterior", "inicio", "ver más", "aqui", "clique aqui",
    "leia mais", "saiba mais", "qui", "clicca qui", "leggi tutto", "continua", "avanti", "indietro", "hier klikken",
    "lees meer", "meer", "volgende", "vorige", "tutaj", "kliknij tutaj", "więcej", "czytaj więcej", "здесь", "тут",
    "подробнее", "далее", "читать далее", "главная", "点击这里", "更多", "首页", "下一页", "上一页",
    "こちら", "続きを読む", "ホーム", "次へ", "前へ", "여기", "더보기",
]
# fmt: on


@dataclass(frozen=True, slots=True)
class AnchorCaps:
    """Limits for the anchor texts that are kept."""

    texts: int = 32  # per page
    chars: int = 120  # per text


def write_anchors(tables: Tables, graph: Graph, caps: AnchorCaps, draft: RankWriter) -> None:
    """Aggregate the anchor texts of every target, ordered by URL id."""
    tables.take("phrases", pa.table({"phrase": sorted(set(BOILERPLATE))}))
    for name in ("anchor_sources", "anchor_counts"):
        tables.make(name)
    tables.make("anchor_texts", chars=caps.chars)
    tables.drop("anchor_sources", "anchor_counts")
    tables.make("weighted_anchors")
    tables.drop("anchor_texts")
    tables.view("target_ids", "target_ids")
    rows = tables.stream("anchors", texts=caps.texts)
    with parquet.ParquetWriter(
        draft.path / "anchors.parquet", SCHEMA, compression="zstd", compression_level=1, use_dictionary=False
    ) as writer:
        for table in _in_groups(_targets(batch, graph) for batch in _whole_targets(rows)):
            writer.write_table(table)


def _whole_targets(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Regroup the stream so that all rows of a target are in one table."""
    waiting = None
    for batch in batches:
        table = pa.Table.from_batches([batch])
        if waiting is not None:
            table = pa.concat_tables([waiting, table])
        targets = ids_in(table["url_id"].combine_chunks())
        others = np.flatnonzero(targets != targets[-1])
        complete = int(others[-1]) + 1 if len(others) else 0
        if complete:
            yield table.slice(0, complete)
        waiting = table.slice(complete)
    if waiting is not None:
        yield waiting


def _targets(rows: pa.Table, graph: Graph) -> pa.Table:
    """Combine the rows of each target, one per text, into one row."""
    targets = ids_in(rows["url_id"].combine_chunks())
    starts = np.flatnonzero(np.append(True, targets[1:] != targets[:-1]))
    offsets = pa.array(np.append(starts, len(targets)), pa.int32())
    weights = (rows["weight"].to_numpy() / 1000).astype(np.float32)
    numbers = graph.numbers[rows["node"].to_numpy()[starts]]
    in_links = graph.links.indptr[numbers + 1] - graph.links.indptr[numbers]
    columns = [
        rows["url_id"].combine_chunks().take(pa.array(starts)).cast(pa.binary(16)),
        pa.ListArray.from_arrays(offsets, rows["anchor"].combine_chunks()),
        pa.ListArray.from_arrays(offsets, pa.array(weights)),
        pa.array(np.add.reduceat(weights, starts)),
        pa.array(in_links, pa.uint32()),
    ]
    return pa.table(columns, schema=SCHEMA)


def _in_groups(tables: Iterable[pa.Table]) -> Iterator[pa.Table]:
    """Regroup into tables of one size, so that equal input gives equal bytes."""
    waiting = SCHEMA.empty_table()
    for table in tables:
        waiting = pa.concat_tables([waiting, table])
        while waiting.num_rows >= _TARGETS_AT_ONCE:
            yield waiting.slice(0, _TARGETS_AT_ONCE)
            waiting = waiting.slice(_TARGETS_AT_ONCE)
    if waiting.num_rows:
        yield waiting.combine_chunks()
