"""Repairs a collection: everything that is damaged is rebuilt from what is intact.

The archive is the source of all else. A damaged archive record is replaced by a filler, and its page is queued again.
The catalog, the segments, the ranks and the index are rebuilt from the archive, each only if it is damaged or made from
what was damaged. Damaged files of the archive and the catalog are copied to `kept/` first.
"""

from __future__ import annotations

from periplus.repair.run import Repaired, repair

__all__ = ["Repaired", "repair"]
