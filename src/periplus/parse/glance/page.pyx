# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""What would the tree of this page say, without building it?

Most pages are written well enough that one pass over their bytes finds the same words, links and fields as the tree
of the standard. Where the standard would have to repair something in a way that could be seen (words between the rows
of a table, a link that is never closed, frames), `glance` gives up, and the tree is built after all. So what it
returns is what the tree would have said: `tests/parse/test_glance.py` holds one against the other.

A stack has the open elements that could matter: blocks, tables, links. Other elements inside a line (``<b>``,
``<span>``) do not change the words, and are looked at only within what their end could break: a link or a label.
"""

from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, realloc
from libc.string cimport memchr, memcmp, memcpy

from html.entities import html5 as _NAMED

from periplus.parse.directives import UNENDORSED as _UNENDORSED

include "characters.pxi"
include "tags.pxi"
include "references.pxi"

cdef enum:
    MENTION = 1
    WORDS = 2
    ENDORSEMENT = 4
    EVERYTHING = 7

cdef enum:
    DEEPEST = 256
    DEEPEST_DRAWING = 32

cdef list TAGS = [""] * (BODY + 1)
TAGS[ANCHOR], TAGS[HEADING], TAGS[META], TAGS[LINK], TAGS[BASE] = "a", "h1", "meta", "link", "base"
TAGS[AREA], TAGS[IFRAME], TAGS[TITLE], TAGS[ROOT] = "area", "iframe", "title", "html"

cdef struct Span:
    Py_ssize_t start
    Py_ssize_t end  # before the start: there is none

cdef struct Part:  # an element that says something
    Kind kind
    bint is_in_head
    Span values[3]  # of the attributes that are kept
    Py_ssize_t start  # of its words, in the text of the page
    Py_ssize_t end

cdef struct Open:
    uint64_t name
    Kind kind
    Py_ssize_t part  # -1: none

cdef Span NONE = Span(0, -1)
cdef frozenset UNENDORSED = _UNENDORSED


cdef class Element:
    """An element that says something; like the whole page, it speaks as much of turbohtml's language as skimming needs."""

    cdef Glance page
    cdef Part* part
    cdef readonly str tag

    def attr(self, str name):
        """The value of an attribute, None without it; of a link also the `alt` of the first picture in it."""
        cdef int place = place_of(self.part.kind, hash_of(name))
        return self.page.value(self.part.values[place - 1]) if place else None

    def find(self, str tag):
        """The first picture in a link, None without one."""
        return self if tag == "img" and self.part.values[2].end >= 0 else None

    @property
    def is_in_head(self):
        return self.part.is_in_head

    @property
    def text(self):
        """What is written in a title."""
        return unescaped(self.page.source, self.part.values[0].start, self.part.values[0].end, False)

    def to_text(self):
        """Its words."""
        cdef Py_ssize_t start = self.page.start_of_words(self.part)
        return PyUnicode_DecodeUTF8(<const char*>self.page.text + start, self.part.end - start, NULL)


