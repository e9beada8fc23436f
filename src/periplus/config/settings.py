"""What can be set, and what does it mean?

Every knob of the product stands here once, with its unit, default and reason; the settings page of the documentation
is generated from this file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from ipaddress import ip_network
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationInfo, field_validator

_MIB = 1 << 20

# fmt: off
_NEVER_TEXT = [
    "7z", "apk", "avi", "bin", "bmp", "bz2", "css", "deb", "dmg", "doc", "docx", "eot", "exe", "flv", "gif", "gz",
    "ico", "iso", "jar", "jpeg", "jpg", "js", "m4a", "m4v", "mov", "mp3", "mp4", "mpeg", "mpg", "msi", "ogg", "ogv",
    "otf", "png", "ppt", "pptx", "rar", "rpm", "svg", "swf", "tar", "tgz", "tif", "tiff", "ttf", "wav", "webm", "webp",
    "wmv", "woff", "woff2", "xls", "xlsx", "xz", "zip",
]
_TRACKING = [
    "utm_*", "gclid", "dclid", "fbclid", "msclkid", "yclid", "mc_cid", "mc_eid", "igshid", "_ga", "_gl", "ref_src",
]
_SESSIONS = ["jsessionid", "phpsessid", "aspsessionid*", "sessionid", "session_id", "sid", "cfid", "cftoken"]
# fmt: on


def _compiles(pattern: str) -> str:
    try:
        re.compile(pattern)
    except re.error as error:
        raise ValueError(f"it is not a regular expression ({error})") from error
    return pattern


def _connect_rule(rule: str) -> str:
    found = _CONNECT_RULE.fullmatch(rule)
    if not found:
        raise ValueError("it should be written HOST1:PORT1:HOST2:PORT2, an IPv6 address in brackets")
    if any(int(port) > 65_535 for port in found.groups() if port):
        raise ValueError("a port is at most 65535")
    return rule


def _header_text(text: str) -> str:
    if not (text.isascii() and text.isprintable()):
        raise ValueError("it should be one line of ASCII, because it is sent in a header")
    return text


def _site_address(text: str) -> str:
    if text and not _SITE_ADDRESS.fullmatch(text):
        raise ValueError("it should be written https://HOST or https://HOST:PORT, without a path")
    return text.rstrip("/")


_SITE_ADDRESS = re.compile(r"https?://(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]+)(?::[0-9]{1,5})?/?")
_CONNECT_HOST = r"(?:\[[0-9A-Fa-f:.]+\]|[^:\[\]\s]*)"
_CONNECT_RULE = re.compile(f"{_CONNECT_HOST}:([0-9]{{0,5}}):{_CONNECT_HOST}:([0-9]{{0,5}})")


def _network(text: str) -> str:
    try:
        ip_network(text)
    except ValueError as error:
        raise ValueError(f"not an address or network: {error}") from error
    return text


def _selects(selector: str) -> str:
    import turbohtml  # noqa: PLC0415  # only where a profile is written

    try:
        turbohtml.parse("").select(selector or "*")
    except ValueError as error:
        raise ValueError(f"it is not a CSS selector ({error})") from error
    return selector


ScheduleClass = Literal["hot", "daily", "weekly", "monthly"]
NetworkText = Annotated[str, AfterValidator(_network)]
Selector = Annotated[str, Field(max_length=1_000), AfterValidator(_selects)]
LanguageCode = Annotated[str, Field(pattern="^[a-z]{2,3}$")]
Pattern = Annotated[str, AfterValidator(_compiles)]
ConnectRule = Annotated[str, AfterValidator(_connect_rule)]
HeaderText = Annotated[str, AfterValidator(_header_text)]
SiteAddress = Annotated[str, AfterValidator(_site_address)]


class Section(BaseModel):
    """A table of the file: unknown keys are errors, values never change once read."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    @field_validator("*", mode="before")
    @classmethod
    def _refuse_switch_for_number(cls, value: Any, info: ValidationInfo) -> Any:
        """Pydantic reads true as 1; nobody who writes ``timeout = true`` means a second."""
        if isinstance(value, bool) and cls.model_fields[info.field_name or ""].annotation is not bool:
            raise ValueError("it is not a switch")
        return value


