"""In which language is this text?

Told by its letters and words (Compact Language Detector 2). What a page declares is only a hint: one page in thirty of
the test set declares a language it is not written in, mostly because its template came from elsewhere. The hint decides
where the text is too short to tell.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import pycld2

SAMPLE = 1_500  # characters looked at: more cost more and tell nothing new
_TOO_SHORT = 20  # characters that tell nothing
_SHORT = 120  # characters below which a declaration is believed rather than plain letters
_DECLARED_ONLY = 0.5  # certainty
# What CLD2 takes for invalid UTF-8: control characters, the last two code points of every plane, other non-characters.
_PLANE_ENDS = "".join(chr(plane << 16 | low) for plane in range(17) for low in (0xFFFE, 0xFFFF))
_UNREADABLE = re.compile(f"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufdd0-\ufdef{_PLANE_ENDS}]|[\ud800-\udfff]")
_TAG = re.compile(r"\s*([A-Za-z]{2,3})(?![A-Za-z])")
# Codes that were withdrawn, or that mean a language of this list; detectors and pages use both.
_SAME = {"iw": "he", "in": "id", "jw": "jv", "ji": "yi", "mo": "ro", "nb": "no", "nn": "no", "sh": "sr", "tl": "fil"}
_NONE = frozenset({"un", "und", "mul", "xxx", "zxx", "zzb", "zze", "zzh", "zzp"})  # the last four are jokes of CLD2


_HINTS = {_SAME.get(code, code): code for _, code in pycld2.LANGUAGES}  # others the detector does not know


class Language(NamedTuple):
    """A language by its shortest ISO 639 code, empty when it cannot be told, and how sure that is, from 0 to 1."""

    code: str = ""
    certainty: float = 0.0


def primary(tag: str) -> str:
    """The language of a tag as people write it: ``en`` for ``en-GB``, ``EN_us`` and ``en``; empty for what is none."""
    found = _TAG.match(tag)
    if found is None:
        return ""
    code = found[1].lower()
    return "" if code in _NONE else _SAME.get(code, code)


def detect(text: str, declared: str = "") -> Language:
    """The language of a text whose page declares one, or not."""
    sample = _UNREADABLE.sub(" ", text[:SAMPLE])
    hint = primary(declared)
    if len(sample) < _TOO_SHORT:
        return Language(hint, _DECLARED_ONLY if hint else 0.0)
    reliable, _, found = pycld2.detect(sample, hintLanguage=_HINTS.get(hint))
    _, tag, percent, _ = found[0]
    code = primary(tag)
    if not code or (hint not in {"", code} and not _speaks_clearly(sample, reliable)):
        return Language(hint, _DECLARED_ONLY if hint else 0.0)
    certainty = percent / 100 if reliable else percent / 200
    return Language(code, max(certainty, _DECLARED_ONLY) if code == hint else certainty)


def _speaks_clearly(sample: str, reliable: bool) -> bool:
    """Whether a text is to be believed more than what its page declares."""
    return reliable and (len(sample) >= _SHORT or not sample.isascii())