cdef class Glance:
    """A page that was written well."""

    cdef bytes html
    cdef const uint8_t* source
    cdef Py_ssize_t size
    cdef uint8_t* text
    cdef Py_ssize_t room, length, line  # line: where the last line of the text begins
    cdef bint pending  # a space, if a word follows
    cdef Part* parts
    cdef Py_ssize_t part_count, part_room
    cdef Open stack[DEEPEST]
    cdef int depth
    cdef int fragile  # open elements that the end of an inline element could close, or that one could keep open
    cdef int inlines  # more inline elements opened than closed since the last form began
    cdef Py_ssize_t anchor  # the part of the open link, -1 without one
    cdef bint has_loose_anchor  # an <a> without href may be open
    cdef bint has_form, in_select, in_option, has_root, has_body, is_odd
    # of the tag that is being read
    cdef Span values[3]
    cdef bint has_attributes, is_self_closed

    def __cinit__(self, bytes html):
        self.html, self.size = html, len(html)
        self.source = <const uint8_t*><const char*>html  # there is a zero after the last byte
        self.anchor = -1
        self.values = [NONE, NONE, NONE]
        self.make_room(self.size // 2 + 64)
        self.add_part(ROOT)

    def __dealloc__(self):
        free(self.text)
        free(self.parts)

    # -- what it says ----------------------------------------------------------------------------------------------

    @property
    def root(self):
        """The <html> element."""
        return self.element(0)

    def to_text(self):
        """The words of the page: a space between two, a line for each block."""
        return PyUnicode_DecodeUTF8(<const char*>self.text, self.length, NULL)

    def elements(self):
        """What says something about the page, but for links."""
        return [self.element(at) for at in range(1, self.part_count) if self.parts[at].kind != ANCHOR]

    def links(self):
        """Every <a> that leads away from the page, after its href; not those that add nothing to those before them."""
        cdef Py_ssize_t at
        cdef Part* part
        cdef Span span, last = NONE
        cdef int had, brought
        cdef str href
        cdef dict brought_by = {}
        cdef list found = []
        for at in range(1, self.part_count):
            part = &self.parts[at]
            if part.kind != ANCHOR:
                continue
            span = self.without_fragment(part.values[0])
            if span.start == span.end or self.are_same(span, last):
                continue
            href = self.value(span)
            had = brought_by.get(href, 0)
            brought = had | self.brought(part) if had != EVERYTHING else had
            if brought != had:
                brought_by[href] = brought
                found.append((href, self.element(at)))
            if brought == EVERYTHING:
                last = span
        return found

    cdef int brought(self, Part* part):
        """What an <a> says of the place it leads to: that it is one, in words, and that its author stands by it."""
        cdef int brought = MENTION
        if self.start_of_words(part) < part.end or (self.value(part.values[2]) or "").strip():
            brought |= WORDS
        if part.values[1].end < 0 or UNENDORSED.isdisjoint(self.value(part.values[1]).lower().split()):
            brought |= ENDORSEMENT
        return brought

    cdef Span without_fragment(self, Span href) noexcept:
        cdef const uint8_t* start = self.source + href.start
        cdef const void* mark = memchr(start, c"#", href.end - href.start)
        cdef Py_ssize_t length = <const uint8_t*>mark - start
        if mark != NULL and (length == 0 or start[length - 1] > c" ") and memchr(start, c"&", length + 1) == NULL:
            href.end = href.start + length
        return href

    cdef bint are_same(self, Span one, Span other) noexcept:
        cdef Py_ssize_t length = one.end - one.start
        return length == other.end - other.start and not memcmp(self.source + one.start, self.source + other.start, length)

    cdef Py_ssize_t start_of_words(self, Part* part) noexcept:
        cdef Py_ssize_t start = part.start
        while start < part.end and self.text[start] <= c" ":
            start += 1
        return start

    cdef Element element(self, Py_ssize_t at):
        cdef Element element = Element.__new__(Element)
        element.page, element.part = self, &self.parts[at]
        element.tag = <str>TAGS[element.part.kind]
        return element

    cdef object value(self, Span span):
        cdef Py_ssize_t length = span.end - span.start
        if length < 0:
            return None
        cdef const uint8_t* start = self.source + span.start
        if memchr(start, c"&", length) == NULL and memchr(start, c"\r", length) == NULL:
            return PyUnicode_DecodeUTF8(<const char*>start, length, NULL)
        return unescaped(self.source, span.start, span.end, True)

    # -- reading ---------------------------------------------------------------------------------------------------

    cdef int read(self) except -1:
        cdef Py_ssize_t at = 0
        self.is_odd = not is_utf8(self.source, self.size) or memchr(self.source, 0, self.size) != NULL
        while 0 <= at < self.size and not self.is_odd:
            at = self.read_markup(at) if self.source[at] == c"<" else self.read_text(at, self.size, False)
        self.pop_to(0)
        if self.length and self.length == self.line:
            self.length -= 1  # the end of the last line
        return 0

    cdef Py_ssize_t read_markup(self, Py_ssize_t at) except -2:
        """What follows the tag or comment that begins here; -1: it has no end."""
        cdef const uint8_t* p = self.source
        cdef const void* end
        if is_letter(p[at + 1]):
            return self.read_start(at + 1)
        if p[at + 1] == c"/" and is_letter(p[at + 2]):
            return self.read_end(at + 2)
        if p[at + 1] == c"!" and p[at + 2] == c"-" and p[at + 3] == c"-":
            return self.read_comment(at + 4)
        if p[at + 1] == c"!" or p[at + 1] == c"/" or p[at + 1] == c"?":
            end = memchr(p + at + 2, c">", self.size - at - 2) if at + 2 < self.size else NULL
            if end == NULL:
                self.is_odd = True
            return <const uint8_t*>end - p + 1 if end != NULL else -1
        if self.may_have_words():
            self.write(p + at, 1)
        return at + 1

    cdef Py_ssize_t read_comment(self, Py_ssize_t start) noexcept:
        cdef const uint8_t* p = self.source
        cdef const uint8_t* found = p + start
        cdef Py_ssize_t end
        if start < self.size and p[start] == c">":
            return start + 1
        if start + 1 < self.size and p[start] == c"-" and p[start + 1] == c">":
            return start + 2
        while True:
            found = <const uint8_t*>memchr(found, c">", p + self.size - found)
            if found == NULL:
                return -1
            end = found - p
            if end - start >= 2 and p[end - 1] == c"-" and p[end - 2] == c"-":
                return end + 1
            if end - start >= 3 and p[end - 1] == c"!" and p[end - 2] == c"-" and p[end - 3] == c"-":
                return end + 1
            found += 1

    cdef Py_ssize_t read_attributes(self, Py_ssize_t at, Kind kind) noexcept:
        """What follows the tag; -1: it has no end."""
        cdef const uint8_t* p = self.source
        cdef const void* quote
        cdef uint64_t name
        cdef bint counts = has_places(kind)
        cdef int place
        cdef Span value
        self.values = [NONE, NONE, NONE]
        self.has_attributes = False
        while True:
            self.is_self_closed = False
            while is_space(p[at]) or p[at] == c"/":
                self.is_self_closed = p[at] == c"/"
                at += 1
            if p[at] == c">":
                return at + 1
            if at >= self.size:
                return -1
            self.has_attributes = True
            name = hash_on(NO_NAME, lower(p[at]))
            at += 1
            if counts:
                while at < self.size and p[at] != c"=" and not ends_name(p[at]):
                    name = hash_on(name, lower(p[at]))
                    at += 1
            else:
                while at < self.size and p[at] != c"=" and not ends_name(p[at]):
                    at += 1
            while is_space(p[at]):
                at += 1
            value = Span(at, at)
            if p[at] == c"=":
                at += 1
                while is_space(p[at]):
                    at += 1
                value.start = at
                if p[at] == c'"' or p[at] == c"'":
                    value.start += 1
                    quote = memchr(p + value.start, p[at], self.size - value.start)
                    if quote == NULL:
                        return -1
                    value.end = <const uint8_t*>quote - p
                    at = value.end + 1
                else:
                    while at < self.size and p[at] != c">" and not is_space(p[at]):
                        at += 1
                    value.end = at
            if counts:
                place = place_of(kind, name)
                if place and self.values[place - 1].end < 0:  # the first of a name counts
                    self.values[place - 1] = value

    cdef inline Py_ssize_t read_name(self, Py_ssize_t at, uint64_t* name) noexcept:
        name[0] = NO_NAME
        while at < self.size and not ends_name(self.source[at]):
            name[0] = hash_on(name[0], lower(self.source[at]))
            at += 1
        return at

    # -- words -----------------------------------------------------------------------------------------------------

    cdef int make_room(self, Py_ssize_t more) except -1:
        cdef Py_ssize_t room = (self.length + more) * 2
        cdef void* larger = realloc(self.text, room)
        if larger == NULL:
            raise MemoryError
        self.text, self.room = <uint8_t*>larger, room
        return 0

    cdef inline int write(self, const uint8_t* words, Py_ssize_t length) except -1:
        if self.length + length + 2 > self.room:  # a space before it, the end of a line after it
            self.make_room(length + 2)
        if self.pending and self.length > self.line:
            self.text[self.length] = c" "
            self.length += 1
        self.pending = False
        memcpy(self.text + self.length, words, length)
        self.length += length
        return 0

    cdef inline void end_line(self) noexcept:
        self.pending = False
        if self.length > self.line:
            self.text[self.length] = c"\n"
            self.length += 1
            self.line = self.length

    cdef inline bint may_have_words(self) noexcept:
        """Whether words may stand here; the tree moves those between the rows of a table."""
        if self.depth and is_strict(self.stack[self.depth - 1].kind) or self.in_select and not self.in_option:
            self.is_odd = True
            return False
        self.has_body = True
        return True

    cdef Py_ssize_t read_text(self, Py_ssize_t at, Py_ssize_t end, bint is_all_text) except -2:
        """Read up to the next tag, or to *end*."""
        cdef const uint8_t* p = self.source
        cdef Py_ssize_t start
        cdef int length
        cdef uint8_t sort
        while at < end and not self.is_odd:
            sort = SORT[p[at]]
            if sort == SPACE:
                self.pending = True
                at += 1
                continue
            if sort == MARK and not is_all_text:
                break
            if not self.may_have_words():
                break
            if sort == REFERENCE:
                at += self.write_reference(at, end)
                continue
            if sort == CONTROL:
                self.is_odd = True
                break
            length = space_length(p + at) if sort == PERHAPS_SPACE else 0
            if length:
                self.pending = True
                at += length
                continue
            start = at
            at += 1
            while at < end:
                sort = SORT[p[at]]
                if sort == PLAIN or (p[at] == c" " and at + 1 < end and SORT[p[at + 1]] == PLAIN):
                    at += 1
                elif sort == PERHAPS_SPACE and not space_length(p + at):
                    at += 1
                else:
                    break
            self.write(p + start, at - start)
        return at

    cdef Py_ssize_t write_reference(self, Py_ssize_t at, Py_ssize_t end) except -1:
        cdef Letters letters
        cdef Py_ssize_t length = read_reference(self.source, at, end, False, &letters)
        if length == 0:
            self.write(self.source + at, 1)
            return 1
        if SORT[letters.bytes[0]] == CONTROL:
            self.is_odd = True
        elif SORT[letters.bytes[0]] == SPACE or space_length(letters.bytes):
            self.pending = True
        else:
            self.write(letters.bytes, letters.count)
        return length

    # -- what is open ----------------------------------------------------------------------------------------------

    cdef inline void push(self, uint64_t name, Kind kind, Py_ssize_t part) noexcept:
        if self.depth == DEEPEST:
            self.is_odd = True
            return
        self.stack[self.depth] = Open(name, kind, part)
        self.depth += 1
        self.fragile += is_fragile(kind)

    cdef void pop_to(self, int index) noexcept:
        """Close what is open from *index* on."""
        cdef Open* top
        while self.depth > index:
            self.depth -= 1
            top = &self.stack[self.depth]
            self.fragile -= is_fragile(top.kind)
            if top.kind == ANCHOR:
                self.anchor = -1
            if top.part >= 0:
                self.parts[top.part].end = self.length
            if is_line(top.kind):
                self.end_line()

    cdef void close(self, int index) noexcept:
        """Close the element at *index*, if there is one, and what is in it; links and forms would stay open."""
        cdef int above
        if index < 0:
            return
        for above in range(index + 1, self.depth):
            if self.stack[above].kind == ANCHOR or self.stack[above].kind == FORM:
                self.is_odd = True
                return
        self.pop_to(index)

    cdef int find(self, uint64_t name) noexcept:
        """The nearest open element of this name that an end tag can reach; -1: none."""
        cdef int at = self.depth - 1
        while at >= 0 and self.stack[at].name != name:
            at = -1 if is_boundary(self.stack[at].kind) else at - 1
        return at

    cdef int find_kind(self, Kind kind) noexcept:
        """The same by kind; a button has paragraphs of its own, a list has items of its own."""
        cdef int at = self.depth - 1
        cdef Open* one
        while at >= 0 and self.stack[at].kind != kind:
            one = &self.stack[at]
            if is_boundary(one.kind) or (kind == PARAGRAPH and one.kind == BUTTON):
                return -1
            if kind == ITEM and (one.name == UL or one.name == OL):
                return -1
            at -= 1
        return at

    cdef int find_in_table(self, uint64_t name) noexcept:
        cdef int at = self.depth - 1
        while at >= 0 and self.stack[at].name != name:
            at = -1 if self.stack[at].kind == TABLE else at - 1
        return at

    # -- start tags ------------------------------------------------------------------------------------------------

    cdef Py_ssize_t add_part(self, Kind kind) except -1:
        cdef void* larger
        cdef Part* part
        if self.part_count == self.part_room:
            self.part_room = self.part_room * 2 or 64
            larger = realloc(self.parts, self.part_room * sizeof(Part))
            if larger == NULL:
                raise MemoryError
            self.parts = <Part*>larger
        part = &self.parts[self.part_count]
        part.kind, part.is_in_head = kind, not self.has_body
        part.values = self.values
        part.start = part.end = self.length
        self.part_count += 1
        return self.part_count - 1

    cdef Py_ssize_t read_start(self, Py_ssize_t start) except -2:
        """What follows the tag, and what it swallows; -1: it has no end."""
        cdef uint64_t name
        cdef Py_ssize_t after_name = self.read_name(start, &name)
        cdef Kind kind = kind_of(name)
        cdef Py_ssize_t at = self.read_attributes(after_name, kind)
        if at < 0:
            return -1
        if self.in_select and kind != OPTION:
            self.is_odd = True
        elif self.depth and is_strict(self.stack[self.depth - 1].kind) and not is_in_table(kind) and kind != RAW:
            self.is_odd = True  # the tree moves it before the table
        elif IFRAME <= kind <= TEXTAREA:
            return self.swallow(kind, name, start, after_name - start, at)
        elif META <= kind <= BASE:
            self.read_field(kind)
        elif kind == ROOT:
            self.read_root()
        elif kind != HEAD:
            self.has_body = True
            if kind == DRAWING or kind == FORMULA:
                return self.read_foreign(name, at)
            self.open(name, kind)
        return at

    cdef int open(self, uint64_t name, Kind kind) except -1:
        if kind == INLINE:
            self.inlines += 1
            if self.fragile:
                self.is_odd = self.is_odd or name == NOBR  # a second one ends the first
                self.push(name, INLINE, -1)
        elif kind == ANCHOR:
            self.open_anchor(name)
        elif kind == BLOCK or kind == PARAGRAPH or kind == TABLE:
            self.open_block(name, kind)
        elif kind == HEADING:
            self.open_heading(name)
        elif kind == ITEM or kind == TERM:
            self.end_item_before(kind)
            self.open_block(name, kind)
        elif kind == FORM:
            if not self.has_form:
                self.open_block(name, kind)
                self.inlines = 0
            self.has_form = True
        elif kind == BUTTON or kind == LABEL:
            self.is_odd = self.is_odd or self.has_loose_anchor or (kind == BUTTON and self.find_kind(BUTTON) >= 0)
            self.end_line()
            self.push(name, kind, -1)
        elif kind == SCOPE:
            self.push(name, kind, -1)
        elif is_in_table(kind):
            self.open_in_table(name, kind)
        elif kind == SELECT or kind == OPTION:
            self.is_odd = self.is_odd or (kind == OPTION) != self.in_select
            self.end_line()
            self.in_select, self.in_option = True, kind == OPTION
        elif kind == BREAK:
            self.end_line()
        elif kind == RULE:
            self.close_paragraph()
            self.end_line()
        elif kind == IMAGE:
            if self.anchor >= 0 and self.parts[self.anchor].values[2].end < 0:
                self.parts[self.anchor].values[2] = self.values[2] if self.values[2].end >= 0 else Span(0, 0)
        elif kind == AREA:
            self.add_part(kind)
        elif kind == ODD:
            self.is_odd = True
        return 0

    cdef void open_block(self, uint64_t name, Kind kind) noexcept:
        self.close_paragraph()
        self.end_line()
        self.push(name, kind, -1)

    cdef void close_paragraph(self) noexcept:
        cdef int at = self.find_kind(PARAGRAPH)
        if at >= 0 and at < self.depth - 1:
            self.is_odd = True
        elif at >= 0:
            self.pop_to(at)

    cdef int open_heading(self, uint64_t name) except -1:
        self.close_paragraph()
        if self.depth and self.stack[self.depth - 1].kind == HEADING:
            self.pop_to(self.depth - 1)
        self.end_line()
        self.push(name, HEADING, self.add_part(HEADING))
        return 0

    cdef void end_item_before(self, Kind kind) noexcept:
        """A new item ends the one before it, unless it is in a list of its own."""
        cdef int at = self.depth - 1
        cdef Open* one
        while at >= 0:
            one = &self.stack[at]
            if one.kind == kind:
                self.close(at)
                return
            if one.kind > ANCHOR and one.kind != LABEL and one.kind != PARAGRAPH and one.name != DIV and one.name != ADDRESS:
                return
            at -= 1

    cdef int open_anchor(self, uint64_t name) except -1:
        """Only a link counts; another <a> just ends the link before it."""
        if self.anchor >= 0:
            self.close_anchor()
        if self.fragile and self.has_loose_anchor:
            self.is_odd = True
        self.values[2] = NONE  # kept for the first picture in it
        self.has_loose_anchor = self.values[0].end < 0
        if not self.has_loose_anchor:
            self.anchor = self.add_part(ANCHOR)
            self.push(name, ANCHOR, self.anchor)
        elif self.fragile:
            self.push(name, INLINE, -1)
        return 0

    cdef void close_anchor(self) noexcept:
        cdef int at = self.depth - 1
        while at >= 0 and self.stack[at].kind == INLINE:
            at -= 1
        if at >= 0 and self.stack[at].kind == ANCHOR:
            self.pop_to(at)
        else:
            self.is_odd = True

    cdef void open_in_table(self, uint64_t name, Kind kind) noexcept:
        """Close and open what a table needs, before one of its parts."""
        cdef int at
        cdef Kind around
        while not self.is_odd:
            at = self.depth - 1
            while at >= 0 and not (CAPTION <= self.stack[at].kind <= COLUMNS):
                at -= 1
            if at < 0:
                return  # outside a table it is nothing
            around = self.stack[at].kind
            if around == TABLE and (kind == CELL or kind == ROW):
                self.push(0, ROWS, -1)
            elif around == ROWS and kind == CELL:
                self.push(0, ROW, -1)
            elif kind == COLUMN and (around == TABLE or around == COLUMNS):
                return
            elif around == TABLE or (around == ROWS and kind == ROW) or (around == ROW and kind == CELL):
                break
            else:
                self.close(at)
        if is_line(kind):
            self.end_line()
        self.push(name, kind, -1)

    cdef int read_root(self) noexcept:
        """The first <html> is the root, whatever came before it; what others say is added to it."""
        if self.has_attributes and (self.has_root or self.has_body or self.part_count > 1):
            self.is_odd = True
        elif not self.has_root:
            self.parts[0].values = self.values
        self.has_root = True

    cdef int read_field(self, Kind kind) except -1:
        if kind != META or self.values[0].end >= 0:
            self.add_part(kind)
        elif (self.value(self.values[2]) or "").lower() == "refresh":
            self.is_odd = True
        return 0

    cdef Py_ssize_t swallow(
        self, Kind kind, uint64_t name, Py_ssize_t word, Py_ssize_t length, Py_ssize_t start
    ) except -2:
        """An element in which there are no tags."""
        cdef const uint8_t* p = self.source
        cdef const uint8_t* found = p + start - 1
        cdef Py_ssize_t end, part
        while True:
            found = <const uint8_t*>memchr(found + 1, c"<", p + self.size - found - 1)
            if found == NULL:
                self.is_odd = True
                return -1
            end = found - p
            if p[end + 1] == c"/" and end + 2 + length < self.size and ends_name(p[end + 2 + length]):
                if is_same_word(p + end + 2, p + word, length):
                    break
        if name == SCRIPT and self.hides_script(start, end):
            self.is_odd = True
        elif kind == IFRAME:
            self.has_body = True
            self.add_part(kind)
        elif kind == TITLE:
            self.values[0] = Span(start, end)
            self.add_part(kind)
        elif kind == TEXTAREA:
            self.end_line()
            self.read_text(start, end, True)
            self.end_line()
        return self.read_attributes(end + 2 + length, RAW)

    cdef bint hides_script(self, Py_ssize_t start, Py_ssize_t end):
        """Whether the end of another script, in a comment, may have been taken for its end."""
        cdef bytes script
        if memchr(self.source + start, c"!", end - start) == NULL:
            return False
        script = (<const char*>self.source)[start:end]
        return b"<!--" in script and b"<script" in script.lower()

    cdef Py_ssize_t read_foreign(self, uint64_t name, Py_ssize_t at) except -2:
        """A drawing or a formula, if it is made of nothing but its own elements; what follows it."""
        cdef const uint8_t* p = self.source
        cdef uint64_t names[DEEPEST_DRAWING]
        cdef int depth = 0
        if not self.is_self_closed:
            names[0], depth = name, 1
        while depth and not self.is_odd and 0 <= at < self.size:
            name = names[depth - 1]
            if p[at] != c"<":
                at = at + 1 if name == STYLE or name == SCRIPT else self.read_text(at, self.size, False)
            elif p[at + 1] == c"/" and is_letter(p[at + 2]):
                at = self.read_attributes(self.read_name(at + 2, &name), RAW)
                depth -= 1
                self.is_odd = self.is_odd or names[depth] != name
            elif is_letter(p[at + 1]):
                self.is_odd = name in FOREIGN_LEAVES
                at = self.read_attributes(self.read_name(at + 1, &name), RAW)
                self.is_odd = self.is_odd or depth == DEEPEST_DRAWING or not is_foreign(name)
                if not self.is_odd and not self.is_self_closed:
                    names[depth] = name
                    depth += 1
                self.pending = self.pending or name == TITLE_NAME
            elif p[at + 1] == c"!" and p[at + 2] == c"-" and p[at + 3] == c"-":
                at = self.read_comment(at + 4)
            else:
                self.is_odd = True
        return at

    # -- end tags --------------------------------------------------------------------------------------------------

    cdef Py_ssize_t read_end(self, Py_ssize_t at) noexcept:
        cdef uint64_t name
        at = self.read_attributes(self.read_name(at, &name), RAW)
        if at >= 0:
            self.end(name, kind_of(name))
        return at

    cdef void end(self, uint64_t name, Kind kind) noexcept:
        if self.in_select:
            self.end_in_select(kind)
        elif kind == INLINE:
            self.inlines -= 1
            if self.fragile:
                self.end_inline(name)
        elif kind == ANCHOR:
            if self.anchor >= 0:
                self.close_anchor()
            elif self.fragile and self.has_loose_anchor:
                self.end_inline(name)
            self.has_loose_anchor = False
        elif kind == HEADING or kind == ITEM:
            self.close(self.find_kind(kind))
        elif kind == PARAGRAPH or kind == BREAK:
            self.end_paragraph(kind)
        elif kind == LABEL:
            self.end_label(name)
        elif kind == FORM:
            self.end_form()
        elif kind == COLUMNS:
            if self.depth and self.stack[self.depth - 1].kind == COLUMNS:
                self.pop_to(self.depth - 1)
        elif BLOCK <= kind <= SCOPE:
            self.close(self.find(name))
        elif CAPTION <= kind <= ROW:
            self.close(self.find_in_table(name))
        elif kind == BODY or kind == ROOT:
            self.has_body = True
        elif kind >= DRAWING and kind != HEAD:
            self.is_odd = True

    cdef void end_in_select(self, Kind kind) noexcept:
        self.is_odd = self.is_odd or not (kind == SELECT or (kind == OPTION and self.in_option))
        self.in_select, self.in_option = kind == OPTION, False
        self.end_line()

    cdef void end_inline(self, uint64_t name) noexcept:
        if self.stack[self.depth - 1].kind == INLINE and self.stack[self.depth - 1].name == name:
            self.depth -= 1
        else:
            self.is_odd = True

    cdef void end_paragraph(self, Kind kind) noexcept:
        """The end of a paragraph that is not open is an empty one, and that of a <br> is one."""
        cdef int at = self.find_kind(PARAGRAPH) if kind == PARAGRAPH else -1
        self.has_body = True
        if at >= 0:
            self.close(at)
        elif self.depth and is_strict(self.stack[self.depth - 1].kind):
            self.is_odd = True
        else:
            self.end_line()

    cdef void end_label(self, uint64_t name) noexcept:
        """It reaches across what is nothing special only."""
        cdef int at = self.depth - 1
        while at >= 0 and self.stack[at].name != name:
            at = at - 1 if self.stack[at].kind <= ANCHOR or self.stack[at].kind == LABEL else -1
        self.close(at)

    cdef void end_form(self) noexcept:
        """Only the form is closed, and what an end tag may be left out for; what else is open in it stays open."""
        cdef int at = self.find_kind(FORM)
        cdef int top = self.depth - 1
        if not self.has_form:
            return
        self.has_form = False
        while top > at >= 0 and PARAGRAPH <= self.stack[top].kind <= TERM:
            top -= 1
        if top == at >= 0 and self.inlines == 0:
            self.pop_to(at)
        else:
            self.is_odd = True


def glance(bytes html):
    """The page, which should be UTF-8, or None if only its tree tells what is on it."""
    cdef Glance page = Glance.__new__(Glance, html)
    page.read()
    return None if page.is_odd else page
