"""Which matching pages are reported, and as what?"""

from __future__ import annotations

import pytest

from periplus.standing.matching import CHANGED, NEW, Context, change_of
from periplus.standing.registry import PageVersion

SAVED = 100.0  # when the query was saved
SEEN = PageVersion(page=1, fetched_at=50.0, text=7)


def change(
    at: float, text: int = 8, known: PageVersion | None = None, *, knows_text: bool = False, was_indexed: bool = False
) -> str:
    return change_of(PageVersion(1, at, text), Context(known, knows_text, was_indexed, SAVED))


@pytest.mark.parametrize(
    ("case", "found", "expected"),
    [
        ("a page that was never indexed", change(200.0), NEW),
        ("a new page of an old archive", change(3.0), NEW),
        ("a page with another text, fetched later", change(60.0, known=SEEN), CHANGED),
        ("a page with the same text, fetched later", change(60.0, 7, SEEN), ""),
        ("the same version with another text: the page was parsed anew", change(50.0, known=SEEN), ""),
        ("an earlier version: the index was rolled back", change(40.0, known=SEEN), ""),
        ("a text that is known from another URL", change(200.0, knows_text=True), ""),
        ("an indexed page that changed and matches now", change(101.0, was_indexed=True), CHANGED),
        ("an indexed page that matches by new links to it", change(99.0, was_indexed=True), ""),
    ],
)
def test_a_page_is_reported_when_it_is_new_or_its_text_changed(case: str, found: str, expected: str) -> None:
    assert found == expected, case
