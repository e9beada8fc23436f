# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""Extracts text, links and fields from HTML in one pass over the bytes, without building a tree.

For most pages one pass gives the same result as the tree of the HTML standard. Where the standard repairs markup in a
way that changes the result (text between table rows, an unclosed link, frames), `glance` returns None and the caller
builds the tree. `tests/parse/test_glance.py` compares both results.

A stack holds the open elements that affect the result: blocks, tables, links. Other inline elements (``<b>``,
``<span>``) do not change the text. They are tracked only inside a link, label, heading, form or dialog, which their end
tags could break. Formatting elements (``<b>``, ``<font>``) are counted everywhere: a tree opens those without an end
tag again in later blocks, and that changes where a form ends.
"""

from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, realloc
from libc.string cimport memchr, memcmp, memcpy

import re
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
    DEEPEST_SVG = 32

cdef list TAGS = [""] * (BODY + 1)
TAGS[META], TAGS[LINK], TAGS[BASE] = "meta", "link", "base"
TAGS[AREA], TAGS[IFRAME], TAGS[TITLE], TAGS[ROOT] = "area", "iframe", "title", "html"
cdef frozenset UNENDORSED = _UNENDORSED
cdef Py_ssize_t LONGEST_OF_LINK = _ANCHOR
cdef Py_ssize_t LONGEST_OF_HEADING = _HEADING


cdef class Element:
    """An element with a field of the page; has the part of turbohtml's API that the quick parse needs."""

    cdef Glance page
    cdef Part* part
    cdef readonly str tag

    def attr(self, str name):
        """The value of an attribute, None without it."""
        cdef int slot = attribute_slot(self.part.kind, hash_of(name))
        return self.page.value(self.part.values[slot - 1]) if slot else None

    @property
    def is_in_head(self):
        return self.part.is_in_head

    @property
    def text(self):
        """The text of a <title>."""
        return unescaped(self.page.source, self.part.values[0].start, self.part.values[0].end, False)


