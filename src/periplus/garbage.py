"""How often does Python search for objects that refer to each other and to which nothing else refers?"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def rare_garbage_collection(objects: int) -> Iterator[None]:
    """Search after *objects* new objects instead of 700: pages make millions of small objects and few cycles."""
    before = gc.get_threshold()
    gc.freeze()  # what is loaded now stays loaded
    gc.set_threshold(objects, 20, 50)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
