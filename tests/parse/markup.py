"""Random HTML: tags in any order, closed or not, with words between them."""

from __future__ import annotations

import random

# fmt: off
_TAGS = """
    a b i span em code font nobr object div p ul ol li dl dt dd h1 h2 h3 table tbody thead tr td th caption colgroup
    col form button label legend fieldset select option optgroup textarea title script style noscript iframe svg path
    g math mi mo br hr img input link meta base area body html head pre address section center details summary ruby
    rt q foo x-y main nav figure map dir menu listing marquee applet video wbr template rp xmp datalist frameset
""".split()  # noqa: SIM905
_WORDS = (
    "one", "two", " ", "\n", "three four", "&amp;", "&nbsp;", "é", "中", "&lt;", "&copy", "&#65;", "x&y", "\u3000",
    "a\u00a0b", "<", "&notit;", "]]>", "&#x80;", "&#0;", "&#xD800;", "&nGt;", "\r\n", "\x0b", "&#12;", "&AMP", "&;",
)
_ATTRIBUTES = {
    "a": (
        "href=x", 'href="y#f"', "name=n", "", 'href="z?a=1&amp;b" rel=nofollow', "href='#q'", "HREF=x", "href",
        "href=' w '",
    ),
    "img": ("alt=pic", "src=x", "", "alt=' '", "alt=one alt=two"),
    "meta": (
        'name=description content="d d"', "name=robots content=nofollow", "charset=x", "http-equiv=refresh content=1",
    ),
    "link": ("rel=canonical href=/c", "rel=next href=n", "rel=alternate hreflang=de href=q"),
    "html": ("lang=de", "xml:lang=en", ""),
    "base": ("href=/base/", ""),
    "area": ("href=ar alt=q", "nohref"),
    "iframe": ("src=fr title=w", ""),
}
_OTHERS = (
    "<!-- c -->", "<!doctype html>", "<!x>", "</>", "<?x?>", "<!-->", "</br>", "<!--a--!>", "<![CDATA[c]]>", "</p>",
)
_ANYWHERE = ('class="a>b"', "x='y'", "z=/", "/", "q = w", "=", "a/b", "")
# fmt: on


def page_at_random(chooser: random.Random) -> str:
    """A short page of few different tags, so that they interact often."""
    tags = chooser.sample(_TAGS, chooser.randint(2, 7))
    pieces: list[str] = []
    unclosed: list[str] = []
    for _ in range(chooser.randint(1, 16)):
        choice = chooser.random()
        if choice < 0.4:
            pieces.append(chooser.choice(_WORDS))
        elif choice < 0.75:
            tag = chooser.choice(tags)
            attributes = chooser.choice(_ATTRIBUTES.get(tag, _ANYWHERE if chooser.random() < 0.2 else ("",)))
            pieces.append(f"<{tag} {attributes}>" if attributes else f"<{tag}>")
            unclosed.append(tag)
        elif choice < 0.95 and unclosed:
            pieces.append(f"</{unclosed.pop() if chooser.random() < 0.75 else chooser.choice(tags)}>")
        else:
            pieces.append(chooser.choice(_OTHERS))
    return "".join(pieces)
