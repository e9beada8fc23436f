"""A reader's rules about sites are read strictly, and mistakes are named."""

from __future__ import annotations

import pytest

from periplus.errors import UsageError
from periplus.site.preferences import Preferences
from periplus.site.preferences import decode as decode_cookie
from periplus.site.site_rules import LONGEST, MOST, NO_RULES, SiteRules, decode, joined, read_lines, typed_host
from web.test_hostile import NAUGHTY, PAYLOADS

TEXT = "raise:docs.python.org,lower:w3schools.com,block:spam.example"
RULES = SiteRules((("docs.python.org", "raise"), ("w3schools.com", "lower"), ("spam.example", "block")))


def test_rules_are_read_as_they_were_written() -> None:
    assert (decode(TEXT), RULES.encode()) == (RULES, TEXT)
    assert RULES.lines == "raise docs.python.org\nlower w3schools.com\nblock spam.example\n"
    assert read_lines(RULES.lines) == RULES
    assert (decode(""), NO_RULES.lines) == (NO_RULES, "")


def test_the_rule_of_the_longest_name_applies_to_a_host() -> None:
    rules = decode("raise:python.org,lower:docs.python.org")
    assert rules.rule_for("docs.python.org") == ("docs.python.org", "lower")
    assert rules.rule_for("old.docs.python.org") == ("docs.python.org", "lower")
    assert rules.rule_for("www.python.org") == ("python.org", "raise")
    assert rules.rule_for("notpython.org") == ("", "")


def test_a_host_has_one_rule() -> None:
    assert decode("raise:a.example,block:a.example").rules == (("a.example", "block"),)
    assert RULES.changed("spam.example", "lower").encode().endswith("lower:spam.example")
    assert RULES.changed("spam.example", "").hosts("block") == []
    assert joined(RULES, decode("raise:spam.example")).by_host["spam.example"] == "raise"


@pytest.mark.parametrize(
    "text",
    ["raise", "raise:", "hide:a.example", "raise:A.example", "raise:a b", "raise:a..b", "raise:-a", "raise:a.example/x",
     "raise:[::1]", "raise:é.example", "raise:" + 64 * "a", "raise:" + "a." * 126 + "bcd", "block:a site:b", "x,y"],
)  # fmt: skip
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is no rule about a site"):
        decode(text)


def test_rules_are_limited_in_number_and_length() -> None:
    most = ",".join(f"block:{number}.example" for number in range(MOST))
    assert len(decode(most).rules) == MOST
    with pytest.raises(UsageError, match="the limit is 50"):
        decode(f"{most},block:more.example")
    with pytest.raises(UsageError, match="the limit is 2,000"):
        decode("block:a.example," * (LONGEST // 16 + 1))
    with pytest.raises(UsageError, match="the limit is 2,000"):
        read_lines("".join(f"block {number}{60 * 'a'}.example\n" for number in range(40)))


def test_a_text_file_may_have_comments_urls_and_capitals() -> None:
    text = "\ufeff# mine\n\n  RAISE https://Docs.Python.org/3/ \nblock: *.spam.example\nlower:bücher.example\r\n"
    assert read_lines(text.lstrip("\ufeff")).encode() == (
        "raise:docs.python.org,block:spam.example,lower:xn--bcher-kva.example"
    )


@pytest.mark.parametrize("line", ["raise", "hide a.example", "raise a b", "a.example", "block ///", "!!!"])
def test_a_mistake_in_a_text_file_is_named_with_its_line(line: str) -> None:
    with pytest.raises(UsageError, match=r"^line 3: "):
        read_lines(f"raise a.example\n\n{line}\n")


def test_a_typed_host_may_be_a_name_or_a_url() -> None:
    assert [typed_host(text) for text in (" a.example ", "https://a.example:80/x?y", "*.a.example", "A.example")] == (
        4 * ["a.example"]
    )
    assert {typed_host(text) for text in ("", "a b", "http://", "[::1]", "javascript:x", "//", 300 * "a")} == {""}


def test_the_cookie_keeps_rules_in_characters_that_need_no_quotes() -> None:
    chosen = Preferences(theme="dark", sites=RULES)
    assert chosen.encode() == "theme-dark~raise:docs.python.org~lower:w3schools.com~block:spam.example"
    assert decode_cookie(chosen.encode()) == chosen
    assert decode_cookie(Preferences(sites=RULES).encode()) == Preferences(sites=RULES)


def test_a_cookie_with_anything_else_has_no_rules() -> None:
    for text in [
        *PAYLOADS,
        *NAUGHTY,
        "block:a.example~x",
        "~".join(f"block:{n}.example" for n in range(60)),
        "block:a/b",
    ]:
        rules = decode_cookie(f"theme-dark~{text}").sites
        assert rules == NO_RULES, text
    assert decode_cookie("theme-dark~block:a/b").theme == "dark"
