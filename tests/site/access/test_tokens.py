"""A token is random, stored as a hash, and recognised by it."""

from __future__ import annotations

from periplus.site.access.tokens import hash_token, name_of_token, new_token


def test_a_token_is_recognised_by_its_hash() -> None:
    tokens = {name: new_token() for name in ("backup", "deploy")}
    stored = {name: hash_token(token) for name, token in tokens.items()}
    assert [name_of_token(token, stored) for token in tokens.values()] == ["backup", "deploy"]


def test_other_texts_are_no_tokens() -> None:
    token = new_token()
    stored = {"backup": hash_token(token)}
    for text in ("", token[:-1], token.upper(), hash_token(token), "é", "\udc80"):
        assert name_of_token(text, stored) == ""
    assert name_of_token("", {}) == ""


def test_a_token_has_256_bits() -> None:
    assert len({new_token() for _ in range(100)}) == 100
    assert len(new_token().removeprefix("periplus_")) == 43
