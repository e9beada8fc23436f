"""Builds a new generation of the index from the live segments, and looks up near-duplicates in a generation."""

from __future__ import annotations

import shutil
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import compute as pc
from pyarrow import dataset
from tantivy import Index, Query

from periplus.config import Indexing
from periplus.errors import DamagedFile, NoIndex
from periplus.garbage import rare_garbage_collection
from periplus.index.forward import ForwardIndex
from periplus.index.left_out import PageRules, prepare
from periplus.index.out_links import OutLinks
from periplus.index.pagestore import PageStore
from periplus.index.schema import NUMBER, URL_ID
from periplus.index.sites import FEWEST_TITLES, TITLES_COMPARED, Site, compare_titles, write_sites
from periplus.index.templates import FEWEST, PAGES_COMPARED, Templates
from periplus.index.writer import IndexWriter
from periplus.model import Copy, Quality
from periplus.store.catalog import Catalog
from periplus.store.checksums import require_intact, segment_file
from periplus.store.collection import Collection
from periplus.store.duckdb_session import batches, connect, plain_errors
from periplus.store.generations import INDEX_KIND, Generations, number_of
from periplus.store.ranks import open_ranks
from periplus.store.schema import main_text, read_pages
from periplus.store.sql_files import read_statements
from periplus.text.analyzer import language_of
from periplus.url import url_id

NEAR_COPIES = "near.parquet"  # a file beside the index: url, original, bits


def near_copy(generation: Path, url: str) -> Copy | None:
    """The near-duplicate that a URL is merged into, or None; generations of earlier releases have none."""
    path = generation / NEAR_COPIES
    if not path.exists():
        return None
    try:
        found = dataset.dataset(path).to_table(filter=pc.field("url") == url).to_pylist()
    except (pa.ArrowException, OSError) as error:
        raise DamagedFile(f"{path} is damaged", str(error)) from error
    return Copy(found[0]["url"], found[0]["original"], found[0]["bits"]) if found else None


_ROWS_AT_ONCE = 512
_OBJECTS_BETWEEN_COLLECTIONS = 20_000  # 8 % less CPU time than with 700
# fmt: off
_COLUMNS = [
    "url_id", "url", "host", "fetched_at", "mime", "title", "description", "keywords", "headings", "text", "language",
    "archive", "offset", "length", "main", "categories", "images", "videos", "published", "modified", "quality",
]
# fmt: on
_AGAIN = "The last index stays in use. Run `periplus index` again."
_SAMPLES = 100_000  # pages compared to find templates; takes about 60 MB
_TITLES = 500_000  # titles compared to find the names of sites; takes about 60 MB
_NO_ANCHORS = pa.table({"target_id": pa.array([], pa.binary(16)), "anchors": pa.array([], pa.list_(pa.string()))})


@dataclass(frozen=True, slots=True)
class IndexSummary:
    """The object that `index --json` prints."""

    documents: int
    duplicates: int
    generation: int
    seconds: float
    bytes: int
    left_out: dict[str, int]  # pages, by reason


def build_index(
    collection: Collection,
    settings: Indexing,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
    rules: PageRules | None = None,
) -> IndexSummary:
    """Build, verify and publish a generation from the live segments; searches use the last one until then.

    Pages that *rules* refuse are left out.
    """
    started = time.monotonic()
    generations = Generations(collection.index, INDEX_KIND)
    with (
        rare_garbage_collection(_OBJECTS_BETWEEN_COLLECTIONS),
        _live_segments(collection) as segments,
        generations.writing() as folder,
    ):
        with _Documents(collection, segments, settings, folder / "spill", rules) as documents:
            written = _write(documents, folder, settings, progress)
            documents.save_near_copies(folder / NEAR_COPIES)
            write_sites(folder, documents.sites.values())
        _require_sound(folder, written)
        facts = {
            "documents": written,
            "duplicates": documents.duplicates,
            "ranks": documents.rank_generation,
            "prior_strength": settings.prior_strength,
            "languages": documents.languages,
        }
        generation = generations.publish(folder, facts, settings.generations)
    size = sum(path.stat().st_size for path in generation.rglob("*") if path.is_file())
    seconds = round(time.monotonic() - started, 3)
    return IndexSummary(
        written, documents.duplicates, number_of(generation), seconds, size, left_out=documents.left_out
    )


