"""The form in which place names and queries are compared."""

from __future__ import annotations

import unicodedata


def normalised(text: str) -> str:
    """Lower case without accents and punctuation, with single spaces: `São Paulo` is `sao paulo`."""
    if text.isascii():
        plain = text.lower()
    else:
        parts = unicodedata.normalize("NFKD", text.casefold())
        plain = unicodedata.normalize("NFC", "".join(part for part in parts if not unicodedata.combining(part)))
    plain = plain.replace("'", "").replace("\N{RIGHT SINGLE QUOTATION MARK}", "")
    return " ".join("".join(letter if letter.isalnum() else " " for letter in plain).split())
