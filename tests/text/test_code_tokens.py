"""Code-like tokens are found as they are written, and plain words are not among them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from periplus.text.code_tokens import code_tokens, find_plainly, find_tokens

PIECES = st.sampled_from(
    ["a", "Z", "9", ".", "::", "/", "@", "+", "#", "$", "-", "--", "_", " ", "\n", "é", "漢", "x" * 79, "😀"]
)
# fmt: off
TOKENS = [
    "std::map", "C++", "C#", ".NET", "node.js", "3.11", "LD_LIBRARY_PATH", "--no-cache-dir", "-fPIC", "itertools.chain",
    "/etc/passwd", "__init__", "$HOME", "./configure", "-Wl", "user@host.org", "g++-12", "F#",
]
# fmt: on


@pytest.mark.parametrize("token", TOKENS)
@pytest.mark.parametrize(
    "around", ["{}", "see {}.", "({}), or", "\u201c{}\u201d", "a {}: b", "{}\u00b6", "\n{}\n", "{}; {}"]
)
def test_a_token_is_found_in_any_sentence(token: str, around: str) -> None:
    assert code_tokens(around.replace("{}", token)) == token.lower()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "plain words. And more",
        "yes - no",
        "end.",
        "what?!",
        "don't",
        "wait ...",
        "東京",
        "a: b",
        "100 %",
        "ends-",
        "north-west",
    ],
)
def test_plain_text_has_no_tokens(text: str) -> None:
    assert code_tokens(text) == ""


def test_a_token_counts_once() -> None:
    assert code_tokens("a.b, c.d and A.B") == "a.b c.d"


def test_an_overlong_token_is_left_out() -> None:
    assert code_tokens(f"a.{'b' * 78} c.{'d' * 79}") == f"a.{'b' * 78}"


def test_only_the_beginning_of_a_very_long_text_is_read() -> None:
    assert code_tokens(f"a.b {'x ' * 9_000} c.d {'x ' * 1_000} e.f") == "a.b c.d"


@given(st.text(max_size=60))
def test_tokens_are_parts_of_the_text(text: str) -> None:
    for token in code_tokens(text).split():
        assert token in text.lower()


@pytest.mark.skipif(find_tokens is find_plainly, reason="the search is not compiled")
@given(st.one_of(st.lists(PIECES, max_size=30).map("".join), st.text(max_size=60)), st.integers(0, 90))
def test_the_compiled_and_the_plain_search_agree(text: str, most: int) -> None:
    assert find_tokens(text, most) == find_plainly(text, most)
