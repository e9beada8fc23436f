"""Reads the operators of the query language: site:, intitle:, inurl:, filetype:, lang:, before: and after:."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import UTC, datetime
from difflib import get_close_matches

from periplus.parse.language import code_of
from periplus.search.query.tree import Field, Node, Site
from periplus.url import Canonicalizer, host_of

OPERATORS = ("site", "intitle", "inurl", "filetype", "lang", "before", "after")
_SYNONYMS = {"ext": "filetype", "language": "lang"}
NAMES = "|".join((*OPERATORS, *_SYNONYMS))  # for a regular expression
FILE_TYPES = {  # by the name that users type: the name in the index
    **dict.fromkeys(("html", "htm", "xhtml"), "html"),
    "pdf": "pdf",
    **dict.fromkeys(("text", "txt", "md", "markdown"), "text"),
    **dict.fromkeys(("feed", "rss", "atom", "rdf"), "feed"),
    "xml": "xml",
}
_HOST = re.compile(r"(?:[a-z][a-z0-9+.-]*://)?(?:[^/?#]*@)?(\[[^\]]*\]|[^/?#:@]*)((?::\d+)?/[^?#]*)?")
_DATE = re.compile(r"(\d{4})(?:[-/.](\d{1,2})(?:[-/.](\d{1,2}))?)?")
# `name:value`, but not `std::map`, `http://...`, `localhost:80` or `C:\`.
_OPERATOR_LIKE = re.compile(r"([a-z]{3,}):(?![:/\\\d]).*", re.IGNORECASE)


def read_operator(name: str, value: str) -> tuple[Node | None, str]:
    """The node of an operator and its value; None and a hint when the value is wrong."""
    operator = _SYNONYMS.get(name.lower(), name.lower())
    value = " ".join(value.split())
    if operator == "site":
        return _site(value), ""
    if operator in {"intitle", "inurl"}:
        return (Field(operator, value), "") if value else (None, f"{operator}: needs a word.")
    read, expected = {
        "filetype": (_file_type, f"one of {', '.join(dict.fromkeys(FILE_TYPES.values()))}"),
        "lang": (code_of, "a language such as de or German"),
        "before": (_date, "a date such as 2024, 2024-05 or 2024-05-17"),
        "after": (_date, "a date such as 2024, 2024-05 or 2024-05-17"),
    }[operator]
    found = read(value)
    return (Field(operator, found), "") if found else (None, f"Ignored {operator}:{value}. It needs {expected}.")


def seconds_of(date: str) -> int:
    """The first second of a year, month or day in UTC, since the epoch."""
    year, month, day = (*map(int, date.split("-")), 1, 1)[:3]
    return int(datetime(year, month, day, tzinfo=UTC).timestamp())


def hint_about(word: str) -> str:
    """A hint when a word looks like an operator that does not exist, or lacks its value; empty for other words."""
    found = _OPERATOR_LIKE.fullmatch(word)
    if found is None:
        return ""
    name = found[1].lower()
    if name in OPERATORS or name in _SYNONYMS:
        return f"Write {name}: and its value without a space."
    if word.endswith(":"):
        return ""
    close = get_close_matches(name, OPERATORS, 1)
    meant = f" Did you mean {close[0]}:?" if close else ""
    return f"There is no operator {name}: and the text was searched as a word.{meant}"


def _site(value: str) -> Site | None:
    """The host and path in the value of site:, which may be a host, a pattern such as *.example.org, or a URL."""
    found = _HOST.match(value.partition(" ")[0].lower())
    host, path = (found[1].strip("*."), found[2] or "") if found else ("", "")
    if host.startswith("["):  # an IPv6 address
        host = host.partition("]")[0] + "]"
    elif not host.isascii():
        address = Canonicalizer().canonical(f"http://{host}/")
        host = host_of(address) if address is not None else host
    return Site(host, path.rstrip("/*") if path.partition("/")[2].strip("/*") else "") if host else None


def _file_type(value: str) -> str:
    return FILE_TYPES.get(value.lower().lstrip("."), "")


def _date(value: str) -> str:
    """The date with zeros, such as 2024-05; empty when there is no such day."""
    found = _DATE.fullmatch(value)
    if found is None or not value.isascii():
        return ""
    date = "-".join(part.zfill(2) for part in found.groups() if part)
    with suppress(ValueError):
        seconds_of(date)
        return date
    return ""