@contextmanager
def _live_segments(collection: Collection) -> Iterator[dict[Path, Path | None]]:
    """The segments of pages to index, after a check of every byte, each with its links; None: they are damaged."""
    with collection.reading_segments():
        with closing(Catalog(collection.catalog)) as catalog:
            pages, links = (
                [segment_file(collection.segments, segment) for segment in catalog.segments(kind)]
                for kind in ("pages", "links")
            )
        if not pages:
            raise NoIndex("nothing to index", "no page has been crawled", "Run `periplus crawl URL` first.")
        require_intact(pages)
        intact = {file.path.name: file.path for file in links if file.damage() is None}
        yield {file.path: intact.get(file.path.name.replace("pages-", "links-", 1)) for file in pages}


def _write(documents: _Documents, folder: Path, settings: Indexing, progress: Callable[[int, int], None]) -> int:
    with IndexWriter(folder, settings, documents.languages) as writer:
        for done, row in enumerate(documents.rows(), 1):
            writer.add(row)
            if done % _ROWS_AT_ONCE == 0:
                progress(done, documents.total)
        progress(documents.total, documents.total)
        return writer.finish()


class _Documents:
    """The documents of the new generation, joined from pages, ranks and anchor texts."""

    def __init__(
        self,
        collection: Collection,
        segments: dict[Path, Path | None],
        settings: Indexing,
        spill: Path,
        rules: PageRules | None,
    ) -> None:
        self._sql = read_statements("periplus.index", "build.sql")
        self._segments, self._settings, self._spill = segments, settings, spill
        self._collection, self._rules = collection, rules
        self._ranks = open_ranks(collection.ranks)
        if self._ranks is not None:
            self._ranks.require_intact()
        self._database = connect(spill, settings.memory_mb << 20, settings.threads)
        with _plain_errors(), ExitStack() as undo:
            undo.callback(self.close)
            self._prepare()
            undo.pop_all()

    def __enter__(self) -> _Documents:
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

    def rows(self) -> Iterator[dict[str, Any]]:
        """Every document in the order of its number: the columns of its segment, `rows` in build.sql, and its links."""
        with _plain_errors():
            templates = Templates(self._samples())
            for page, chosen in self._chosen_pages():
                text = templates.strip(page["host"], main_text(page["text"], page["main"]))
                site = self.sites.get(page["host"])
                short_title = site.short_title(page["title"]) if site else page["title"]
                yield {**page, "features": page["quality"], **chosen, "text": text, "short_title": short_title}

    def _chosen_pages(self) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
        """The columns of every document: those of its segment with its links, and those of `rows` in build.sql."""
        joined = (
            row for batch in batches(self._database, self._sql["rows"], _ROWS_AT_ONCE) for row in batch.to_pylist()
        )
        chosen = next(joined, None)
        for segment in sorted(self._segments):
            links, start = OutLinks(self._database, self._sql["links"], self._segments[segment]), 0
            for batch in read_pages(segment, _COLUMNS, _ROWS_AT_ONCE):
                here = []
                while chosen and chosen["segment"] == str(segment) and chosen["place"] < start + len(batch):
                    here.append(chosen)
                    chosen = next(joined, None)
                places = pa.array([row["place"] - start for row in here], pa.int64())
                pages = batch.take(places).to_pylist()
                for page, linked, row in zip(pages, links.of(pages), here, strict=True):
                    yield page | linked, row
                start += len(batch)

    def _compare_titles(self) -> dict[str, Site]:
        """The hosts with enough titles, and what their titles repeat."""
        titles: dict[str, list[str]] = defaultdict(list)
        limits = [FEWEST_TITLES, TITLES_COMPARED, _TITLES]
        for host, title in self._database.execute(self._sql["titles"], limits).fetchall():
            titles[host].append(title)
        return compare_titles(titles)

    def _samples(self) -> Iterator[tuple[str, str]]:
        """Host and full text of the sample pages from which templates are found."""
        wanted: dict[str, dict[int, str]] = defaultdict(dict)  # host by place by segment
        limits = [FEWEST, PAGES_COMPARED, _SAMPLES]
        for host, segment, place in self._database.execute(self._sql["samples"], limits).fetchall():
            wanted[segment][place] = host
        for segment, hosts in wanted.items():
            start = 0
            for batch in read_pages(Path(segment), ["text"], _ROWS_AT_ONCE):
                here = [place for place in range(start, start + len(batch)) if place in hosts]
                texts = batch.column(0).take(pa.array([place - start for place in here], pa.int64()))
                yield from zip((hosts[place] for place in here), texts.to_pylist(), strict=True)
                start += len(batch)

    def save_near_copies(self, path: Path) -> None:
        """Write the near-duplicates and their originals to a file."""
        with _plain_errors():
            self._database.sql(self._sql["near_copies"]).write_parquet(str(path))

    def _prepare(self) -> None:
        names = list(map(str, sorted(self._segments)))
        files = self._database.read_parquet(names, filename=True, file_row_number=True, union_by_name=True)
        columns = ["*", "filename AS segment", "file_row_number AS place"]
        if "signature" not in files.columns:  # no page was reparsed yet
            features = ", ".join(f"'{name}': NULL::FLOAT" for name in Quality._fields)
            columns += ["NULL::BIGINT AS signature", f"{{{features}}} AS quality"]
        files.project(", ".join(columns)).create_view("pages")
        self._database.execute(self._sql["versions"])
        self.left_out = prepare(self._database, self._sql, self._collection, self._rules)
        self._database.execute(self._sql["candidates"])
        self._database.register("ranks", self._ranks_of_candidates())
        self._prepare_anchors()
        for name in ("originals", "near_duplicates", "merged", "documents", "copies"):
            self._database.execute(self._sql[name])
            if name == "near_duplicates" and not self._settings.fold_near:
                self._database.execute("DELETE FROM near_duplicates")
        self.sites = self._compare_titles()
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
            relative = np.maximum(self._ranks.of(keys) / self._ranks.figures.floor, 1.0)
        return pa.table({"url_id": ids, "rank": pa.array(relative, pa.float64())})

    def _prepare_anchors(self) -> None:
        if self._ranks is None:
            self._database.register("anchors", _NO_ANCHORS)
        else:
            self._database.read_parquet(str(self._ranks.anchors_file)).create_view("anchors")


