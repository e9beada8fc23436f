"""Which characters make a code-like token?"""

from __future__ import annotations

_MARKS = "._:/@+#$"
AT_END = b".:/@-"  # punctuation of the sentence
LONGEST = 80  # characters
CLASSES = bytes(  # a letter or digit: a; a mark: M; a hyphen: -; anything else: a space
    ord("a" if chr(code).isalnum() and code < 128 else "M" if chr(code) in _MARKS else "-" if code == 45 else " ")
    for code in range(256)
)
