"""Loads what would otherwise warn while tests are collected."""

from __future__ import annotations

import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # the library warns about shims of its own at import
    import fastwarc as fastwarc
