"""How are archived pages read again, closely and with today's parser?

A crawl skims: of an HTML page it reads what it needs to go on. Main text, language, quality and the rest are read from
the archive afterwards, when an index is to be built. Each segment is replaced by one with the same rows in the same
order, in one transaction; whatever interrupts this, the next run goes on with the segments that are left. A page that
cannot be read again stays as it was.
"""

from __future__ import annotations

from periplus.reparse.run import Reparsed, reparse

__all__ = ["Reparsed", "reparse"]
