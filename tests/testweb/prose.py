"""Generates the text of pages."""

from __future__ import annotations

from functools import cache, lru_cache
from hashlib import shake_128
from random import Random
from struct import unpack


def _words(text: str) -> list[str]:
    return text.split()


_NOUNS = _words(
    """
    anchor archive bakery barrel basin beacon bridge canal captain caravan carpenter cathedral cellar
    chart chimney clerk coast compass copper cotton council courtyard current customs dock engine ferry
    fisherman flag forest fountain garden gate glacier granary harbour hillside history island journal
    kiln kitchen ladder lagoon lantern library lighthouse linen machine market marsh meadow merchant
    mill mirror monastery mountain museum needle observatory orchard painter parcel passage pepper pilot
    plateau quarry quay railway reef registry river road rope sailor salt school shipyard shoreline
    silver spring square station storm street surveyor tavern theatre tide timber tower trader tunnel
    valley vessel village vineyard wagon warehouse watchman weaver well wharf windmill winter workshop
    """
)
_ADJECTIVES = _words(
    """
    ancient autumn bitter bright broad busy calm careful cheap clear coastal cold crowded deep distant
    double early eastern empty faithful famous foggy forgotten gentle golden green heavy hidden hollow
    honest inland iron lonely modest narrow northern old open ordinary patient plain proud quiet rapid
    red remote round rusty sandy secret sheltered silent slow small southern steep stone stubborn sudden
    tall temporary tidy upper useful warm western wide wooden
    """
)
_VERBS = _words(
    """
    borders borrows builds buys carries collects counts crosses describes divides draws faces feeds
    finds follows guards guides hides holds joins keeps leads lends lights marks measures meets mends
    names needs orders paints passes records remembers repairs reaches sells serves shapes shelters
    shows sketches stores supplies surrounds teaches trades visits warms watches
    """
)
_SETTINGS = (
    "after the first frost",
    "at the turn of the tide",
    "before sunrise",
    "by order of the council",
    "during the fair",
    "every second week",
    "for less than a day",
    "in dry years",
    "near the old border",
    "on market days",
    "since the flood",
    "through most of the summer",
    "under the same roof",
    "until late in the evening",
    "when the wind is right",
    "with great care",
    "without any hurry",
    "as the older maps show",
)
# Every sentence has one gap, for a name that only its page uses: pages differ in words, as real ones do.
_PATTERNS = (
    "The {a} {n} of %s {v} the {m} {s}.",
    "In %s a {n} {v} every {b} {m} {s}.",
    "{S}, the {n} near %s {v} the {b} {m}.",
    "Nobody in %s knows why the {a} {n} {v} the {m}.",
    "The {n} and the {m} of %s share one {b} {o}.",
    "A {a} {n} from %s {v} the {m}, and the {o} {w} it.",
)
_ENDINGS = ("a", "e", "i", "o", "u", "an", "el", "or")
_SYLLABLES = [first + last for first in "bdfgklmnprstvz" for last in _ENDINGS]
_MANY_SENTENCES = 4096  # few enough to make at once, so many that two pages seldom share one
_NAMES, _SHORTEST, _LONGEST = 8, 18, 64  # names and sentences of a page


def draw(key: str, count: int, below: int = 1 << 32) -> list[int]:
    """Numbers that look random and depend on nothing but the key; more of them begin with the same ones."""
    numbers = unpack(f"<{count}I", shake_128(key.encode()).digest(4 * count))
    return [number % below for number in numbers]


@lru_cache(maxsize=1 << 14)  # a title is also the anchor text of every link to its page
def title(key: str) -> str:
    """A short title. Its first word is, in practice, that page's alone: something to search for."""
    *word, shade, thing = draw(key, 6)
    adjective, noun = _ADJECTIVES[shade % len(_ADJECTIVES)], _NOUNS[thing % len(_NOUNS)]
    return f"{_coin(word).capitalize()} and its {adjective} {noun}"


def text(key: str) -> str:
    """One to five kB of English-looking paragraphs, different for every key."""
    rolls = draw(key, 4 * _NAMES + _LONGEST + 1)
    starts = range(0, 4 * _NAMES, 4)  # the first name is the one in the title
    names = [_coin(rolls[start : start + 4]).capitalize() for start in starts]
    length = _SHORTEST + rolls[-1] % (_LONGEST - _SHORTEST)
    sentences, rolls = _sentences(), rolls[4 * _NAMES :][:length]
    chosen = [sentences[roll % _MANY_SENTENCES] for roll in rolls]
    paragraphs = "\n\n".join([" ".join(chosen[i : i + 6]) for i in range(0, length, 6)])
    return paragraphs % tuple([names[roll // _MANY_SENTENCES % _NAMES] for roll in rolls])


def _coin(rolls: list[int]) -> str:
    return "".join([_SYLLABLES[roll % len(_SYLLABLES)] for roll in rolls])


@cache
def _sentences() -> list[str]:
    random = Random(1)
    return [_sentence(random) for _ in range(_MANY_SENTENCES)]


def _sentence(random: Random) -> str:
    n, m, o = random.sample(_NOUNS, 3)
    a, b = random.sample(_ADJECTIVES, 2)
    v, w = random.sample(_VERBS, 2)
    s = random.choice(_SETTINGS)
    return random.choice(_PATTERNS).format(n=n, m=m, o=o, a=a, b=b, v=v, w=w, s=s, S=s.capitalize())
