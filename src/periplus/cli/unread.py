"""How is a person told about pages that could not be read again?"""

from __future__ import annotations

import sys

from periplus.cli.output import printable
from periplus.reparse import Reparsed

_NAMED = 3


def tell_unread(reading: Reparsed) -> None:
    """Say on stderr how many pages stay as they were, and why the first of them do."""
    if not reading.unread:
        return
    pages = "1 page" if reading.unread == 1 else f"{reading.unread:,} pages"
    named = "; ".join(f"{entry.what} ({entry.why})" for entry in reading.reasons[:_NAMED])
    more = "; ..." if len(reading.reasons) > _NAMED else ""
    sys.stderr.write(
        printable(f"periplus: {pages} could not be read again and stay as they were: {named}{more}. ")
        + "`periplus verify` names damaged files; `periplus reparse --everything` tries again.\n"
    )
