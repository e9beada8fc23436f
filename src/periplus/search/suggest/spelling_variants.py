"""Which other spelling of a word is also right? British and American English, and German words without umlauts."""

from __future__ import annotations

import re

_MOST_FORMS = 32
# Each side becomes the other; the part before it has so many letters at least, so that `four` is no `for`.
_RULES = (
    ("isation", "ization", 3),
    ("is(?=e|ing|abl)", "iz", 3),
    ("ys(?=e|ing)", "yz", 2),
    ("our", "or", 3),
    ("tre", "ter", 2),
    ("ogue", "og", 3),
    ("ence", "ense", 2),
    ("ll(?=ing|ed|er)", "l", 4),
    ("grey", "gray", 0),
    ("ae", "ä", 0),
    ("oe", "ö", 0),
    ("ue", "ü", 0),
    ("ss", "ß", 1),
)


def _both_ways(one: str, other: str, before: int) -> list[tuple[re.Pattern[str], str]]:
    core, ahead = re.sub(r"\(.*", "", one), "".join(re.findall(r"\(.*\)", one))
    start = rf"(?<=\w{{{before}}})" if before else ""
    return [(re.compile(f"{start}{one}"), other), (re.compile(f"{start}{other}{ahead}"), core)]


_PATTERNS = [pattern for rule in _RULES for pattern in _both_ways(*rule)]


def other_spellings(word: str) -> list[str]:
    """The forms of a word in lower case by other rules of spelling; most of them are no words."""
    forms = [word]
    for pattern, replacement in _PATTERNS:
        forms += [changed for form in forms if (changed := pattern.sub(replacement, form)) not in forms]
        del forms[_MOST_FORMS:]
    return forms[1:]
