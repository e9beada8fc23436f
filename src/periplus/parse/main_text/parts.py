"""Which part of a page is this: navigation, boilerplate, secondary text or main content?

`PartMarker` classifies elements by their names: ``class="sidebar"``, ``id="main-content"``, ``role="navigation"``. It
renames each such element to the HTML tag of its kind, so that turbohtml renders the text with its parts in one pass.

- `NAVIGATION`: menus, breadcrumbs, tables of contents, sidebars.
- `BOILERPLATE`: footers, comments, related articles, share buttons, notices, advertisements, authors, tags, forms.
- `SECONDARY`: captions and symbols.
- `FRAME`: names of the layout, such as *header* or *list*, which say little.
- `MAIN`: the content. `LEAD`: the first paragraph of an article; its name wins over names such as *teaser*.
"""

from __future__ import annotations

import re
from itertools import chain

from turbohtml import Document, Element

NAVIGATION, BOILERPLATE, SECONDARY, FRAME, MAIN = "nav", "footer", "address", "header", "main"  # tags
LEAD = "section"  # a tag without a kind
_NONE = ""
_WEAK = frozenset({_NONE, FRAME})  # kinds of a class that the id may correct
_NAMED = ("div", "section", "header", "figure", "dl", "article", "main", SECONDARY)
_CONTENT = frozenset({"article", "main"})
# The id of these, and of a <div class="section">, comes from a heading or an entry in documentation: "comments".
_ANCHORED = frozenset({"section", "p", "dl"})
_NAMES_REMEMBERED = 20_000

# A star stands for any letters. Two words that follow each other in a name are also read as one: "read-more".
# fmt: off
_VOCABULARIES = (
    (MAIN, "content", """
        articlebody articlecontent articletext bodycontent contentbody entrycontent hentry hrecipe mainbody
        maincontent mwcontenttext postbody postcontent storybody storycontent"""),
    (LEAD, "first paragraph of an article", """
        abstract anleser articleintro articleteaser bajada chapo deck dek entradilla excerpt intro introduction
        introtext kicker lead leadin leadtext newsteaser sottotitolo standfirst subhead subheadline subtitle
        summary teasertext vorspann"""),
    (NAVIGATION, "menus", """
        breadcrumb* brotkrume* crumb* headerlink linklist masthead menu* nav navbar* navfooter navheader navi
        navigation* navlinks navlist navmenu noprint pagelinks pager paginat* paging postnav* prevnext sidenav
        skip skiplink skipto submenu* subnav* tagcloud toc toolbar topbar"""),
    (NAVIGATION, "sidebars", """
        complementary contextcolumn marginal* rail rightcol* rightrail secondarycontent sidebar* sidecol
        sidecolumn"""),
    (BOILERPLATE, "footers", """
        colophon contentinfo copyright* disclaimer* foot footer* impressum imprint legal"""),
    (BOILERPLATE, "comments", """
        coment* comment commentaire* commentarea commentbody commentcontent commentform commentlist comments
        commentsarea commentsection commenttext disqus* forumlink kommentar* leserbrief* livefyre nocomments
        reaction* replies reply* respond"""),
    (BOILERPLATE, "related articles", """
        aehnlich* crosslink* empfehl* empfohlen* furtherreading interessier* latestnews latestposts leetambien
        leiamais leiatambem lireaussi mehrzum meistgelesen morefrom morenews morestories mostpopular mostread*
        mostviewed nextarticle nextpost outbrain popular* promo* readalso readmore recent recentposts
        recirculation recommend* relacionad* related* relatert* similar* suggest* taboola teaser* trending
        upnext veatambien vejatambem verwandt* weiterlesen youmay"""),
    (BOILERPLATE, "buttons to share", """
        a2a addthis* addtoany* bookmarks compartilh* compartir condivid* follow followus jetpacklikes likes
        partage* share sharebar shareblock sharebox sharebutton* sharedaddy sharelinks sharepost sharer shares
        sharethis sharetools sharing* sociable* social* teilen*"""),
    (BOILERPLATE, "notices and advertisements", """
        abo abobox abonnement* ad ads advert* affiliate* anzeige* banner consent* cookie cookiebanner cookiebar
        cookieconsent cookielaw cookienotice cookies cta disclosure donat* gdpr* jumbotron login* modal*
        newsletter* overlay* paywall* popup* publicidad* publicite register registration regwall signup spenden
        sponsor* subscribe* subscription* werbung*"""),
    (BOILERPLATE, "authors", """
        aboutauthor auteur* author authorbio authorbox authorcard authordetails authorinfo authormeta authorname
        authorprofile authors autor autora autorbox autoren* autorin autorinfo bio biography byline*
        contributor* profile vcard writer*"""),
    (BOILERPLATE, "dates and tags", """
        articleinfo backlink categories catlinks date dateline datetime entryinfo entryutility etiquetas
        kategorie* keywords meta metabox metadata metainfo permalink posted postinfo postmeta* printbutton
        printlink pubdate published rating readingtime rubrik schlagwort* stichwort* tag tagged taglist tags
        time timestamp topics utility"""),
    (BOILERPLATE, "forms", """
        btn* button* form forms formular* search searchbar searchbox searchbutton searchfield searchform"""),
    (SECONDARY, "captions", """
        bildunterschrift caption* carousel* credit* figure galerie gallery* image imageblock imagecaption img
        imginline legende lightbox photo* picture slider* slideshow swiper* thumb* wpcaption"""),
    (SECONDARY, "symbols", """
        icon* languages languageswitcher logo* rss screenreader* sronly switcher tools visuallyhidden"""),
    (FRAME, "layout", """
        aside bar bottom box extra head header info infobox link links list module more next prev previous
        secondary sub widget*"""),
)
_ROLES = {
    "alert": BOILERPLATE, "alertdialog": BOILERPLATE, "banner": NAVIGATION, "complementary": NAVIGATION,
    "contentinfo": BOILERPLATE, "dialog": BOILERPLATE, "form": BOILERPLATE, "main": MAIN, "menu": NAVIGATION,
    "menubar": NAVIGATION, "navigation": NAVIGATION, "search": BOILERPLATE, "toolbar": NAVIGATION,
}
_PROPERTIES = {
    "articleBody": MAIN, "text": MAIN, "description": LEAD, "author": BOILERPLATE, "datePublished": SECONDARY,
    "caption": SECONDARY, "keywords": SECONDARY, "comment": BOILERPLATE,
}
# fmt: on
_PLAIN_ID = re.compile(r"[\w-]+")
_SEPARATORS = re.compile(r"[\W_]+|(?<=[a-z])(?=[A-Z])")


