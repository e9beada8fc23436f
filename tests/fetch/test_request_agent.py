"""Does the User-Agent header name the crawler and its contact?"""

from __future__ import annotations

import pytest

from periplus import __version__
from periplus.errors import ConfigError
from periplus.fetch.request import PRODUCT, user_agent


@pytest.mark.parametrize("contact", ["https://example.org/about", "mailto:crawl@example.org", "crawl@example.org"])
def test_the_contact_is_part_of_the_user_agent(contact: str) -> None:
    assert user_agent(contact) == f"Periplus/{__version__} (+{contact})"
    assert user_agent(f"  {contact} ") == user_agent(contact)


def test_without_a_contact_the_user_agent_is_product_and_version() -> None:
    assert user_agent("") == user_agent(" ") == f"Periplus/{__version__}"


def test_the_user_agent_starts_with_the_product_token_of_robots_txt() -> None:
    assert user_agent("x").startswith(f"{PRODUCT}/")


@pytest.mark.parametrize("contact", ["a\r\nX-Evil: 1", "a\nb", "a\rb", "a\0", "\x1b[31m", "\x7f", "bücher@example"])
def test_a_contact_that_would_break_the_header_is_refused(contact: str) -> None:
    with pytest.raises(ConfigError, match="cannot be sent in a header"):
        user_agent(contact)
