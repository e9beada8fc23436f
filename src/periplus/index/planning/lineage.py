"""Does a build continue the live generation, or does it write everything anew?

A full build begins a lineage, and updates continue it. Word numbers, word vectors, templates and the names of sites are
those of the full build, so they become stale as documents change. Removed documents stay in the files. So a build is a
full one when too much has changed. An index with shards is always built in full.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

from periplus import __version__
from periplus.config import Indexing
from periplus.errors import PeriplusError
from periplus.index.planning.plan import Plan
from periplus.index.storage.pagestore import PageStore
from periplus.index.storage.shards import SHARDS, shard_count
from periplus.index.vectors.word_vectors import FOLDER as VECTORS
from periplus.store.generations import Generation, Generations
from periplus.text.analyzer import LANGUAGES

MOST_REMOVED = 0.2  # share of the document numbers that are not in use
MOST_NEW = 0.5  # share of the documents that are newer than the last full build: then the index has doubled
_CHECKED_BY_RECORD = ".dat"  # suffix of files whose records have checksums of their own
_SETTINGS = (SHARDS, "prior_strength", "forward_words", "vectors", "media")


@dataclass(frozen=True, slots=True)
class Continuation:
    """When a build continues the live generation, and what it leaves to later builds.

    A live crawl updates the index every minute: its limits are wider, and it leaves more to later builds.
    """

    full: bool = False  # never: write everything anew
    most_removed: float = field(default_factory=lambda: MOST_REMOVED)
    most_new: float = field(default_factory=lambda: MOST_NEW)
    all_languages: bool = False  # a full build has fields for all languages, so that a page in another one can be added
    ranks_later: bool = False  # keep documents of which only the prior or the anchor texts have changed
    vectors_later: bool = False  # a full build writes no word vectors; updates of it have none either


@dataclass(frozen=True, slots=True)
class Lineage:
    """The generation that a build continues."""

    before: Generation | None  # None: the build is a full one
    why: str = ""  # it is a full one
    limits: Continuation = field(default_factory=Continuation)

    @property
    def first(self) -> int:
        """The number of the first new document."""
        return int(self.before.meta["numbers"]) if self.before is not None else 0

    def languages(self, documents: dict[str, int]) -> dict[str, int]:
        """The documents by language; 0 in a language that has fields in the index, but no document any more."""
        with_fields: Iterable[str] = LANGUAGES if self.limits.all_languages else ()
        if self.before is not None:
            with_fields = self.before.meta["languages"]
        return dict(sorted({**dict.fromkeys(with_fields, 0), **documents}.items()))

    def has_vectors(self, settings: Indexing) -> bool:
        """Whether the build writes vectors of words and documents."""
        if self.before is None:
            return settings.vectors and not self.limits.vectors_later
        return settings.vectors and (self.before.folder / VECTORS).is_dir()

    def facts(self, plan: Plan, settings: Indexing) -> dict[str, Any]:
        """What `meta.json` has for the next build."""
        in_full_build = plan.total if self.before is None else self.before.meta["documents_in_full_build"]
        return {
            "release": __version__,
            **{name: getattr(settings, name) for name in _SETTINGS if name != SHARDS},
            "numbers": self.first + plan.added,
            "documents_in_full_build": in_full_build,
        }


def continued(generations: Generations, plan: Plan, settings: Indexing, limits: Continuation) -> Lineage:
    """Choose the generation to continue, and number the documents of the plan; the caller closes the generation."""
    before, why = (None, "--full was given") if limits.full else _usable(generations, settings)
    if before is not None:
        with ExitStack() as undo:
            undo.callback(before.close)
            try:
                why = _compared(before, plan, limits)
            except PeriplusError as error:
                why = error.sentence
            if not why:
                undo.pop_all()
                return Lineage(before)
    plan.number_documents()
    return Lineage(None, why, limits)


def _usable(generations: Generations, settings: Indexing) -> tuple[Generation | None, str]:
    """The live generation when an update can continue it, or why it cannot."""
    try:
        before = generations.open_live()
    except PeriplusError as error:
        return None, error.sentence
    if before is None:
        return None, "there was no index"
    if why := _unusable(before, settings):
        before.close()
        return None, why
    return before, ""


def _unusable(before: Generation, settings: Indexing) -> str:
    known = {SHARDS: 1, **before.meta}  # a generation that is not divided does not state it
    changed = [name for name in _SETTINGS if known.get(name) != getattr(settings, name)]
    if changed:
        return f"index.{changed[0]} has changed"
    if before.meta.get("release") != __version__:
        return "the last index was built by another release"
    try:
        before.require_sizes()
        before.require_intact(name for name in before.files if not name.endswith(_CHECKED_BY_RECORD))
        with PageStore(before.folder) as pages:
            return "" if pages.has_all_columns else "the page store has other columns"
    except PeriplusError as error:
        return error.sentence


def _compared(before: Generation, plan: Plan, limits: Continuation) -> str:
    """Number the documents of the plan after those of a generation; returns why that is not worth it, or nothing."""
    if new := plan.languages.keys() - before.meta["languages"].keys():
        return f"no page was in the language {min(new)} before"
    first = int(before.meta["numbers"])
    plan.number_documents(before.folder, first, ranks_later=limits.ranks_later)
    if shard_count(before.meta):
        is_same = not plan.added and not len(plan.removed) and before.meta["ranks"] == plan.rank_generation
        return "" if is_same else "an index with shards is always built in full"
    numbers = first + plan.added
    if numbers - plan.total > limits.most_removed * numbers:
        return f"more than {limits.most_removed:.0%} of the documents were removed since the last full build"
    if numbers - before.meta["documents_in_full_build"] > limits.most_new * plan.total:
        return f"more than {limits.most_new:.0%} of the documents are newer than the last full build"
    return ""
