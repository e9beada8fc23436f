"""Sends a query with a bang to another site: `!w rust` searches Wikipedia.

The owner of the site loads the bangs from a file. Only its http and https addresses are targets, and the query never
becomes a part of scheme, host or port. So no link can redirect readers to a site that the owner did not choose.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, urlsplit

from periplus.errors import ConfigError
from periplus.site.headers import content_policy
from periplus.site.pages import Pages
from periplus.web.display import shortened, visible
from periplus.web.parameters import QUERY_LENGTH

logger = logging.getLogger("periplus.web")

LARGEST_FILE = 8_000_000  # bytes
MOST = 50_000  # bangs in a file
PLACEHOLDER = "{query}"
_OTHER_PLACEHOLDER = "{{{s}}}"  # in published JSON files
_LONGEST_URL = 2_000  # characters
_NAME = re.compile(r"[^\s!<>\"'&]{1,40}")
_AUTHORITY = r"(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?"
_TARGET = re.compile(rf"(https?://{_AUTHORITY})([/?#][^\\]*)", re.IGNORECASE)
_UNSAFE = re.compile(r"[\x00-\x20\x7f<>\"`^|]")
_BANG_LIKE = re.compile(r"!(\w[^\s!]{0,39})")
_ORIGINS_LISTED = 40  # in the policy for forms; more would make a long header
_ANSWER = {"referrer-policy": "no-referrer", "cache-control": "no-store"}
_HINT = (
    "Name a text file with one bang a line, such as: w https://en.wikipedia.org/w/index.php?search={query} Wikipedia"
)


class _UnusableBangError(Exception):
    """Why a bang cannot be used."""


class Bang(NamedTuple):
    """The search of another site."""

    name: str  # without the exclamation mark
    url: str  # with the placeholder
    title: str

    @property
    def origin(self) -> str:
        """The scheme, host and port."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc}"

    def target(self, words: str) -> str:
        """The URL of the search for these words; without words, the front page of the site."""
        return self.url.replace(PLACEHOLDER, quote(words, safe="", errors="replace")) if words else f"{self.origin}/"


@dataclass(frozen=True)
class Bangs:
    """The bangs of this site, by name."""

    by_name: Mapping[str, Bang] = field(default_factory=dict)

    headers = _ANSWER  # of the redirect

    def target(self, query: str) -> str:
        """Where a query with a bang as its first or last word leads; empty without such a bang."""
        words = visible(query[:QUERY_LENGTH]).split() if "!" in query and self.by_name else []
        for word, rest in ((words[0], words[1:]), (words[-1], words[:-1])) if words else ():
            bang = self.by_name.get(word[1:].lower()) if word[0] == "!" else None
            if bang is not None:
                return bang.target(" ".join(rest))
        return ""

    def hint(self, query: str) -> str:
        """A hint when the first or last word looks like a bang that does not exist."""
        words = query.split() if self.by_name else []
        unknown = next((word for word in (*words[:1], *words[-1:]) if _BANG_LIKE.fullmatch(word)), "")
        return f"There is no bang {visible(unknown)}, so its word was searched." if unknown else ""

    def shown(self, most: int) -> list[tuple[str, str, str]]:
        """Name, title and host of the first bangs, for the help page."""
        first = list(self.by_name.values())[:most]
        return [(visible(bang.name), shortened(bang.title), visible(urlsplit(bang.url).netloc)) for bang in first]

    def apply(self, pages: Pages) -> None:
        """Lets the search box of all pages send a form to the sites of the bangs; names the bangs for the ETags."""
        if self.by_name:
            pages.define(bangs_digest=self._digest)
            pages.headers["content-security-policy"] = content_policy(form_action=f"'self' {self._form_targets}")

    @cached_property
    def _digest(self) -> str:
        return sha256(repr(sorted(self.by_name.items())).encode("utf-8", "replace")).hexdigest()

    @property
    def _form_targets(self) -> str:
        """Browsers refuse to redirect a form to a site that the policy of the page does not name."""
        origins = sorted({bang.origin for bang in self.by_name.values()})
        named = origins if len(origins) <= _ORIGINS_LISTED else sorted({f"{urlsplit(one).scheme}:" for one in origins})
        return " ".join(named)


def load_bangs(path: Path) -> Bangs:
    """Reads a file of bangs, as lines or as JSON; raises `ConfigError` when it cannot be used."""
    text = _read(path)
    bangs = dict[str, Bang]()
    for bang in _from_json(path, text) if text.lstrip().startswith(("[", "{")) else _from_lines(path, text):
        bangs[bang.name] = bang
        if len(bangs) > MOST:
            raise _refused(path, f"it has more than {MOST:,} bangs")
    return Bangs(bangs)


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            body = file.read(LARGEST_FILE + 1)
    except OSError as error:
        raise _refused(path, f"the file cannot be read ({error.strerror})") from error
    if len(body) > LARGEST_FILE:
        raise _refused(path, f"it is larger than {LARGEST_FILE // 1_000_000} MB")
    try:
        return body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _refused(path, "it is no text in UTF-8") from error


def _from_lines(path: Path, text: str) -> Iterator[Bang]:
    """The bangs of a text file: name, URL and title in each line; blank lines and lines with # are left out."""
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        name, url, title = [*line.split(maxsplit=2), "", ""][:3]
        try:
            yield _bang(name, url, title)
        except _UnusableBangError as error:
            raise _refused(path, f"line {number}: {error}") from None


def _from_json(path: Path, text: str) -> Iterator[Bang]:
    """The bangs of a published JSON file; it has thousands, and those that are not safe are left out with a warning."""
    try:
        rows = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _refused(path, f"it is no JSON ({error})") from None
    if not isinstance(rows, list):
        raise _refused(path, "its JSON is no list")
    problems = []
    for number, row in enumerate(rows, 1):
        try:
            yield _from_row(row)
        except _UnusableBangError as error:
            problems.append(f"entry {number}: {error}")
    if problems:
        logger.warning("%s: left out %d of %d bangs; %s", path.name, len(problems), len(rows), problems[0])


def _from_row(row: Any) -> Bang:
    values = [row.get(key, "") for key in ("t", "u", "s")] if isinstance(row, dict) else []
    if not values or not all(isinstance(value, str) for value in values):
        raise _UnusableBangError('it needs "t", "u" and "s" as texts')
    name, url, title = values
    return _bang(name, url.replace(_OTHER_PLACEHOLDER, PLACEHOLDER), title)


def _bang(name: str, url: str, title: str) -> Bang:
    plain = name.removeprefix("!").lower()
    if not _NAME.fullmatch(plain) or visible(plain) != plain:
        raise _UnusableBangError(f'"{shortened(name, 40)}" is no name for a bang')
    _require_safe(url)
    return Bang(plain, url, title.strip() or urlsplit(url).netloc)


def _require_safe(url: str) -> None:
    """Accept only a target whose scheme, host and port do not depend on the query."""
    found = _TARGET.fullmatch(url)
    if found is None or len(url) > _LONGEST_URL or _UNSAFE.search(url) or not url.isascii():
        raise _UnusableBangError(f"{shortened(url)} is no http or https address with a path")
    try:
        parts = urlsplit(url)
        is_host = bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_host = False
    if not is_host:
        raise _UnusableBangError(f"{shortened(url)} has no valid host")
    if PLACEHOLDER not in found[2]:
        raise _UnusableBangError(f"{shortened(url)} lacks {PLACEHOLDER} in its path or query")


def _refused(path: Path, why: str) -> ConfigError:
    return ConfigError(f"serve.bangs: {path.name} cannot be used", why, hint=_HINT)
