# What is known about tags and attributes; both go by the hash of their names in lower case.

cdef enum Kind:
    INLINE  # and everything unknown
    ANCHOR
    BLOCK
    HEADING
    PARAGRAPH
    ITEM  # <li>
    TERM  # <dt>, <dd>
    FORM
    BUTTON
    LABEL  # a line of its own for us, nothing special for the parser
    SCOPE  # from here to TABLE: what an end tag cannot reach across
    CAPTION
    CELL
    TABLE  # from here to COLUMNS: where words and other elements would be moved away
    ROWS  # <tbody> and the like
    ROW
    COLUMNS  # <colgroup>
    COLUMN
    SELECT
    OPTION
    BREAK
    RULE
    IMAGE
    VOID  # says nothing
    META
    LINK
    BASE
    AREA
    IFRAME
    TITLE
    RAW  # <script> and the like
    TEXTAREA
    DRAWING  # <svg>
    FORMULA  # <math>
    ROOT
    HEAD
    BODY
    ODD  # what only the tree gets right

cdef enum:
    KNOWN_ROOM = 512

cdef struct Known:
    uint64_t name
    Kind kind

cdef Known KNOWN[KNOWN_ROOM]
cdef uint64_t NO_NAME = 0xCBF29CE484222325ULL


cdef inline uint64_t hash_on(uint64_t name, uint8_t letter) noexcept nogil:
    return (name ^ letter) * 0x100000001B3ULL


cpdef uint64_t hash_of(str word):
    cdef uint64_t name = NO_NAME
    cdef uint8_t letter
    for letter in word.encode():
        name = hash_on(name, letter)
    return name


cdef inline Known* find_known(uint64_t name) noexcept nogil:
    cdef uint64_t at = (name >> 40) & (KNOWN_ROOM - 1)
    while KNOWN[at].name != 0 and KNOWN[at].name != name:
        at = (at + 1) & (KNOWN_ROOM - 1)
    return &KNOWN[at]


cdef inline Kind kind_of(uint64_t name) noexcept nogil:
    return find_known(name).kind


cdef void learn(Kind kind, str words):
    for word in words.split():
        find_known(hash_of(word))[0] = Known(hash_of(word), kind)


learn(ANCHOR, "a")
learn(BLOCK, "address article aside blockquote center details dialog dir div dl fieldset figcaption figure footer")
learn(BLOCK, "header hgroup listing main menu nav ol pre search section summary ul")
learn(HEADING, "h1 h2 h3 h4 h5 h6")
learn(PARAGRAPH, "p")
learn(ITEM, "li")
learn(TERM, "dt dd")
learn(FORM, "form")
learn(BUTTON, "button")
learn(LABEL, "label legend")
learn(SCOPE, "applet marquee object")
learn(TABLE, "table")
learn(ROWS, "tbody tfoot thead")
learn(ROW, "tr")
learn(CELL, "td th")
learn(CAPTION, "caption")
learn(COLUMNS, "colgroup")
learn(COLUMN, "col")
learn(SELECT, "select")
learn(OPTION, "option optgroup")
learn(BREAK, "br")
learn(RULE, "hr")
learn(IMAGE, "img image")
learn(VOID, "basefont bgsound embed input keygen param source track wbr")
learn(META, "meta")
learn(LINK, "link")
learn(BASE, "base")
learn(AREA, "area")
learn(IFRAME, "iframe")
learn(TITLE, "title")
learn(RAW, "script style noscript noembed noframes")
learn(TEXTAREA, "textarea")
learn(DRAWING, "svg")
learn(FORMULA, "math")
learn(ROOT, "html")
learn(HEAD, "head")
learn(BODY, "body")
learn(ODD, "datalist frame frameset plaintext rp template xmp")

cdef uint64_t SCRIPT = hash_of("script"), STYLE = hash_of("style"), NOBR = hash_of("nobr")
cdef uint64_t RUBY = hash_of("ruby"), RT = hash_of("rt"), RB = hash_of("rb"), RTC = hash_of("rtc")
cdef uint64_t UL = hash_of("ul"), OL = hash_of("ol"), DIV = hash_of("div"), ADDRESS = hash_of("address")
cdef uint64_t HREF = hash_of("href"), REL = hash_of("rel"), HREFLANG = hash_of("hreflang"), ALT = hash_of("alt")
cdef uint64_t NAME = hash_of("name"), CONTENT = hash_of("content"), HTTP_EQUIV = hash_of("http-equiv")
cdef uint64_t SRC = hash_of("src"), TITLE_NAME = hash_of("title")
cdef uint64_t LANG = hash_of("lang"), XML_LANG = hash_of("xml:lang")

# What ends a drawing or a formula, though elsewhere it is nothing special; and in what of theirs there is HTML again.
cdef set FOREIGN_NEVER = set(map(hash_of, (
    "a b big code em font i nobr ruby s small span strong strike sub sup tt u var foreignobject annotation-xml"
).split()))
cdef set FOREIGN_LEAVES = set(map(hash_of, "title desc mi mo mn ms mtext style script".split()))


cdef bint is_foreign(uint64_t name):
    """Whether it may be a part of a drawing or a formula."""
    cdef Kind kind = kind_of(name)
    return name not in FOREIGN_NEVER if kind == INLINE else name == TITLE_NAME or name == STYLE or name == SCRIPT


cdef inline bint is_special(Kind kind) noexcept nogil:
    """Whether the end of another element cannot just reach across it."""
    return kind > ANCHOR and kind != LABEL


cdef inline bint is_boundary(Kind kind) noexcept nogil:
    return SCOPE <= kind <= TABLE


cdef inline bint is_strict(Kind kind) noexcept nogil:
    return TABLE <= kind <= COLUMNS


cdef inline bint is_in_table(Kind kind) noexcept nogil:
    return CAPTION <= kind <= COLUMN and kind != TABLE


cdef inline bint is_line(Kind kind) noexcept nogil:
    """Whether its words are lines of their own."""
    return BLOCK <= kind <= LABEL or CAPTION <= kind <= TABLE


cdef inline bint is_fragile(Kind kind) noexcept nogil:
    """Whether the inline elements in it have to be nested as they should be."""
    return kind == ANCHOR or kind == LABEL or kind == HEADING or kind == FORM


cdef inline int place_of(Kind kind, uint64_t attribute) noexcept nogil:
    """Which of the three attributes that are kept of such an element this is; 0: none."""
    if kind == ANCHOR:
        return 1 if attribute == HREF else 2 if attribute == REL else 3 if attribute == ALT else 0
    if kind == LINK:
        return 1 if attribute == HREF else 2 if attribute == REL else 3 if attribute == HREFLANG else 0
    if kind == META:
        return 1 if attribute == NAME else 2 if attribute == CONTENT else 3 if attribute == HTTP_EQUIV else 0
    if kind == IMAGE:
        return 3 if attribute == ALT else 0
    if kind == BASE or kind == AREA:
        return 1 if attribute == HREF else 3 if attribute == ALT else 0
    if kind == IFRAME:
        return 1 if attribute == SRC else 2 if attribute == TITLE_NAME else 0
    if kind == ROOT:
        return 1 if attribute == LANG else 2 if attribute == XML_LANG else 0
    return 0


cdef inline bint has_places(Kind kind) noexcept nogil:
    return kind == ANCHOR or kind == ROOT or IMAGE <= kind <= IFRAME
