"""How fresh does a continuous crawl keep a web that changes, and at what price?

The weeks are simulated, the crawl is real: see `tests/crawl/seasons.py`, which a quick test of the same name also uses.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path[0] = str(Path(__file__).parents[1] / "tests")  # in place of this folder, whose crawl.py is another crawl

from crawl.seasons import ChangingWeb, live_through, report  # noqa: E402

COLUMNS = ("pages", "requests", "unchanged", "oracle_requests", "freshness", "evenly_freshness", "days_between_visits")


def main() -> int:
    """Prints one JSON object, or a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    parser.add_argument("--days", type=float, default=180, help="days to simulate (180)")
    parser.add_argument("--learning", type=float, default=60, help="days that do not count (60)")
    parser.add_argument("--pages", type=int, default=4, help="pages of each kind (4)")
    options = parser.parse_args()
    web, began = ChangingWeb(options.days, options.pages), time.monotonic()
    with tempfile.TemporaryDirectory(prefix="freshness-") as home:
        live_through(web, Path(home))
    result = report(web, options.learning) | {"seconds": round(time.monotonic() - began, 1)}
    print(json.dumps(result) if options.json else "\n".join(table(result)))
    return 0


def table(result: dict[str, Any]) -> list[str]:
    rows: list[tuple[Any, ...]] = [("", *COLUMNS)]
    rows += [(kind, *(figures[name] for name in COLUMNS)) for kind, figures in result["kinds"].items()]
    rows.append(("all", *(result[name] for name in COLUMNS)))
    return ["".join(f"{'-' if cell is None else cell!s:>20}" for cell in row) for row in rows]


if __name__ == "__main__":
    sys.exit(main())
