"""Defines every setting once, with its default, unit and effect.

The settings page of the documentation is generated from this module. The tables of ranking, indexing and searching are
in `search_settings`, those of standing queries and the console in modules of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, ValidationInfo, field_validator

from periplus.config.console_settings import Console
from periplus.config.fleet_settings import Fleet
from periplus.config.search_settings import Indexing, LinkAnalysis, Ranking, Serving, SiteLook
from periplus.config.spark_settings import Spark
from periplus.config.value_types import (
    ConnectRule,
    HeaderText,
    LanguageCode,
    NetworkText,
    Pattern,
    ScheduleClass,
    Section,
    Selector,
)
from periplus.config.watch_settings import Watching

_MIB = 1 << 20

# fmt: off
_SKIPPED_EXTENSIONS = [
    "7z", "apk", "avi", "bin", "bmp", "bz2", "css", "deb", "dmg", "doc", "docx", "eot", "exe", "flv", "gif", "gz",
    "ico", "iso", "jar", "jpeg", "jpg", "js", "m4a", "m4v", "mov", "mp3", "mp4", "mpeg", "mpg", "msi", "ogg", "ogv",
    "otf", "png", "ppt", "pptx", "rar", "rpm", "svg", "swf", "tar", "tgz", "tif", "tiff", "ttf", "wav", "webm", "webp",
    "wmv", "woff", "woff2", "xls", "xlsx", "xz", "zip",
]
_TRACKING_PARAMETERS = [
    "utm_*", "gclid", "dclid", "fbclid", "msclkid", "yclid", "mc_cid", "mc_eid", "igshid", "_ga", "_gl", "ref_src",
]
_SESSION_PARAMETERS = ["jsessionid", "phpsessid", "aspsessionid*", "sessionid", "session_id", "sid", "cfid", "cftoken"]
# fmt: on


class Identity(Section):
    """Who operates the crawler."""

    contact: HeaderText = Field(
        default="",
        description="URL or e-mail address of the operator, sent in the User-Agent header. Without it only "
        "private addresses are crawled.",
    )


class Scope(Section):
    """Which part of the web is crawled."""

    hosts: list[Pattern] = Field(
        default=[],
        description="Regular expressions; a host name must match one in full. Empty: the hosts of the seeds.",
    )
    seeds: list[str] = Field(
        default=[],
        description="URLs where crawls start. The next crawl fetches those that were no seeds before.",
    )
    paths: list[Pattern] = Field(
        default=[], description="Regular expressions; one must match somewhere in path and query. Empty: every path."
    )
    depth: int = Field(
        default=64, ge=0, description="Maximum number of links followed from a seed; seeds have depth 0."
    )
    skip_extensions: list[str] = Field(
        default=_SKIPPED_EXTENSIONS,
        description="File extensions that are never text; URLs that end with one are not fetched.",
    )
    url_length: int = Field(
        default=2083, ge=64, description="Maximum length of a URL in characters; longer URLs are refused."
    )
    path_depth: int = Field(
        default=20, ge=1, description="Maximum number of path segments; URLs with more are refused as traps."
    )
    path_repeats: int = Field(
        default=3, ge=2, description="A URL in which one path segment occurs this many times is refused as a trap."
    )
    pages_per_domain: int = Field(
        default=10_000, ge=1, description="Maximum number of URLs admitted per registrable domain."
    )
    domain_pages: dict[str, Annotated[int, Field(ge=1)]] = Field(
        default={},
        description='Other limits than `pages_per_domain` for single domains: `"example.org" = 100000` under '
        "`[scope.domain_pages]`.",
    )
    hosts_per_domain: int = Field(
        default=2_000, ge=1, description="Maximum number of hosts admitted per registrable domain."
    )
    links_per_page: int = Field(
        default=1_000, ge=1, description="Maximum number of links taken from one page, in document order."
    )


class Frontier(Section):
    """How suspected traps are treated."""

    trap_fetches: int = Field(
        default=20,
        ge=0,
        description="Pages without anything new after which a URL pattern of a host is a suspected trap. Its "
        "URLs are fetched after all other URLs of the host. 0: off.",
    )
    trap_allowance: int = Field(
        default=50,
        ge=0,
        description="Pages without anything new that are fetched from the suspected traps of a host; after that "
        "their URLs are refused. A page with something new adds `trap_fetches`.",
    )


class Addresses(Section):
    """Which parts of a URL do not matter."""

    tracking_parameters: list[str] = Field(
        default=_TRACKING_PARAMETERS,
        description="Query parameters removed from every URL; `name*` removes all with that prefix.",
    )
    session_parameters: list[str] = Field(
        default=_SESSION_PARAMETERS, description="Session ids removed from queries and from `/path;name=value`."
    )


class AddressLimit(Section):
    """Limits for the IP addresses of one network."""

    range: NetworkText
    connections: int = Field(ge=0)
    delay: float = Field(ge=0)


def _limit_table(value: Any) -> Any:
    if not isinstance(value, dict | AddressLimit):
        raise ValueError("must be a table with range, connections and delay")  # noqa: TRY004  # pydantic reads this
    return value


class Politeness(Section):
    """How often hosts and IP addresses are requested."""

    delay: float = Field(
        default=1.0,
        ge=0,
        description="Minimum seconds from the end of a request to a host to the start of the next; "
        "a longer Crawl-delay wins.",
    )
    longest_crawl_delay: float = Field(
        default=30.0,
        ge=0,
        description="Maximum Crawl-delay in seconds; a host whose robots.txt demands more is not crawled.",
    )
    longest_backoff: float = Field(
        default=180.0,
        ge=1,
        description="Maximum delay in seconds after 429 and 503; each doubles the delay of the host. A longer "
        "Retry-After parks the host for the run.",
    )
    longest_retry_after: float = Field(
        default=86_400.0,
        ge=0,
        description="Maximum seconds a Retry-After header is obeyed; a longer one is shortened to this.",
    )
    failures_to_park: int = Field(
        default=20, ge=1, description="Consecutive errors after which a host is not requested for the rest of the run."
    )
    robots_age: float = Field(
        default=86_400.0, ge=60, description="Seconds until a cached robots.txt is fetched again."
    )
    address_connections: int = Field(
        default=4,
        ge=0,
        description="Maximum connections open at once to one public IP address, for all its hosts and all "
        "workers together. 0: no limit.",
    )
    address_delay: float = Field(
        default=0.25,
        ge=0,
        description="Seconds from one request to a public IP address to the next, for all its hosts and all "
        "workers together; `delay` applies to each host besides.",
    )
    address_limits: list[Annotated[AddressLimit, BeforeValidator(_limit_table)]] = Field(
        default=[],
        description="Other limits for single networks, each as `[[politeness.address_limits]]` with `range`, "
        "`connections` and `delay` (seconds); the smallest network that matches wins. Private addresses have no "
        "other limits.",
    )


class Fetching(Section):
    """Limits and options of HTTP requests."""

    concurrency: int = Field(
        default=64,
        ge=1,
        le=4096,
        description="Maximum number of requests under way at once in each worker, one per host.",
    )
    connect_timeout: float = Field(
        default=10.0, gt=0, description="Seconds to resolve the host name, and seconds to connect."
    )
    timeout: float = Field(
        default=30.0, gt=0, description="Seconds for a whole request, from connecting to the last byte."
    )
    slowest: int = Field(
        default=1024,
        ge=0,
        description="Minimum transfer rate in bytes per second; a transfer that is slower for 10 seconds is "
        "aborted. 0: no minimum.",
    )
    html_bytes: int = Field(
        default=5 * _MIB, ge=1024, description="Decoded size in bytes at which a text page is truncated."
    )
    pdf_bytes: int = Field(
        default=32 * _MIB, ge=1024, description="Maximum decoded size of a PDF in bytes; a larger PDF is dropped."
    )
    large_bytes: int = Field(
        default=16 * _MIB,
        ge=_MIB,
        description="Memory in bytes for all response bodies above 1 MiB of one worker; further large responses "
        "wait until there is room.",
    )
    header_bytes: int = Field(default=65_536, ge=1024, description="Maximum size of all response headers in bytes.")
    robots_bytes: int = Field(
        default=512 * 1024, ge=500 * 1024, description="Size in bytes at which a robots.txt is truncated."
    )
    sitemap_bytes: int = Field(
        default=50 * _MIB,
        ge=1024,
        description="Size in bytes at which a sitemap is truncated, both compressed and decompressed.",
    )
    redirects: int = Field(
        default=5,
        ge=0,
        description="Maximum number of redirects followed; each target must be admitted like a new URL.",
    )
    attempts: int = Field(
        default=3, ge=1, description="Maximum number of attempts at a URL whose server fails or does not answer."
    )
    retry_seconds: float = Field(
        default=30.0, ge=0, description="Seconds before the second attempt; the wait doubles with each further attempt."
    )
    allow_private: bool = Field(default=False, description="Allow requests to private and loopback addresses.")
    private_addresses: list[NetworkText] = Field(
        default=[],
        description="Private networks that may be requested without `allow_private`, for example `127.0.0.1/32`.",
    )
    connect_to: list[ConnectRule] = Field(
        default=[],
        description="`HOST1:PORT1:HOST2:PORT2`: connect to the second instead of the first, like curl --connect-to.",
    )
    ca_file: str = Field(
        default="",
        description="PEM file of trusted certificate authorities, used instead of those of the system. Empty: "
        "those of the system.",
    )
    tls_errors: Literal["refuse", "record"] = Field(
        default="refuse",
        description="`refuse`: drop pages whose certificate is expired, for another host or from an unknown "
        "issuer. `record`: fetch them and record the error.",
    )


class Recrawl(Section):
    """When pages are recrawled."""

    first: float = Field(
        default=86_400.0,
        ge=60,
        description="Seconds from the first fetch of a page to the second; a tenth of the age in Last-Modified "
        "if that is longer.",
    )
    shortest: float = Field(default=3_600.0, ge=60, description="Minimum revisit interval in seconds.")
    longest: float = Field(
        default=30 * 86_400.0, ge=60, description="Maximum revisit interval in seconds; also used for 404 and 410."
    )
    visits_per_change: float = Field(
        default=2.5,
        gt=0,
        description="Average number of fetches between two changes of a page; a higher number means shorter intervals.",
    )
    pinned: dict[Pattern, ScheduleClass] = Field(
        default={},
        description="Regular expressions for the start of a URL, with the class whose interval those pages keep, "
        'whether they change or not: `"https://news[.]example/" = "hot"` under `[recrawl.pinned]`.',
    )

    @field_validator("longest")
    @classmethod
    def _is_at_least_the_shortest(cls, longest: float, info: ValidationInfo) -> float:
        if longest < info.data.get("shortest", longest):
            raise ValueError("must be at least recrawl.shortest")
        return longest


class SiteProfile(Section):
    """How the pages of some sites are parsed."""

    hosts: list[Pattern] = Field(default=[], description="Regular expressions; a host name must match one in full.")
    generator: str = Field(default="", description="Prefix of the `<meta name=generator>` of such pages.")
    title: Selector = Field(default="", description="CSS selector of the title.")
    body: Selector = Field(default="", description="CSS selector of the text.")
    categories: Selector = Field(default="", description="CSS selector of the names of the page's categories.")
    remove: list[Selector] = Field(default=[], description="CSS selectors of elements that are not part of the text.")


class Parsing(Section):
    """How pages are parsed."""

    languages: list[LanguageCode] = Field(
        default=[],
        description="Language codes (`en`, `de`) of the pages to index. Pages in other languages are archived, "
        "but not indexed, and their links are not followed. Empty: all.",
    )
    aside_bytes: int = Field(
        default=4 * _MIB,
        ge=0,
        description="Size in bytes above which a page is parsed in the sandbox, a separate process of 60 MB that "
        "can be killed. PDFs always are. 0: every page.",
    )
    seconds: float = Field(
        default=5.0, gt=0, description="Maximum processor time for parsing one page in the sandbox, in seconds."
    )
    memory_mb: int = Field(
        default=512, ge=256, description="Maximum memory for parsing one page in the sandbox, in megabytes."
    )
    profiles: dict[str, SiteProfile] = Field(
        default={},
        description="Rules for extracting the pages of some sites: `hosts`, `generator`, `title`, `body`, "
        "`categories`, `remove` under `[parse.profiles.NAME]`. The profile `mediawiki` is built in.",
    )


class Storage(Section):
    """When data becomes durable, and how large files grow."""

    commit_seconds: float = Field(
        default=1.0, gt=0, description="Maximum seconds between a fetch and the commit that acknowledges it."
    )
    commit_pages: int = Field(
        default=256, ge=1, description="Number of finished URLs that starts a commit before `commit_seconds` are over."
    )
    archive_bytes: int = Field(
        default=1 << 30, ge=1024, description="Size in bytes at which a new WARC file is started."
    )
    keep_versions: int = Field(
        default=0,
        ge=0,
        description="Versions of a page that `periplus prune` keeps in the archive, the newest ones; 0: all.",
    )
    keep_days: float = Field(
        default=0.0,
        ge=0,
        description="Days after which `periplus prune` removes a version that was not seen again; the newest one of a "
        "page stays. 0: never.",
    )
    segment_bytes: int = Field(
        default=64 * _MIB, ge=1024, description="Size in bytes at which a segment is completed and a new one started."
    )
    segment_seconds: float = Field(
        default=300.0,
        gt=0,
        description="Age in seconds at which a segment is completed, even when it is smaller than `segment_bytes`.",
    )
    buffer_urls: int = Field(
        default=100_000,
        ge=64,
        description="Maximum number of queued URLs in the memory of each worker; the others stay on disk.",
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
    site: SiteLook = SiteLook()
    watch: Watching = Watching()
    console: Console = Console()
    fleet: Fleet = Fleet()
    spark: Spark = Spark()


def setting_keys() -> list[str]:
    """Every `section.name`."""
    return [f"{section}.{name}" for section, model in sections() for name in model.model_fields]


def sections() -> Iterator[tuple[str, type[Section]]]:
    """The tables of the file, by name."""
    for name, entry in Settings.model_fields.items():
        assert isinstance(entry.annotation, type)
        assert issubclass(entry.annotation, Section)
        yield name, entry.annotation
