"""Prepares what a reader can do about the sites of results: raise, lower or block them, and undo it."""

from __future__ import annotations

from typing import NamedTuple

from periplus.site.site_rules import ALL_SITES, KINDS, LONGEST, MOST, NO_RULES, SiteRules, is_host
from periplus.web.parameters import SearchParameters

_LABELS = {"raise": "Raise", "lower": "Lower", "block": "Block"}
_UNDO = {"raise": "Stop raising", "lower": "Stop lowering", "block": "Stop blocking"}
_DONE = {"raise": "raised", "lower": "lowered", "block": "blocked"}


class SiteNotice(NamedTuple):
    """What the rules about sites change on this page."""

    text: str
    links: tuple[tuple[str, str], ...]  # text and link


def site_choices(rules: SiteRules, host: str) -> tuple[tuple[str, str], ...]:
    """Text, and value of `sites`, of each change of the rule for a host; empty when rules cannot name it."""
    name = host.removeprefix("www.")
    if not is_host(name):
        return ()
    ruled, current = rules.rule_for(name)
    changes = [(_LABELS[kind], rules.changed(name, kind)) for kind in KINDS if kind != current]
    if current:
        changes.append((_UNDO[current], rules.changed(ruled, "")))
    return tuple((text, changed.encode() or ALL_SITES) for text, changed in changes if _fits(changed))


def _fits(rules: SiteRules) -> bool:
    return len(rules.rules) <= MOST and len(rules.encode()) <= LONGEST


def summary(rules: SiteRules) -> str:
    """The rules in numbers, such as "2 sites raised, 1 blocked"."""
    counts = [(len(rules.hosts(kind)), word) for kind, word in _DONE.items()]
    first, *others = [(count, word) for count, word in counts if count]
    noun = "site" if first[0] == 1 else "sites"
    return ", ".join([f"{first[0]} {noun} {first[1]}", *(f"{count} {word}" for count, word in others)])


def site_notice(parameters: SearchParameters) -> SiteNotice | None:
    """What a result page says about the rules; None without rules."""
    rules, saved = parameters.sites, parameters.saved_sites
    use_saved = ("Use my rules", parameters.link(sites=saved))
    if not rules:
        return SiteNotice("Your rules about sites are off", (use_saved,)) if saved else None
    keep = ("Save", f"/settings?sites={rules.encode()}#sites")
    change = ("Change", "/settings#sites")
    show_all = ("Show all sites", parameters.link(sites=NO_RULES))
    return SiteNotice(summary(rules), (show_all, change if rules == saved else keep))
