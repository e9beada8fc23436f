"""A real browser for the tests of the console."""

from __future__ import annotations

from browsers import browser as browser
from browsers import visit as visit