def _pattern(kind: str) -> re.Pattern[str]:
    words = " ".join(words for of_kind, _, words in _VOCABULARIES if of_kind == kind).split()
    return re.compile(rf"\b(?:{'|'.join(words)})\b".replace("*", r"\w*"))


_PATTERNS = {kind: _pattern(kind) for kind in (MAIN, LEAD, NAVIGATION, BOILERPLATE, SECONDARY, FRAME)}
_RENAMED = frozenset({*_NAMED, *_PATTERNS, "p"}) - _CONTENT


class PartMarker:
    """Renames elements by the kind of part; caches the kind by name, because the pages of a site share names."""

    def __init__(self) -> None:
        self._by_class: dict[str, str] = {}
        self._by_id: dict[str, str] = {}

    def mark(self, document: Document) -> None:
        """Rename every block whose role, property or name matches a kind of part."""
        for cache in (self._by_class, self._by_id):
            if len(cache) > _NAMES_REMEMBERED:
                cache.clear()
        by_class = self._by_class
        for element in chain(document.iter_elements(_NAMED), document.select("p[class]")):
            names, kind = element.attr("class"), _NONE
            if names:
                kind = by_class[names] if names in by_class else by_class.setdefault(names, _kind_of_class(names))
            if kind in _WEAK and (name := element.attr("id")):
                kind = self._kind_by_id(element, name) or kind
            if kind and (kind == BOILERPLATE or element.tag not in _CONTENT):
                element.tag = kind
        _mark_roles(document)

    def _kind_by_id(self, element: Element, name: str) -> str:
        if element.tag in _ANCHORED or "section" in (element.attr("class") or ""):
            return _NONE
        return self._by_id[name] if name in self._by_id else self._by_id.setdefault(name, _kind_of_id(name))


def _kind_of_class(names: str) -> str:
    words = [word.lower() for word in _SEPARATORS.split(names) if word]
    text = " ".join([*words, *map(str.__add__, words, words[1:])])
    return next((kind for kind, pattern in _PATTERNS.items() if pattern.search(text)), _NONE)


def _kind_of_id(name: str) -> str:
    """The kind of an id: none for entries of a reference, such as ``setCookie(string)`` or ``module-list``."""
    kind = _kind_of_class(name) if _PLAIN_ID.fullmatch(name) else _NONE
    return _NONE if kind == FRAME else kind


def _mark_roles(document: Document) -> None:
    for element in document.select("[role], [itemprop]"):
        kind = _PROPERTIES.get(element.attr("itemprop") or "") or _ROLES.get(element.attr("role") or "")
        if kind and element.tag in _RENAMED:
            element.tag = kind
