"""What does each reason code mean, and what can you do about it?

The page docs/reference/reasons.md is generated from `REASONS`: one row per code, in the order of `model.Reason`.
"""

from __future__ import annotations

from typing import NamedTuple

from periplus.model import Reason


class ReasonText(NamedTuple):
    """What the documentation says about one reason code."""

    meaning: str
    remedy: str


_NOTHING = "Nothing to do."
_RETRIED = "The crawler tries up to `fetch.attempts` times; later runs try again when the URL is due."
_CERTIFICATE = "The site must renew or correct it. `fetch.tls_errors = record` fetches such pages anyway."
_REPORT = "The page stays in the archive. Report the URL as a bug."

REASONS: dict[Reason, ReasonText] = {
    Reason.SEED: ReasonText("The URL was given as a seed.", _NOTHING),
    Reason.LINK: ReasonText("A crawled page links to the URL.", _NOTHING),
    Reason.REDIRECT_TARGET: ReasonText("Another URL redirects to the URL.", _NOTHING),
    Reason.SITEMAP: ReasonText("The URL is a sitemap, named by robots.txt, another sitemap or `--sitemap`.", _NOTHING),
    Reason.LISTED: ReasonText("A sitemap lists the URL.", _NOTHING),
    Reason.IMPORTED: ReasonText(
        "The page was imported from an archive outside the scope, or by a release that did not check the scope.",
        "It stays in the index. Import without `--ignore-scope` to skip such pages.",
    ),
    Reason.IMPORTED_IN_SCOPE: ReasonText("The page was imported from an archive, and the scope admits it.", _NOTHING),
    Reason.ENTRY: ReasonText("The URL was given with `--entry`: it is fetched for links, not indexed.", _NOTHING),
    Reason.REVISIT: ReasonText(
        "The page was crawled before and is due for a recrawl.", "The settings under `[recrawl]` set the interval."
    ),
    Reason.NOT_WEB: ReasonText(
        "The URL is malformed, or neither http nor https.", "Correct the URL if you typed it; otherwise nothing."
    ),
    Reason.TOO_LONG: ReasonText("The URL has more than `scope.url_length` characters.", "Raise `scope.url_length`."),
    Reason.SCOPE_HOST: ReasonText(
        "The host is outside the scope.", "Add the host to `scope.hosts` or `--scope-host`, or give a seed on it."
    ),
    Reason.BLOCKED: ReasonText(
        "The host was blocked with `periplus block` or in the console.",
        "`periplus unblock HOST` queues its URLs again.",
    ),
    Reason.SEED_REMOVED: ReasonText(
        "The URL was a seed and was removed before it was fetched.", "`periplus seed add URL` queues it again."
    ),
    Reason.SCOPE_PATH: ReasonText(
        "No pattern of `scope.paths` matches the path and query.", "Add a pattern to `scope.paths` or `--scope-path`."
    ),
    Reason.EXTENSION: ReasonText(
        "The path ends with a file extension that is never text.", "Remove the extension from `scope.skip_extensions`."
    ),
    Reason.TOO_DEEP: ReasonText(
        "The URL is more than `scope.depth` links away from its seed.",
        "Raise `scope.depth` or `--depth`, or give the URL as a seed.",
    ),
    Reason.TRAP_REPEAT: ReasonText(
        "A path segment occurs `scope.path_repeats` times, as in an endless loop of links.",
        "Raise `scope.path_repeats` if the site really has such URLs.",
    ),
    Reason.TRAP_DEPTH: ReasonText(
        "The path has more than `scope.path_depth` segments.",
        "Raise `scope.path_depth` if the site really has such URLs.",
    ),
    Reason.TRAP_LEARNED: ReasonText(
        "The URL matches a pattern of the host whose pages had nothing new, and the host's trap allowance is spent.",
        "`periplus traps HOST --unlearn` fetches them; `crawl --no-traps` fetches those of all hosts.",
    ),
    Reason.DOMAIN_CAP: ReasonText(
        "The registrable domain has `scope.pages_per_domain` URLs.",
        "Raise `scope.pages_per_domain`, or the limit of this domain under `[scope.domain_pages]`.",
    ),
    Reason.HOSTS_CAP: ReasonText(
        "The registrable domain has `scope.hosts_per_domain` hosts.", "Raise `scope.hosts_per_domain`."
    ),
    Reason.PRIVATE_ADDRESS: ReasonText(
        "The host is at a private or loopback IP address.",
        "Add `--allow-private`, or list the network in `fetch.private_addresses`.",
    ),
    Reason.NO_CONTACT: ReasonText(
        "Public hosts are not crawled without a contact in the User-Agent header.", "Set `identity.contact`."
    ),
    Reason.TOO_MANY_REDIRECTS: ReasonText(
        "The redirect chain is longer than `fetch.redirects`.",
        "Raise `fetch.redirects`; most such chains are loops.",
    ),
    Reason.ROBOTS: ReasonText(
        "robots.txt disallows the URL; `periplus inspect url` shows the line.",
        "Ask the webmaster for permission. Periplus always obeys robots.txt.",
    ),
    Reason.ROBOTS_UNREACHABLE: ReasonText(
        "robots.txt could not be fetched, so the whole site is disallowed for now.",
        "Check that the site is up; a later run fetches robots.txt again.",
    ),
    Reason.CRAWL_DELAY_TOO_LONG: ReasonText(
        "The Crawl-delay in robots.txt is longer than `politeness.longest_crawl_delay`.",
        "Raise `politeness.longest_crawl_delay`; the host is then crawled that slowly.",
    ),
    Reason.NOFOLLOW: ReasonText(
        "The link or its page is marked `nofollow`.", "Give the URL as a seed if you want it anyway."
    ),
    Reason.RETRY: ReasonText(
        "The last attempt failed; another attempt follows.",
        "`fetch.attempts` and `fetch.retry_seconds` set how often and when.",
    ),
    Reason.TRAP_SUSPECTED: ReasonText(
        "The URL matches a suspected trap; the other URLs of its host are fetched first.",
        "`periplus traps HOST --unlearn` ends the suspicion.",
    ),
    Reason.OK: ReasonText("The page was fetched and archived.", _NOTHING),
    Reason.SAME_CONTENT: ReasonText(
        "A recrawl returned the same bytes as the version before; the archive keeps a reference.", _NOTHING
    ),
    Reason.NOT_MODIFIED: ReasonText("The server answered 304: the page has not changed.", _NOTHING),
    Reason.OTHER_LANGUAGE: ReasonText(
        "The page is archived but not indexed: its language is not in `parse.languages`.",
        "Add the language to `parse.languages`, then run `periplus reparse --everything`.",
    ),
    Reason.PDF_CUT: ReasonText("The end of the PDF is missing, so its text cannot be read.", "Recrawl the URL."),
    Reason.PDF_LOCKED: ReasonText("The PDF needs a password.", _NOTHING),
    Reason.PDF_BROKEN: ReasonText("The PDF is damaged, so its text cannot be read.", _NOTHING),
    Reason.PARSE_TIME: ReasonText(
        "Parsing took more than `parse.seconds` of processor time.",
        "Raise `parse.seconds`, then run `periplus reparse --everything`.",
    ),
    Reason.PARSE_MEMORY: ReasonText(
        "Parsing needed more than `parse.memory_mb` megabytes.",
        "Raise `parse.memory_mb`, then run `periplus reparse --everything`.",
    ),
    Reason.PARSE_CRASH: ReasonText("The parser crashed on the page.", _REPORT),
    Reason.REDIRECTED: ReasonText(
        "The URL redirects to another URL, which is crawled instead.", "`periplus inspect url` shows the target."
    ),
    Reason.HTTP_ERROR: ReasonText(
        "The server answered with an error; the detail is the HTTP status code.",
        "404 and 410 are recrawled at `recrawl.longest`. For 401 and 403, ask the webmaster.",
    ),
    Reason.WRONG_TYPE: ReasonText("The response is neither HTML, XML, plain text nor PDF.", _NOTHING),
    Reason.TOO_LARGE: ReasonText("The PDF is larger than `fetch.pdf_bytes`.", "Raise `fetch.pdf_bytes`."),
    Reason.DNS: ReasonText("The host name could not be resolved.", "Check the spelling of the host and your resolver."),
    Reason.CONNECT: ReasonText("The server refused or dropped the connection.", _RETRIED),
    Reason.TLS_EXPIRED: ReasonText("The certificate has expired or is not valid yet.", _CERTIFICATE),
    Reason.TLS_NAME: ReasonText("The certificate is for another host name.", _CERTIFICATE),
    Reason.TLS_ISSUER: ReasonText(
        "The certificate authority is not trusted.",
        "Name a private authority in `fetch.ca_file`. `fetch.tls_errors = record` fetches such pages anyway.",
    ),
    Reason.TLS: ReasonText("The TLS handshake failed.", "The site must correct its TLS configuration."),
    Reason.TIMEOUT: ReasonText(
        "`fetch.connect_timeout` or `fetch.timeout` ran out.",
        _RETRIED,
    ),
    Reason.TOO_SLOW: ReasonText(
        "The transfer was slower than `fetch.slowest` for 10 seconds.", "Lower `fetch.slowest`; 0 disables the limit."
    ),
    Reason.CUT_SHORT: ReasonText("The connection closed before the response was complete.", _RETRIED),
    Reason.BAD_HTTP: ReasonText("The response is not valid HTTP.", _RETRIED),
    Reason.INTERNAL_ERROR: ReasonText(
        "Periplus failed on the response; the run summary lists it under `exceptions`.",
        "Report the URL as a bug. Later runs try again.",
    ),
}
