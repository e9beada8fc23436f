"""Each scope rule refuses the right URLs, with its reason and the setting to change."""

from __future__ import annotations

import pytest

from periplus.config import Scope
from periplus.frontier.scope import ScopeRules
from periplus.model import Decision, Reason, Verdict
from periplus.url import host_of

SEEDS = ["example.org"]


def verdict(url: str, depth: int = 0, /, **scope: object) -> Decision | None:
    return ScopeRules(Scope(**scope), SEEDS).refusal(url, host_of(url), depth)  # type: ignore[arg-type]


def refused(url: str, depth: int = 0, /, **scope: object) -> Reason | None:
    decision = verdict(url, depth, **scope)
    return decision.reason if decision else None


@pytest.mark.parametrize(
    ("reason", "setting", "url", "depth", "scope"),
    [
        (Reason.SCOPE_HOST, "scope.hosts", "https://example.com/", 0, {}),
        (Reason.SCOPE_HOST, "scope.hosts", "https://example.org/", 0, {"hosts": ["other"]}),
        (Reason.SCOPE_PATH, "scope.paths", "https://example.org/b", 0, {"paths": ["^/a"]}),
        (Reason.EXTENSION, "scope.skip_extensions", "https://example.org/a.jpg", 0, {}),
        (Reason.TOO_DEEP, "scope.depth", "https://example.org/", 4, {"depth": 3}),
        (Reason.TOO_LONG, "scope.url_length", "https://example.org/" + "a" * 99, 0, {"url_length": 100}),
        (Reason.TRAP_DEPTH, "scope.path_depth", "https://example.org/1/2/3/4", 0, {"path_depth": 3}),
        (Reason.TRAP_REPEAT, "scope.path_repeats", "https://example.org/a/b/a/b/a", 0, {}),
    ],
)
def test_a_refusal_names_its_reason_and_the_setting_behind_it(
    reason: Reason, setting: str, url: str, depth: int, scope: dict[str, object]
) -> None:
    decision = verdict(url, depth, **scope)
    assert decision is not None
    assert (decision.verdict, decision.reason) == (Verdict.REFUSED, reason)
    assert setting in decision.detail
    assert "\n" not in decision.detail


# --- hosts ---


def test_without_patterns_the_hosts_of_the_seeds_are_the_scope() -> None:
    assert refused("https://example.org/a") is None
    assert refused("http://example.org:8080/a") is None
    assert refused("https://www.example.org/a") is Reason.SCOPE_HOST
    assert refused("https://example.org.evil.example/a") is Reason.SCOPE_HOST


@pytest.mark.parametrize(
    ("pattern", "host", "inside"),
    [
        (r"example\.org", "example.org", True),
        (r"example\.org", "www.example.org", False),
        (r"example\.org", "example.org.evil.example", False),
        (r".*\.example\.org", "www.example.org", True),
        (r".*\.example\.org", "example.org", False),
        (r"(.*\.)?example\.org", "example.org", True),
        (r"a|b", "ab", False),
        (r".*", "anything.example", True),
    ],
)
def test_a_host_pattern_must_match_in_full(pattern: str, host: str, inside: bool) -> None:
    assert refused(f"https://{host}/", hosts=[pattern]) is (None if inside else Reason.SCOPE_HOST)


def test_with_patterns_the_hosts_of_the_seeds_do_not_count() -> None:
    assert refused("https://example.org/", hosts=[r"example\.com"]) is Reason.SCOPE_HOST


def test_one_pattern_of_several_is_enough() -> None:
    assert refused("https://b.example/", hosts=[r"a\.example", r"b\.example"]) is None


def test_a_seed_that_moved_takes_the_scope_along() -> None:
    rules = ScopeRules(Scope(), SEEDS)
    assert rules.refusal("https://www.example.org/", "www.example.org", 0) is not None
    rules.add_seed_host("www.example.org")
    assert rules.refusal("https://www.example.org/", "www.example.org", 0) is None
    assert rules.refusal("https://example.org/", "example.org", 0) is None


def test_a_seed_that_moved_does_not_widen_patterns() -> None:
    rules = ScopeRules(Scope(hosts=[r"example\.org"]), SEEDS)
    rules.add_seed_host("www.example.org")
    assert rules.refusal("https://www.example.org/", "www.example.org", 0) is not None


# --- paths ---


@pytest.mark.parametrize(
    ("pattern", "path", "inside"),
    [
        ("^/docs/", "/docs/a", True),
        ("^/docs/", "/blog/docs/a", False),
        ("docs", "/blog/docs/a", True),
        (r"\?page=", "/list?page=2", True),
        ("example", "/a", False),
        ("/$", "/a/", True),
        ("/$", "/a", False),
    ],
)
def test_a_path_pattern_is_searched_in_path_and_query(pattern: str, path: str, inside: bool) -> None:
    assert refused(f"https://example.org{path}", paths=[pattern]) is (None if inside else Reason.SCOPE_PATH)
    assert refused(f"https://example.org{path}", paths=["^/never$", pattern]) is (None if inside else Reason.SCOPE_PATH)


# --- extensions ---


