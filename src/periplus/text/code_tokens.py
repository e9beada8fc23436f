"""Finds code-like tokens: `std::map`, `C++`, `.NET`, `3.11`, `LD_LIBRARY_PATH`, `--no-cache-dir`, `/etc/passwd`.

The analyzers of languages drop punctuation, so `C++` and `C#` would be the word `c`. These tokens are indexed as they
are, in lower case, in a field of their own.

A token is a run of ASCII letters, digits, hyphens and marks. Either a mark has another character of the token after it,
or the token begins with a hyphen. So a full stop after a word makes no token, nor does a hyphen between two words.
"""

from __future__ import annotations

import re

_MARKS = "._:/@+#$"
_AT_END = b".:/@-"  # punctuation of the sentence
_CLASSES = bytes(  # a letter or digit: a; a mark: M; a hyphen: -; anything else: a space
    ord("a" if chr(code).isalnum() and code < 128 else "M" if chr(code) in _MARKS else "-" if code == 45 else " ")
    for code in range(256)
)
# Both begin with one byte, so `re` skips everything else quickly.
_FROM_FIRST_MARK = re.compile(rb"M[M\-a]+")
_OPTION = re.compile(rb"-(?<= -)-*a[M\-a]*")
_LONGEST = 80  # characters
_READ = 20_000  # characters of a text; the words of tokens behind them are still indexed as words


def code_tokens(text: str) -> str:
    """The code-like tokens of a text in lower case, with spaces between them; each token once.

    Every character becomes one byte for its class, which makes the search ten times as fast as one in the text itself.
    """
    letters = b" " + text[:_READ].encode("ascii", "replace")
    if b"#" in letters:
        letters = letters.replace(b"#", b"##")  # so that the mark of C# has a character after it
    classes = letters.translate(_CLASSES)
    start_of = classes.rfind
    found = [letters[start_of(b" ", 0, mark.start()) + 1 : mark.end()] for mark in _FROM_FIRST_MARK.finditer(classes)]
    found += [letters[option.start() : option.end()] for option in _OPTION.finditer(classes)]
    distinct = dict.fromkeys(b" ".join(found).lower().split())
    tokens = dict.fromkeys([token.rstrip(_AT_END) for token in distinct if len(token) <= _LONGEST])
    return b" ".join(tokens).replace(b"##", b"#").decode().strip()
