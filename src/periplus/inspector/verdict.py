"""Why is this page not here? One sentence about a URL, and what the user can do about it.

The rules below are asked in order; the first one that applies gives the answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

from periplus.inspector.next_fetch import NextFetch
from periplus.model import Reason
from periplus.reasons import REASONS

BEST = 100  # results of a query among which a page is looked for
_PATTERN = re.compile(r" like (.+) said ")
_SCOPE = frozenset(
    {
        Reason.SCOPE_HOST, Reason.SCOPE_PATH, Reason.EXTENSION, Reason.TOO_LONG, Reason.TRAP_REPEAT, Reason.TRAP_DEPTH,
        Reason.DOMAIN_CAP, Reason.HOSTS_CAP,
    }
)  # fmt: skip
_AS_SEED = frozenset({Reason.TOO_DEEP, Reason.NOFOLLOW, Reason.TOO_MANY_REDIRECTS, "never_met"})
_ROBOTS = frozenset({Reason.ROBOTS, Reason.ROBOTS_UNREACHABLE, Reason.CRAWL_DELAY_TOO_LONG})
_ARCHIVED_ONLY = frozenset(
    {
        Reason.OTHER_LANGUAGE, Reason.PDF_CUT, Reason.PDF_LOCKED, Reason.PDF_BROKEN, Reason.PARSE_TIME,
        Reason.PARSE_MEMORY, Reason.PARSE_CRASH,
    }
)  # fmt: skip


class Remedy(NamedTuple):
    """Something that the user can do; a form of the console, a link, or a command to run."""

    action: str  # seed, retry, recrawl, unblock, unlearn, scope, robots, inspect or run
    label: str
    fields: dict[str, str]


@dataclass(frozen=True, slots=True)
class PageVerdict:
    """Why a page is here or not."""

    code: str
    sentence: str
    remedies: tuple[Remedy, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The verdict as a JSON object."""
        return {
            "code": self.code,
            "sentence": self.sentence,
            "remedies": [one._asdict() for one in self.remedies],
        }


@dataclass(frozen=True, slots=True)
class PageFacts:
    """What a verdict is derived from."""

    report: Mapping[str, Any]  # as `url_report` returns it
    blocked: float | None = None  # since when the user has blocked the host
    upcoming: NextFetch | None = None  # of the host; None: the host is not known
    has_index: bool = True
    builds_index: bool = False  # a process adds pages to the index continuously
    query: str = ""
    place: int | None = None  # of the page among the results of the query; None: not among the best

    @property
    def indexed(self) -> bool:
        """Whether the live index has the page."""
        return self.report["words"] is not None


def verdict_of(facts: PageFacts) -> PageVerdict:
    """Why the page is here or not."""
    return next(found for rule in _RULES if (found := rule(facts)) is not None)


def host_verdict(report: Mapping[str, Any]) -> PageVerdict:
    """Why pages of a host are here or not; *report*: of the host, with `blocked` and `next`."""
    host, scope = report["host"], report["scope"]
    if report["blocked"] is not None:
        unblock = Remedy("unblock", f"Unblock {host}", {"host": host})
        return PageVerdict("blocked", f"You blocked {host}; nothing of it is fetched.", (unblock,))
    if not scope["admitted"]:
        sentence = f"Out of scope: {_explained(scope['reason'], scope['detail'])}"
        fields = {"reason": scope["reason"], "url": f"https://{host}/", "host": host}
        seed = Remedy("seed", "Add it as a seed", {"url": f"https://{host}/"})
        return PageVerdict("refused", sentence, (Remedy("scope", "Change the scope", fields), seed))
    if not report["known"]:
        seed = Remedy("seed", "Add it as a seed", {"url": f"https://{host}/"})
        return PageVerdict("never_seen", "Never seen: it is in scope, but no crawled page links to it.", (seed,))
    urls = report["urls"]
    known = f"{urls['known']:,} URLs are known: {urls['done']:,} fetched, {urls['queued']:,} queued"
    rest = f"{urls['refused']:,} refused, {urls['failed']:,} failed"
    retry = (Remedy("retry", "Try failed URLs again", {"host": host}),) if urls["failed"] else ()
    return PageVerdict("known", f"{known}, {rest}. Next fetch: {report['next']['sentence']}", retry)


def _indexed(facts: PageFacts) -> PageVerdict | None:
    if not facts.indexed:
        return None
    recrawl = (_on_url(facts, "recrawl", "Recrawl now"),)
    left_out = facts.report["left_out"]
    if left_out:
        explained = _explained(left_out["reason"], left_out["detail"])
        why = f"It is in the index, but the next index leaves it out: {explained}"
        return PageVerdict("left_out", why, (*_remedies(facts, left_out["reason"], left_out["detail"]), *recrawl))
    if not facts.query:
        return PageVerdict("indexed", "It is in the index.", recrawl)
    if facts.place is None:
        sentence = f"It is in the index, but not among the first {BEST} results for “{facts.query}”."
        return PageVerdict("unranked", sentence, recrawl)
    return PageVerdict("ranked", f"It is in the index, at place {facts.place} for “{facts.query}”.", recrawl)


def _blocked(facts: PageFacts) -> PageVerdict | None:
    if facts.blocked is None:
        return None
    host = facts.report["host"]
    return PageVerdict(
        "blocked",
        f"You blocked {host}; nothing of it is fetched.",
        (Remedy("unblock", f"Unblock {host}", {"host": host}),),
    )


