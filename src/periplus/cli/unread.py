"""How is a person told about pages that could not be read again, or not as a whole?"""

from __future__ import annotations

import sys

from periplus.cli.output import by_count, printable
from periplus.reparse import Reparsed

_NAMED = 3


def tell_unread(reading: Reparsed) -> None:
    """Say on stderr how many pages stay as they were and why, and which fields of pages could not be extracted."""
    if reading.unread:
        _tell_pages(reading)
    if reading.failed_extractors:
        sys.stderr.write(
            f"periplus: some fields could not be extracted and are empty: {by_count(reading.failed_extractors)} "
            "(pages by field). This is an error of Periplus: please report it with one of the pages.\n"
        )


def _tell_pages(reading: Reparsed) -> None:
    pages = "1 page" if reading.unread == 1 else f"{reading.unread:,} pages"
    named = "; ".join(f"{entry.what} ({entry.why})" for entry in reading.reasons[:_NAMED])
    more = "; ..." if len(reading.reasons) > _NAMED else ""
    sys.stderr.write(
        printable(f"periplus: {pages} could not be read again and stay as they were: {named}{more}. ")
        + "`periplus verify` names damaged files; `periplus reparse --everything` tries again.\n"
    )