@pytest.mark.parametrize("path", ["/a.png", "/a.PNG", "/a.b.png", "/a.tar.gz", "/a/.png", "/a.png?size=2"])
def test_urls_with_a_skipped_extension_are_refused(path: str) -> None:
    assert refused(f"https://example.org{path}") is Reason.EXTENSION


@pytest.mark.parametrize(
    "path", ["/", "/a", "/a.html", "/a.pdf", "/png", "/a.png/", "/a.png/b", "/a?f=b.png", "/a.pngx"]
)
def test_urls_that_may_be_text_are_in_scope(path: str) -> None:
    assert refused(f"https://example.org{path}") is None


@pytest.mark.parametrize("written", ["foo", ".foo", "FOO", ".Foo"])
def test_an_extension_may_be_set_with_and_without_its_dot(written: str) -> None:
    assert refused("https://example.org/a.foo", skip_extensions=[written]) is Reason.EXTENSION
    assert refused("https://example.org/a.png", skip_extensions=[written]) is None


# --- depth and length ---


@pytest.mark.parametrize(("depth", "inside"), [(0, True), (3, True), (4, False)])
def test_links_are_followed_to_the_depth_that_is_set(depth: int, inside: bool) -> None:
    assert refused("https://example.org/", depth) is None
    rules = ScopeRules(Scope(depth=3), SEEDS)
    assert (rules.refusal("https://example.org/", "example.org", depth) is None) is inside


def test_depth_zero_means_seeds_only() -> None:
    rules = ScopeRules(Scope(depth=0), SEEDS)
    assert rules.refusal("https://example.org/", "example.org", 0) is None
    assert rules.refusal("https://example.org/a", "example.org", 1) is not None


@pytest.mark.parametrize(("length", "inside"), [(2083, True), (2084, False)])
def test_urls_over_the_length_limit_are_refused(length: int, inside: bool) -> None:
    url = "https://example.org/".ljust(length, "a")
    assert refused(url) is (None if inside else Reason.TOO_LONG)


# --- traps ---


@pytest.mark.parametrize("end", ["", "/", "/?page=1/2/3"])
@pytest.mark.parametrize(("segments", "inside"), [(1, True), (20, True), (21, False), (200, False)])
def test_paths_deeper_than_any_site_are_traps(segments: int, end: str, inside: bool) -> None:
    path = "".join(f"/{number}" for number in range(segments))
    assert refused(f"https://example.org{path}{end}") is (None if inside else Reason.TRAP_DEPTH)


@pytest.mark.parametrize(
    ("path", "inside"),
    [
        ("/a/a", True),
        ("/a/a/", True),
        ("/a/b/a", True),
        ("/a/a/a", False),
        ("/a/a/a/", False),
        ("/a/b/a/b/a/b", False),
        ("/x/a/y/a/z/a", False),
        ("/a//a", True),
        ("/a//b//c//d", True),
        ("//a//a//a", False),
        ("/a?b=/a/a/a", True),
        ("/2024/01/01", True),
        ("/aa/a/aaa/a", True),
    ],
)
def test_a_path_that_repeats_itself_is_a_trap(path: str, inside: bool) -> None:
    assert refused(f"https://example.org{path}") is (None if inside else Reason.TRAP_REPEAT)


def test_the_limit_of_repeated_segments_is_a_setting() -> None:
    assert refused("https://example.org/a/b/a", path_repeats=2) is Reason.TRAP_REPEAT
    assert refused("https://example.org/a/a/a/a", path_repeats=5) is None


def test_many_slashes_are_a_trap_too() -> None:
    assert refused("https://example.org" + "/" * 30) is Reason.TRAP_DEPTH


def test_an_address_literal_is_a_host() -> None:
    rules = ScopeRules(Scope(), ["[::1]", "127.0.0.1"])
    assert rules.refusal("http://[::1]:8080/a", "[::1]", 0) is None
    assert rules.refusal("http://127.0.0.1:8080/a", "127.0.0.1", 0) is None
    assert rules.refusal("http://127.0.0.2/a", "127.0.0.2", 0) is not None


def test_a_blocked_host_is_out_of_scope_until_it_is_unblocked() -> None:
    rules = ScopeRules(Scope(hosts=[".*"]), blocked=["bad.example"])
    refusal = rules.refusal("https://bad.example/", "bad.example", 0)
    assert refusal == Decision(Verdict.REFUSED, Reason.BLOCKED, "bad.example is blocked")
    assert rules.excludes_host("bad.example")
    assert rules.covers_host("www.bad.example")
    rules.set_blocked([])
    assert rules.refusal("https://bad.example/", "bad.example", 0) is None


def test_a_blocked_host_excludes_a_moved_robots_txt_also_without_patterns() -> None:
    rules = ScopeRules(Scope(), SEEDS, blocked=["bad.example"])
    assert rules.excludes_host("bad.example")
    assert not rules.excludes_host("other.example")


def test_a_host_without_seeds_leaves_the_scope() -> None:
    rules = ScopeRules(Scope(), SEEDS)
    assert rules.covers_host("example.org")
    rules.remove_seed_host("example.org")
    assert not rules.covers_host("example.org")
