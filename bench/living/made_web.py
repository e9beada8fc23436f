"""Makes a web of many small hosts: pages of English-looking text with navigation, from a fixed seed.

The words of a page follow Zipf's law. Every page links to some pages of its host and of other hosts.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from itertools import accumulate

_COMMON = """
the of and to in a is that for it was on are as with they be at one have this from or had by but some
what there we can out other were all your when up use word how said an each she which do their time if
will way about many then them would write like so these her long make thing see him two has look more day
could go come did my no most number who over know water than call first people may down side been now
find
""".split()  # noqa: SIM905  # shorter than a list of quoted words
_SYLLABLES = [first + last for first in "bdfgklmnprstvz" for last in ("a", "e", "i", "o", "u", "an", "el", "or")]
_VOCABULARY = 30_000
_PARAGRAPHS, _WORDS = 12, (30, 90)  # of a page; of a paragraph
_OWN_LINKS, _OTHER_LINKS = 12, 2
_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title} - {site}</title>
<meta name="description" content="{description}"></head>
<body><header class="site"><a href="/">{site}</a></header><nav><ul>{navigation}</ul></nav>
<main><article><h1>{title}</h1>{body}</article></main>
<aside><h2>See also</h2><ul>{links}</ul></aside><footer><p>{site}: all pages are made up.</p></footer></body></html>
"""


@dataclass(frozen=True)
class MadeWeb:
    """Hosts with equally many pages each."""

    hosts: int
    pages: int  # of a host

    def host(self, number: int) -> str:
        """The name of a host; every host has its own registrable domain."""
        return f"made{number}.test"

    def seeds(self) -> list[str]:
        """The start page of every host."""
        return [f"http://{self.host(number)}/" for number in range(self.hosts)]

    def url(self, host: int, page: int) -> str:
        """The URL of a page."""
        return f"http://{self.host(host)}{_path(page)}"

    def page(self, host: int, page: int) -> str:
        """The HTML of one page; the same whenever it is made."""
        chosen = random.Random(host * 1_000_003 + page)
        own = [chosen.randrange(self.pages) for _ in range(_OWN_LINKS)] + [(page + 1) % self.pages]
        others = [(chosen.randrange(self.hosts), chosen.randrange(self.pages)) for _ in range(_OTHER_LINKS)]
        links = [_link(_path(target), title(host, target)) for target in own]
        links += [_link(f"http://{self.host(other)}{_path(target)}", title(other, target)) for other, target in others]
        navigation = [_link(_path(target), title(host, target)) for target in range(0, self.pages, self.pages // 8 + 1)]
        texts = [" ".join(_words(chosen, chosen.randint(*_WORDS))) + "." for _ in range(_PARAGRAPHS)]
        paragraphs = "".join(f"<p>{text.capitalize()}</p>\n" for text in texts)
        return _PAGE.format(
            title=title(host, page),
            site=f"Site {word(host)}",
            description=texts[0][:120],
            navigation="".join(navigation),
            body=paragraphs,
            links="".join(links),
        )


def title(host: int, page: int) -> str:
    """The title of a page; its first word is that page's alone."""
    chosen = random.Random(host * 1_000_003 + page + 7)
    return f"{own_word(host, page).capitalize()} {' '.join(_words(chosen, 4))}"


def own_word(host: int, page: int) -> str:
    """A word that only one page has in its title."""
    return f"page{word(host)}{word(page)}x"


def word(number: int) -> str:
    """The n-th word of the vocabulary."""
    if number < len(_COMMON):
        return _COMMON[number]
    text, number = "", number + len(_SYLLABLES)
    while number:
        number, last = divmod(number, len(_SYLLABLES))
        text = _SYLLABLES[last] + text
    return text


_ALL = [word(number) for number in range(_VOCABULARY)]
_WEIGHTS = list(accumulate(1 / (rank + 2) for rank in range(_VOCABULARY)))


def _words(chosen: random.Random, count: int) -> list[str]:
    return chosen.choices(_ALL, cum_weights=_WEIGHTS, k=count)


def _path(page: int) -> str:
    return f"/page/{page}" if page else "/"


def _link(target: str, text: str) -> str:
    return f'<li><a href="{target}">{text}</a></li>'
