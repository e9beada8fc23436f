"""What do the names of elements suggest about the text in them?

Authors name the parts of their pages: ``class="sidebar"``, ``id="main-content"``, ``role="navigation"``. Three kinds
are told apart: what stands aside of the text (menus, footers, comments), what is set apart in it (captions, bylines,
lists of links), and what is the text itself. Such an element is renamed to the one that HTML has for it, so that text
can be rendered with its parts in one pass.
"""

from __future__ import annotations

import re

from turbohtml import Document

ASIDE, APART, MAIN = "aside", "address", "main"  # tags
_NONE = ""
_WEAK = frozenset({_NONE, APART})
_NAMED = ("div", "section", "header", "figure", "dl", "dialog", "ul", "ol", "table", "td", "form")
_WORDS = re.compile(r"[\W_]+|(?<=[a-z])(?=[A-Z])")
# fmt: off
_VOCABULARIES = {
    MAIN: frozenset({
        "articlebody", "articlecontent", "articletext", "bodycontent", "contentbody", "entrycontent", "mainbody",
        "maincontent", "mwcontenttext", "postbody", "postcontent", "storybody", "storycontent",
    }),
    ASIDE: frozenset({
        "ad", "addthis", "ads", "advert", "advertisement", "banner", "breadcrumb", "breadcrumbs", "comment",
        "commentlist", "comments", "consent", "contentinfo", "cookie", "cookies", "copyright", "disclaimer", "disqus",
        "footer", "gdpr", "headerlink", "jumbotron", "login", "masthead", "menu", "menus", "modal", "nav", "navbar",
        "navfooter", "navheader", "navi", "navigation", "navigationbar", "newsletter", "noprint", "outbrain", "overlay",
        "pager", "pagination", "paywall", "popular", "popup", "promo", "promotion", "recommendation", "recommendations",
        "recommended", "related", "respond", "share", "sharebar", "sharing", "sidebar", "sidebarwrapper", "sidenav",
        "signup", "skip", "social", "sponsor", "sponsored", "submenu", "subscribe", "subscription", "taboola",
        "tagcloud", "teaser", "teasers", "toc", "toolbar", "topbar", "trending",
    }),
    APART: frozenset({
        "aside", "author", "bar", "bio", "bottom", "button", "byline", "caption", "carousel", "credit", "credits",
        "date", "dropdown", "extra", "foot", "form", "gallery", "head", "header", "hidden", "icon", "image", "img",
        "info", "language", "left", "link", "links", "list", "logo", "media", "meta", "more", "next", "options", "prev",
        "previous", "rating", "reply", "right", "rss", "search", "secondary", "slider", "sub", "tag", "tags", "time",
        "tools", "top", "user", "video", "widget", "widgets",
    }),
}
_ROLES = {
    "alert": ASIDE, "alertdialog": ASIDE, "banner": ASIDE, "complementary": ASIDE, "contentinfo": ASIDE,
    "dialog": ASIDE, "main": MAIN, "menu": ASIDE, "menubar": ASIDE, "navigation": ASIDE, "search": ASIDE,
    "toolbar": ASIDE,
}
# fmt: on
_PROPERTIES = {"articleBody": MAIN, "text": MAIN}
_NAMES_REMEMBERED = 20_000


class PartMarker:
    """Renames the parts of pages; remembers what names mean, because the pages of a site use the same ones."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    def mark(self, document: Document) -> None:
        """Give every block whose role or name suggests a part the tag of that part."""
        _mark_roles(document)
        known, learn = self._known, self._learn
        if len(known) > _NAMES_REMEMBERED:
            known.clear()
        for element in document.iter_elements(_NAMED):
            names, part = element.attr("class"), _NONE
            if names:
                part = known[names] if names in known else learn(names)
            if part in _WEAK and (name := element.attr("id")):
                part = (known[name] if name in known else learn(name)) or part
            if part:
                element.tag = part

    def _learn(self, names: str) -> str:
        words = [word.lower() for word in _WORDS.split(names) if word]
        said = {*words, *map(str.__add__, words, words[1:])}
        suggested = (part for part, vocabulary in _VOCABULARIES.items() if not said.isdisjoint(vocabulary))
        part = self._known[names] = next(suggested, _NONE)
        return part


def _mark_roles(document: Document) -> None:
    for element in document.select("[role], [itemprop]"):
        said = _PROPERTIES.get(element.attr("itemprop") or "") or _ROLES.get(element.attr("role") or "")
        if said and element.tag in _NAMED:
            element.tag = said
