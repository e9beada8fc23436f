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
from periplus.parse.limits import ANCHOR as _ANCHOR
from periplus.parse.limits import HEADING as _HEADING
from periplus.parse.limits import HEADINGS as _HEADINGS
from periplus.parse.limits import squeeze

include "characters.pxi"
include "tags.pxi"
include "references.pxi"
include "source.pxi"
include "text.pxi"
include "nest.pxi"

cdef enum:
    MENTION = 1
    WORDS = 2
    ENDORSEMENT = 4
    EVERYTHING = 7

cdef enum:
    DEEPEST_DRAWING = 32

cdef list TAGS = [""] * (BODY + 1)
TAGS[META], TAGS[LINK], TAGS[BASE] = "meta", "link", "base"
TAGS[AREA], TAGS[IFRAME], TAGS[TITLE], TAGS[ROOT] = "area", "iframe", "title", "html"
cdef frozenset UNENDORSED = _UNENDORSED
cdef Py_ssize_t LONGEST_OF_LINK = _ANCHOR
cdef Py_ssize_t LONGEST_OF_HEADING = _HEADING


cdef class Element:
    """An element that says something; like the page, it speaks as much of turbohtml's language as skimming needs."""

    cdef Glance page
    cdef Part* part
    cdef readonly str tag

    def attr(self, str name):
        """The value of an attribute, None without it."""
        cdef int place = place_of(self.part.kind, hash_of(name))
        return self.page.value(self.part.values[place - 1]) if place else None

    @property
    def is_in_head(self):
        return self.part.is_in_head

    @property
    def text(self):
        """What is written in a title."""
        return unescaped(self.page.source, self.part.values[0].start, self.part.values[0].end, False)


cdef class Glance(Nest):
    """A page that was written well."""

    cdef bint has_root

    # -- what it says ------------------------------------------------------------------------------------------------

    @property
    def root(self):
        """The <html> element."""
        return self.element(0)

    def to_text(self):
        """The words of the page: a space between two, a line for each block."""
        return PyUnicode_DecodeUTF8(<const char*>self.text, self.length, NULL)

    def elements(self):
        """What says something about the page, but for links and headings."""
        return [self.element(at) for at in range(1, self.part_count) if self.parts[at].kind > HEADING]

    def headings(self):
        """The words of every heading, in one line."""
        return [self.words(&self.parts[at], LONGEST_OF_HEADING) for at in range(1, self.part_count)
                if self.parts[at].kind == HEADING]

    def links(self):
        """What leads away from the page: href, words, whether its author does not stand by it.

        An <a> that adds nothing to those before it is left out.
        """
        cdef Py_ssize_t at
        cdef Part* part
        cdef Span span, last = NONE
        cdef int had, brought
        cdef bint is_unendorsed
        cdef str href, words
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
            if had != EVERYTHING:
                words, is_unendorsed = self.words_of_link(part), self.is_unendorsed(part)
                brought = had | MENTION | (WORDS if words else 0) | (0 if is_unendorsed else ENDORSEMENT)
                if brought != had:
                    brought_by[href] = had = brought
                    found.append((href, words, is_unendorsed))
            if had == EVERYTHING:
                last = span
        return found

    cdef str words_of_link(self, Part* part):
        """Its words, or else those that stand for the first picture in it."""
        cdef str words = self.words(part, LONGEST_OF_LINK)
        return words if words or part.values[2].end <= 0 else squeeze(self.value(part.values[2]), LONGEST_OF_LINK)

    cdef bint is_unendorsed(self, Part* part):
        return part.values[1].end >= 0 and not UNENDORSED.isdisjoint(self.value(part.values[1]).lower().split())

    cdef str words(self, Part* part, Py_ssize_t most):
        cdef Py_ssize_t start = self.start_of_words(part)
        cdef Py_ssize_t length = part.end - start
        cdef const char* words = <const char*>self.text + start
        if length <= most and memchr(words, c"\n", length) == NULL:
            return PyUnicode_DecodeUTF8(words, length, NULL)
        return squeeze(PyUnicode_DecodeUTF8(words, length, NULL), most)

    cdef Element element(self, Py_ssize_t at):
        cdef Element element = Element.__new__(Element)
        element.page, element.part = self, &self.parts[at]
        element.tag = <str>TAGS[element.part.kind]
        return element

    # -- reading -----------------------------------------------------------------------------------------------------

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
            at = self.end_of_words(at + 1)
            self.write(p + start, at - start)
        return at

    cdef inline Py_ssize_t end_of_words(self, Py_ssize_t at) noexcept:
        """Where words with single spaces between them end: at the latest at the next tag, or after the last byte."""
        cdef const uint8_t* p = self.source
        while True:
            while SORT[p[at]] == PLAIN:
                at += 1
            if p[at] == c" " and SORT[p[at + 1]] == PLAIN:
                at += 2
            elif SORT[p[at]] == PERHAPS_SPACE and not space_length(p + at):
                at += 1
            else:
                return at

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

    cdef Py_ssize_t read_end(self, Py_ssize_t at) noexcept:
        cdef uint64_t name
        at = self.read_attributes(self.read_name(at, &name), RAW)
        if at >= 0:
            self.end(name, kind_of(name))
        return at

    cdef int read_field(self, Kind kind) except -1:
        if kind != META or self.values[0].end >= 0:
            self.add_part(kind)
        elif (self.value(self.values[2]) or "").lower() == "refresh":
            self.is_odd = True
        return 0

    cdef void read_root(self) noexcept:
        """The first <html> is the root, whatever came before it; what others say is added to it."""
        if self.has_attributes and (self.has_root or self.has_body or self.part_count > 1):
            self.is_odd = True
        elif not self.has_root:
            self.parts[0].values = self.values
        self.has_root = True

    cdef Py_ssize_t swallow(
        self, Kind kind, uint64_t name, Py_ssize_t word, Py_ssize_t length, Py_ssize_t start
    ) except -2:
        """An element in which there are no tags."""
        cdef const uint8_t* p = self.source
        cdef const uint8_t* found = p + start - 1
        cdef Py_ssize_t end
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
            self.has_body = True
            self.end_line()
            self.read_text(start, end, True)
            self.end_line()
        return self.read_attributes(end + 2 + length, RAW)

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


def glance(bytes html):
    """The page, which should be UTF-8, or None if only its tree tells what is on it."""
    cdef Glance page = Glance.__new__(Glance, html)
    page.read()
    return None if page.is_odd else page
