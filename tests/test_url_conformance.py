"""Are URLs and domains parsed as the standards say?

The cases come from web-platform-tests and from the public suffix list. Outside our concern, and therefore expected to
be no address at all (None): inputs the standard calls a failure, and results whose scheme is not http or https. Every
http(s) result must equal the standard's, put together from its parts by the extra rules at the top of `url.py`.
"""

from __future__ import annotations

import json
import re
from typing import Any, TypeAlias

import ada_url
import pytest

from periplus.url import Canonicalizer, registrable_domain, split
from shared_data import shared

Case: TypeAlias = dict[str, Any]

UNRESERVED = re.compile(r"[A-Za-z0-9._~-]")
BASES = ["http://example.org/", "https://example.org:8443/a/b?c#d"]


def cases(name: str) -> list[Case]:
    entries = json.loads(shared(f"urls/{name}").read_text(encoding="utf-8"))
    return [entry for entry in entries if isinstance(entry, dict)]  # the others are comments


def read(case: Case) -> str | None:
    if case["base"] is None:
        return Canonicalizer().canonical(case["input"])
    return Canonicalizer().join(case["base"], case["input"])


def is_web(case: Case) -> bool:
    return case.get("protocol") in {"http:", "https:"}


def respelled(text: str) -> str:
    """Unreserved characters plain, other escapes in capitals, stray percent signs escaped."""
    whole = re.sub(r"%(?![0-9A-Fa-f]{2})", "%25", text)
    pieces = re.split(r"(%..)", whole)
    plain = [bytes.fromhex(piece[1:]).decode("latin-1") if piece.startswith("%") else "" for piece in pieces]
    return "".join(
        character if UNRESERVED.fullmatch(character) else piece.upper() if piece.startswith("%") else piece
        for character, piece in zip(plain, pieces, strict=True)
    )


def without_root_dot(host: str) -> str:
    return host[:-1] if re.search(r"[^.]\.$", host) else host


def expected(case: Case) -> str:
    port = ":" + case["port"] if case["port"] else ""
    query = "&".join(part for part in respelled(case["search"])[1:].split("&") if part)
    page = respelled(case["pathname"]) + ("?" + query if query else "")
    return f"{case['protocol']}//{without_root_dot(case['hostname'])}{port}{page}"


def test_every_web_url_of_the_standard_is_parsed_as_the_standard_says() -> None:
    web = [case for case in cases("urltestdata.json") if is_web(case)]
    assert [(case["input"], case["base"]) for case in web if read(case) != expected(case)] == []
    assert len(web) >= 247


def test_our_rules_change_few_urls_of_the_standard() -> None:
    """Nearly all are the standard's text up to the fragment, so a wrong rule in `expected` would show here."""
    web = [case for case in cases("urltestdata.json") if is_web(case)]
    credentials = [case for case in web if case["username"] or case["password"]]
    changed = [case["href"] for case in web if case not in credentials and read(case) != case["href"].partition("#")[0]]
    assert all("%" in href or href.endswith("?") or "?#" in href for href in changed), changed
    assert len(changed) < 30


def test_the_parts_of_a_url_are_those_of_the_standard() -> None:
    web = [case for case in cases("urltestdata.json") if is_web(case)]
    urls = [(split(expected(case)), case) for case in web]
    assert [url for url, case in urls if url.host != without_root_dot(case["hostname"])] == []
    assert [url for url, case in urls if url.origin != case.get("origin", url.origin)] == []


def test_text_that_the_standard_refuses_is_not_a_url() -> None:
    refused = [case for case in cases("urltestdata.json") if case.get("failure")]
    assert [(case["input"], case["base"]) for case in refused if read(case) is not None] == []
    assert len(refused) >= 267


def test_links_that_the_standard_refuses_are_not_joined() -> None:
    """`relativeTo` marks the inputs that only fail for want of a base."""
    refused = [
        case["input"]
        for case in cases("urltestdata.json")
        if case.get("failure") and case["base"] is None and "relativeTo" not in case
    ]
    assert [text for text in refused for base in BASES if Canonicalizer().join(base, text) is not None] == []
    assert len(refused) >= 188


def test_urls_of_other_schemes_are_not_web_urls() -> None:
    other = [case for case in cases("urltestdata.json") if not case.get("failure") and not is_web(case)]
    assert [(case["input"], case["base"]) for case in other if read(case) is not None] == []
    assert len(other) >= 377


def test_international_host_names_become_the_ascii_of_the_standard() -> None:
    wrong = []
    for case in cases("toascii.json"):
        text = Canonicalizer().canonical(f"https://{case['input']}/x")
        host = None if text is None else split(text).host
        if host != case["output"]:
            wrong.append((case["input"], case["output"], host))
    assert wrong == []


def suffix_cases(name: str) -> list[tuple[str, str | None]]:
    """Host name and registrable domain of every line that is neither a comment nor about a missing host."""
    text = shared(f"urls/{name}").read_text(encoding="utf-8")
    lines = [re.sub(r"checkPublicSuffix\((.*), (.*)\);", r"\1 \2", line).replace("'", "") for line in text.splitlines()]
    pairs = [line.split() for line in lines if line and not line.startswith("//")]
    return [(host, None if domain == "null" else domain) for host, domain in pairs if host != "null"]


@pytest.mark.parametrize("name", ["test_psl.txt", "tests.txt"])
def test_one_registrant_is_one_domain_and_a_bare_suffix_its_own(name: str) -> None:
    """The list's null (a suffix, or nothing a host name can be) is our "its own domain"."""
    vectors = suffix_cases(name)
    wrong = [host for host, domain in vectors if registrable_domain(host.lower()) != (domain or host.lower())]
    assert wrong == []
    assert len(vectors) >= 77


@pytest.mark.parametrize("name", ["test_psl.txt", "tests.txt"])
def test_the_domain_of_an_international_url_is_that_of_its_ascii_name(name: str) -> None:
    wrong = []
    for host, domain in suffix_cases(name):
        text = Canonicalizer().canonical(f"https://{host}/")
        assert text is not None
        if split(text).domain != ada_url.URL(f"https://{domain or host}/").hostname:
            wrong.append(host)
    assert wrong == []
