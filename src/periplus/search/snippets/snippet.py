"""Selects the sentences of a page that are shown below its title.

A text has one block per line: a heading, a paragraph, a line of a menu. Near the best window of the page, the block
with the most important query words is shown, from the start of a sentence. A second block follows when it has words
that the first one lacks. The description of the page is shown when it has more of the query.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from periplus.index.forward.forward_index import ForwardIndex
from periplus.index.storage.pagestore import Head
from periplus.search.snippets.best_window import Window, best_windows
from periplus.search.snippets.word_forms import Match, WordForms
from periplus.text.analyzer import language_of

_LENGTH = 260  # characters
_LEAD = 60  # characters before the first match, in a sentence that is too long
_REACH = 600  # characters before and after a match that its block may have
_SHORT_TEXT = 3_000  # characters: a text that is searched as a whole
_READ = 50_000  # characters that are searched for words that the forward index lacks
_MARGINS = (300, 2_500)  # characters around the estimated place of the best window
_WINDOW = 300  # characters of the best window
_SAMPLE = 1_000  # characters that show how many bytes a character has
_SHORT = 100  # characters: a longer description is better than such a passage
_WORTH_FILLING = 70  # characters that are left for another block
_NEXT = 500  # characters after a short block in which the prose that follows it is searched
_START = 200  # characters that show whether a line is readable
_GAP = " … "
_NOISE = re.compile(  # every alternative begins with a rare letter, so `re` skips other letters quickly
    r"[¶🔗]|§(?=\s|$)|#(?<=[a-z]{3}#)(?=\n|$)|\[(?:[Ss]ource|src|edit|link|top|show source|docs|[-+])\]"
    r"|Permalink to this \w+|Link to this \w+"
)
_SENTENCE_END = re.compile(r"(?<=[.!?…])[\"'”’)\]]*\s+(?=[\"'“‘(\[]?[^\W\d_a-z])|(?<=[。！？])")  # noqa: RUF001
_SYMBOLS = str.maketrans("", "", "{}()[];=<>|&$#@\\_/*+~^`%")
_MENU = re.compile(r"[|»›→←▲▼·•╰├│─]")  # noqa: RUF001
_LONG = 60  # bytes in UTF-8: prose has such lines, and a Chinese character says as much as three letters
_MANY_SYMBOLS = 0.08  # of the characters of a line of code


@dataclass(frozen=True, slots=True)
class Snippet:
    """A passage, and the character ranges of the matching words in it."""

    text: str
    highlights: tuple[tuple[int, int], ...]


class Shown(NamedTuple):
    """A page that is shown."""

    number: int
    head: Head
    text: str


class _Block(NamedTuple):
    """A line of the text with query words; of a very long line the part around the first of them."""

    start: int
    end: int
    matches: list[Match]
    terms: set[str]


def make_snippets(pages: Sequence[Shown], wanted: Sequence[str], index: ForwardIndex) -> list[Snippet]:
    """The snippets of pages; *wanted* are the words and phrases of the query without stop words."""
    languages = [language_of(page.head.language) for page in pages]
    found: dict[int, Snippet] = {}
    for language in dict.fromkeys(languages):
        forms = WordForms(wanted, language, index)
        same = [page for page, its in zip(pages, languages, strict=True) if its == language]
        long = [] if forms.has_exact else [page.number for page in same if len(page.text) > _SHORT_TEXT]
        windows = dict(zip(long, best_windows(long, forms, index), strict=True))
        for page in same:
            found[page.number] = _snippet(page, windows.get(page.number), forms)
    return [found[page.number] for page in pages]


def _snippet(page: Shown, window: Window | None, forms: WordForms) -> Snippet:
    """The best sentences of a page; its description when that has more of the query, or the text has nothing."""
    blocks = _blocks(page.text, _matches(page.text, window, forms), page.head.title)
    shown = _passage(page.text, blocks, forms) if blocks else ""
    found = forms.matches(shown)
    missing = forms.total - _weight(found, forms)
    if missing > 0 or len(shown) < _SHORT:
        told = _shortened(page.head.description, _LENGTH)
        found_told = forms.matches(told)
        more = _weight(found_told, forms) - forms.total + missing
        if more > 0 or (more == 0 and len(shown) < min(_SHORT, len(told))):
            return _marked(told, found_told)
    return _marked(shown, found) if shown else _opening(page.text, forms)


def _matches(text: str, window: Window | None, forms: WordForms) -> list[Match]:
    """The query words near the best window; those of the whole text when no window is known."""
    if window is None or not window.weight:
        return forms.matches(text, 0, _READ)
    at = window.offset * _SAMPLE // len(text[:_SAMPLE].encode())
    found: list[Match] = []
    for margin in _MARGINS:
        found = forms.matches(text, max(at - margin, 0), at + _WINDOW + margin)
        if _weight(found, forms) >= window.weight - 0.01:
            break
    return found


def _marked(text: str, matches: list[Match]) -> Snippet:
    return Snippet(text, tuple((match.start, match.end) for match in matches))


def _weight(matches: list[Match], forms: WordForms) -> float:
    return forms.weight({match.term for match in matches})


def _blocks(text: str, matches: list[Match], title: str) -> list[_Block]:
    """The lines with query words, without the title of the page."""
    blocks: list[_Block] = []
    for match in matches:
        if blocks and match.start < blocks[-1].end:
            blocks[-1].matches.append(match)
            blocks[-1].terms.add(match.term)
            continue
        start = text.rfind("\n", max(match.start - _REACH, 0), match.start) + 1 or max(match.start - _REACH, 0)
        end = text.find("\n", match.end, match.end + _REACH)
        end = end if end >= 0 else min(match.end + _REACH, len(text))
        blocks.append(_Block(start, end, [match], {match.term}))
    return [block for block in blocks if text[block.start : block.end] != title]


def _passage(text: str, blocks: list[_Block], forms: WordForms) -> str:
    """Sentences of the best block, then of the block that adds most to it, in the order of the page."""
    first = _best(text, blocks, forms, set()) or blocks[0]
    shown, has = _sentences(text, first, forms, _LENGTH)
    room = _LENGTH - len(shown) - len(_GAP)
    if room < _WORTH_FILLING:
        return shown
    second = _best(text, [block for block in blocks if block is not first], forms, has)
    if second is None:
        return _filled(text, first, shown, room)
    added, _ = _sentences(text, second, forms, room)
    one, two = (shown, added) if first.start < second.start else (added, shown)
    return one.rstrip(" …") + _GAP + two.removeprefix("… ")


def _best(text: str, blocks: list[_Block], forms: WordForms, has: set[str]) -> _Block | None:
    """The block with the most important words that *has* lacks; readable blocks and early ones win."""
    best, best_score = None, 0.0
    for block in blocks:
        gain = forms.weight(block.terms - has)
        if gain > best_score and (score := gain * _quality(text[block.start : block.end])) > best_score:
            best, best_score = block, score
    return best


def _quality(line: str) -> float:
    """How readable a line is, from 0 to 1."""
    line = line[:_START]
    if len(_MENU.findall(line)) > 1:
        return 0.2
    if len(line) - len(line.translate(_SYMBOLS)) > _MANY_SYMBOLS * len(line):
        return 0.4
    return 1.0 if len(line) >= _LONG or len(line.encode()) >= _LONG else 0.6


def _sentences(text: str, block: _Block, forms: WordForms, length: int) -> tuple[str, set[str]]:
    """The sentences of a block with the most important words, and the terms in them."""
    starts = [end.end() for end in _SENTENCE_END.finditer(text, block.start, block.end)]
    if not block.start or text[block.start - 1] == "\n":
        starts.insert(0, block.start)
    begin = _best_start(block.matches, starts, forms, length)
    first = next((match for match in block.matches if match.start >= begin), block.matches[0])
    if first.end > begin + length or begin not in starts:
        begin = text.find(" ", max(first.start - _LEAD, block.start), first.start) + 1 or first.start
    passage = _shortened(text[begin : block.end], length)
    terms = {match.term for match in block.matches if begin <= match.start and match.end <= begin + length}
    return passage if begin in starts else f"… {passage}", terms


def _best_start(matches: list[Match], starts: list[int], forms: WordForms, length: int) -> int:
    """The start of the sentence from which a passage has the most important words; the last of several equals.

    Of equal ones the last: the passage then begins with a sentence that has a query word.
    """
    best, best_weight = -1, -1.0
    for start in starts:
        inside = {match.term for match in matches if start <= match.start and match.end <= start + length}
        weight = forms.weight(inside)
        if weight > best_weight or (weight == best_weight and not _between(matches, best, start)):
            best, best_weight = start, weight
    return best


def _between(matches: list[Match], start: int, end: int) -> bool:
    return any(start <= match.start < end for match in matches)


def _filled(text: str, block: _Block, shown: str, room: int) -> str:
    """A short block with the prose that follows it."""
    for line in text[block.end + 1 : block.end + 1 + _NEXT].split("\n"):
        if _quality(line) == 1.0:
            return f"{shown}{' ' if shown[-1] in '.!?:' else _GAP}{_shortened(line, room)}"
    return shown


def _opening(text: str, forms: WordForms) -> Snippet:
    """The first prose of a text."""
    lines = text[: 8 * _LENGTH].split("\n")
    shown = _shortened(next((line for line in lines if _quality(line) == 1.0), " ".join(lines)), _LENGTH)
    return _marked(shown, forms.matches(shown))


def _shortened(text: str, length: int) -> str:
    """One line of at most this length, without the signs that documentation tools add to headings."""
    text = " ".join(_NOISE.sub(" ", text[: 2 * length]).split())
    if len(text) <= length:
        return text
    return text[: text.rfind(" ", 0, length) if " " in text[:length] else length].rstrip(" …") + " …"
