"""Bounds the archive: removes old versions of pages, as `store.keep_versions` and `store.keep_days` say.

An archive file is never changed. A new file without the removed records replaces it, under a new name, in one
transaction with the segments that refer to it. So a kill leaves the old or the new state, and a crawl may go on.
"""

from __future__ import annotations

from periplus.retention.run import Pruned, prune

__all__ = ["Pruned", "prune"]