cdef class Glance(OpenElements):
    """A scanned page that needs no tree."""

    cdef bint has_root

    # -- results -----------------------------------------------------------------------------------------------------

    @property
    def root(self):
        """The <html> element."""
        return self.element(0)

    def to_text(self):
        """The text of the page: single spaces between words, one line per block."""
        return PyUnicode_DecodeUTF8(<const char*>self.text, self.length, NULL)

    def elements(self):
        """The elements with fields of the page, except links and headings."""
        return [self.element(at) for at in range(1, self.part_count) if self.parts[at].kind > HEADING]

    def headings(self):
        """The text of every heading, in one line."""
        return [self.words(&self.parts[at], LONGEST_OF_HEADING) for at in range(1, self.part_count)
                if self.parts[at].kind == HEADING]

    def links(self):
        """The links to other pages: href, anchor text, whether rel has nofollow, ugc or sponsored.

        Leaves out an <a> that adds nothing to earlier links with the same href.
        """
        cdef Py_ssize_t at
        cdef Part* part
        cdef Span span, last = NONE
        cdef int had, now
        cdef bint is_unendorsed
        cdef str href, words
        cdef dict found_by_href = {}
        cdef list found = []
        for at in range(1, self.part_count):
            part = &self.parts[at]
            if part.kind != ANCHOR:
                continue
            span = self.without_fragment(part.values[0])
            if span.start == span.end or self.are_same(span, last):
                continue
            href = self.value(span)
            had = found_by_href.get(href, 0)
            if had != EVERYTHING:
                words, is_unendorsed = self.words_of_link(part), self.is_unendorsed(part)
                now = had | MENTION | (WORDS if words else 0) | (0 if is_unendorsed else ENDORSEMENT)
                if now != had:
                    found_by_href[href] = had = now
                    found.append((href, words, is_unendorsed))
            if had == EVERYTHING:
                last = span
        return found

    cdef str words_of_link(self, Part* part):
        """The text of a link, or else the alternative text of its first image."""
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

    # -- scanning ----------------------------------------------------------------------------------------------------

    cdef int read(self) except -1:
        cdef Py_ssize_t at = 0
        self.needs_tree = not is_utf8(self.source, self.size) or memchr(self.source, 0, self.size) != NULL
        while 0 <= at < self.size and not self.needs_tree:
            at = self.read_markup(at) if self.source[at] == c"<" else self.read_text(at, self.size, False)
        self.pop_to(0)
        if self.length and self.length == self.line:
            self.length -= 1  # the last line end
        return 0

    cdef Py_ssize_t read_markup(self, Py_ssize_t at) except -2:
        """The position after the tag or comment that starts here; -1 if it has no end."""
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
                self.needs_tree = True
            return <const uint8_t*>end - p + 1 if end != NULL else -1
        if self.may_have_words():
            self.write(p + at, 1)
        return at + 1

    cdef inline bint may_have_words(self) noexcept:
        """Whether text is allowed here; a tree would move text out from between table rows."""
        if self.depth and moves_content_out(self.stack[self.depth - 1].kind) or self.in_select and not self.in_option:
            self.needs_tree = True
            return False
        self.has_body = True
        return True

    cdef Py_ssize_t read_text(self, Py_ssize_t at, Py_ssize_t end, bint is_all_text) except -2:
        """Read text up to the next tag, or to *end*."""
        cdef const uint8_t* p = self.source
        cdef Py_ssize_t start
        cdef int length
        cdef uint8_t byte_class
        while at < end and not self.needs_tree:
            byte_class = CLASS[p[at]]
            if byte_class == SPACE:
                self.pending = True
                at += 1
                continue
            if byte_class == TAG_START and not is_all_text:
                break
            if not self.may_have_words():
                break
            if byte_class == REFERENCE:
                at += self.write_reference(at, end)
                continue
            if byte_class == CONTROL:
                self.needs_tree = True
                break
            length = space_length(p + at) if byte_class == PERHAPS_SPACE else 0
            if length:
                self.pending = True
                at += length
                continue
            start = at
            at = self.end_of_words(at + 1)
            self.write(p + start, at - start)
        return at

    cdef inline Py_ssize_t end_of_words(self, Py_ssize_t at) noexcept:
        """The end of a run of plain words with single spaces between them."""
        cdef const uint8_t* p = self.source
        while True:
            while CLASS[p[at]] == PLAIN:
                at += 1
            if p[at] == c" " and CLASS[p[at + 1]] == PLAIN:
                at += 2
            elif CLASS[p[at]] == PERHAPS_SPACE and not space_length(p + at):
                at += 1
            else:
                return at

    cdef Py_ssize_t read_start(self, Py_ssize_t start) except -2:
        """The position after the start tag, and after the raw text it begins; -1 if it has no end."""
        cdef uint64_t name
        cdef Py_ssize_t after_name = self.read_name(start, &name)
        cdef Known* known = find_known(name)
        cdef Kind kind = known.kind
        cdef Py_ssize_t at = self.read_attributes(after_name, kind)
        if at < 0:
            return -1
        if self.in_select and kind != OPTION:
            self.needs_tree = True
        elif self.depth and moves_content_out(self.stack[self.depth - 1].kind) and not is_in_table(kind) and kind != RAW:
            self.needs_tree = True  # a tree would move it before the table
        elif IFRAME <= kind <= TEXTAREA:
            return self.read_raw_element(kind, name, start, after_name - start, at)
        elif META <= kind <= BASE:
            self.read_field(kind)
        elif kind == ROOT or kind == HEAD:
            self.read_root(kind)
        else:
            self.has_body = True
            if kind == SVG or kind == MATH:
                return self.read_foreign(name, at)
            self.open(known, name)
        return at

    cdef Py_ssize_t read_end(self, Py_ssize_t at) noexcept:
        cdef uint64_t name
        at = self.read_attributes(self.read_name(at, &name), RAW)
        if at >= 0:
            self.end(find_known(name), name)
        return at

    cdef int read_field(self, Kind kind) except -1:
        if kind != META or self.values[0].end >= 0:
            self.add_part(kind)
        elif (self.value(self.values[2]) or "").lower() == "refresh":
            self.needs_tree = True
        return 0

    cdef void read_root(self, Kind kind) noexcept:
        """Use the first <html> as the root; a tree would add the attributes of later ones to it."""
        if self.head_ended and not self.has_body:
            self.needs_tree = True  # a tree would begin the body
        if kind == HEAD:
            return
        if self.has_attributes and (self.has_root or self.has_body or self.part_count > 1):
            self.needs_tree = True
        elif not self.has_root:
            self.parts[0].values = self.values
        self.has_root = True

    cdef Py_ssize_t read_raw_element(
        self, Kind kind, uint64_t name, Py_ssize_t word, Py_ssize_t length, Py_ssize_t start
    ) except -2:
        """Read an element whose content is raw text: <script>, <title>, <textarea>."""
        cdef const uint8_t* p = self.source
        cdef const uint8_t* found = p + start - 1
        cdef Py_ssize_t end
        while True:
            found = <const uint8_t*>memchr(found + 1, c"<", p + self.size - found - 1)
            if found == NULL:
                self.needs_tree = True
                return -1
            end = found - p
            if p[end + 1] == c"/" and end + 2 + length < self.size and ends_name(p[end + 2 + length]):
                if is_same_word(p + end + 2, p + word, length):
                    break
        if name == SCRIPT and self.hides_script(start, end):
            self.needs_tree = True
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
        """Read an <svg> or <math> that contains only foreign elements; returns the position after it."""
        cdef const uint8_t* p = self.source
        cdef uint64_t names[DEEPEST_SVG]
        cdef int depth = 0
        if not self.is_self_closed:
            names[0], depth = name, 1
        while depth and not self.needs_tree and 0 <= at < self.size:
            name = names[depth - 1]
            if p[at] != c"<":
                at = at + 1 if name == STYLE or name == SCRIPT else self.read_text(at, self.size, False)
            elif p[at + 1] == c"/" and is_letter(p[at + 2]):
                at = self.read_attributes(self.read_name(at + 2, &name), RAW)
                depth -= 1
                self.needs_tree = self.needs_tree or names[depth] != name
            elif is_letter(p[at + 1]):
                self.needs_tree = name in FOREIGN_LEAVES
                at = self.read_attributes(self.read_name(at + 1, &name), RAW)
                self.needs_tree = self.needs_tree or depth == DEEPEST_SVG or not is_foreign(name)
                if not self.needs_tree and not self.is_self_closed:
                    names[depth] = name
                    depth += 1
                self.pending = self.pending or name == TITLE_NAME
            elif p[at + 1] == c"!" and p[at + 2] == c"-" and p[at + 3] == c"-":
                at = self.read_comment(at + 4)
            else:
                self.needs_tree = True
        return at


def glance(bytes html):
    """Scan a page in UTF-8; None if the page needs a tree."""
    cdef Glance page = Glance.__new__(Glance, html)
    page.read()
    return None if page.needs_tree else page