class Identity(Section):
    """Who is crawling."""

    contact: HeaderText = Field(
        default="",
        description="A URL or mail address in the User-Agent. Public hosts are not crawled without one: "
        "a webmaster must be able to reach you.",
    )


class Scope(Section):
    """Which part of the web is crawled."""

    hosts: list[Pattern] = Field(
        default=[], description="Regular expressions a host name must match in full. Empty: the hosts of the seeds."
    )
    paths: list[Pattern] = Field(
        default=[], description="Regular expressions, one of which must be found in path and query. Empty: every path."
    )
    depth: int = Field(default=64, ge=0, description="Links followed from a seed; seeds have depth 0.")
    skip_extensions: list[str] = Field(
        default=_NEVER_TEXT, description="Endings of a path that are never text, so the request is saved."
    )
    url_length: int = Field(default=2083, ge=64, description="Characters; longer URLs are refused.")
    path_depth: int = Field(default=20, ge=1, description="Path segments; deeper URLs are refused as traps.")
    path_repeats: int = Field(default=3, ge=2, description="A path segment repeated so often is refused as a trap.")
    pages_per_domain: int = Field(default=10_000, ge=1, description="URLs admitted per registrable domain.")
    domain_pages: dict[str, Annotated[int, Field(ge=1)]] = Field(
        default={},
        description='Domains that may have more URLs or fewer: `"example.org" = 100000` under `[scope.domain_pages]`.',
    )
    hosts_per_domain: int = Field(default=2_000, ge=1, description="Hosts admitted per registrable domain.")
    links_per_page: int = Field(default=1_000, ge=1, description="Links taken from one page, in document order.")


class Frontier(Section):
    """What is worth a request."""

    trap_fetches: int = Field(
        default=20,
        ge=0,
        description="Pages without anything new after which a URL pattern of a host is a suspected trap: its URLs are "
        "fetched after all others of the host. 0: no pattern is ever suspected.",
    )
    trap_allowance: int = Field(
        default=50,
        ge=0,
        description="Pages without anything new that are fetched of a host's suspected traps; then their URLs are "
        "refused. A page with something new gives `trap_fetches` back.",
    )


class Addresses(Section):
    """Which spellings of a URL are one page."""

    tracking_parameters: list[str] = Field(
        default=_TRACKING, description="Query parameters dropped from every URL; `name*` drops by prefix."
    )
    session_parameters: list[str] = Field(
        default=_SESSIONS, description="Session ids: dropped from queries and from `/path;name=value`."
    )


class AddressLimit(Section):
    """How gently the addresses of one network are treated."""

    range: NetworkText
    connections: int = Field(ge=0)
    delay: float = Field(ge=0)


def _limit_table(value: Any) -> Any:
    if not isinstance(value, dict | AddressLimit):
        raise ValueError("it should be a table with range, connections and delay")  # noqa: TRY004  # pydantic reads this
    return value


