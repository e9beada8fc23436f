"""Random HTML: tags in any order, closed or not, with words between them."""

from __future__ import annotations

import random

# fmt: off
# Tags that interact: a page is made of one or two families, or of all tags.
_FAMILIES = [family.split() for family in (
    "table tbody thead tfoot tr td th caption colgroup col table tr td form input",
    "table tr td b a div p select option button script template",
    "b i em strong font nobr a code small big s strike tt u div p dialog section li label h1 span",
    "a div p dialog details summary search hgroup menu label legend h2 form button li",
    "ul ol li dl dt dd menu dir div address p section b a",
    "form fieldset legend label button input select option optgroup datalist output textarea b div p",
    "object applet marquee b a p div table td li button",
    "ruby rb rt rtc rp b a p span div",
    "svg math title desc foreignObject annotation-xml mi mo mn ms mtext g path text style script b p mglyph use",
    "html head head body title meta link link link base basefont bgsound style script noscript noframes template p br",
    "html head body frameset frame noframes link p",
    "h1 h2 h3 h4 h5 h6 hgroup header b a p div",
)]
_TAGS = """
    a abbr acronym address applet area article aside audio b base basefont bdi bdo bgsound big blink blockquote body br
    button canvas caption center cite code col colgroup data datalist dd del details dfn dialog dir div dl dt em embed
    fieldset figcaption figure font footer form frame frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html i iframe
    image img input ins isindex kbd keygen label legend li link listing main map mark marquee math menu menuitem meta
    meter nav nobr noembed noframes noscript object ol optgroup option output p param picture plaintext pre progress q
    rb rp rt rtc ruby s samp script search section select selectedcontent slot small source spacer span strike strong
    style sub summary sup svg table tbody td template textarea tfoot th thead time title tr track tt u ul var video wbr
    xmp foo x-y g path mi mo
""".split()  # noqa: SIM905
_WORDS = (
    " ", "\n", " ", "three four", "&amp;", "&nbsp;", "é", "中", "&lt;", "&copy", "&#65;", "x&y", "\u3000",
    "a\u00a0b", "<", "&notit;", "]]>", "&#x80;", "&#0;", "&#xD800;", "&nGt;", "\r\n", "\x0b", "&#12;", "&AMP", "&;",
)
_ATTRIBUTES = {
    "a": (
        "href=x", 'href="y#f"', "name=n", "", 'href="z?a=1&amp;b" rel=nofollow', "href='#q'", "HREF=x", "href",
        "href=' w '",
    ),
    "img": ("alt=pic", "src=x", "", "alt=' '", "alt=one alt=two"),
    "input": ("type=hidden", "", "type=HIDDEN", "type=text"),
    "meta": (
        'name=description content="d d"', "name=robots content=nofollow", "charset=x", "http-equiv=refresh content=1",
    ),
    "link": ("rel=canonical href=/c", "rel=next href=n", "rel=alternate hreflang=de href=q"),
    "html": ("lang=de", "xml:lang=en", ""),
    "base": ("href=/base/", ""),
    "area": ("href=ar alt=q", "nohref"),
    "iframe": ("src=fr title=w", ""),
    "svg": ("", "", "/"),
    "path": ("/", ""),
    "font": ("color=red", ""),
    "annotation-xml": ("encoding=text/html", ""),
}
_DOCTYPES = (
    "", "", "<!doctype html>", "<!DOCTYPE HTML >", "\n<?xml version='1.0'?>\n<!doctype html>", "<!doctype x>",
    '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN"\n"http://www.w3.org/TR/xhtml1/DTD/xhtml1.dtd">',
    '<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01 Transitional//EN" "http://www.w3.org/TR/html4/loose.dtd">',
    '<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01 Transitional//EN">',
    '<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.0 Transitional//EN" "http://www.w3.org/TR/REC-html40/loose.dtd">',
)
_OTHERS = (
    "<!-- c -->", "<!doctype html>", "<!x>", "</>", "<?x?>", "<!-->", "</br>", "<!--a--!>", "<![CDATA[c]]>", "</p>",
)
_ANYWHERE = ('class="a>b"', "x='y'", "z=/", "/", "q = w", "=", "a/b", "")
_AROUND = [tags.split() for tags in (
    "", "", "", "table td", "table tr td", "table th", "table tbody tr td", "table caption", "table colgroup", "ul li",
    "dl dd", "form", "form label", "a", "b", "i font", "b dialog", "span dialog", "p", "p b", "h1", "label", "button",
    "object", "ruby", "ruby p", "select option", "svg", "math mi", "head",
)]
_LETTERS = "ABCDEFGHJKLMNOPQRSTUVWXYZ"
# fmt: on


def page_at_random(chooser: random.Random) -> str:
    """A short page of few different tags, so that they interact often."""
    tags, unclosed = _tags_at_random(chooser), [*chooser.choice(_AROUND)]
    pieces = [chooser.choice(_DOCTYPES), *(_start_tag(tag, chooser) for tag in unclosed)]
    ends = [*tags, *unclosed, *(("tbody", "tr") if "table" in unclosed else ())]  # a table may imply these two
    nesting = chooser.random()  # the share of end tags that close the last open element
    for number in range(chooser.randint(1, 16)):
        choice = chooser.random()
        if choice < 0.4:
            pieces.append(_LETTERS[number] if chooser.random() < 0.7 else chooser.choice(_WORDS))
        elif choice < 0.7:
            unclosed.append(chooser.choice(tags))
            pieces.append(_start_tag(unclosed[-1], chooser))
        elif choice < 0.97 and unclosed:
            pieces.append(f"</{unclosed.pop() if chooser.random() < nesting else chooser.choice(ends)}>")
        else:
            pieces.append(chooser.choice(_OTHERS))
    return "".join(pieces)


def _tags_at_random(chooser: random.Random) -> list[str]:
    family = chooser.choice(_FAMILIES)
    match chooser.randrange(4):
        case 0:
            return chooser.sample(_TAGS, chooser.randint(2, 7))
        case 1:
            return [*chooser.sample(family, 4), *chooser.sample(_TAGS, 2)]
        case 2:
            return chooser.sample(family, chooser.randint(2, len(family)))
        case _:
            return [*chooser.sample(family, 4), *chooser.sample(chooser.choice(_FAMILIES), 3)]


def _start_tag(tag: str, chooser: random.Random) -> str:
    attributes = chooser.choice(_ATTRIBUTES.get(tag, _ANYWHERE if chooser.random() < 0.1 else ("",)))
    return f"<{tag} {attributes}>" if attributes else f"<{tag}>"
