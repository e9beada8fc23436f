"""The owner saves a query as a feed in a real browser, and removes it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from periplus.standing.saved_queries import SavedQueries
from periplus.store.collection import Collection
from search.library import Doc, index, shelve
from web.axe import SCHEMES, WIDTHS, Scheme, violations_of
from web.serving import Site
from web.test_standing_routes import standing_site

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def collection(tmp_path_factory: pytest.TempPathFactory) -> Collection:
    folder: Path = tmp_path_factory.mktemp("standing")
    found = shelve(folder, [Doc("http://a.test/", "Ostia", "the harbour of Rome, with a lighthouse and granaries")])
    index(found)
    return found


@pytest.fixture(scope="module")
def site(collection: Collection) -> Iterator[Site]:
    with standing_site(collection) as served:
        yield served


@pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without scripts"])
def test_a_query_is_saved_and_removed_with_a_click(
    browser: Browser, site: Site, collection: Collection, scripts: bool
) -> None:
    with browser.new_context(java_script_enabled=scripts) as context:
        page = context.new_page()
        page.goto(f"{site.base}/search?q=harbour+rome")
        page.get_by_role("button", name="Save as feed").click()
        page.wait_for_url("**/standing")
        assert page.get_by_role("link", name="harbour rome").count() == 1
        (query,) = SavedQueries(collection).all()
        assert page.get_by_role("link", name="Feed").get_attribute("href") == f"/standing/{query.id}.rss"
        page.get_by_role("button", name="Remove harbour rome").click()
        page.get_by_text("There are none yet.").wait_for()
        assert SavedQueries(collection).all() == []


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", WIDTHS)
def test_the_pages_of_the_owner_are_accessible(
    browser: Browser, site: Site, collection: Collection, width: int, scheme: Scheme
) -> None:
    page = browser.new_page()
    page.goto(f"{site.base}/search?q=harbour")
    page.get_by_role("button", name="Save as feed").click()
    page.wait_for_url("**/standing")
    page.close()
    assert violations_of(browser, site.base, {"list": "/standing", "results": "/search?q=harbour"}, width, scheme) == {}
