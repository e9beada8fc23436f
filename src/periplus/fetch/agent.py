"""Under which name do we knock?"""

from __future__ import annotations

from periplus import __version__
from periplus.errors import ConfigError

PRODUCT = "Periplus"  # what a robots.txt calls us


def user_agent(contact: str) -> str:
    """The User-Agent header: product, version, and where a webmaster reaches whoever is crawling."""
    product = f"{PRODUCT}/{__version__}"
    contact = contact.strip(" ")
    if not (contact.isascii() and contact.isprintable()):
        # A line break would start a header of its own, and other bytes have no meaning in one.
        hint = "Write a URL or a mail address in ASCII, for example https://example.org/crawler"
        raise ConfigError(f"the contact {contact!r} cannot be sent in a header", hint=hint)
    return f"{product} (+{contact})" if contact else product
