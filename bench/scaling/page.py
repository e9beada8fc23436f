"""Writes the tables of `docs/explanation/scale.md` from the results of the benches, the inputs and the simulation.

The page has the formulas and the words; the figures come from here. Texts of tables are found by their first cell.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from growing.exponents import BAR, above_bar
from growing.stages import QUERY, STAGES
from harness.errors import BenchError
from scaling.inputs import Inputs, Results

FILE = Path(__file__).parents[2] / "docs" / "explanation" / "scale.md"
SIZES = {"10 M": 1e7, "1 B": 1e9, "100 B": 1e11}
_FUNCTIONS: dict[str, Any] = {"ceil": math.ceil, "max": max, "min": min}
_ROW = re.compile(r"^(\| `(\w+)`[^|]*\| `([^`]+)` \|) [^|]* \| [^|]* \| [^|]* \|$", re.MULTILINE)
_LIMIT = re.compile(r"^\| ([^|`]+) \| `([^`]+)` \| [^|]* \| ([^|]+) \|$")
_VERDICT = re.compile(r"^\| (10 M|1 B|100 B) \| [^|]* \| ([^|]*) \|$", re.MULTILINE)
_ABOVE = re.compile(r"^Stages with an x above the bar of .*$", re.MULTILINE)
_NAMED = 6  # limits of a verdict, at most
_WRITES = {"crawl": "archive", "reparse": "segments", "rank": "ranks", "index": "index"}


def whole(value: float) -> str:
    """A figure without decimals."""
    return f"{value:,.0f}"


def shown(value: float, digits: int = 3) -> str:
    """A figure with so many significant digits, one less below 1."""
    if not value:
        return "0"
    rounded = float(f"{value:.{digits if abs(value) >= 1 else digits - 1}g}")
    return whole(rounded) if rounded == int(rounded) else np.format_float_positional(rounded, trim="-")


_SIMULATED: dict[str, tuple[str, Callable[[Any], str]]] = {  # by label of the row: key of the result, format
    "crawl workers": ("crawl_workers", whole),
    "load of a worker: requests under way": ("worker_requests_load", shown),
    "load of a worker: memory for keys": ("worker_memory_load", shown),
    "load of the database: CPU": ("database_load", shown),
    "of it, leases": ("lease_load", shown),
    "load of the database: disk": ("database_disk_load", shown),
    "load of the builder: memory for the graph": ("builder_memory_load", shown),
    "load of the builder: disk": ("builder_disk_load", shown),
    "workers by share": ("shares_load", shown),
    "shards by the most shards": ("index_shards_load", shown),
    "load of the broker: merging": ("broker_load", shown),
    "above 1": ("limits", lambda names: ", ".join(names) or "nothing"),
    "pages that politeness and capacity allow in the month": ("fetched_share", lambda share: f"{share:.3f}"),
    "hosts that are too large for a month": ("unfinished_hosts", whole),
    "search, 99th percentile, ms": ("search_p99_ms", whole),
    "the same with hedged requests, ms": ("hedged_p99_ms", whole),
}


def rewritten(page: str, results: Results, inputs: Inputs, simulated: dict[str, Any]) -> str:
    """The page with the tables of these results; *simulated*: the result of `bench/scale_sim.py`."""
    page = _with_growth(page, results["growth"])
    page = _with_table(page, "input", _inputs(inputs))
    page = _with_arithmetic(page, inputs)
    limits = _limits(page, inputs)
    page = _with_table(page, "limit", [[name, f"`{formula}`", shown(at), cure] for at, name, formula, cure in limits])
    page = _with_verdicts(page, limits)
    page = _with_table(page, "at the rate that is needed", _simulation(simulated))
    return _with_table(page, "workers", _prediction(simulated["fleet"]))


def _with_table(page: str, first_cell: str, rows: Iterable[Sequence[str]], header: Sequence[str] = ()) -> str:
    """Replace the rows of the table whose header begins with a cell, and the header if one is given."""
    found = list(re.finditer(rf"^\| {re.escape(first_cell)} \|.*\n\|[-|]+\|\n((?:\|.*\n)*)", page, re.MULTILINE))
    if len(found) != 1:
        raise BenchError(f"the page has {len(found)} tables that begin with {first_cell!r}, not one")
    head = found[0][0][: -len(found[0][1])] if not header else f"{_line(header)}{'|---' * len(header)}|\n"
    return page[: found[0].start()] + head + "".join(map(_line, rows)) + page[found[0].end() :]


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |\n"


# -- growth -------------------------------------------------------------------------------------------------------


def _with_growth(page: str, growth: dict[str, Any]) -> str:
    sizes = [_power(size) for size in growth["sizes"]]

    def cells(stage: str, name: str) -> list[str]:
        return [shown(value, 4) for value in growth[stage][name]]

    def exponents(stage: str) -> list[str]:
        return [f"{growth[name][stage]:.2f}" for name in ("exponents", "last_exponents")]

    costs = [[stage, *cells(stage, "cpu_ms_per_page"), *exponents(stage)] for stage in STAGES]
    costs.append(["a query: mean CPU ms", *cells(QUERY, "mean_ms"), *exponents(QUERY)])
    costs.append(["a query: 99th percentile", *cells(QUERY, "p99_ms"), "", ""])
    memory = [[stage, *(f"{value:,.0f}" for value in growth[stage]["rss_mb"])] for stage in (*STAGES, QUERY)]
    disk = [[_WRITES[stage], *(f"{value:,}" for value in growth[stage]["bytes_per_page"])] for stage in STAGES]
    disk.append(["catalog", *(f"{value:,}" for value in growth["crawl"]["catalog_bytes_per_page"])])
    names = ("CPU ms a page", "peak memory, MB", "bytes of a page on disk")
    page = _with_table(page, names[0], costs, [names[0], *sizes, "x", "x, last two"])
    page = _with_table(page, names[1], memory, [names[1], *sizes])
    page = _with_table(page, names[2], disk, [names[2], *sizes])
    above = ", ".join(above_bar(growth["sizes"], growth["exponents"])) or "none"
    return _ABOVE.sub(f"Stages with an x above the bar of {BAR}: {above}.", page)


def _power(size: int) -> str:
    """A number of pages such as 3·10^5."""
    exponent = int(math.log10(size) + 1e-9)
    factor = size / 10**exponent
    return f"10^{exponent}" if factor == 1 else f"{factor:g}·10^{exponent}"


# -- inputs and arithmetic ----------------------------------------------------------------------------------------


def _inputs(inputs: Inputs) -> list[list[str]]:
    return [
        [f"`{name}`", shown(inputs.values[name], 9), entry["what"], _command(entry["command"])]
        for name, entry in inputs.entries.items()
    ]


def _command(command: str) -> str:
    return f"`python {command}`" if command.startswith("bench/") else command


def value_of(formula: str, names: dict[str, float]) -> float:
    """The value of a formula of the page."""
    return float(eval(formula, {"__builtins__": {}}, _FUNCTIONS | names))


def _with_arithmetic(page: str, inputs: Inputs) -> str:
    """Compute the rows in their order: a formula may have the names of earlier rows."""
    values = [inputs.values | {"pages": pages} for pages in SIZES.values()]

    def computed(row: re.Match[str]) -> str:
        begin, name, formula = row.groups()
        for names in values:
            names[name] = value_of(formula, names)
        return f"{begin} {' | '.join(shown(names[name]) for names in values)} |"

    return _ROW.sub(computed, page)


def _limits(page: str, inputs: Inputs) -> list[tuple[float, str, str, str]]:
    """Millions of pages, name, formula and remedy of every limit, the first one first."""
    rows = (_LIMIT.match(line) for line in page.splitlines())
    found = [(value_of(row[2], inputs.values) / 1e6, row[1], row[2], row[3]) for row in rows if row]
    return sorted(found)


def _with_verdicts(page: str, limits: Sequence[tuple[float, str, str, str]]) -> str:
    def verdict(row: re.Match[str]) -> str:
        below = [name for at, name, *_ in limits if at * 1e6 < SIZES[row[1]]]
        names = f"{len(below)} of {len(limits)}" if len(below) > _NAMED else "; ".join(below) or "none"
        return f"| {row[1]} | {names} | {row[2]} |"

    return _VERDICT.sub(verdict, page)


# -- simulation ---------------------------------------------------------------------------------------------------


def _simulation(simulated: dict[str, Any]) -> list[list[str]]:
    results = [simulated[name.replace(" ", "")] for name in SIZES]
    return [[label, *(form(result[key]) for result in results)] for label, (key, form) in _SIMULATED.items()]


def _prediction(fleet: dict[str, Any]) -> list[list[str]]:
    keys = ("workers", "predicted", "measured", "predicted_cpu_ms", "measured_cpu_ms")
    return [
        [f"{workers}", whole(guess), whole(found), _error(guess, found), shown(cpu), shown(spent), _error(cpu, spent)]
        for workers, guess, found, cpu, spent in zip(*(fleet[key] for key in keys), strict=True)
    ]


def _error(guess: float, found: float) -> str:
    return f"{100 * (guess / found - 1):+.0f} %"
