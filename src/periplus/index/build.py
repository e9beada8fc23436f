"""Builds a new generation of the index from the live segments, and looks up near-duplicates in a generation.

An update continues the live generation: it adds new and changed documents, removes others, and links the files that it
does not change. A full build writes everything anew.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Container, Iterator
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import compute as pc
from pyarrow import dataset
from tantivy import Index, Query

from periplus.config import Indexing
from periplus.errors import DamagedFile, NoIndex
from periplus.garbage import rare_garbage_collection
from periplus.index.documents.document_reader import ROWS_AT_ONCE
from periplus.index.documents.media import write_furniture
from periplus.index.documents.schema import NUMBER, URL_ID
from periplus.index.documents.sites import write_sites
from periplus.index.documents.templates import write_templates
from periplus.index.forward.forward_index import ForwardIndex
from periplus.index.partitions.run import write_in_partitions
from periplus.index.planning.left_out import PageRules
from periplus.index.planning.lineage import Continuation, Lineage, continued
from periplus.index.planning.plan import LiveSegment, Plan
from periplus.index.storage.pagestore import PageStore
from periplus.index.storage.parts import DOCUMENTS
from periplus.index.storage.shards import SHARDS, document_folders, shard_folders
from periplus.index.update import Base
from periplus.index.writer import IndexWriter, Written
from periplus.model import Copy
from periplus.store.catalog.open_catalog import open_catalog
from periplus.store.checksums import require_intact, segment_file
from periplus.store.cleanup import remove_scratch_folders
from periplus.store.collection import Collection
from periplus.store.fleet_files.job_files import bring_segments
from periplus.store.fleet_files.shared_generations import bring_ranks, sharing_index
from periplus.store.generations import INDEX_KIND, Generation, Generations, number_of
from periplus.store.task_runner import TaskRunner
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


_OBJECTS_BETWEEN_COLLECTIONS = 20_000  # 8 % less CPU time than with 700
_WriteDocuments = Callable[[Indexing, dict[str, int], Base | None], Written]
_WITHOUT_SHARDS = 5  # format of an index that is not divided: earlier releases read it
_AGAIN = "The last index stays in use. Run `periplus index` again."


@dataclass(frozen=True, slots=True)
class IndexSummary:
    """The object that `index --json` prints."""

    documents: int
    duplicates: int
    generation: int
    seconds: float
    bytes: int
    left_out: dict[str, int]  # pages, by reason
    build: str  # "full", "update", or "none" when nothing has changed
    why: str  # why the build is a full one; empty otherwise
    added: int  # documents that were written; a changed one counts as added and removed
    removed: int
    kept: int  # documents of the last generation that are unchanged
    shards: int = 1


def build_index(
    collection: Collection,
    settings: Indexing,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
    rules: PageRules | None = None,
    limits: Continuation | None = None,
    only: Container[str] | None = None,
    runner: TaskRunner | None = None,
) -> IndexSummary:
    """Bring the index up to date with the live segments; searches use the last generation until the end.

    The new generation is verified before it is published. When nothing has changed, there is none. Pages that *rules*
    refuse are left out. *limits*: when an update would do. *only*: the names of the segments of pages to index.
    *runner*: tasks of it write the documents, in partitions, and *progress* counts partitions instead of documents.
    """
    bring_ranks(collection)
    with sharing_index(collection, settings.generations):
        return _build(collection, settings, progress, rules, limits or Continuation(), only, runner)


def _build(
    collection: Collection,
    settings: Indexing,
    progress: Callable[[int, int], None],
    rules: PageRules | None,
    limits: Continuation,
    only: Container[str] | None,
    runner: TaskRunner | None,
) -> IndexSummary:
    started = time.monotonic()
    generations = Generations(collection.index, INDEX_KIND)
    with (
        rare_garbage_collection(_OBJECTS_BETWEEN_COLLECTIONS),
        _live_segments(collection, only) as segments,
        generations.writing() as folder,
        Plan(collection, segments, settings, folder / "spill", rules) as plan,
    ):
        remove_scratch_folders(collection, "index")  # of a build that was killed
        lineage = continued(generations, plan, settings, limits)
        before = lineage.before
        with closing(before) if before is not None else nullcontext():
            if before is not None and not plan.added and not len(plan.removed) and _same_ranks(before, plan):
                return _summary(before.folder, plan, lineage, "none", started)
            write = partial(_write_documents, folder, plan)
            if runner is not None and plan.added:
                write = partial(write_in_partitions, folder, plan, collection, runner)
            facts = _write_generation(folder, plan, lineage, settings, partial(write, progress))
            plan.close()  # removes its temporary files
            generation = generations.publish(folder, facts, settings.generations, before)
    return _summary(generation, plan, lineage, "full" if before is None else "update", started)


def _same_ranks(before: Generation, plan: Plan) -> bool:
    return bool(before.meta["ranks"] == plan.rank_generation)


def _summary(generation: Path, plan: Plan, lineage: Lineage, build: str, started: float) -> IndexSummary:
    return IndexSummary(
        documents=plan.total,
        duplicates=plan.duplicates,
        generation=number_of(generation),
        seconds=round(time.monotonic() - started, 3),
        bytes=sum(path.stat().st_size for path in generation.rglob("*") if path.is_file()),
        left_out=plan.left_out,
        build=build,
        why=lineage.why,
        added=plan.added,
        removed=len(plan.removed),
        kept=plan.total - plan.added,
        shards=max(len(shard_folders(generation)), 1),
    )


@contextmanager
def _live_segments(collection: Collection, only: Container[str] | None) -> Iterator[list[LiveSegment]]:
    """The segments to index, after a check of every byte.

    The build reads the manifest here only: another process may replace segments meanwhile.
    """
    with collection.reading_segments():
        with closing(open_catalog(collection)) as catalog:
            live = catalog.segments()
        bring_segments(collection, live)
        pages = [one for one in live if one.kind == "pages" and (only is None or one.name in only)]
        if not pages:
            raise NoIndex("nothing to index", "no page has been crawled", "Run `periplus crawl URL` first.")
        file_of = partial(segment_file, collection.segments)
        require_intact(map(file_of, pages))
        links = {one.name: one for one in live if one.kind == "links" and file_of(one).damage() is None}
        yield [LiveSegment(one, links.get(one.name.replace("pages-", "links-", 1))) for one in pages]


def _write_generation(
    folder: Path, plan: Plan, lineage: Lineage, settings: Indexing, write_documents: _WriteDocuments
) -> dict[str, Any]:
    """Write and check all files of a generation; returns the facts for its `meta.json`."""
    languages = lineage.languages(plan.languages)
    base = plan.base(lineage.before.folder, lineage.first) if lineage.before is not None else None
    written_settings = settings.model_copy(update={"vectors": lineage.has_vectors(settings)})
    written = write_documents(written_settings, languages, base)
    plan.save_numbers(folder / DOCUMENTS)
    plan.save_near_copies(folder / NEAR_COPIES)
    write_sites(folder, plan.sites.values())
    write_templates(folder, plan.template_lines.lines)
    write_furniture(folder, plan.furniture)
    _require_sound(folder, plan, written, base)
    facts = {
        "format": INDEX_KIND.format if settings.shards > 1 else _WITHOUT_SHARDS,
        "documents": plan.total,
        "duplicates": plan.duplicates,
        "ranks": plan.rank_generation,
        "languages": languages,
        "media_documents": sum(written.media),
        **lineage.facts(plan, settings),
    }
    if settings.shards > 1:
        shards = {"shard_documents": written.by_shard, "shard_media": written.media}
        facts |= {SHARDS: settings.shards, **shards, "hosts": plan.hosts()}
    return facts


def _write_documents(
    folder: Path,
    plan: Plan,
    progress: Callable[[int, int], None],
    settings: Indexing,
    languages: dict[str, int],
    base: Base | None,
) -> Written:
    """Write the documents."""
    with IndexWriter(folder, settings, languages, base, plan.furniture) as writer:
        for done, row in enumerate(plan.rows(), 1):
            writer.add(row)
            if done % ROWS_AT_ONCE == 0:
                progress(done, plan.added)
        progress(plan.added, plan.added)
        return writer.finish()


def _require_sound(folder: Path, plan: Plan, written: Written, base: Base | None) -> None:
    """Refuse to publish a generation that has not the documents of the plan, or that cannot be read back."""
    kept = np.flatnonzero(base.is_kept) if base is not None else np.empty(0, np.intp)
    expected = len(kept) + written.documents
    if expected != plan.total:
        problem = f"{written.documents} documents were written and {len(kept)} kept, {plan.total} were planned"
        raise DamagedFile(f"{folder} is damaged", problem, _AGAIN)
    require_forward(folder, expected)
    for documents, added in zip(document_folders(folder, len(written.by_shard)), written.by_shard, strict=True):
        _require_found(documents, base.first if base is not None else 0, added, kept)


def _require_found(folder: Path, first: int, written: int, kept: NDArray[np.intp]) -> None:
    """Refuse a folder of documents of which the first, the last or one between them is not found by its URL.

    *first*: the number of the first of *written* new documents; *kept*: the numbers of earlier ones.
    """
    index = Index.open(str(folder / "tantivy"))
    searcher = index.searcher()
    with PageStore(folder) as pages:
        found = (searcher.num_docs, len(pages))
        if found != (len(kept) + written, first + written):
            problem = f"{len(kept) + written} documents were written, {found} read back"
            raise DamagedFile(f"{folder} is damaged", problem, _AGAIN)
        old = kept[[0, len(kept) // 2, -1]].tolist() if len(kept) else []
        new = [first, first + written // 2, first + written - 1] if written else []
        for number in sorted({*old, *new}):
            query = Query.term_query(index.schema, URL_ID, url_id(pages.head(number).url).hex())
            addresses = [address for _, address in searcher.search(query, 2).hits]
            if searcher.fast_field_values(NUMBER, addresses) != [number]:
                raise DamagedFile(f"{folder} is damaged", f"document {number} is not found by its URL", _AGAIN)


def require_forward(folder: Path, written: int) -> None:
    """Refuse to publish a generation whose forward index lacks documents."""
    if (words := len(ForwardIndex(folder))) != written:
        problem = f"{written} documents were written, {words} are in the forward index"
        raise DamagedFile(f"{folder} is damaged", problem, _AGAIN)
