"""Why is this page not here? The inspector gives one sentence, and what to do."""

from __future__ import annotations

from typing import Any

import pytest

from periplus.inspector.next_fetch import NextFetch
from periplus.inspector.verdict import PageFacts, host_verdict, verdict_of
from periplus.model import Reason

URL = "https://a.example/page"
FETCH = {"reason": "ok", "detail": "", "redirect_to": ""}
REPORT: dict[str, Any] = {
    "url": URL,
    "host": "a.example",
    "known": True,
    "state": "done",
    "reason": "ok",
    "detail": "",
    "attempts": 1,
    "fetches": [FETCH],
    "words": None,
    "left_out": None,
    "copy_of": None,
}
TRAP = "9 of 9 pages like /cal?d=* said nothing new"


def facts(**changes: Any) -> PageFacts:
    """Facts about a page that was fetched and is not in the index."""
    own = {name: changes.pop(name) for name in list(changes) if name in REPORT}
    return PageFacts(REPORT | own, **changes)


def unknown(reason: str, detail: str = "x") -> PageFacts:
    return facts(known=False, state="unknown", reason=reason, detail=detail, fetches=[])


CASES = {
    "indexed": (facts(words={}), "indexed", ["recrawl"]),
    "ranked": (facts(words={}, query="mole", place=3), "ranked", ["recrawl"]),
    "unranked": (facts(words={}, query="mole"), "unranked", ["recrawl"]),
    "indexed, but out of scope now": (
        facts(words={}, left_out={"reason": "scope_host", "detail": "x"}), "left_out", ["scope", "recrawl"]
    ),
    "blocked": (facts(blocked=5.0, state="refused", reason="blocked"), "blocked", ["unblock"]),
    "never met": (unknown("never_met", "it is in scope, but no crawled page links to it"), "never_seen", ["seed"]),
    "entry": (unknown(Reason.ENTRY), "entry", []),
    "too deep": (unknown(Reason.TOO_DEEP), "refused", ["seed"]),
    "nofollow": (unknown(Reason.NOFOLLOW), "refused", ["seed"]),
    "scope, never admitted": (unknown(Reason.SCOPE_PATH), "refused", ["scope"]),
    "domain cap": (unknown(Reason.DOMAIN_CAP), "refused", ["scope"]),
    "robots, never admitted": (unknown(Reason.ROBOTS), "robots", ["robots"]),
    "trap, never admitted": (unknown(Reason.TRAP_LEARNED, TRAP), "trap", ["unlearn"]),
    "queued": (facts(state="queued", reason="link", fetches=[]), "queued", ["recrawl"]),
    "refused by robots.txt": (facts(state="refused", reason="robots", detail="line 2"), "robots", ["robots"]),
    "refused as a trap": (facts(state="refused", reason="trap_learned", detail=TRAP), "trap", ["unlearn"]),
    "private address": (facts(state="refused", reason="private_address"), "refused", []),
    "failed": (facts(state="failed", reason="timeout", detail="30 s"), "error", ["retry"]),
    "redirected": (
        facts(reason="redirected", fetches=[FETCH | {"redirect_to": "https://b.example/"}]), "redirected", ["inspect"]
    ),
    "duplicate": (facts(copy_of={"url": "https://b.example/", "exact": True, "bits": 0}), "duplicate", ["inspect"]),
    "gone": (facts(left_out={"reason": "http_error", "detail": "404"}), "refused", ["retry"]),
    "not readable": (facts(reason="pdf_locked"), "unreadable", ["recrawl"]),
    "not indexed yet": (facts(), "not_indexed", ["run"]),
    "no index": (facts(has_index=False), "not_indexed", ["run"]),
    "the builder has not come so far": (facts(builds_index=True), "not_indexed", []),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_every_case_has_its_verdict_and_its_remedies(case: str) -> None:
    given, code, remedies = CASES[case]
    found = verdict_of(given)
    assert (found.code, [one.action for one in found.remedies]) == (code, remedies)
    assert found.sentence.endswith(".")


SENTENCES = {
    "ranked": "It is in the index, at place 3 for “mole”.",
    "unranked": "It is in the index, but not among the first 100 results for “mole”.",
    "never met": "Never seen: it is in scope, but no crawled page links to it.",
    "failed": "Not fetched after 1 attempt: `fetch.connect_timeout` or `fetch.timeout` ran out (30 s).",
    "gone": "Fetched, but left out of the index: The server answered with HTTP status 404.",
    "redirected": "It redirects to https://b.example/, which is indexed instead.",
    "no index": "Fetched. There is no index yet, or the page asks not to be indexed (noindex).",
}


@pytest.mark.parametrize("case", SENTENCES)
def test_the_sentence_says_what_happened_and_why(case: str) -> None:
    assert verdict_of(CASES[case][0]).sentence == SENTENCES[case]


def test_the_remedies_carry_what_their_forms_need() -> None:
    (unlearn,) = verdict_of(CASES["refused as a trap"][0]).remedies
    assert unlearn.fields == {"host": "a.example", "pattern": "/cal?d=*"}
    (seed,) = verdict_of(CASES["never met"][0]).remedies
    assert seed.fields == {"url": URL}
    (inspect,) = verdict_of(CASES["duplicate"][0]).remedies
    assert inspect.fields == {"what": "https://b.example/"}


def test_a_queued_page_says_when_its_host_is_fetched_and_what_failed_before() -> None:
    later = NextFetch(1e9, "429", "HTTP 429.")
    failed = [FETCH | {"reason": "timeout", "detail": ""}]
    found = verdict_of(facts(state="queued", reason="retry", fetches=failed, upcoming=later))
    assert found.sentence == (
        "Queued to be fetched again. HTTP 429. The last attempt failed: "
        "`fetch.connect_timeout` or `fetch.timeout` ran out."
    )


HOST: dict[str, Any] = {
    "host": "a.example",
    "known": True,
    "blocked": None,
    "scope": {"admitted": True, "reason": "", "detail": ""},
    "urls": {"known": 9, "done": 4, "queued": 3, "refused": 1, "failed": 1},
    "next": {"sentence": "As soon as a connection is free."},
}


@pytest.mark.parametrize(
    ("changes", "code", "remedies"),
    [
        ({}, "known", ["retry"]),
        ({"urls": HOST["urls"] | {"failed": 0}}, "known", []),
        ({"blocked": 5.0}, "blocked", ["unblock"]),
        ({"scope": {"admitted": False, "reason": "scope_host", "detail": "x"}}, "refused", ["scope", "seed"]),
        ({"known": False}, "never_seen", ["seed"]),
    ],
)
def test_a_host_has_a_verdict_too(changes: dict[str, Any], code: str, remedies: list[str]) -> None:
    found = host_verdict(HOST | changes)
    assert (found.code, [one.action for one in found.remedies]) == (code, remedies)


def test_a_verdict_is_a_json_object() -> None:
    assert verdict_of(CASES["never met"][0]).as_json()["remedies"] == [
        {"action": "seed", "label": "Add it as a seed", "fields": {"url": URL}}
    ]
