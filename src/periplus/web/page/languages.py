"""Checks and names the language of a page."""

from __future__ import annotations

import re

_TAG = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*")
_NAMES = {
    "ar": "Arabic",
    "cs": "Czech",
    "da": "Danish",
    "de": "German",
    "el": "Greek",
    "en": "English",
    "es": "Spanish",
    "fi": "Finnish",
    "fr": "French",
    "he": "Hebrew",
    "hu": "Hungarian",
    "it": "Italian",
    "ja": "Japanese",
    "ko": "Korean",
    "nl": "Dutch",
    "no": "Norwegian",
    "pl": "Polish",
    "pt": "Portuguese",
    "ro": "Romanian",
    "ru": "Russian",
    "sv": "Swedish",
    "ta": "Tamil",
    "tr": "Turkish",
    "uk": "Ukrainian",
    "zh": "Chinese",
}


def language_tag(code: str) -> str:
    """The code for a `lang` attribute; empty when it is not a language tag."""
    return code if _TAG.fullmatch(code) else ""


def language_name(code: str) -> str:
    """The English name of a language; its code when the name is not known."""
    tag = language_tag(code)
    return _NAMES.get(tag.lower().partition("-")[0], tag)
