"""Defines the settings of ranking, indexing and searching, each with its default, unit and effect.

The settings page of the documentation is generated from this module and from `settings`.
"""

from __future__ import annotations

from pydantic import Field

from periplus.config.value_types import Section, SiteAddress


class LinkAnalysis(Section):
    """How links are counted and pages ranked (`periplus rank`)."""

    damping: float = Field(
        default=0.85,
        gt=0,
        lt=1,
        description="Damping factor of PageRank: the share of a page's rank that its links pass on.",
    )
    tolerance: float = Field(
        default=1e-6,
        gt=0,
        description="Maximum error of the ranks: the sum of all differences from the exact ranks (L1).",
    )
    iterations: int = Field(
        default=200, ge=1, description="Maximum number of PageRank iterations, even when `tolerance` is not reached."
    )
    nofollow: bool = Field(default=False, description="Count links marked nofollow.")
    links_per_host: int = Field(
        default=20, ge=1, description="Maximum number of links counted from one page to the pages of one other host."
    )
    inside_domain: float = Field(
        default=0.1,
        ge=0,
        le=1,
        description="Weight of a link within one registrable domain for the rank of hosts; other links have weight 1.",
    )
    trusted_hosts: list[str] = Field(
        default=[],
        description="Hosts that get `trusted_share` of the random jumps of PageRank. Empty: all pages get the same.",
    )
    trusted_share: float = Field(
        default=0.5,
        ge=0,
        lt=1,
        description="Share of the random jumps that goes to `trusted_hosts`; the rest goes to all pages alike.",
    )
    anchors_per_page: int = Field(
        default=32, ge=0, description="Maximum number of different anchor texts kept per page."
    )
    anchor_chars: int = Field(default=120, ge=1, description="Maximum length of an anchor text in characters.")
    memory_mb: int = Field(
        default=2048, ge=128, description="Memory for joins in megabytes; larger joins use the disk."
    )
    threads: int = Field(default=0, ge=0, description="Threads for joins and PageRank; 0: one per core.")
    generations: int = Field(default=3, ge=1, description="Number of rank generations kept; older ones are removed.")


class Indexing(Section):
    """How the index is built (`periplus index`)."""

    prior_strength: float = Field(
        default=0.05,
        ge=0,
        le=1,
        description="Exponent of PageRank when candidates are selected: text score times PageRank to this power. "
        "0: text score only.",
    )
    memory_mb: int = Field(
        default=1024, ge=128, description="Memory for joins in megabytes; larger joins use the disk."
    )
    threads: int = Field(default=2, ge=1, description="Threads for joins.")
    fold_near: bool = Field(
        default=True,
        description="Merge near-duplicates: pages with the same title and nearly the same main text are one result.",
    )
    forward_words: int = Field(
        default=3_000,
        ge=100,
        le=1_000_000,
        description="Maximum number of words of the text of a page in the forward index. Words after them are still "
        "found.",
    )
    vectors: bool = Field(
        default=True,
        description="Learn word vectors from the pages: words in similar company have similar vectors. Takes about "
        "12 seconds of processor time for 25,000 pages, and at most 60.",
    )
    generations: int = Field(
        default=3,
        ge=1,
        description="Number of index generations kept, for `periplus index --rollback`; older ones are removed, except "
        "those that a search has open.",
    )


class Ranking(Section):
    """How results are ordered: each weight multiplies a feature, and the score is the sum of the products."""

    text: float = Field(default=1.0, description="Weight of the logarithm of the text score (BM25 over all fields).")
    rank: float = Field(
        default=0.05, description="Weight of the logarithm of PageRank, which is 0 for a page without links to it."
    )
    quality: float = Field(
        default=0.05,
        description="Weight of the quality of the page and its host (-0.5 to 0.5): text, language, no duplicates.",
    )
    title_all: float = Field(default=0.25, description="Bonus when all query words are in the title.")
    title_some: float = Field(
        default=0.10, description="Weight of the share of query words in the title, when not all are."
    )
    headings: float = Field(default=0.08, description="Weight of the share of query words in the headings.")
    url: float = Field(default=0.08, description="Weight of the share of query words in the URL.")
    phrase_title: float = Field(default=0.20, description="Bonus when the title contains the query as a phrase.")
    phrase_headings: float = Field(default=0.10, description="Bonus when a heading contains the query as a phrase.")
    phrase_opening: float = Field(
        default=0.10, description="Bonus when the first 600 characters of the text contain the query as a phrase."
    )
    near_phrase: float = Field(
        default=0.05, description="Bonus when the title contains nine tenths of the query words in order."
    )
    field_title: float = Field(default=1.0, ge=0, description="Weight of the title in the text score.")
    field_head: float = Field(
        default=1.0, ge=0, description="Weight of description, keywords and headings in the text score."
    )
    field_anchors: float = Field(default=1.0, ge=0, description="Weight of the anchor texts in the text score.")
    field_url: float = Field(default=0.5, ge=0, description="Weight of the words of the URL in the text score.")
    field_body: float = Field(default=1.0, ge=0, description="Weight of the main text in the text score.")
    field_code: float = Field(
        default=4.0,
        ge=0,
        description="Text score of a page that has a code-like token (`C++`, `std::map`, `--help`) as it is written.",
    )
    candidates: int = Field(
        default=1000,
        ge=100,
        le=10_000,
        description="Number of candidates per query that are scored by text score, PageRank and quality.",
    )
    read_closely: int = Field(
        default=100,
        ge=10,
        le=1000,
        description="Number of the best candidates whose title, headings, URL and text are compared with the "
        "query as well.",
    )
    per_host: int = Field(
        default=2,
        ge=1,
        description="Maximum number of results of one host on the first page, before results of other hosts.",
    )


class Serving(Section):
    """How the search site works (`periplus serve`)."""

    longest_wait: float = Field(
        default=4.0,
        ge=0,
        description="Maximum seconds a search may wait in the queue. When the queue is longer, the site answers "
        "503 with Retry-After. Each process of `serve --workers` has its own queue.",
    )
    public_address: SiteAddress = Field(
        default="",
        description="Public address of the site, for example `https://search.example.org`, written into "
        "`/opensearch.xml`. Empty: the Host header of the request is used, and the file is not cacheable.",
    )
