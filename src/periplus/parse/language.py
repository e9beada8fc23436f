"""Detects the language of a text, with Compact Language Detector 2.

The declared language of a page is only a hint: one page in thirty of the test set declares the wrong language, mostly
because of a copied template. The hint decides when the text is too short for detection.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import pycld2

SAMPLE = 1_500  # characters examined: more take longer without a better result
_TOO_SHORT = 20  # characters: a shorter text is not examined
_SHORT = 120  # characters: in a shorter ASCII text the declared language wins
_DECLARED_ONLY = 0.5  # certainty
# CLD2 rejects these as invalid UTF-8: control characters, the last two code points of every plane, non-characters.
_PLANE_ENDS = "".join(chr(plane << 16 | low) for plane in range(17) for low in (0xFFFE, 0xFFFF))
_UNREADABLE = re.compile(f"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufdd0-\ufdef{_PLANE_ENDS}]|[\ud800-\udfff]")
_TAG = re.compile(r"\s*([A-Za-z]{2,3})(?![A-Za-z])")
# Withdrawn codes and synonyms; detectors and pages use both.
_SAME = {"iw": "he", "in": "id", "jw": "jv", "ji": "yi", "mo": "ro", "nb": "no", "nn": "no", "sh": "sr", "tl": "fil"}
_NONE = frozenset({"un", "und", "mul", "xxx", "zxx", "zzb", "zze", "zzh", "zzp"})  # the last four are jokes of CLD2


_HINTS = {_SAME.get(code, code): code for _, code in pycld2.LANGUAGES}  # CLD2 accepts only these
_NAMES = {name.lower().replace("_", " "): _SAME.get(code, code) for name, code in pycld2.LANGUAGES}
_TITLES: dict[str, str] = {code: name.title() for name, code in reversed(_NAMES.items())}


class Language(NamedTuple):
    """The shortest ISO 639 code, empty if unknown, and its certainty from 0 to 1."""

    code: str = ""
    certainty: float = 0.0


def primary(tag: str) -> str:
    """The primary language of a tag: ``en`` for ``en-GB``, ``EN_us`` and ``en``; empty for an invalid tag."""
    found = _TAG.match(tag)
    if found is None:
        return ""
    code = found[1].lower()
    return "" if code in _NONE else _SAME.get(code, code)


def code_of(name: str) -> str:
    """The code of a language from its English name or a tag: ``de`` for ``German`` and ``de-AT``; empty if unknown."""
    code = primary(_NAMES.get(name.lower(), name))
    return code if code in _HINTS else ""


def name_of(code: str) -> str:
    """The English name of a language: ``German`` for ``de``; the code itself if unknown."""
    return _TITLES.get(code, code)


def detect(text: str, declared: str = "") -> Language:
    """Detect the language of a text; *declared* is the language that the page declares, if any."""
    sample = text[:SAMPLE]
    hint = primary(declared)
    if len(sample) < _TOO_SHORT:
        return Language(hint, _DECLARED_ONLY if hint else 0.0)
    try:
        reliable, _, found = pycld2.detect(sample, hintLanguage=_HINTS.get(hint))
    except (pycld2.error, UnicodeEncodeError):  # rare: to look for these characters takes as long as the detection
        reliable, _, found = pycld2.detect(_UNREADABLE.sub(" ", sample), hintLanguage=_HINTS.get(hint))
    _, tag, percent, _ = found[0]
    code = primary(tag)
    if not code or (hint not in {"", code} and not _overrides_declared(sample, reliable)):
        return Language(hint, _DECLARED_ONLY if hint else 0.0)
    certainty = percent / 100 if reliable else percent / 200
    return Language(code, max(certainty, _DECLARED_ONLY) if code == hint else certainty)


def _overrides_declared(sample: str, reliable: bool) -> bool:
    """Whether the detected language wins over the declared one."""
    return reliable and (len(sample) >= _SHORT or not sample.isascii())
