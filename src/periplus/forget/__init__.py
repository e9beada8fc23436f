"""Removes a page or a host from a collection, so that nothing of it is left, and blocks its return.

A forgotten URL is removed from frontier, history, archive, segments, ranks, index, suggestions and caches. The block
list and the receipt hold hashes only. `check` finds what is left, or has come back with restored files.
"""

from __future__ import annotations

from periplus.forget.check import check
from periplus.forget.receipt import read_receipt
from periplus.forget.run import Forgotten, allow, forget, forget_again

__all__ = ["Forgotten", "allow", "check", "forget", "forget_again", "read_receipt"]