class Politeness(Section):
    """How gently hosts are treated."""

    delay: float = Field(
        default=1.0, ge=0, description="Seconds from the end of a request to a host to the start of the next."
    )
    longest_crawl_delay: float = Field(
        default=30.0, ge=0, description="Seconds; a host whose robots.txt asks for more is skipped and reported."
    )
    longest_backoff: float = Field(
        default=180.0, ge=1, description="Seconds; the delay doubles up to this on 429 and 503."
    )
    longest_retry_after: float = Field(
        default=86_400.0, ge=0, description="Seconds; a longer Retry-After is cut to this."
    )
    failures_to_park: int = Field(default=20, ge=1, description="Errors in a row after which a host is left alone.")
    robots_age: float = Field(
        default=86_400.0, ge=60, description="Seconds a robots.txt is used before it is fetched again."
    )
    address_connections: int = Field(
        default=4,
        ge=0,
        description="Connections open at once to one public IP address, whatever the number of its hosts. 0: any.",
    )
    address_delay: float = Field(
        default=0.25, ge=0, description="Seconds from one request to a public IP address to the next."
    )
    address_limits: list[Annotated[AddressLimit, BeforeValidator(_limit_table)]] = Field(
        default=[],
        description="Networks with limits of their own, each as `[[politeness.address_limits]]` with `range`, "
        "`connections` and `delay`; the smallest network counts. Private addresses have no others.",
    )


class Fetching(Section):
    """How bytes are fetched."""

    concurrency: int = Field(default=64, ge=1, le=4096, description="Requests under way at once, each to another host.")
    connect_timeout: float = Field(default=10.0, gt=0, description="Seconds to reach a server.")
    timeout: float = Field(default=30.0, gt=0, description="Seconds for a whole fetch.")
    slowest: int = Field(
        default=1024, ge=0, description="Bytes a second; a slower transfer is dropped after 10 seconds."
    )
    html_bytes: int = Field(default=5 * _MIB, ge=1024, description="Decoded size at which a text page is cut.")
    pdf_bytes: int = Field(default=32 * _MIB, ge=1024, description="Decoded size above which a PDF is dropped.")
    large_bytes: int = Field(
        default=16 * _MIB,
        ge=_MIB,
        description="Room in memory for bodies above 1 MiB, all together; where it is full, the others wait.",
    )
    header_bytes: int = Field(default=65_536, ge=1024, description="Size of all response headers.")
    robots_bytes: int = Field(default=512 * 1024, ge=500 * 1024, description="Size at which a robots.txt is cut.")
    sitemap_bytes: int = Field(
        default=50 * _MIB, ge=1024, description="Size at which a sitemap is cut, compressed or not."
    )
    redirects: int = Field(default=5, ge=0, description="Redirects followed, each admitted like a new URL.")
    attempts: int = Field(default=3, ge=1, description="Tries at a URL whose server does not answer.")
    retry_seconds: float = Field(
        default=30.0, ge=0, description="Seconds before the second try; then twice as long each time."
    )
    allow_private: bool = Field(default=False, description="Whether private and loopback addresses may be dialled.")
    private_addresses: list[NetworkText] = Field(
        default=[], description="Private networks that may be dialled without that, for example `127.0.0.1/32`."
    )
    connect_to: list[ConnectRule] = Field(
        default=[], description="`HOST1:PORT1:HOST2:PORT2` as in curl: dial the second instead of the first."
    )
    ca_file: str = Field(default="", description="PEM file of trusted certificate authorities. Empty: the system's.")
    tls_errors: Literal["refuse", "record"] = Field(
        default="refuse",
        description="Whether a page whose certificate is expired, or of another name or an unknown issuer, is refused, "
        "or fetched anyway with the fact on record.",
    )


class Recrawl(Section):
    """When pages are asked for again."""

    first: float = Field(
        default=86_400.0,
        ge=60,
        description="Seconds from the first visit of a page to the second; a tenth of its age, if it says that and it "
        "is more.",
    )
    shortest: float = Field(default=3_600.0, ge=60, description="Seconds; no page is asked for again sooner.")
    longest: float = Field(
        default=30 * 86_400.0, ge=60, description="Seconds; no page is left alone longer, and what is gone as long."
    )
    visits_per_change: float = Field(
        default=2.5,
        gt=0,
        description="How often a page is asked for between two of its changes, on average.",
    )
    pinned: dict[Pattern, ScheduleClass] = Field(
        default={},
        description="Regular expressions that addresses begin with, and the class such pages stay in, whether they "
        'change or not: `"https://news[.]example/" = "hot"` under `[recrawl.pinned]`.',
    )

    @field_validator("longest")
    @classmethod
    def _is_not_too_short(cls, longest: float, info: ValidationInfo) -> float:
        if longest < info.data.get("shortest", longest):
            raise ValueError("it should be at least recrawl.shortest")
        return longest


