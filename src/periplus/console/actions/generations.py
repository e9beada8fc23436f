"""Makes an earlier generation of the index or of the ranks live again; on a fleet for all nodes."""

from __future__ import annotations

from periplus.console.actions.action import Action, Desk, Form, Outcome, required
from periplus.errors import UsageError
from periplus.store.fleet_files.shared_generations import KINDS, roll_back


def _roll_back(desk: Desk, form: Form) -> Outcome:
    kind, number = required(form, "kind"), required(form, "generation")
    if kind not in KINDS or not number.isdecimal():
        raise UsageError("the form needs a kind, index or ranks, and the number of a generation")
    live = roll_back(desk.collection, kind, int(number))
    if kind == "index":
        desk.sources.reload()
    return Outcome(f"Generation {live} of the {kind} is live.", {"kind": kind, "generation": live})


def _question(form: Form) -> str:
    return (
        f"Make generation {form.get('generation', '')} of the {form.get('kind', '')} live? Every byte of it is "
        "checked first. The newer generation stays on disk."
    )


ACTIONS = (Action("rollback", _roll_back, "Roll back", _question),)
