"""A fast HTML scanner in Cython, for the quick parse of a crawl.

It needs a C compiler when Periplus is installed. Without it the parser builds a tree for every page, which gives the
same result in three times the time.
"""

from __future__ import annotations

try:
    from periplus.parse.glance.page import Element, Glance, glance

    IS_COMPILED = True
except ImportError:
    from periplus.parse.glance.absent import Element, Glance, glance

    IS_COMPILED = False

__all__ = ["IS_COMPILED", "Element", "Glance", "glance"]
