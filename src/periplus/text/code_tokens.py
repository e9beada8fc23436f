"""Finds code-like tokens: `std::map`, `C++`, `.NET`, `3.11`, `LD_LIBRARY_PATH`, `--no-cache-dir`, `/etc/passwd`.

The analyzers of languages drop punctuation, so `C++` and `C#` would be the word `c`. These tokens are indexed as they
are, in lower case, in a field of their own.

A token is a run of ASCII letters, digits, hyphens and marks. Either a mark has another character of the token after it,
or the token begins with a hyphen, or it has the mark of `C#`. So a full stop after a word makes no token, nor does a
hyphen between two words.

The search is compiled by Cython, which needs a C compiler when Periplus is installed. Without it `find_plainly` gives
the same result in about three times the time.
"""

from __future__ import annotations

import re

from periplus.text.code_rules import AT_END, CLASSES, LONGEST

__all__ = ["code_tokens", "find_plainly", "find_tokens"]

# Both begin with one byte, so `re` skips everything else quickly.
_FROM_FIRST_MARK = re.compile(rb"M[M\-a]+")
_OPTION = re.compile(rb"-(?<= -)-*a[M\-a]*")
_READ = 20_000  # characters of a text; the words of tokens behind them are still indexed as words


def find_plainly(text: str, most: int) -> str:
    """The distinct tokens among the first *most* characters, in lower case: those with a mark, then options.

    Every character becomes one byte for its class, which makes the search ten times as fast as one in the text itself.
    """
    letters = b" " + text[:most].encode("ascii", "replace")
    if b"#" in letters:
        letters = letters.replace(b"#", b"##")  # so that the mark of C# has a character after it
    classes = letters.translate(CLASSES)
    start_of = classes.rfind
    found = [letters[start_of(b" ", 0, mark.start()) + 1 : mark.end()] for mark in _FROM_FIRST_MARK.finditer(classes)]
    found += [letters[option.start() : option.end()] for option in _OPTION.finditer(classes)]
    distinct = dict.fromkeys(b" ".join(found).replace(b"##", b"#").lower().split())
    tokens = dict.fromkeys([token.rstrip(AT_END) for token in distinct if len(token) <= LONGEST])
    return b" ".join(filter(None, tokens)).decode()


try:
    from periplus.text.code_scan import find_tokens
except ImportError:
    find_tokens = find_plainly


def code_tokens(text: str) -> str:
    """The code-like tokens of a text in lower case, with spaces between them; each token once."""
    return find_tokens(text, _READ)
