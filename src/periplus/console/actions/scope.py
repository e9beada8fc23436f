"""Changes the scope in periplus.toml, and tells before what the change would do to the queue."""

from __future__ import annotations

from difflib import unified_diff
from typing import Any

from pydantic import ValidationError

from periplus.config import FILE_NAME, Scope, load
from periplus.config.toml_edit import Value
from periplus.console.actions.action import Action, Desk, Form, Outcome, lines_of
from periplus.console.reader import Reader
from periplus.console.views.rules import SCOPE_LISTS, SCOPE_NUMBERS
from periplus.errors import UsageError
from periplus.frontier.scope import ScopeRules
from periplus.inspector.scope_check import check_scope
from periplus.store.settings_file import settings_before_and_after, write_settings
from periplus.url import host_of


def read_scope(form: Form, now: Scope) -> dict[str, Value]:
    """The values of the form that differ from the scope now."""
    wanted: dict[str, Value] = {}
    for name in SCOPE_LISTS:
        if name in form:
            wanted[name] = lines_of(form, name)
    for name in SCOPE_NUMBERS:
        if text := form.get(name, "").strip().replace(",", ""):
            wanted[name] = _whole(name, text)
    return {name: value for name, value in wanted.items() if value != getattr(now, name)}


def _whole(name: str, text: str) -> int:
    if not text.isdecimal():
        raise UsageError(f"scope.{name} = {text!r} is no whole number")
    return int(text)


def dry_run(reader: Reader, form: Form) -> dict[str, Any]:
    """The lines of periplus.toml that would change, and what the new scope would do to the queue."""
    now = reader.settings.scope
    changes = read_scope(form, now)
    scope = _validated(now, changes)
    before, after = settings_before_and_after(reader.home, "scope", changes)
    fixed = [name for name in changes if reader.configuration.origins.get(f"scope.{name}") == "environment"]
    rules = ScopeRules(scope, map(host_of, reader.catalog.seeds()))
    return {
        "file": FILE_NAME,
        "changes": changes,
        "lines": _difference(before, after) if changes else [],
        "fixed_by_environment": fixed,
        "queue": check_scope(reader.catalog, rules) if changes else None,
    }


def _validated(now: Scope, changes: dict[str, Value]) -> Scope:
    try:
        return Scope.model_validate(now.model_dump() | changes)
    except ValidationError as error:
        problem = error.errors()[0]
        raise UsageError(f"scope.{problem['loc'][0]} is not valid", problem["msg"]) from error


def _difference(before: str, after: str) -> list[str]:
    """Removed, added and surrounding lines: each begins with -, + or a space."""
    lines = unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=2)
    return [line for line in lines if not line.startswith(("---", "+++", "@@"))]


def _write(desk: Desk, form: Form) -> Outcome:
    now = load(desk.home).settings.scope
    changes = read_scope(form, now)
    if not changes:
        return Outcome("Nothing to write: this is the scope already.", {"changes": {}})
    _validated(now, changes)
    write_settings(desk.home, "scope", changes)
    sentence = f"{FILE_NAME} has the new scope. A running crawl uses it from its next start on."
    return Outcome(sentence, {"changes": changes})


ACTIONS = (Action("scope", _write, "Write it"),)
