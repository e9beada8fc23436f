"""Defines the records that stages exchange, and the verdicts and reasons of decisions.

Records are immutable and contain data only, never clients or handles. The stage that reads a record decides what to do.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from typing import NamedTuple


class Verdict(StrEnum):
    """The decision about a URL."""

    ADMITTED = "admitted"  # queued for fetching
    REFUSED = "refused"  # a rule of the crawl or the site forbids it
    DELAYED = "delayed"  # queued for a later time
    FETCHED = "fetched"  # stored in the archive
    UNCHANGED = "unchanged"  # the same as when it was last fetched
    READ = "read"  # a sitemap or entry URL: only its links were used
    DROPPED = "dropped"  # fetching failed for good
    MERGED = "merged"  # represented by another URL


class Reason(StrEnum):
    """Why a decision was made: one code per decision, shown by `inspect` and counted in summaries.

    `periplus.reasons` documents the meaning of each code, and what a user can do about it.
    """

    # admitted
    SEED = "seed"
    LINK = "link"
    REDIRECT_TARGET = "redirect_target"
    SITEMAP = "sitemap"  # the URL is a sitemap
    LISTED = "listed"  # a sitemap lists the URL
    IMPORTED = "imported"  # from another archive; the scope refused it or was not checked
    IMPORTED_IN_SCOPE = "imported_in_scope"  # from another archive; the scope admitted it
    ENTRY = "entry"  # fetched for new links whenever the queue is empty
    REVISIT = "revisit"  # due for a recrawl
    # refused by a rule of this crawl
    NOT_WEB = "not_web"
    TOO_LONG = "too_long"
    SCOPE_HOST = "scope_host"
    BLOCKED = "blocked"  # the user has blocked the host
    SEED_REMOVED = "seed_removed"  # the user took the seed back before it was fetched
    SCOPE_PATH = "scope_path"
    EXTENSION = "extension"
    TOO_DEEP = "too_deep"
    TRAP_REPEAT = "trap_repeat"
    TRAP_DEPTH = "trap_depth"
    TRAP_LEARNED = "trap_learned"
    DOMAIN_CAP = "domain_cap"
    HOSTS_CAP = "hosts_cap"
    PRIVATE_ADDRESS = "private_address"
    NO_CONTACT = "no_contact"
    TOO_MANY_REDIRECTS = "too_many_redirects"
    FORGOTTEN = "forgotten"  # removed with `periplus forget`, which also blocks it
    # refused by the site
    ROBOTS = "robots"
    ROBOTS_UNREACHABLE = "robots_unreachable"
    CRAWL_DELAY_TOO_LONG = "crawl_delay_too_long"
    NOFOLLOW = "nofollow"
    # delayed
    RETRY = "retry"
    TRAP_SUSPECTED = "trap_suspected"  # fetched after the other URLs of its host
    # fetched
    OK = "ok"
    # fetched, and the same bytes as before
    SAME_CONTENT = "same_content"
    # unchanged
    NOT_MODIFIED = "not_modified"
    # fetched and archived, but not indexed
    OTHER_LANGUAGE = "other_language"
    PDF_CUT = "pdf_cut"
    PDF_LOCKED = "pdf_locked"
    PDF_BROKEN = "pdf_broken"
    PARSE_TIME = "parse_time"
    PARSE_MEMORY = "parse_memory"
    PARSE_CRASH = "parse_crash"
    # merged
    REDIRECTED = "redirected"
    # dropped: the response is an error or cannot be used
    HTTP_ERROR = "http_error"
    WRONG_TYPE = "wrong_type"
    TOO_LARGE = "too_large"
    # dropped: no response
    DNS = "dns"
    CONNECT = "connect"
    TLS_EXPIRED = "tls_expired"
    TLS_NAME = "tls_name"
    TLS_ISSUER = "tls_issuer"
    TLS = "tls"
    TIMEOUT = "timeout"
    TOO_SLOW = "too_slow"
    CUT_SHORT = "cut_short"
    BAD_HTTP = "bad_http"
    # dropped: Periplus itself failed on the response
    INTERNAL_ERROR = "internal_error"


# The parser was killed or failed; the page is archived.
COULD_NOT_BE_READ = frozenset({Reason.PARSE_TIME, Reason.PARSE_MEMORY, Reason.PARSE_CRASH})


@dataclass(frozen=True, slots=True)
class Decision:
    """One verdict about one URL."""

    verdict: Verdict
    reason: Reason
    detail: str = ""  # the rule, header or robots.txt line behind it; shown by `inspect`


class UrlState(IntEnum):
    """The state of a known URL; stored as a number because millions of rows have it."""

    QUEUED = 0
    DONE = 1  # fetched, or redirected to another URL
    REFUSED = 2
    FAILED = 3


class QueuedUrl(NamedTuple):
    """A URL that waits to be fetched; a tuple because the frontier creates one for every admitted link."""

    url: str
    host: str
    depth: int  # links followed from a seed
    priority: float  # within one host; smaller is fetched sooner
    reason: Reason  # why it was admitted
    via: str = ""  # the page, redirect or command that the URL came from
    redirects: int = 0  # redirects already followed on the way here
    attempts: int = 0  # failed fetches so far
    due: float = 0.0  # not fetched before this time; seconds since the epoch
    visits: int = 0  # fetches that returned the page or found it unchanged
    interval: float = 0.0  # seconds from the last visit to the next; 0: none is planned
    evidence: float = 0.0  # number of changes that the interval was estimated from
    visited: float = 0.0  # when the last complete fetch was; seconds since the epoch


# Headers with a single value: the last line wins.
_SINGLE = frozenset(
    {"content-length", "content-type", "date", "etag", "last-modified", "location", "retry-after", "transfer-encoding"}
)


def add_header(headers: dict[str, str], name: str, value: str) -> None:
    """Add one header line; *name* is in lower case, and the values of repeated headers are joined by commas."""
    repeated = name in headers and name not in _SINGLE
    headers[name] = f"{headers[name]}, {value}" if repeated else value


@dataclass(frozen=True, slots=True)
class Response:
    """The response of a server, or the reason why there is none."""

    url: str
    fetched_at: float  # when the request was sent; seconds since the epoch
    status: int = 0  # 0: there was no response
    head: bytes = b""  # status line and header lines as received, CRLF after each, no empty line at the end
    headers: dict[str, str] = field(default_factory=dict)  # as `add_header` makes them
    body: bytes = b""  # decoded, never longer than the size limit
    truncated: bool = False  # the body was cut at the size limit
    request: bytes = b""  # the request as sent, for the archive
    ip: str = ""  # the IP address of the connection
    failure: Reason | None = None  # why there is no usable response
    detail: str = ""  # libcurl's message about the failure, or about an untrusted certificate
    seconds: float = 0.0  # from the start of the request to the last byte
    connect_seconds: float = 0.0  # of those, until connected; near 0 for a reused connection
    mime: str = field(init=False)  # the media type without parameters, in lower case; computed once

    def __post_init__(self) -> None:
        mime = self.headers.get("content-type", "").partition(";")[0].strip().lower()
        object.__setattr__(self, "mime", mime)


class Link(NamedTuple):
    """One link of a page; a tuple because pages have hundreds and a frozen dataclass takes twice as long to create."""

    target: str  # canonical
    anchor: str
    nofollow: bool


class Image(NamedTuple):
    """An image of a page that has words of its own or beside it."""

    url: str  # canonical
    words: str  # the alternative text, else the title; or empty
    context: str = ""  # the caption, else the text around the image; or empty


class Video(NamedTuple):
    """A video of a page: the URL of its file or of the page to watch it."""

    url: str  # canonical
    words: str  # the title, or empty
    context: str = ""  # the caption or description, else the text around the video; or empty


class ListedPage(NamedTuple):
    """A page that a feed of the same site lists with a date."""

    url: str  # canonical
    published: float  # seconds since the epoch


class Quality(NamedTuple):
    """The quality of a page: contributions of its features that add up to a score from 0 to 1."""

    length: float = 0.0  # enough text
    share: float = 0.0  # most of the visible text is main text
    markup: float = 0.0  # enough text compared with the markup
    links: float = 0.0  # few links compared with the text
    language: float = 0.0  # the language is recognised
    lines: float = 0.0  # few repeated lines
    title: float = 0.0  # a title is present

    @property
    def score(self) -> float:
        """The sum of the contributions."""
        return sum(self)


class CrawlQuality(NamedTuple):
    """The quality of a page as the crawl estimates it, or the average of several pages: features from 0 to 1."""

    text: float = 0.0  # enough text compared with the markup
    length: float = 0.0  # enough text
    links: float = 0.0  # few links compared with the text
    title: float = 0.0  # a title is present
    language: float = 0.0  # the page declares its language
    news: float = 0.0  # content that other pages of its host do not have; named like its database column and JSON key

    @property
    def score(self) -> float:
        """The weighted sum of the features, from 0 to 1."""
        minor = self.title + self.language
        return 0.25 * self.length + 0.2 * (self.text + self.news) + 0.15 * self.links + 0.1 * minor


class Page(NamedTuple):
    """The content of a parsed page: fields, text and links."""

    title: str = ""
    description: str = ""
    keywords: str = ""
    headings: tuple[str, ...] = ()
    text: str = ""  # all visible text: words separated by spaces, one line per block
    main: tuple[tuple[int, int], ...] = ()  # character ranges of the main text in `text`; empty: all of it
    language: str = ""  # ISO 639 code, detected from the text
    language_certainty: float = 0.0  # 0 to 1
    categories: tuple[str, ...] = ()
    images: tuple[Image, ...] = ()
    videos: tuple[Video, ...] = ()
    published: float | None = None  # seconds since the epoch, as the page states
    modified: float | None = None  # seconds since the epoch, as the page or else the server states
    signature: int = 0  # SimHash of the main text, 64 bits: near-duplicates differ in few of them
    quality: Quality = Quality()
    canonical: str = ""  # the URL in rel=canonical, canonicalised
    noindex: bool = False
    nofollow: bool = False
    links: tuple[Link, ...] = ()
    links_dropped: int = 0  # number of links above `scope.links_per_page`
    problem: Reason | None = None  # why the page is not indexed although it was fetched
    problem_detail: str = ""
    failed_extractors: tuple[str, ...] = ()  # names of extractors that raised an error; their fields are empty
    listed: tuple[ListedPage, ...] = ()  # of a feed: the pages of its own site, with the date that it gives

    @property
    def main_text(self) -> str:
        """The main text, or all text when no main text was found."""
        return "\n".join([self.text[start:end] for start, end in self.main]) if self.main else self.text


@dataclass(frozen=True, slots=True)
class HostPolicy:
    """The politeness state of one host; survives restarts."""

    host: str
    delay: float | None  # seconds between two requests; None: `politeness.delay`
    why: str = ""  # the origin of the delay
    next_fetch: float = 0.0  # no request before this time; seconds since the epoch
    failures: int = 0  # consecutive errors


@dataclass(frozen=True, slots=True)
class RobotsFile:
    """A fetched robots.txt; one per origin."""

    origin: str
    fetched_at: float
    status: int  # 0: unreachable
    body: bytes


class ArchivePosition(NamedTuple):
    """The position of one WARC record: a file name in the archive folder, and offset and length of the gzip member."""

    name: str
    offset: int
    length: int


class Fetch(NamedTuple):
    """One acknowledged attempt to fetch a URL: what happened, and where the response is archived."""

    url: str
    at: float
    status: int
    decision: Decision
    mime: str = ""
    size: int = 0  # bytes of the decoded payload
    content_id: bytes = b""  # SHA-256 of the payload
    position: ArchivePosition | None = None  # None: there was no response to archive
    redirect_to: str = ""
    etag: str = ""
    last_modified: str = ""
    seconds: float = 0.0

    @classmethod
    def of(
        cls, response: Response, decision: Decision, position: ArchivePosition | None = None, content_id: bytes = b""
    ) -> Fetch:
        """Build the record of an attempt from its response and the decision about it."""
        return cls(
            url=response.url,
            at=response.fetched_at,
            status=response.status,
            decision=decision,
            mime=response.mime,
            size=len(response.body),
            content_id=content_id,
            position=position,
            etag=response.headers.get("etag", ""),
            last_modified=response.headers.get("last-modified", ""),
            seconds=response.seconds,
        )

    @property
    def is_version(self) -> bool:
        """Whether the archive record contains a version of the page; segments are built from those."""
        fetched = self.decision.verdict is Verdict.FETCHED and self.position is not None
        return fetched and self.decision.reason is not Reason.SAME_CONTENT


NOTHING_NEW = "it says nothing new"  # stored as the detail of pages without anything new


class Novelty(IntEnum):
    """What a page adds to the earlier pages of its host, ignoring numbers and dates."""

    NONE = 0  # nothing
    ALIKE = 1  # known words in a new order
    NEW = 2  # a new word in the title, a new title without parameters in the URL, or enough new text


NEVER_SUSPECTED = -1e9  # the score of a pattern after `periplus traps --unlearn`


class Pattern(NamedTuple):
    """A URL pattern of one host, with the counts that decide whether it is a trap."""

    host: str
    pattern: str
    score: float  # pages without anything new, halved by each page with something new
    fetched: int  # pages fetched since the first page without anything new
    wasted: int  # of those, pages without anything new
    saved: int  # refused URLs, so requests saved
    probe: int  # the number of refusals after which one more page is fetched
    repeated: int = 0  # of the wasted, pages with the same text as another page
    spent: int = 0  # pages fetched of the allowance for suspected traps


class Copy(NamedTuple):
    """A page that is a duplicate or near-duplicate of another page."""

    url: str
    original: str  # the URL that was seen first
    bits: int | None = None  # number of differing signature bits; None: the bytes are the same


@dataclass(frozen=True, slots=True)
class Hit:
    """One search result."""

    url: str
    title: str
    snippet: str  # plain text
    highlights: tuple[tuple[int, int], ...]  # character ranges of the matching words in the snippet
    score: float
    host: str
    fetched_at: float  # seconds since the epoch
    mime: str = ""
    language: str = ""
    same_content: tuple[str, ...] = ()  # other URLs with the same document
    all_words: bool = True  # False: the page has only some of the query words
    missing: tuple[str, ...] = ()  # the words of the query that the page lacks, when `all_words` is False
    date: float | None = None  # seconds since the epoch: published, else modified; None: the page states no date
    explain: dict[str, float] = field(default_factory=dict)  # contribution of each feature; the score is their sum


@dataclass(frozen=True, slots=True)
class Results:
    """One page of results for one query."""

    query: str  # as typed
    understood: str  # the parsed query, in the query language
    total: int
    total_is_exact: bool  # False: `total` is a lower bound
    seconds: float
    page: int  # counted from 1
    size: int  # results per page
    hits: tuple[Hit, ...]
    hints: tuple[str, ...] = ()  # hints about problems of the query, shown to the user
    steps: dict[str, float] = field(default_factory=dict)  # seconds spent in each step
    excluded: tuple[str, ...] = ()  # what pages must not have, shown to the user
    with_all_words: int = 0  # number of pages that have all words of the query; the others of `total` have some
    corrected: str = ""  # the query that the results are for, when the query as typed was corrected
    suggestion: str = ""  # a query that may have been meant
    left_out: tuple[str, ...] = ()  # stop words of the query, which the search ignores
    missing_shards: tuple[int, ...] = ()  # parts of the index that gave no answer: results and counts are incomplete
    shards: int = 1  # parts of the index, the missing ones too


@dataclass(frozen=True, slots=True)
class FacetCounts:
    """The number of pages that match a query, by their properties; most pages first."""

    languages: tuple[tuple[str, int], ...] = ()  # by language code; pages without a language are left out
    types: tuple[tuple[str, int], ...] = ()  # by the name for filetype:; other types are left out
    sites: tuple[tuple[str, int], ...] = ()  # by host, with its subdomains; the six hosts with the most pages
    newer: tuple[tuple[str, int], ...] = ()  # by date, such as 2026-05-17: pages of this day and later days
    hosts: dict[str, int] = field(default_factory=dict)  # by host, with its subdomains: those that were asked for


@dataclass(frozen=True, slots=True)
class Explanation:
    """The parts of the score of one result, and the numbers behind them."""

    url: str
    title: str
    score: float
    parts: dict[str, float]  # contribution of each feature, and `crowding`; the score is their sum
    features: dict[str, float]
    weights: dict[str, float]
    words: int  # number of different words of the query
    words_in: dict[str, int]  # number of these words in each field of the page
    lower_ranks: float  # share of all pages that have a lower PageRank
    same_content: tuple[str, ...] = ()  # other URLs


SiteBoosts = tuple[tuple[str, float], ...]  # host, with its subdomains, and points that a reader adds to its scores


@dataclass(frozen=True, slots=True)
class FeatureRow:
    """The features of one result; its score is the sum of weight times feature, plus `crowding` and `boost`."""

    url: str
    score: float
    features: dict[str, float]
    crowding: float  # 0, or less when better results of the same host come first
    title: str = ""
    host: str = ""
    number: int = 0  # of the document in the index; of pages with equal scores, the lower number comes first
    block: int = 0  # of candidates; all pages of a block come before those of the next
    boost: float = 0.0  # what the reader adds to the scores of this site


@dataclass(frozen=True, slots=True)
class FeatureTable:
    """The features of the best results of a query, for tuning the weights."""

    weights: dict[str, float]  # by feature
    rows: tuple[FeatureRow, ...]  # best first
    crowding: float = 0.0  # what a result loses for every better result of its host beyond `per_host`
    per_host: int = 1
    is_crowded: bool = True  # False: the query names a site, so no result loses anything


@dataclass(frozen=True, slots=True)
class FullText:
    """A result with the whole text of its page."""

    url: str
    host: str
    title: str
    language: str
    text: str  # one block per line


@dataclass(frozen=True, slots=True)
class CollectionFacts:
    """How much the index holds and how fresh it is, for the pages about the site."""

    documents: int
    hosts: int
    languages: dict[str, int]  # number of pages by language code, most first
    newest: float  # date of the newest page
    built_at: float  # when the index was built
    release: str  # version of Periplus that built the index
    generation: int


@dataclass(frozen=True, slots=True)
class CachedPage:
    """The archived response body of a page."""

    url: str
    fetched_at: float
    mime: str
    body: bytes
    charset: str = ""  # as in the Content-Type header, or empty


@dataclass(frozen=True, slots=True)
class MediaHit:
    """An image or video of an indexed page that matches a query."""

    url: str  # of the image, the video file or its player
    words: str  # alternative text or title; may be empty
    context: str  # caption or text around it; may be empty
    page_url: str
    page_title: str
    host: str  # of the page
    score: float
    date: float | None = None  # of the page, seconds since the epoch: published, else modified


@dataclass(frozen=True, slots=True)
class MediaResults:
    """One page of images or videos for one query."""

    total: int  # each image or video counts once, also when several pages show it
    total_is_exact: bool  # False: `total` is a lower bound
    seconds: float
    hits: tuple[MediaHit, ...]
    missing_shards: tuple[int, ...] = ()  # parts of the index that gave no answer
    shards: int = 1  # parts of the index, the missing ones too
