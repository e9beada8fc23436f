"""What would the tree of this page say, without building it?

It is compiled where there is a C compiler when Periplus is installed. Elsewhere a tree is built for every page, which
says the same, in three times the time.
"""

from __future__ import annotations

try:
    from periplus.parse.glance.page import Element, Glance, glance

    IS_COMPILED = True
except ImportError:
    from periplus.parse.glance.absent import Element, Glance, glance

    IS_COMPILED = False

__all__ = ["IS_COMPILED", "Element", "Glance", "glance"]
