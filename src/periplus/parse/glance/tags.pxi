# Kinds of tags and attributes, by the hash of their names in lower case.

cdef enum Kind:
    INLINE  # and unknown tags
    ANCHOR
    BLOCK
    HEADING
    PARAGRAPH
    ITEM  # <li>
    TERM  # <dt>, <dd>
    FORM
    BUTTON
    LABEL  # starts a line in the text; not special in the standard
    DIALOG  # a block that is not special in the standard
    SCOPE  # from here to TABLE: limits the scope of end tags
    CAPTION
    CELL
    TABLE  # from here to COLUMNS: a tree moves text and other elements out
    ROWS  # <tbody> and the like
    ROW
    COLUMNS  # <colgroup>
    COLUMN
    SELECT
    OPTION
    BREAK
    RULE
    IMAGE
    VOID  # ignored
    META
    LINK
    BASE
    AREA
    IFRAME
    TITLE
    RAW  # <script> and the like
    TEXTAREA
    SVG  # <svg>
    MATH  # <math>
    ROOT
    HEAD
    BODY
    NEEDS_TREE  # only a tree handles these correctly

cdef enum:
    KNOWN_SIZE = 512

cdef struct Known:
    uint64_t name  # 0: of no effect of its own, as <span>
    Kind kind
    uint64_t formatting  # see OpenElements.formatting; 0 if it is no formatting element

cdef Known KNOWN[KNOWN_SIZE]
cdef uint64_t NO_NAME = 0xCBF29CE484222325ULL


cdef inline uint64_t hash_byte(uint64_t name, uint8_t letter) noexcept nogil:
    return (name ^ letter) * 0x100000001B3ULL


cpdef uint64_t hash_of(str word):
    cdef uint64_t name = NO_NAME
    cdef uint8_t letter
    for letter in word.encode():
        name = hash_byte(name, letter)
    return name


cdef inline Known* find_known(uint64_t name) noexcept nogil:
    cdef uint64_t at = (name >> 40) & (KNOWN_SIZE - 1)
    while KNOWN[at].name != 0 and KNOWN[at].name != name:
        at = (at + 1) & (KNOWN_SIZE - 1)
    return &KNOWN[at]


cdef inline Kind kind_of(uint64_t name) noexcept nogil:
    return find_known(name).kind


cdef void add_tags(Kind kind, str words):
    for word in words.split():
        find_known(hash_of(word))[0] = Known(hash_of(word), kind, 0)


add_tags(INLINE, "ruby rb rt rtc")
add_tags(ANCHOR, "a")
add_tags(BLOCK, "address article aside blockquote center details dir div dl fieldset figcaption figure footer")
add_tags(BLOCK, "header hgroup listing main menu nav ol pre search section summary ul")
add_tags(HEADING, "h1 h2 h3 h4 h5 h6")
add_tags(PARAGRAPH, "p")
add_tags(ITEM, "li")
add_tags(TERM, "dt dd")
add_tags(FORM, "form")
add_tags(BUTTON, "button")
add_tags(LABEL, "label legend")
add_tags(DIALOG, "dialog")
add_tags(SCOPE, "applet marquee object")
add_tags(TABLE, "table")
add_tags(ROWS, "tbody tfoot thead")
add_tags(ROW, "tr")
add_tags(CELL, "td th")
add_tags(CAPTION, "caption")
add_tags(COLUMNS, "colgroup")
add_tags(COLUMN, "col")
add_tags(SELECT, "select")
add_tags(OPTION, "option optgroup")
add_tags(BREAK, "br")
add_tags(RULE, "hr")
add_tags(IMAGE, "img image")
add_tags(VOID, "embed input keygen param source track wbr")
add_tags(META, "meta")
add_tags(LINK, "link")
add_tags(BASE, "base")
add_tags(AREA, "area")
add_tags(IFRAME, "iframe")
add_tags(TITLE, "title")
add_tags(RAW, "script style noscript noframes")
add_tags(TEXTAREA, "textarea")
add_tags(SVG, "svg")
add_tags(MATH, "math")
add_tags(ROOT, "html")
add_tags(HEAD, "head")
add_tags(BODY, "body")
add_tags(NEEDS_TREE, "basefont bgsound datalist frame frameset isindex noembed plaintext rp template xmp")

