"""Which documents will the new generation have, which of them are new, and what are they made of?"""

from __future__ import annotations

import shutil
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import xxhash
from numpy.typing import NDArray

from periplus.config import Indexing
from periplus.index.documents.document_reader import ROWS_AT_ONCE, DocumentReader, Segment
from periplus.index.documents.media import LARGEST_SHARE, MOST_PAGES, read_furniture
from periplus.index.documents.schema import prior_steps
from periplus.index.documents.sites import FEWEST_TITLES, TITLES_COMPARED, Site, compare_titles, read_sites
from periplus.index.documents.templates import FEWEST, PAGES_COMPARED, Templates, read_templates
from periplus.index.planning.feed_dates import prepare_feed_dates
from periplus.index.planning.left_out import PageRules, prepare
from periplus.index.storage.parts import DOCUMENTS
from periplus.index.update import Base
from periplus.model import Quality
from periplus.store.collection import Collection
from periplus.store.database.sql_files import read_statements
from periplus.store.duckdb_session import batches, connect, plain_errors
from periplus.store.manifest import SealedSegment
from periplus.store.ranks import open_ranks
from periplus.store.segments.schema import read_some_pages
from periplus.text.analyzer import language_of
from periplus.url import url_key

_KEPT_AT_ONCE = 65_536  # rows
_SAMPLES = 100_000  # pages compared to find templates; takes about 60 MB
_TITLES = 500_000  # titles compared to find the names of sites; takes about 60 MB
_NO_ANCHORS = pa.table({"target_id": pa.array([], pa.binary(16)), "anchors": pa.array([], pa.list_(pa.string()))})
_NO_DOCUMENTS = pa.table(
    {
        "number": pa.array([], pa.int64()),
        "url_id": pa.array([], pa.binary(16)),
        "fingerprint": pa.array([], pa.uint64()),
        "links": pa.array([], pa.uint64()),
    }
)


class LiveSegment(NamedTuple):
    """A segment to index, as the manifest has it."""

    pages: SealedSegment
    links: SealedSegment | None  # None: the file is damaged


