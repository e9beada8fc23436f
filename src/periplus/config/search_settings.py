"""Defines the settings of ranking, indexing and searching, each with its default, unit and effect.

The settings page of the documentation is generated from this module and from `settings`.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, SecretStr

from periplus.config.value_types import (
    SECRET,
    DarkColour,
    DisplayText,
    LightColour,
    NetworkText,
    Section,
    SiteAddress,
)

BoxName = Literal["calculator", "units", "definition", "time", "weather"]


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
    media: bool = Field(default=True, description="Index the images and videos of pages, so that they can be searched.")
    shards: int = Field(
        default=1,
        ge=1,
        le=64,  # the builder has 14 files of each shard open, and many systems allow a process 1,024
        description="Number of shards of the index, so that several machines can serve it. An index with more than one "
        "is always built in full.",
    )
    generations: int = Field(
        default=3,
        ge=1,
        description="Number of index generations kept, for `periplus index --rollback`; older ones are removed, except "
        "those that a search has open.",
    )


class Ranking(Section):
    """How results are ordered: each weight multiplies a feature, and the score is the sum of the products."""

    text: float = Field(default=1.76, description="Weight of the logarithm of the text score (BM25 of title and text).")
    coverage: float = Field(
        default=1.0,
        description="Weight of the cube of the share of the query that the page has; a rare word is a larger share.",
    )
    window: float = Field(
        default=1.19,
        description="Weight of the 4th power of the largest share of the query within 30 words, or in the title.",
    )
    pairs: float = Field(
        default=1.6, description="Weight of the share of neighbouring query words that are neighbours on the page."
    )
    title: float = Field(
        default=1.09, description="Weight of the share of the query in the title; the name of the site does not count."
    )
    title_exact: float = Field(
        default=1.63, description="Weight of how much of the title is the query, and of the query is the title."
    )
    headings: float = Field(default=0.85, description="Weight of the share of the query in the headings.")
    anchors: float = Field(default=0.3, description="Weight of the logarithm of the text score of the anchor texts.")
    url: float = Field(default=0.03, description="Weight of the share of the query in the path of the URL.")
    url_tail: float = Field(
        default=1.47,
        description="Weight of the share of the query in the last part of the URL, when it has no other words.",
    )
    site: float = Field(
        default=6.16, description="Weight of the share of the query that names the site: in its host or in most titles."
    )
    front: float = Field(
        default=4.0, description="Weight of pages near the front page of the site that the whole query names."
    )
    meaning_title: float = Field(
        default=1.09, description="Weight of the similarity of query and title by word vectors."
    )
    meaning_headings: float = Field(
        default=1.32, description="Weight of the similarity of query and headings by word vectors."
    )
    meaning_opening: float = Field(
        default=3.15, description="Weight of the similarity of query and the start of the text by word vectors."
    )
    language: float = Field(
        default=0.2, description="Weight of the probability that the query is in the language of the page."
    )
    code: float = Field(
        default=1.42,
        description="Weight of code-like tokens of the query (`C++`, `std::map`) that the page has as written.",
    )
    generated: float = Field(
        default=-2.33, description="Weight of source listings, generated indexes and release notes."
    )
    length: float = Field(default=0.3, description="Weight of the logarithm of the number of words of the text.")
    rank: float = Field(
        default=0.3, description="Weight of the logarithm of PageRank, which is 0 for a page without links to it."
    )
    quality: float = Field(
        default=0.32,
        description="Weight of the quality of the page and its host (-0.5 to 0.5): text, language, no duplicates.",
    )
    freshness: float = Field(
        default=0.1,
        description="Weight of the date: 1 for the newest candidate, half for a page that is a year older.",
    )
    crowding: float = Field(
        default=0.1,
        ge=0,
        description="What a result loses for every better result of its host beyond `per_host`, at most three times.",
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
        default=150,
        ge=10,
        le=10_000,
        description="Number of candidates that are scored at a time: the best by title and text, and the best by all "
        "fields. Languages share them.",
    )
    per_host: int = Field(
        default=2,
        ge=1,
        description="Number of results of one host before `crowding` lowers the score of the next.",
    )


class Serving(Section):
    """How the search site works (`periplus serve`)."""

    longest_wait: float = Field(
        default=4.0,
        ge=0,
        description="Maximum seconds a search may wait in the queue. When the queue is longer, the site answers "
        "503 with Retry-After. Each process of `serve --workers` has its own queue.",
    )
    cache_mb: int = Field(
        default=64,
        ge=0,
        le=100_000,
        description="Maximum size of the result cache in megabytes, a file that all processes share and that survives "
        "restarts. It contains recent queries. 0: no cache.",
    )
    suggest_queries: bool = Field(
        default=False,
        description="Suggest queries that were searched on five different days. The site then counts queries in "
        "`cache/queries.db`: their text and days, without addresses and times.",
    )
    memory_cache_mb: int = Field(
        default=64,
        ge=0,
        le=100_000,
        description="Maximum size in megabytes of the answers that each process keeps in memory, compressed, to send "
        "them again. They are in addition to the result cache. 0: none.",
    )
    rate_limit: Literal["auto"] | Annotated[float, Field(ge=0)] = Field(
        default="auto",
        description="Maximum requests per second of one client; above it, the site answers 429 with Retry-After. An "
        "IPv6 network of 64 bits is one client. 0: no limit. auto: 10 when the site listens on a public address or has "
        "trusted proxies, otherwise 0. Each process of `serve --workers` counts for itself.",
    )
    rate_burst: int = Field(
        default=50, ge=1, description="Requests that a client may send at once before `rate_limit` applies."
    )
    trusted_proxies: list[NetworkText] = Field(
        default_factory=list,
        description="Networks of reverse proxies, for example `10.0.0.0/8`. Only from them the headers X-Forwarded-For "
        "and Forwarded count. Of other proxies, all clients together are one client.",
    )
    access_log: str = Field(
        default="",
        description="File of the access log in the combined format; `-` is stderr. The file may be renamed to rotate "
        "it. Empty: no log.",
    )
    log_queries: bool = Field(
        default=False, description="The access log has query strings, which contain the searches of the users."
    )
    metrics: bool = Field(
        default=False,
        description="`/metrics` is answered to every client. Otherwise it is answered on this machine only, and not "
        "through a proxy.",
    )
    public_address: SiteAddress = Field(
        default="",
        description="Public address of the site, for example `https://search.example.org`, written into "
        "`/opensearch.xml`. Empty: the Host header of the request is used, and the file is not cacheable.",
    )
    playground: bool = Field(
        default=True,
        description="Whether readers may order the results of a search by other weights (`/playground`). Each such "
        "page costs one search.",
    )
    bangs: str = Field(
        default="",
        description="File of bangs, relative to the folder of the collection: with `!w rust`, readers search another "
        "site. One bang a line, `w https://en.wikipedia.org/w/index.php?search={query} Wikipedia`, or a JSON list of "
        "objects with `t`, `u` and `s`. Read when the site starts. Empty: no bangs.",
    )
    load_images: bool = Field(
        default=False,
        description="The tab Images shows the images themselves. Browsers then load them from other sites, which see "
        "the IP address of the reader. Without it, the tab shows their texts and links only.",
    )
    inspect: bool = Field(
        default=False,
        description="Whether every reader may inspect URLs (`/inspect`): crawl decisions, errors and archive "
        "positions. Without it, only a site on a loopback address without `serve.public_address` and "
        "`serve.trusted_proxies` shows them.",
    )

    boxes: list[BoxName] = Field(
        default=["calculator", "units", "definition", "time", "weather"],
        description="Boxes above the results; when several have an answer, the first in this list is shown. `weather` "
        "sends the coordinates of the city in a search to `weather_address`. Empty: no boxes.",
    )
    weather_address: SiteAddress = Field(
        default="https://api.open-meteo.com",
        description="Server of the weather box, with the interface of Open-Meteo. A private server is allowed only as "
        "an IP address, or as `localhost`. Empty: no weather box.",
    )
    node_token: SecretStr = Field(
        default=SecretStr(""),
        json_schema_extra=SECRET,
        description="Secret that a broker sends to its shard nodes, the same on all of them. A shard node that other "
        "machines reach needs one.",
    )
    node_timeout: float = Field(
        default=2.0,
        gt=0,
        le=60,
        description="Seconds that a broker waits for slow shard nodes at each step of a search. A shard without an "
        "answer is left out, and the results are marked as partial. A tenth of it, at least 0.15 s, is the time to "
        "connect, and to answer a ping when an answer is late: a dead node is not waited for any longer.",
    )


class SiteLook(Section):
    """How the search site looks (`periplus serve`)."""

    name: DisplayText = Field(
        default="Periplus",
        min_length=1,
        max_length=40,
        description="Name of the site: in titles, in the header, in feeds, and in browsers that add the search engine.",
    )
    tagline: DisplayText = Field(
        default="Every harbour along the coast, in order.",
        max_length=120,
        description="Sentence below the name on the start page. Empty: none.",
    )
    logo: str = Field(
        default="",
        description="SVG or PNG file in the folder of the collection, at most 256 kB, shown beside the name and as the "
        "icon of the site. Empty: the logo of Periplus.",
    )
    accent: LightColour = Field(
        default="",
        description="Colour of buttons and highlights on light backgrounds, for example `#8b0000`; its contrast with "
        "them must be at least 4.5:1. Empty: the colour of Periplus.",
    )
    accent_dark: DarkColour = Field(
        default="",
        description="The same on dark backgrounds. Empty: `accent`, lightened as much as needed.",
    )
