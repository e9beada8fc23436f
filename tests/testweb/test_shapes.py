"""Generated webs are complete, distinct and the same each time."""

from __future__ import annotations

import re
from urllib.parse import urljoin, urlsplit

import pytest

from testweb import ComputedPages, Page, Site, calendar, chain, many_hosts, mesh, session_maze, tree
from testweb.render import document


def links_of(url: str, site: Site) -> list[str]:
    parts = urlsplit(url)
    page = site.page(parts.path + (f"?{parts.query}" if parts.query else ""))
    assert page is not None, url
    return [urljoin(url, href) for href in re.findall(r'href="([^"]+)"', document(page).decode())]


def reach(start: str, sites: list[Site], limit: int = 10_000) -> list[str]:
    """Return every URL that a crawler finds from one URL, in order."""
    by_host = {site.host: site for site in sites}
    found = [start]
    seen = {start}
    for url in found:
        for link in links_of(url, by_host[urlsplit(url).netloc]):
            if link not in seen and len(found) < limit:
                seen.add(link)
                found.append(link)
    return found


@pytest.mark.parametrize(
    "site", [chain("a.test", 30), tree("a.test", 3, 4), mesh("a.test", 300, 4, 7), mesh("a.test", 9, links=1)]
)
def test_every_page_of_a_shape_is_reached_and_listed(site: Site) -> None:
    found = reach("http://a.test/", [site])
    assert sorted(found) == sorted(site.urls())
    texts = {page.text for page in site.pages.values()}
    assert len(texts) == len(found)
    sizes = [len(document(page)) for page in site.pages.values()]
    assert min(sizes) > 1000
    assert max(sizes) < 20_000


def test_many_hosts_are_linked_and_the_same_for_the_same_seed() -> None:
    sites = many_hosts(20, 15, seed=3)
    found = reach("http://h0001.test/", sites)
    assert sorted(found) == sorted(url for site in sites for url in site.urls())
    again, other = many_hosts(20, 15, seed=3), many_hosts(20, 15, seed=4)
    assert dict(again[5].pages) == dict(sites[5].pages)
    assert dict(other[5].pages) != dict(sites[5].pages)


@pytest.mark.parametrize("trap", [calendar("t.test"), session_maze("t.test")])
def test_a_trap_has_no_end(trap: Site) -> None:
    assert len(reach("http://t.test/", [trap], limit=3000)) == 3000


def test_a_session_maze_shows_few_pages_under_many_addresses() -> None:
    maze = session_maze("t.test", items=5)
    found = reach("http://t.test/", [maze], limit=300)
    pages = [maze.page(url.removeprefix("http://t.test")) for url in found]
    assert len({page.text for page in pages if page}) == 5


def test_computed_pages_can_be_replaced_added_and_deleted() -> None:
    site = mesh("a.test", 100_000)
    pages = site.pages
    assert isinstance(pages, ComputedPages)
    assert "/page/100000" not in pages
    pages["/page/7"] = pages["/new"] = Page("New")
    del pages["/page/8"]
    with pytest.raises(KeyError):
        del pages["/nothing"]
    assert (pages["/page/7"].title, site.page("/page/8")) == ("New", None)
    listed = list(pages)
    assert (len(listed), len(set(listed))) == (100_000, 100_000)
    assert "/new" in listed
    assert "/page/8" not in listed
