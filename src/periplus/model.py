"""What do the stages hand to each other?

Frozen records only, never clients or handles. A record carries facts; what to do about them is decided by the stage
that reads it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from typing import NamedTuple


class Verdict(StrEnum):
    """What was decided about a URL."""

    ADMITTED = "admitted"  # it will be fetched
    REFUSED = "refused"  # a rule forbids it
    DELAYED = "delayed"  # it will be fetched, but not now
    FETCHED = "fetched"  # it is in the archive
    UNCHANGED = "unchanged"  # it is as it was when it was last fetched
    READ = "read"  # it was read for the addresses it names, and is no page itself
    DROPPED = "dropped"  # it was tried and is given up
    MERGED = "merged"  # another URL stands for it


class Reason(StrEnum):
    """Why it was decided: one code per decision, the vocabulary of `inspect` and of every summary."""

    # admitted
    SEED = "seed"
    LINK = "link"
    REDIRECT_TARGET = "redirect_target"
    SITEMAP = "sitemap"  # it is one: named by robots.txt, by another one or by a person
    LISTED = "listed"  # a sitemap lists it
    IMPORTED = "imported"  # it came with an archive that others made, and the scope refused it or was not asked
    IMPORTED_IN_SCOPE = "imported_in_scope"  # it came with an archive that others made, and the scope admitted it
    ENTRY = "entry"  # it is asked again whenever nothing else is left
    REVISIT = "revisit"  # it was asked before, and is due again
    # refused by a rule of this crawl
    NOT_WEB = "not_web"
    TOO_LONG = "too_long"
    SCOPE_HOST = "scope_host"
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
    # refused by the site
    ROBOTS = "robots"
    ROBOTS_UNREACHABLE = "robots_unreachable"
    CRAWL_DELAY_TOO_LONG = "crawl_delay_too_long"
    NOFOLLOW = "nofollow"
    # delayed
    RETRY = "retry"
    TRAP_SUSPECTED = "trap_suspected"  # the other URLs of its host come first
    # fetched
    OK = "ok"
    # fetched, and the same as before
    SAME_CONTENT = "same_content"
    # unchanged
    NOT_MODIFIED = "not_modified"
    # fetched and kept, but not shown to anybody
    OTHER_LANGUAGE = "other_language"
    PDF_CUT = "pdf_cut"
    PDF_LOCKED = "pdf_locked"
    PDF_BROKEN = "pdf_broken"
    PARSE_TIME = "parse_time"
    PARSE_MEMORY = "parse_memory"
    PARSE_CRASH = "parse_crash"
    # merged
    REDIRECTED = "redirected"
    # dropped: the response says no
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
    # dropped: Periplus itself failed over the response
    INTERNAL_ERROR = "internal_error"


# Why a page was kept, though its parser was killed or failed over it.
COULD_NOT_BE_READ = frozenset({Reason.PARSE_TIME, Reason.PARSE_MEMORY, Reason.PARSE_CRASH})


@dataclass(frozen=True, slots=True)
class Decision:
    """One verdict about one URL."""

    verdict: Verdict
    reason: Reason
    detail: str = ""  # the rule, header or robots line behind it, for the person who asks


class UrlState(IntEnum):
    """Where a known URL stands; stored as a number because millions of rows carry it."""

    QUEUED = 0
    DONE = 1  # fetched, or known to live elsewhere
    REFUSED = 2
    FAILED = 3


class QueuedUrl(NamedTuple):
    """A URL waiting for its fetch; a tuple because the frontier makes one for every link it admits."""

    url: str
    host: str
    depth: int  # links followed from a seed
    priority: float  # smaller is sooner, within one host
    reason: Reason  # why it was admitted
    via: str = ""  # the page, redirect or command that named it
    redirects: int = 0  # hops already followed to come here
    attempts: int = 0  # fetches that failed so far
    due: float = 0.0  # not before this time
    visits: int = 0  # how often it was fetched, or found as it was
    interval: float = 0.0  # seconds from its last visit to the next; 0: none is planned
    evidence: float = 0.0  # changes that the interval was learned from
    visited: float = 0.0  # when it was last asked for, to an end


# Headers that have one value: of several, the last one is believed.
_SINGLE = frozenset(
    {"content-length", "content-type", "date", "etag", "last-modified", "location", "retry-after", "transfer-encoding"}
)


def add_header(headers: dict[str, str], name: str, value: str) -> None:
    """Take one header line into account, its name in lower case; the values of a repeated one are joined by commas."""
    repeated = name in headers and name not in _SINGLE
    headers[name] = f"{headers[name]}, {value}" if repeated else value


@dataclass(frozen=True, slots=True)
class Response:
    """What a server answered, or how it failed to."""

    url: str
    fetched_at: float  # when the request was sent; seconds since the epoch
    status: int = 0  # 0: there was no answer
    head: bytes = b""  # status line and header lines as received, CRLF after each, no empty line at the end
    headers: dict[str, str] = field(default_factory=dict)  # as `add_header` makes them
    body: bytes = b""  # decoded, never longer than the cap
    truncated: bool = False  # the body was cut at the cap
    request: bytes = b""  # the request as sent, for the archive
    ip: str = ""  # the address really dialled
    failure: Reason | None = None  # why there is no usable answer
    detail: str = ""  # the library's own words about the failure, or about a certificate that was not believed
    seconds: float = 0.0  # from the first step to the last byte
    connect_seconds: float = 0.0  # of those, until the connection stood; next to nothing when one was used again
    mime: str = field(init=False)  # the media type without parameters, lower case; a page is asked for it ten times

    def __post_init__(self) -> None:
        mime = self.headers.get("content-type", "").partition(";")[0].strip().lower()
        object.__setattr__(self, "mime", mime)


class Link(NamedTuple):
    """One link of a page; a tuple because a page holds hundreds and a frozen dataclass costs twice as much."""

    target: str  # canonical
    anchor: str
    nofollow: bool


class Image(NamedTuple):
    """A picture that a page shows and says something about."""

    url: str  # canonical
    words: str  # its alternative text


class Video(NamedTuple):
    """A film that a page shows: the address of its file or player."""

    url: str  # canonical
    words: str  # its title, if it has one


class Quality(NamedTuple):
    """How good a page looks, from 0 to 1: the sum of what each clue contributes, so that the score explains itself."""

    length: float = 0.0  # there is enough to read
    share: float = 0.0  # most of what is visible is main text
    markup: float = 0.0  # words weigh something beside the markup
    links: float = 0.0  # it is not made of links
    language: float = 0.0  # it is written in a language
    lines: float = 0.0  # it does not repeat itself
    title: float = 0.0  # it has a name

    @property
    def score(self) -> float:
        """All contributions together."""
        return sum(self)


class CrawlQuality(NamedTuple):
    """How good a page looks in passing, or pages do on average: clues from 0 to 1."""

    text: float = 0.0  # words weigh something beside the markup
    length: float = 0.0  # there is enough to read
    links: float = 0.0  # it is not made of links
    title: float = 0.0  # it has a name
    language: float = 0.0  # it says in which language it is written
    news: float = 0.0  # it says what other pages of its host do not

    @property
    def score(self) -> float:
        """From 0 to 1."""
        much, some, little = self.length, self.text + self.news, self.title + self.language
        return 0.25 * much + 0.2 * some + 0.15 * self.links + 0.1 * little


class Page(NamedTuple):
    """What is on a page, as far as search is concerned."""

    title: str = ""
    description: str = ""
    keywords: str = ""
    headings: tuple[str, ...] = ()
    text: str = ""  # all that is visible: a space between two words, a line for each block
    main: tuple[tuple[int, int], ...] = ()  # where the main text lies in it; empty when nothing stands out
    language: str = ""  # ISO 639, as the text tells it
    language_certainty: float = 0.0  # 0 to 1
    categories: tuple[str, ...] = ()
    images: tuple[Image, ...] = ()
    videos: tuple[Video, ...] = ()
    published: float | None = None  # seconds since the epoch, as the page says
    modified: float | None = None  # the same, or else as the server says
    signature: int = 0  # of the main text, 64 bits: near duplicates have nearly the same
    quality: Quality = Quality()
    canonical: str = ""  # the address the page prefers, canonicalised
    noindex: bool = False
    nofollow: bool = False
    links: tuple[Link, ...] = ()
    links_dropped: int = 0  # past the cap of links a page
    problem: Reason | None = None  # why nobody is shown this page, though it was fetched
    problem_detail: str = ""
    failed_extractors: tuple[str, ...] = ()  # names of the extractors that failed: their fields are empty

    @property
    def main_text(self) -> str:
        """The main text, or all of it when nothing stands out."""
        return "\n".join([self.text[start:end] for start, end in self.main]) if self.main else self.text


@dataclass(frozen=True, slots=True)
class HostPolicy:
    """How one host is to be treated, and why; survives restarts."""

    host: str
    delay: float | None  # seconds from the end of a request to the start of the next; None: as configured
    why: str = ""  # where the delay comes from
    next_fetch: float = 0.0  # not before this time
    failures: int = 0  # errors in a row


@dataclass(frozen=True, slots=True)
class RobotsFile:
    """A robots.txt as it was fetched: one per origin."""

    origin: str
    fetched_at: float
    status: int  # 0: unreachable
    body: bytes


class ArchivePosition(NamedTuple):
    """Where one record lies: a name relative to the archive folder, and the bytes of its gzip member."""

    name: str
    offset: int
    length: int


class Fetch(NamedTuple):
    """One acknowledged attempt at a URL: the row that says what happened and where the bytes are."""

    url: str
    at: float
    status: int
    decision: Decision
    mime: str = ""
    size: int = 0  # bytes of the decoded payload
    content_id: bytes = b""  # SHA-256 of the payload
    position: ArchivePosition | None = None  # none when there was no answer to keep
    redirect_to: str = ""
    etag: str = ""
    last_modified: str = ""
    seconds: float = 0.0

    @classmethod
    def of(
        cls, response: Response, decision: Decision, position: ArchivePosition | None = None, content_id: bytes = b""
    ) -> Fetch:
        """The attempt that ended in *response*, and what was decided of it."""
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
        """Whether its record holds a version of the page: those are what segments are made of."""
        fetched = self.decision.verdict is Verdict.FETCHED and self.position is not None
        return fetched and self.decision.reason is not Reason.SAME_CONTENT


NOTHING_NEW = "it says nothing new"  # the detail of a page that its host could have spared us


class Novelty(IntEnum):
    """What a page adds to what its host has said before, numbers and dates aside."""

    NONE = 0  # nothing
    ALIKE = 1  # known words in a new order
    NEW = 2  # a new word in the title, a new title without parameters in the URL, or enough new text


NEVER_SUSPECTED = -1e9  # the score of a pattern that a person has unlearned


class Pattern(NamedTuple):
    """A pattern of URLs of one host, and what its pages were like."""

    host: str
    pattern: str
    score: float  # pages without anything new, halved by each page with something new
    fetched: int  # since the first page without anything new
    wasted: int  # of those, pages without anything new
    saved: int  # requests that were not made
    probe: int  # the number of refusals after which one more page is fetched
    repeated: int = 0  # of the wasted, pages with the same text as another page
    spent: int = 0  # pages fetched of the allowance for suspected traps


class Copy(NamedTuple):
    """A page that says what another one says."""

    url: str
    original: str  # the URL that was met first
    bits: int | None = None  # in which their signatures differ; None when even the bytes are the same


@dataclass(frozen=True, slots=True)
class Hit:
    """One search result."""

    url: str
    title: str
    snippet: str  # plain text
    highlights: tuple[tuple[int, int], ...]  # the matching words in it, as character ranges
    score: float
    host: str
    fetched_at: float  # seconds since the epoch
    mime: str = ""
    language: str = ""
    same_content: tuple[str, ...] = ()  # other URLs with the same document
    all_words: bool = True  # False: it holds only some of the words asked for
    explain: dict[str, float] = field(default_factory=dict)  # contributions of the features; they add up to the score


@dataclass(frozen=True, slots=True)
class Results:
    """One page of results for one query."""

    query: str  # as typed
    understood: str  # as read, in the query language
    total: int
    total_is_exact: bool  # False: at least so many
    seconds: float
    page: int  # counted from 1
    size: int  # results a page
    hits: tuple[Hit, ...]
    hints: tuple[str, ...] = ()  # what is odd about the query, for the person who typed it
    steps: dict[str, float] = field(default_factory=dict)  # seconds spent in each step


@dataclass(frozen=True, slots=True)
class CachedPage:
    """A page as it was archived."""

    url: str
    fetched_at: float
    mime: str
    body: bytes
    charset: str = ""  # as the server said; empty when it did not