def _plain_errors() -> AbstractContextManager[None]:
    return plain_errors("pages", "index.memory_mb")


def _require_sound(folder: Path, written: int) -> None:
    """Refuse to publish a generation that cannot be read back completely."""
    require_forward(folder, written)
    index = Index.open(str(folder / "tantivy"))
    searcher = index.searcher()
    with PageStore(folder) as pages:
        found = (searcher.num_docs, len(pages))
        if found != (written, written):
            raise DamagedFile(f"{folder} is damaged", f"{written} documents were written, {found} read back", _AGAIN)
        for number in sorted({0, written // 2, written - 1} if written else ()):
            query = Query.term_query(index.schema, URL_ID, url_id(pages.head(number).url).hex())
            addresses = [address for _, address in searcher.search(query, 2).hits]
            if searcher.fast_field_values(NUMBER, addresses) != [number]:
                raise DamagedFile(f"{folder} is damaged", f"document {number} is not found by its URL", _AGAIN)


def require_forward(folder: Path, written: int) -> None:
    """Refuse to publish a generation whose forward index lacks documents."""
    if (words := len(ForwardIndex(folder))) != written:
        problem = f"{written} documents were written, {words} are in the forward index"
        raise DamagedFile(f"{folder} is damaged", problem, _AGAIN)
