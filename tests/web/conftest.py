"""Fixtures of the search site: a real browser, and no request to other machines."""

from __future__ import annotations

from typing import Any

import pytest

from browsers import browser as browser
from browsers import visit as visit
from periplus.fetch import web_service
from periplus.fetch.client import Fetcher


@pytest.fixture(autouse=True)
def _asks_this_machine_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sites in tests ask no weather server but one on this machine."""

    def fetcher(*arguments: Any, **options: Any) -> Fetcher:
        return Fetcher(*arguments, **options | {"public_allowed": False})

    monkeypatch.setattr(web_service, "Fetcher", fetcher)