class SiteProfile(Section):
    """How the pages of some sites are read."""

    hosts: list[Pattern] = Field(default=[], description="Regular expressions a host name must match in full.")
    generator: str = Field(default="", description="How the `<meta name=generator>` of such pages begins.")
    title: Selector = Field(default="", description="CSS selector of the title.")
    body: Selector = Field(default="", description="CSS selector of the text.")
    categories: Selector = Field(default="", description="CSS selector of names the page is filed under.")
    remove: list[Selector] = Field(default=[], description="CSS selectors of what is no part of the text.")


class Parsing(Section):
    """What is read of a page."""

    languages: list[LanguageCode] = Field(
        default=[],
        description="Languages (`en`, `de`) of the pages that are wanted. Others are kept in the archive, but not "
        "indexed, and their links are not followed. Empty: all.",
    )
    aside_bytes: int = Field(
        default=4 * _MIB,
        ge=0,
        description="Size above which a page is read aside like every PDF: in a process of its own that can be killed. "
        "That process takes 60 MB; 0: every page.",
    )
    seconds: float = Field(default=5.0, gt=0, description="Seconds of processor time for one page.")
    memory_mb: int = Field(default=512, ge=256, description="Megabytes of memory for one page.")
    profiles: dict[str, SiteProfile] = Field(
        default={},
        description="How the pages of some sites are read: `hosts`, `title`, `body`, `categories`, `remove` under "
        "`[parse.profiles.NAME]`. One named `mediawiki` is ready.",
    )


class Storage(Section):
    """When data becomes durable and how large files grow."""

    commit_seconds: float = Field(
        default=1.0, gt=0, description="Longest time between a fetch and its acknowledgement."
    )
    commit_pages: int = Field(default=256, ge=1, description="Pages after which a commit does not wait for the clock.")
    archive_bytes: int = Field(default=1 << 30, ge=1024, description="Size at which a new WARC file is begun.")
    segment_bytes: int = Field(default=64 * _MIB, ge=1024, description="Size at which a segment is sealed.")
    segment_seconds: float = Field(default=300.0, gt=0, description="Age at which a segment is sealed.")
    buffer_urls: int = Field(default=100_000, ge=64, description="Queued URLs held in memory; the others wait on disk.")


class LinkAnalysis(Section):
    """How links are counted and pages ranked."""

    damping: float = Field(default=0.85, gt=0, lt=1, description="The share of a page's rank that its links pass on.")
    tolerance: float = Field(
        default=1e-6, gt=0, description="How far ranks may be from the exact ones, all differences added up (L1)."
    )
    iterations: int = Field(default=200, ge=1, description="Passes over the links at most.")
    nofollow: bool = Field(default=False, description="Whether links marked nofollow count.")
    links_per_host: int = Field(default=20, ge=1, description="Votes of one page for pages of one other host at most.")
    inside_domain: float = Field(
        default=0.1, ge=0, le=1, description="What a link within one registrable domain counts for the rank of hosts."
    )
    trusted_hosts: list[str] = Field(default=[], description="Hosts that are given more rank to begin with.")
    trusted_share: float = Field(default=0.5, ge=0, lt=1, description="The share of that rank they are given.")
    anchors_per_page: int = Field(default=32, ge=0, description="Different texts of links to a page that are kept.")
    anchor_chars: int = Field(default=120, ge=1, description="Characters of such a text.")
    memory_mb: int = Field(default=2048, ge=128, description="Megabytes that joins may use before they go to disk.")
    threads: int = Field(default=0, ge=0, description="Threads of joins and of PageRank; 0: one for each core.")
    generations: int = Field(default=3, ge=1, description="Generations of ranks that are kept.")