def _unknown(facts: PageFacts) -> PageVerdict | None:
    report = facts.report
    if report["known"]:
        return None
    if report["reason"] == "never_met":
        return PageVerdict("never_seen", f"Never seen: {report['detail']}.", _remedies(facts, "never_met", ""))
    if report["reason"] == Reason.ENTRY:
        return PageVerdict("entry", _explained(report["reason"], report["detail"]))
    sentence = f"Never admitted: {_explained(report['reason'], report['detail'])}"
    return PageVerdict(_code(report["reason"]), sentence, _remedies(facts, report["reason"], report["detail"]))


def _queued(facts: PageFacts) -> PageVerdict | None:
    if facts.report["state"] != "queued":
        return None
    again = " again" if facts.report["fetches"] else ""
    why = f" {facts.upcoming.sentence}" if facts.upcoming else ""
    last = _last_error(facts.report)
    return PageVerdict(
        "queued", f"Queued to be fetched{again}.{why}{last}", (_on_url(facts, "recrawl", "Fetch it next"),)
    )


def _refused(facts: PageFacts) -> PageVerdict | None:
    report = facts.report
    if report["state"] != "refused":
        return None
    sentence = f"Refused: {_explained(report['reason'], report['detail'])}"
    return PageVerdict(_code(report["reason"]), sentence, _remedies(facts, report["reason"], report["detail"]))


def _failed(facts: PageFacts) -> PageVerdict | None:
    report = facts.report
    if report["state"] != "failed":
        return None
    count = len(report["fetches"])
    attempts = f"{count} attempt{'' if count == 1 else 's'}"
    sentence = f"Not fetched after {attempts}: {_explained(report['reason'], report['detail'])}"
    return PageVerdict("error", sentence, (_on_url(facts, "retry", "Try again"),))


def _redirected(facts: PageFacts) -> PageVerdict | None:
    if facts.report["reason"] != Reason.REDIRECTED:
        return None
    target = next((one["redirect_to"] for one in reversed(facts.report["fetches"]) if one["redirect_to"]), "")
    remedies = (Remedy("inspect", "Inspect the target", {"what": target}),) if target else ()
    return PageVerdict("redirected", f"It redirects to {target or 'another URL'}, which is indexed instead.", remedies)


def _duplicate(facts: PageFacts) -> PageVerdict | None:
    copy = facts.report["copy_of"]
    if copy is None:
        return None
    how = "the same bytes as" if copy["exact"] else "nearly the same text as"
    return PageVerdict(
        "duplicate",
        f"It has {how} {copy['url']}, which stands for both in the results.",
        (Remedy("inspect", "Inspect the other page", {"what": copy["url"]}),),
    )


def _archived_only(facts: PageFacts) -> PageVerdict | None:
    report = facts.report
    if report["left_out"]:
        reason, detail = report["left_out"]["reason"], report["left_out"]["detail"]
        sentence = f"Fetched, but left out of the index: {_explained(reason, detail)}"
        return PageVerdict(_code(reason), sentence, _remedies(facts, reason, detail))
    if report["reason"] not in _ARCHIVED_ONLY:
        return None
    sentence = f"Fetched, but not indexed: {_explained(report['reason'], report['detail'])}"
    return PageVerdict("unreadable", sentence, (_on_url(facts, "recrawl", "Recrawl now"),))


def _not_yet_indexed(facts: PageFacts) -> PageVerdict:
    if facts.builds_index:
        sentence = "Fetched. The index has not been updated since, or the page asks not to be indexed (noindex)."
        return PageVerdict("not_indexed", sentence)
    what = "The index was not updated since" if facts.has_index else "There is no index yet"
    sentence = f"Fetched. {what}, or the page asks not to be indexed (noindex)."
    return PageVerdict("not_indexed", sentence, (Remedy("run", "periplus index", {}),))


_Rule = Callable[[PageFacts], PageVerdict | None]
_RULES: tuple[_Rule, ...] = (
    _indexed,
    _blocked,
    _unknown,
    _queued,
    _refused,
    _failed,
    _redirected,
    _duplicate,
    _archived_only,
    _not_yet_indexed,
)


def _remedies(facts: PageFacts, reason: str, detail: str) -> tuple[Remedy, ...]:
    """What helps against a refusal."""
    host = facts.report["host"]
    if reason in _AS_SEED:
        return (_on_url(facts, "seed", "Add it as a seed"),)
    if reason in _SCOPE:
        return (Remedy("scope", "Change the scope", {"reason": reason, "url": facts.report["url"], "host": host}),)
    if reason in _ROBOTS:
        return (Remedy("robots", "Show robots.txt", {"url": facts.report["url"]}),)
    if reason == Reason.TRAP_LEARNED and (found := _PATTERN.search(detail)):
        return (Remedy("unlearn", "Unlearn this pattern", {"host": host, "pattern": found[1]}),)
    if reason == Reason.HTTP_ERROR:
        return (_on_url(facts, "retry", "Try again"),)
    return ()


def _on_url(facts: PageFacts, action: str, label: str) -> Remedy:
    return Remedy(action, label, {"url": facts.report["url"]})


def _code(reason: str) -> str:
    if reason in _ROBOTS:
        return "robots"
    return "trap" if reason == Reason.TRAP_LEARNED else "refused"


def _explained(code: str, detail: str) -> str:
    """The meaning of a reason, with the rule, header or line behind it."""
    if code == Reason.HTTP_ERROR:
        return f"The server answered with HTTP status {detail}."
    meaning = code
    with suppress(ValueError, KeyError):
        meaning = REASONS[Reason(code)].meaning.rstrip(".")
    return f"{meaning} ({detail})." if detail else f"{meaning}."


def _last_error(report: Mapping[str, Any]) -> str:
    """What the last attempt at a queued URL met."""
    if report["reason"] != Reason.RETRY or not report["fetches"]:
        return ""
    last = report["fetches"][-1]
    return f" The last attempt failed: {_explained(last['reason'], last['detail'])}"