class Plan:
    """The documents of the new generation, joined from pages, ranks and anchor texts."""

    def __init__(
        self,
        collection: Collection,
        segments: Sequence[LiveSegment],
        settings: Indexing,
        spill: Path,
        rules: PageRules | None,
    ) -> None:
        """*spill*: a folder for what does not fit into memory."""
        self._sql = read_statements("periplus.index.planning", "plan.sql")
        self._segments = {segment.pages.name: segment for segment in segments}
        self._settings, self._spill = settings, spill
        self._collection, self._rules = collection, rules
        self._ranks = open_ranks(collection.ranks)
        if self._ranks is not None:
            self._ranks.require_intact()
        self._database = connect(spill, settings.memory_mb << 20, settings.threads)
        with _plain_errors(), ExitStack() as undo:
            undo.callback(self.close)
            self._prepare()
            undo.pop_all()

    def __enter__(self) -> Plan:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Drop all tables and remove the spill files."""
        self._database.close()
        shutil.rmtree(self._spill, ignore_errors=True)

    @property
    def rank_generation(self) -> int:
        """The number of the rank generation in use; 0 when there is none."""
        return self._ranks.number if self._ranks is not None else 0

    # -- which documents ------------------------------------------------------------------------------------------

    def _prepare(self) -> None:
        names = [str(self._collection.segments / name) for name in sorted(self._segments)]
        files = self._database.read_parquet(names, filename=True, file_row_number=True, union_by_name=True)
        columns = ["*", "filename AS segment", "file_row_number AS place"]
        if "signature" not in files.columns:  # no page was reparsed yet
            features = ", ".join(f"'{name}': NULL::FLOAT" for name in Quality._fields)
            columns += ["NULL::BIGINT AS signature", f"{{{features}}} AS quality"]
            columns += [f"[]::STRUCT(url VARCHAR)[] AS {name}" for name in ("images", "videos")]
        if "listed" not in files.columns:  # no segment has version 3 yet
            columns.append("NULL::STRUCT(url VARCHAR, published DOUBLE)[] AS listed")
        files.project(", ".join(columns)).create_view("pages")
        self._database.execute(self._sql["versions"])
        self.left_out = prepare(self._database, self._sql, self._collection, self._rules)
        self._database.execute(self._sql["candidates"])
        self._database.register("ranks", self._ranks_of_candidates())
        self._prepare_anchors()
        prepare_feed_dates(self._database, self._sql, self._ranks)
        for name in ("originals", "near_duplicates", "merged", "documents", "copies", "qualities"):
            self._database.execute(self._sql[name])
            if name == "near_duplicates" and not self._settings.fold_near:
                self._database.execute("DELETE FROM near_duplicates")
        self.total = self._count("SELECT count(*) FROM documents")
        self.languages = self._languages()
        self.duplicates = self._count("SELECT count(DISTINCT url_id) FROM candidates") - self.total

    def _languages(self) -> dict[str, int]:
        """The number of documents in each language that has its own fields."""
        documents: Counter[str] = Counter()
        for declared, count in self._database.execute(self._sql["languages"]).fetchall():
            documents[language_of(declared)] += count
        return dict(sorted(documents.items()))

    def _count(self, query: str) -> int:
        ((count,),) = self._database.execute(query).fetchall()
        return int(count)

    def hosts(self) -> int:
        """The number of hosts with documents."""
        return self._count("SELECT count(DISTINCT host) FROM documents")

    def _ranks_of_candidates(self) -> pa.Table:
        """PageRank relative to that of a page without links to it, at least 1; without ranks every page has 1."""
        ids = (
            self._database.sql("SELECT DISTINCT url_id FROM candidates")
            .to_arrow_table()["url_id"]
            .combine_chunks()
            .cast(pa.binary(16))
        )
        if self._ranks is None:
            relative = np.ones(len(ids))
        else:
            keys = np.frombuffer(ids.buffers()[1], "S16", len(ids), ids.offset * 16)
            relative = np.maximum(self._ranks.of(keys) / self._ranks.figures.floor, 1.0).astype(np.float64)
        steps = prior_steps(relative, self._settings.prior_strength).astype(np.int64)
        return pa.table({"url_id": ids, "rank": pa.array(relative), "prior": pa.array(steps)})

    def _prepare_anchors(self) -> None:
        if self._ranks is None:
            self._database.register("anchors", _NO_ANCHORS)
        else:
            self._database.read_parquet(str(self._ranks.anchors_file)).create_view("anchors")

    # -- which of them are new ------------------------------------------------------------------------------------

    def number_documents(self, before: Path | None = None, first: int = 0, *, ranks_later: bool = False) -> None:
        """Number the documents from 0 on; or continue a generation, whose unchanged documents keep their numbers.

        *first*: the first new number. *ranks_later*: documents of which only the prior or the anchor texts have changed
        count as unchanged; a later build without this option notices. Sets `added`, the number of new documents, and
        `removed`, the numbers of the documents of the generation that are gone or changed.
        """
        with _plain_errors():
            self._compare_sites(before)
            self._database.execute(self._sql["fingerprints"])
            if before is None:
                self._database.register("previous", _NO_DOCUMENTS)
            else:
                self._database.register("previous", self._database.read_parquet(str(before / DOCUMENTS)))
            self._database.execute(self._sql["numbered"], [first, ranks_later])
            self.added = self._count(self._sql["count_new"])
            removed = self._database.execute(self._sql["removed"]).fetchnumpy()["number"]
            self.removed: NDArray[np.intp] = np.asarray(removed, np.intp)

    def _compare_sites(self, before: Path | None) -> None:
        """Find what the pages of a host repeat; hosts that were compared for the generation *before* stay as then."""
        known_lines = read_templates(before) if before is not None else {}
        known_sites = read_sites(before) if before is not None else {}
        self._database.register("known_templates", pa.table({"host": pa.array(known_lines, pa.string())}))
        self._database.register("known_sites", pa.table({"host": pa.array(known_sites, pa.string())}))
        self.template_lines = Templates(self._samples(), known_lines)
        self.sites = known_sites | self._compare_titles()
        self.furniture = self._compare_media(read_furniture(before) if before is not None else {})
        styles = dict(self._styles())
        self._database.register(
            "styles",
            pa.table({"host": pa.array(styles, pa.string()), "style": pa.array(styles.values(), pa.uint64())}),
        )

    def _styles(self) -> Iterator[tuple[str, int]]:
        """Every host whose pages repeat something, with a hash of it."""
        lines, furniture = self.template_lines.lines, self.furniture
        for host in lines.keys() | self.sites.keys() | furniture.keys():
            found, site, media = lines.get(host), self.sites.get(host, Site()), furniture.get(host)
            if found or site.starts or site.ends or media:
                repeated = (sorted(found or ()), site.starts, site.ends, sorted(media or ()))
                yield host, xxhash.xxh3_64_intdigest(repr(repeated).encode())

    def _compare_titles(self) -> dict[str, Site]:
        """The hosts with enough titles, and what their titles repeat."""
        titles: dict[str, list[str]] = defaultdict(list)
        limits = [FEWEST_TITLES, TITLES_COMPARED, _TITLES]
        for host, title in self._database.execute(self._sql["titles"], limits).fetchall():
            titles[host].append(title)
        return compare_titles(titles)

    def _compare_media(self, known: dict[str, frozenset[str]]) -> dict[str, frozenset[str]]:
        """The images and videos that many pages of a host show; hosts in *known* were compared before."""
        if not self._settings.media:
            return {}
        self._database.register("known_furniture", pa.table({"host": pa.array(known, pa.string())}))
        self._database.execute(self._sql["media_hosts"], [MOST_PAGES])
        hosts = self._database.execute("SELECT host FROM media_hosts").fetchall()
        repeated: dict[str, list[str]] = {host: [] for (host,) in hosts}
        for host, url in self._database.execute(self._sql["furniture"], [MOST_PAGES, LARGEST_SHARE]).fetchall():
            repeated[host].append(url)
        return known | {host: frozenset(urls) for host, urls in repeated.items()}

    def _samples(self) -> Iterator[tuple[str, str]]:
        """Host and full text of the sample pages from which templates are found."""
        wanted: dict[str, dict[int, str]] = defaultdict(dict)  # host by place by segment
        limits = [FEWEST, PAGES_COMPARED, _SAMPLES]
        for host, segment, place in self._database.execute(self._sql["samples"], limits).fetchall():
            wanted[segment][place] = host
        for segment, hosts in wanted.items():
            yield from _texts(Path(segment), hosts)

    def save_numbers(self, path: Path) -> None:
        """Write number, URL id and fingerprints of every document, for the next update."""
        with _plain_errors():
            self._database.sql(self._sql["numbers"]).write_parquet(str(path))

    def save_near_copies(self, path: Path) -> None:
        """Write the near-duplicates and their originals to a file."""
        with _plain_errors():
            self._database.sql(self._sql["near_copies"]).write_parquet(str(path))

    # -- what they are made of ------------------------------------------------------------------------------------

    def base(self, before: Path, first: int) -> Base:
        """What an update takes over from the generation *before*, with the current ranks and qualities."""
        is_kept = np.zeros(first, bool)
        ranks, qualities = np.ones(first, np.float32), np.zeros(first, np.float32)
        hosts = np.zeros(first, np.uint64)
        with _plain_errors():
            for batch in batches(self._database, self._sql["kept"], _KEPT_AT_ONCE):
                numbers, rank, quality, host = batch.columns
                places = numbers.to_numpy()
                is_kept[places] = True
                ranks[places], qualities[places] = rank.to_numpy(), quality.to_numpy()
                hosts[places] = _keys_of(host)
        return Base(before, is_kept, self.removed, ranks, qualities, hosts)

    def rows(self) -> Iterator[dict[str, Any]]:
        """Every new document in the order of its number: the columns of its segment, `rows` in plan.sql, its links."""
        folder = self._collection.segments
        segments = {
            str(folder / name): Segment(folder / name, folder / live.links.name if live.links else None)
            for name, live in self._segments.items()
        }
        reader = DocumentReader(self._database, self._sql["links"], segments, self.template_lines, self.sites)
        with _plain_errors():
            query = batches(self._database, self._sql["rows"], ROWS_AT_ONCE)
            yield from reader.rows(row for batch in query for row in batch.to_pylist())

    def segments_of(self, rows: pa.Table) -> tuple[SealedSegment, ...]:
        """The segments that have the pages of planned rows, and those of their links."""
        live = (self._segments[Path(path).name] for path in rows["segment"].unique().to_pylist())
        return tuple(segment for pair in live for segment in pair if segment is not None)

    def planned_rows(self, sizes: Iterable[int]) -> Iterator[pa.Table]:
        """`rows` in plan.sql of all new documents, in the order of their numbers, in tables of so many rows."""
        schema, waiting = None, list[pa.RecordBatch]()
        query = batches(self._database, self._sql["rows"], _KEPT_AT_ONCE)
        with _plain_errors():
            for size in sizes:
                while sum(map(len, waiting)) < size and (batch := next(query, None)) is not None:
                    waiting.append(batch)
                table = pa.Table.from_batches(waiting, schema)
                schema, waiting = table.schema, table.slice(size).to_batches()
                yield table.slice(0, size)


def _texts(segment: Path, hosts: dict[int, str]) -> Iterator[tuple[str, str]]:
    """Host and full text of the pages at the places in *hosts*."""
    places = sorted(hosts)

    def is_wanted(start: int, end: int) -> bool:
        return bool(np.searchsorted(places, start) < np.searchsorted(places, end))

    for start, batch in read_some_pages(segment, ["text"], ROWS_AT_ONCE, is_wanted):
        here = [place for place in range(start, start + len(batch)) if place in hosts]
        texts = batch.column(0).take(pa.array([place - start for place in here], pa.int64()))
        yield from zip((hosts[place] for place in here), texts.to_pylist(), strict=True)


def _keys_of(hosts: pa.StringArray) -> NDArray[np.uint64]:
    """The hash of each host."""
    encoded = hosts.dictionary_encode()
    keys = np.array([url_key(host) for host in encoded.dictionary.to_pylist()], np.uint64)
    found: NDArray[np.uint64] = keys[encoded.indices.to_numpy()]
    return found


def _plain_errors() -> AbstractContextManager[None]:
    return plain_errors("pages", "index.memory_mb")
