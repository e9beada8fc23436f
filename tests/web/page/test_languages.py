"""The language of a page is named in English, and is never free text."""

from __future__ import annotations

import pytest

from periplus.web.page.languages import language_name, language_tag


@pytest.mark.parametrize(
    ("code", "tag", "name"),
    [
        ("en", "en", "English"),
        ("de-AT", "de-AT", "German"),
        ("PT", "PT", "Portuguese"),
        ("eo", "eo", "eo"),
        ("", "", ""),
        ("<b>", "", ""),
        ("en onload=x", "", ""),
    ],
)
def test_a_code_has_a_tag_and_a_name(code: str, tag: str, name: str) -> None:
    assert (language_tag(code), language_name(code)) == (tag, name)