class Indexing(Section):
    """How the index is built."""

    prior_strength: float = Field(
        default=0.05, ge=0, le=1, description="Candidates are selected by text score times PageRank to this power."
    )
    memory_mb: int = Field(default=1024, ge=128, description="Megabytes that joins may use before they go to disk.")
    threads: int = Field(default=2, ge=1, description="Threads of a join.")
    fold_near: bool = Field(
        default=True, description="Pages of the same title and nearly the same main text are one result."
    )


class Ranking(Section):
    """What a result is worth: each weight multiplies a feature, and the products add up to the score."""

    text: float = Field(default=1.0, description="Logarithm of the text score (BM25 over all fields).")
    rank: float = Field(default=0.05, description="Logarithm of PageRank, 0 for an average page.")
    quality: float = Field(
        default=0.05, description="How good the page and its host look, from -0.5 to 0.5: text, language, no copies."
    )
    title_all: float = Field(default=0.25, description="All query words are in the title.")
    title_some: float = Field(default=0.10, description="Share of the query words in the title, when not all are.")
    headings: float = Field(default=0.08, description="Share of the query words in the headings.")
    url: float = Field(default=0.08, description="Share of the query words in the URL.")
    phrase_title: float = Field(default=0.20, description="The query stands in the title, word for word.")
    phrase_headings: float = Field(default=0.10, description="The query stands in a heading, word for word.")
    phrase_opening: float = Field(default=0.10, description="The query stands in the opening text, word for word.")
    near_phrase: float = Field(default=0.05, description="The title holds nine tenths of the query in order.")
    field_title: float = Field(default=1.0, ge=0, description="Weight of the title in the text score.")
    field_head: float = Field(default=1.0, ge=0, description="Weight of description, keywords and headings in it.")
    field_anchors: float = Field(default=1.0, ge=0, description="Weight of the texts of links to the page in it.")
    field_url: float = Field(default=0.5, ge=0, description="Weight of the words of the URL in it.")
    field_body: float = Field(default=1.0, ge=0, description="Weight of the text in it.")
    candidates: int = Field(default=1000, ge=100, le=10_000, description="Pages scored by numbers.")
    read_closely: int = Field(default=100, ge=10, le=1000, description="Pages of those whose words are looked at.")
    per_host: int = Field(default=2, ge=1, description="Results of one host on the first page.")


class Serving(Section):
    """How the search site answers."""

    longest_wait: float = Field(
        default=4.0,
        ge=0,
        description="Seconds a search may have to wait for its turn. When more searches wait, the site answers 503 at "
        "once, with Retry-After. Each process of `serve --workers` counts its own.",
    )
    public_address: SiteAddress = Field(
        default="",
        description="Address at which browsers reach the site, for example `https://search.example.org`; "
        "`/opensearch.xml` contains it. Empty: the file repeats the Host header of its request, and no cache keeps it.",
    )


class Settings(Section):
    """All settings of a collection."""

    identity: Identity = Identity()
    scope: Scope = Scope()
    frontier: Frontier = Frontier()
    addresses: Addresses = Addresses()
    politeness: Politeness = Politeness()
    fetch: Fetching = Fetching()
    recrawl: Recrawl = Recrawl()
    parse: Parsing = Parsing()
    store: Storage = Storage()
    graph: LinkAnalysis = LinkAnalysis()
    index: Indexing = Indexing()
    ranking: Ranking = Ranking()
    serve: Serving = Serving()


def setting_keys() -> list[str]:
    """Every `section.name`."""
    return [f"{section}.{name}" for section, model in sections() for name in model.model_fields]


def sections() -> Iterator[tuple[str, type[Section]]]:
    """The tables of the file, by name."""
    for name, entry in Settings.model_fields.items():
        assert isinstance(entry.annotation, type)
        assert issubclass(entry.annotation, Section)
        yield name, entry.annotation
