"""Which sentence of a page defines a word?

A text has one block per line: a heading, a paragraph, an entry of a glossary. A definition opens a block, names the
word, and says what it is: "A mutex is a lock". The rules prefer pages and sections whose title is the word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from periplus.model import FullText

_READ = 60_000  # characters of a text that are searched
_SHORTEST, _LONGEST = 30, 330  # characters of a defining sentence
_LONGEST_TITLE, _LONGEST_HEADING = 300, 100  # characters that are compared with the word
_SHORT = 90  # characters: the next sentence follows
_TITLED, _HEADED, _GLOSSARY = 3.0, 2.0, 1.5  # points for the place of a sentence
_FORM, _SURE_FORM = 1.0, 1.5  # points for "A mutex is a", and for "mutex stands for"
_MENTIONED = 0.5  # points for a page whose title or URL has a word of the term
_LIKELY = 1.5  # points that a sentence needs
_WEAK = -1.5  # points of a form that also says other things, such as "The layer is the"

_ADVERBS = r"(?:(?:simply|just|basically|essentially|usually|often|generally|typically|really|also) )?"
_NO_KIND = (  # "is the same", "is a good", "are sometimes"
    r"(?!(?:an? |the )?(?:same|default|only|first|last|next|best|most|result|case|following|one|good|bad|great|nice"
    r"|must|bit|little|lot|few|problem|requirement|better|recommended|current|value of|number of|key|important|powerful"
    r"|useful|sometimes|always|perhaps|thus|this|its|as|has|does|objects)\b)"
)
_THE = (
    r"the(?= (?:\w+ )?(?:process|act|action|ability|property|set|collection|technique|method|practice|study|part|unit"
    r"|measure|degree|amount|difference|ratio|name|term|representation|art|science|use|speed|rate|primary|basic)\b)"
)
_IS = rf"(?:is|are) {_ADVERBS}(?P<kind>{_NO_KIND}(?:an?|any|one|{_THE}) |{_NO_KIND}(?=[a-z]+s\b))"
_MEANS = r"is (?:an )?abbreviation (?:for|of) |is short for |means |refers? to |denotes? |stands for "
_LANGUAGES = {  # what precedes the word, and what follows it
    "en": (
        r"(?P<lead>(?:in|for) [^,.]{2,50}, )?(?:(?P<one>an?) |(?P<the>the) )?",
        rf"(?:{_MEANS}|{_IS})",
    ),
    "de": (
        r"(?P<lead>(?:in|bei|für) [^,.]{2,50}, )?(?:(?P<one>eine?) |(?P<the>der|die|das) )?",
        r"(?:(?:ist|sind) (?P<kind>eine?[rnms]? |der |die |das )|bezeichnet |bedeutet |steht für )",
    ),
    "fr": (
        r"(?P<lead>(?:en|dans) [^,.]{2,50}, )?(?:(?P<one>une?) |(?P<the>le|la|les|l['’]) ?)?",
        r"(?:(?:est|sont) (?P<kind>une? |des |le |la |les |l['’])|désigne |signifie )",
    ),
    "es": (
        r"(?P<lead>en [^,.]{2,50}, )?(?:(?P<one>una?) |(?P<the>el|la|los|las) )?",
        r"(?:(?:es|son) (?P<kind>una? |el |la |los |las )|significa |se refiere a )",
    ),
}
_GLOSSARY_TITLE = re.compile(r"glossary|glossar|terminology|glossaire|glosario|vocabulary", re.IGNORECASE)
_NUMBERING = re.compile(
    r"^(?:(?:chapter|section|appendix|kapitel)\s+)?(?:[A-Z]?[0-9]+\.)*(?:[0-9]+|[A-Z])?\.?\s+(?=\w)|[¶#]+$"
)
_TITLE_PARTS = re.compile(r"\s+[-–—|·»]\s+|:\s+")
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"'”’)\]]*\s+(?=[\"'“‘(\[]?[^\W\d_a-z])")
_ABBREVIATION = re.compile(r"(?:\b(?:e\.g|i\.e|etc|cf|vs|z\.B|bzw|d\.h)|\b[A-Z])\.$")
_LABEL = re.compile(r"\w{1,4}: ")  # a line such as "ES: clave, F: clé"
_CODE = re.compile(r"[{}<>;=|\\]|\w\(\)|::|->|[a-z]\.[A-Z][a-z]+[A-Z]|[a-z]{2}\.[a-z]+\.[A-Za-z]")


class Found(NamedTuple):
    """A sentence that may define the word."""

    text: str
    points: float


def definition(term: str, page: FullText) -> Found | None:
    """The sentence of a page that most probably defines the term; None when no sentence has such a form."""
    if page.language not in _LANGUAGES:
        return None
    names, is_glossary = _names(term), bool(_GLOSSARY_TITLE.search(page.title))
    extra = _GLOSSARY * is_glossary
    if any(_plain(part) in names for part in _TITLE_PARTS.split(page.title[:_LONGEST_TITLE])):
        extra += _TITLED
    elif any(word in f"{page.title} {page.url}".casefold() for word in term.casefold().split() if len(word) > 2):
        extra += _MENTIONED
    lines = page.text[:_READ].split("\n")
    candidates = [Found(one.text, one.points + extra) for one in _statements(lines, names, page.language)]
    candidates += _entries(lines, names) if is_glossary else ()
    best = max(candidates, key=lambda one: one.points, default=None)
    return best if best is not None and best.points >= _LIKELY else None


def _statements(lines: list[str], names: frozenset[str], language: str) -> Iterator[Found]:
    """The sentences of the form "A mutex is a lock" that open a block."""
    pattern, before = _pattern(names, language), ""
    for line in lines:
        found = pattern.match(line)
        if found and (sentence := _sentence(line)):
            yield Found(sentence, _points(found, language, is_headed=_plain(before) in names))
        before = line


def _entries(lines: list[str], names: frozenset[str]) -> Iterator[Found]:
    """The first sentences below the term in a glossary."""
    for place, line in enumerate(lines):
        if _plain(line) in names:
            below = next((text for text in lines[place + 1 : place + 3] if not _LABEL.match(text)), "")
            if sentence := _sentence(below):
                yield Found(sentence, _GLOSSARY)


def _points(found: re.Match[str], language: str, *, is_headed: bool) -> float:
    """How probable is it that a sentence of this form defines the word?"""
    points = _HEADED if is_headed else 0.0
    if found["kind"] is None:
        return points + _SURE_FORM  # mutex means …
    if found["one"] and language != "de" and found["name"][0].isupper():
        return points + _WEAK  # A Predicate is a …: the name of a class
    if found["one"]:
        return points + _FORM  # A mutex is a …
    return points + (_WEAK if found["the"] or not found["kind"] else 0.0)


def _names(term: str) -> frozenset[str]:
    """The term in singular and plural."""
    term = term.casefold()
    names = {term, f"{term}s", f"{term}es"}
    if term.endswith("y"):
        names.add(f"{term[:-1]}ies")
    if term.endswith("ies"):
        names.add(f"{term[:-3]}y")
    if term.endswith("s") and not term.endswith("ss"):
        names |= {term[:-1], term[:-2]} if term.endswith("es") else {term[:-1]}
    return frozenset(names)


def _plain(title: str) -> str:
    """A title or heading without its number, in small letters; empty for a long line."""
    if len(title) > _LONGEST_HEADING:
        return ""
    return _NUMBERING.sub("", title.strip()).strip(" \"“”'`*¶#").casefold()


def _pattern(names: frozenset[str], language: str) -> re.Pattern[str]:
    lead, verb = _LANGUAGES[language]
    name = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    aside = r"(?: \([^()]{1,80}\)| ?[,–—] ?(?:or|also|short|sometimes|abbreviated|oder|auch)\b[^,–—.]{1,80}[,–—])?"
    return re.compile(rf"{lead}[\"“'‘`*]?(?P<name>{name})[\"”'’`*]?{aside},? {verb}", re.IGNORECASE)


def _sentences(line: str) -> Iterator[str]:
    begun = ""
    for part in _SENTENCE_END.split(line):
        begun = f"{begun} {part}".strip()
        if not _ABBREVIATION.search(begun):
            yield begun
            begun = ""
    if begun:
        yield begun


def _sentence(line: str) -> str:
    """The first sentence of a block, or two if it is short; empty when it is no good sentence."""
    sentences = _sentences(line)
    first = next(sentences, "")
    is_whole = first.lstrip("\"“'‘")[:1].isupper() and first.endswith((".", ".”", '."'))
    if not is_whole or not _SHORTEST <= len(first) <= _LONGEST or _CODE.search(first):
        return ""
    second = next(sentences, "") if len(first) < _SHORT else ""
    is_good = second.endswith(".") and len(first) + len(second) < _LONGEST and not _CODE.search(second)
    return f"{first} {second}" if is_good else first
