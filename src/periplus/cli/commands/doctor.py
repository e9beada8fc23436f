"""periplus doctor: checks whether Periplus will work on this machine."""

from __future__ import annotations

from dataclasses import asdict

import typer

from periplus.cli.options import DEFAULT_HOME, Home, Json
from periplus.cli.output import print_json, print_table
from periplus.doctor.check import Check, Grade
from periplus.doctor.checks import run_checks
from periplus.errors import PeriplusError

app = typer.Typer(add_completion=False)


@app.command()
def command(home: Home = DEFAULT_HOME, as_json: Json = False) -> None:
    """Check Python, disk, limits, clock, port, contact and sandbox; say how to fix each problem."""
    checks = run_checks(home)
    bad = [check for check in checks if check.grade is Grade.BAD]
    if as_json:
        print_json({"ok": not bad, "checks": [asdict(check) for check in checks]})
    else:
        print_table([_row(check) for check in checks], ("result", "check", "details and advice"))
    if bad:
        first = bad[0]
        raise PeriplusError(f"{len(bad)} of {len(checks)} checks failed", f"{first.name}: {first.found}", first.advice)


def _row(check: Check) -> tuple[str, str, str]:
    return check.grade.value, check.name, f"{check.found}. {check.advice}" if check.advice else check.found