cdef enum:
    MOST_FORMATTING = 15  # open elements of one name; a count that gets there stays there

cdef uint64_t LOOSE_ANCHOR = 1ULL << 60


cdef void add_formatting(str words):
    cdef int place
    for place, word in enumerate(words.split()):
        find_known(hash_of(word))[0] = Known(hash_of(word), INLINE, 1ULL << 4 * place)


add_formatting("b big code em font i nobr s small strike strong tt u")

cdef uint64_t SCRIPT = hash_of("script"), STYLE = hash_of("style"), NOBR = hash_of("nobr")
cdef uint64_t TBODY = hash_of("tbody"), TR = hash_of("tr"), RUBY = hash_of("ruby")
cdef uint64_t UL = hash_of("ul"), OL = hash_of("ol"), DIV = hash_of("div"), ADDRESS = hash_of("address")
cdef uint64_t HREF = hash_of("href"), REL = hash_of("rel"), HREFLANG = hash_of("hreflang"), ALT = hash_of("alt")
cdef uint64_t NAME = hash_of("name"), CONTENT = hash_of("content"), HTTP_EQUIV = hash_of("http-equiv")
cdef uint64_t SRC = hash_of("src"), TITLE_NAME = hash_of("title")
cdef uint64_t LANG = hash_of("lang"), XML_LANG = hash_of("xml:lang")

# Inline HTML tags that end an <svg> or <math>; and the foreign elements that contain text or HTML.
cdef set FOREIGN_NEVER = set(map(hash_of, (
    "a b big code em font i nobr ruby s small span strong strike sub sup tt u var foreignobject annotation-xml"
).split()))
cdef set FOREIGN_LEAVES = set(map(hash_of, "title desc mi mo mn ms mtext style script".split()))


cdef bint is_foreign(uint64_t name):
    """Whether the element may be inside <svg> or <math>."""
    cdef Kind kind = kind_of(name)
    return name not in FOREIGN_NEVER if kind == INLINE else name == TITLE_NAME or name == STYLE or name == SCRIPT


cdef inline bint is_special(Kind kind) noexcept nogil:
    """Whether the element is special in the standard: end tags of inline elements do not close it."""
    return kind > ANCHOR and kind != LABEL and kind != DIALOG


cdef inline bint ends_formatting(Kind kind) noexcept nogil:
    """Whether formatting elements (``<b>``) around it have no effect inside it, and those inside none after it."""
    return SCOPE <= kind <= CELL


cdef inline bint is_boundary(Kind kind) noexcept nogil:
    return SCOPE <= kind <= TABLE


cdef inline bint moves_content_out(Kind kind) noexcept nogil:
    return TABLE <= kind <= COLUMNS


cdef inline bint is_in_table(Kind kind) noexcept nogil:
    return CAPTION <= kind <= COLUMN and kind != TABLE


cdef inline bint is_line(Kind kind) noexcept nogil:
    """Whether the element starts and ends a line of text."""
    return BLOCK <= kind <= DIALOG or CAPTION <= kind <= TABLE


cdef inline bint needs_exact_nesting(Kind kind) noexcept nogil:
    """Whether inline elements inside it must be nested correctly."""
    return kind == ANCHOR or kind == HEADING or FORM <= kind <= DIALOG and kind != BUTTON


cdef inline int attribute_slot(Kind kind, uint64_t attribute) noexcept nogil:
    """The slot, from 1 to 3, of a kept attribute of such an element; 0 if it is not kept."""
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


cdef inline bint has_kept_attributes(Kind kind) noexcept nogil:
    return kind == ANCHOR or kind == ROOT or IMAGE <= kind <= IFRAME
