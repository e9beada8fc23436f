"""Every response has the security headers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from periplus.site.headers import STANDARD, content_policy
from web.engines import ARCHIVED, FakeEngine
from web.serving import Site, searching


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    def fail() -> None:
        raise RuntimeError("a bug")

    with searching(FakeEngine(before=fail)) as broken:
        yield broken


EXPECTED = {
    "content-security-policy": "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-embedder-policy": "require-corp",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()",
    "x-dns-prefetch-control": "off",
}
VOICE = {"permissions-policy": EXPECTED["permissions-policy"].replace("microphone=()", "microphone=(self)")}
PATHS = {
    "/static/style.css": 200,
    "/opensearch.xml": 200,
    "/robots.txt": 200,
    "/healthz": 200,
    "/search": 303,
    "/api/search": 400,
    "/search?q=x&page=two": 400,
    "/nowhere": 404,
    "/static/nothing.css": 404,
    "/search?q=" + 40_000 * "x": 414,
    "/search?q=x": 500,
    "/api/search?q=x": 500,
    f"/cached?url={ARCHIVED.url}": 500,
}


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path[:30])
def test_every_answer_is_guarded(site: Site, path: str) -> None:
    answer = site.get(path)
    assert answer.status == PATHS[path]
    assert {name: answer.headers.get(name) for name in EXPECTED} == EXPECTED


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path[:30])
def test_no_answer_sets_a_cookie_or_names_the_server(site: Site, path: str) -> None:
    assert not {"set-cookie", "server", "x-powered-by"} & site.get(path).headers.keys()


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH"])
def test_other_methods_are_guarded_too(site: Site, method: str) -> None:
    answer = site.get("/", method=method)
    assert answer.status == 405
    assert {name: answer.headers.get(name) for name in EXPECTED} == EXPECTED


@pytest.mark.parametrize("path", ["/", "/search?q=x"])
def test_only_pages_with_the_voice_button_may_use_the_microphone(path: str) -> None:
    with searching(FakeEngine()) as working:
        answer = working.get(path)
        assert answer.status == 200
        assert {name: answer.headers.get(name) for name in EXPECTED} == EXPECTED | VOICE
        assert working.get("/settings").headers["permissions-policy"] == EXPECTED["permissions-policy"]


def test_the_table_is_what_is_sent() -> None:
    assert EXPECTED == STANDARD


def test_a_policy_can_be_widened_in_one_place_only() -> None:
    assert content_policy(frame_src="'self'") == content_policy() + "; frame-src 'self'"
    assert content_policy(script_src="'none'") == content_policy().replace("script-src 'self'", "script-src 'none'")


def test_no_policy_admits_inline_code() -> None:
    assert "unsafe" not in content_policy()
