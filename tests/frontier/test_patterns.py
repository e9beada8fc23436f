"""URLs that are generated the same way have the same pattern."""

from __future__ import annotations

import pytest

from periplus.frontier.patterns import url_patterns, without_parameters


@pytest.mark.parametrize(
    ("path", "patterns"),
    [
        ("/", []),
        ("/about", []),
        ("/calendar/2024/05/17", ["/calendar/#/#/#"]),
        ("/calendar/2024/05", ["/calendar/#/#"]),
        ("/article-17", ["/article-#"]),
        ("/tag/harbour", ["/tag/*"]),
        ("/tag/harbour/", ["/tag/*"]),
        ("/shop/9f86d081884c7d65/cart", ["/shop/$/cart"]),
        ("/a/decade", ["/a/*"]),
        ("/s/4815162342", ["/s/#"]),
        ("/list?sort=price", ["/list?sort", "?sort"]),
        ("/list?b=2&a=1&b=3", ["/list?a", "/list?b", "?a", "?b"]),
        ("/item/12?visit", ["/item/#?visit", "?visit"]),
    ],
)
def test_the_patterns_of_a_url(path: str, patterns: list[str]) -> None:
    assert [kind.pattern for kind in url_patterns(f"http://a.test{path}")] == patterns


def test_a_url_with_ever_more_parameters_has_only_so_many_patterns() -> None:
    query = "&".join(f"p{number}=1" for number in range(500))
    assert len(url_patterns(f"http://a.test/?{query}")) == 12


def test_parameters_can_be_taken_away() -> None:
    url = "http://a.test/list?a=1&b=2&a=3&c"
    assert without_parameters(url, {"a"}) == "http://a.test/list?b=2&c"
    assert without_parameters(url, {"a", "b", "c"}) == "http://a.test/list"
    assert without_parameters("http://a.test/list", {"a"}) == "http://a.test/list"
