"""Block, unblock and cap hosts; unlearn traps."""

from __future__ import annotations

from periplus.console.actions.action import Action, Desk, Form, Outcome, required
from periplus.console.display import plural
from periplus.control import orders
from periplus.errors import UsageError
from periplus.inspector.host_report import host_name
from periplus.store.settings_file import write_settings
from periplus.url import registrable_domain


def _block(desk: Desk, form: Form) -> Outcome:
    host = host_name(required(form, "host"))
    refused = orders.block(desk.collection, host, origin=desk.origin)
    return Outcome(f"{host} is blocked; {plural(refused, 'queued URL')} refused.", {"host": host, "refused": refused})


def _unblock(desk: Desk, form: Form) -> Outcome:
    host = host_name(required(form, "host"))
    queued = orders.unblock(desk.collection, host, origin=desk.origin)
    return Outcome(
        f"{host} is no longer blocked; {plural(queued, 'URL')} queued again.", {"host": host, "queued": queued}
    )


def _cap(desk: Desk, form: Form) -> Outcome:
    domain = registrable_domain(host_name(required(form, "host")))
    text = required(form, "pages").replace(",", "")
    if not text.isdecimal() or not 1 <= int(text) < 1 << 60:
        raise UsageError(f"{text!r} is no number of pages", hint="Write a whole number above 0.")
    write_settings(desk.home, "scope.domain_pages", {domain: int(text)})
    sentence = f"{domain} may have {int(text):,} URLs, from the next start of the crawl on."
    return Outcome(sentence, {"domain": domain, "pages": int(text)})


def _unlearn(desk: Desk, form: Form) -> Outcome:
    host, pattern = required(form, "host"), required(form, "pattern")
    queued = orders.unlearn(desk.collection, host, pattern, origin=desk.origin)
    sentence = f"{pattern} of {host} is never suspected again; {plural(queued, 'URL')} queued again."
    return Outcome(sentence, {"host": host, "pattern": pattern, "queued": queued})


ACTIONS = (
    Action(
        "block",
        _block,
        "Block",
        lambda form: f"Block {form.get('host', '')}? Its queued URLs are refused; pages in the index stay.",
    ),
    Action("unblock", _unblock, "Unblock"),
    Action("cap", _cap, "Set the limit"),
    Action("unlearn", _unlearn, "Unlearn"),
)
