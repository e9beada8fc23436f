# The stack of open elements: what each start and end tag opens and closes.

cdef enum:
    DEEPEST = 256
    MOST_BLOCKS = 8  # an end tag </b> does not close a <b> with so many open blocks in it

cdef Py_ssize_t MOST_HEADINGS = _HEADINGS  # more are not kept

# The document types of most pages that are certainly not in quirks mode; limits bound the time of a match.
cdef object NO_QUIRKS = re.compile(
    rb"""[ \t\n\f\r]{0,99}+ (?:<\?xml\ [^>]{0,99}+> [ \t\n\f\r]{0,99}+)? <!doctype\ html
    (?:\ public\ "-//w3c//dtd\ (?:xhtml\ 1\.|html\ 4\.01)[^">]{0,99}+" [ \t\n\f\r]{0,99}+
    "http://www\.w3\.org/[^">]{0,99}+")? [ ]?>""",
    re.IGNORECASE | re.VERBOSE,
)

cdef struct Open:
    uint64_t name
    Kind kind
    Py_ssize_t part  # -1: none
    uint64_t formatting  # the formatting elements that were open before it


cdef class OpenElements(Text):
    """The open elements that affect the result."""

    cdef Open stack[DEEPEST]
    cdef int depth
    cdef int exact_nesting  # open elements that a misnested inline element could close or keep open
    cdef Py_ssize_t anchor  # the part of the open link, -1 without one
    # The formatting elements that may be open: a count in four bits for each name, and LOOSE_ANCHOR for an <a> without
    # href. A tree opens them again in the next block after the end of the element around them.
    cdef uint64_t formatting
    cdef bint has_form, in_select, in_option
    cdef int ruby  # the depth at the open <ruby>, DEEPEST without one
    cdef Py_ssize_t headings  # so far

    def __cinit__(self, bytes html):
        self.anchor = -1
        self.ruby = DEEPEST

    cdef inline void push(self, uint64_t name, Kind kind, Py_ssize_t part) noexcept:
        if self.depth == DEEPEST:
            self.needs_tree = True
            return
        self.stack[self.depth] = Open(name, kind, part, self.formatting)
        self.depth += 1
        if ends_formatting(kind):
            self.formatting = 0
        self.exact_nesting += needs_exact_nesting(kind)

    cdef void pop_to(self, int index) noexcept:
        """Close the open elements from *index* on."""
        cdef Open* top
        while self.depth > index:
            self.depth -= 1
            top = &self.stack[self.depth]
            self.exact_nesting -= needs_exact_nesting(top.kind)
            if top.kind == ANCHOR:
                self.anchor = -1
            if ends_formatting(top.kind):
                self.formatting = top.formatting
            if top.part >= 0:
                self.parts[top.part].end = self.length
            if is_line(top.kind):
                self.end_line()
        if self.depth < self.ruby:
            self.ruby = DEEPEST

    cdef void close(self, int index) noexcept:
        """Close the element at *index*, if any, and its content.

        A tree would keep links and forms in it open, and formatting elements around an <object> in it.
        """
        cdef int above
        cdef Kind kind
        if index < 0:
            return
        for above in range(index + 1, self.depth):
            kind = self.stack[above].kind
            if kind == ANCHOR or kind == FORM or kind == SCOPE:
                self.needs_tree = True
                return
        self.pop_to(index)

    cdef int find(self, uint64_t name) noexcept:
        """The nearest open element of this name in the scope of an end tag; -1 if none."""
        cdef int at = self.depth - 1
        while at >= 0 and self.stack[at].name != name:
            at = -1 if is_boundary(self.stack[at].kind) else at - 1
        return at

    cdef int find_kind(self, Kind kind) noexcept:
        """The nearest open element of this kind in scope; buttons limit paragraphs, and lists limit items."""
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

    # -- start tags --------------------------------------------------------------------------------------------------

    cdef int open(self, Known* known, uint64_t name) except -1:
        cdef Kind kind = known.kind
        if kind == INLINE:
            if known.name:
                self.open_known_inline(known)
            if self.exact_nesting:
                self.push(name, INLINE, -1)
        elif kind == ANCHOR:
            self.open_anchor(name)
        elif kind == BLOCK or kind == PARAGRAPH or kind == DIALOG:
            self.open_block(name, kind)
        elif kind == TABLE:
            if self.find_kind(PARAGRAPH) >= 0 and NO_QUIRKS.match(self.html) is None:
                self.needs_tree = True  # in quirks mode a table does not close a paragraph
            self.open_block(name, kind)
        elif kind == HEADING:
            self.open_heading(name)
        elif kind == ITEM or kind == TERM:
            self.end_item_before(kind)
            self.open_block(name, kind)
        elif kind == FORM:
            if not self.has_form:
                self.open_block(name, kind)
            self.has_form = True
        elif kind == BUTTON or kind == LABEL:
            if self.has_loose_anchor() or (kind == BUTTON and self.find_kind(BUTTON) >= 0):
                self.needs_tree = True
            self.end_line()
            self.push(name, kind, -1)
        elif kind == SCOPE:
            self.push(name, kind, -1)
        elif is_in_table(kind):
            self.open_in_table(name, kind)
        elif kind == SELECT or kind == OPTION:
            self.needs_tree = self.needs_tree or (kind == OPTION) != self.in_select
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
        elif kind == NEEDS_TREE:
            self.needs_tree = True
        return 0

    cdef void open_known_inline(self, Known* known) noexcept:
        """Count a formatting element; check the parts of a <ruby>."""
        if known.formatting:
            if ~self.formatting & known.formatting * MOST_FORMATTING:
                self.formatting += known.formatting
            if known.name == NOBR and self.exact_nesting:
                self.needs_tree = True  # a second <nobr> closes the first
        elif known.name == RUBY:
            self.needs_tree = self.needs_tree or self.ruby != DEEPEST  # two are open
            self.ruby = self.depth + (self.exact_nesting > 0)
        elif self.depth > self.ruby:
            self.needs_tree = True  # a tree would close the elements in the <ruby>

    cdef void open_block(self, uint64_t name, Kind kind) noexcept:
        self.close_paragraph()
        self.end_line()
        self.push(name, kind, -1)

    cdef void close_paragraph(self) noexcept:
        cdef int at = self.find_kind(PARAGRAPH)
        if at >= 0 and at < self.depth - 1:
            self.needs_tree = True
        elif at >= 0:
            self.pop_to(at)

    cdef int open_heading(self, uint64_t name) except -1:
        self.close_paragraph()
        if self.depth and self.stack[self.depth - 1].kind == HEADING:
            self.needs_tree = True  # it closes the first heading, unless a <b> is around both
        self.end_line()
        self.headings += 1
        self.push(name, HEADING, self.add_part(HEADING) if self.headings <= MOST_HEADINGS else -1)
        return 0

    cdef void end_item_before(self, Kind kind) noexcept:
        """Close the previous item, unless the new item is in a nested list."""
        cdef int at = self.depth - 1
        cdef Open* one
        while at >= 0:
            one = &self.stack[at]
            if one.kind == kind:
                self.close(at)
                return
            if is_special(one.kind) and one.kind != PARAGRAPH and one.name != DIV and one.name != ADDRESS:
                return
            at -= 1

    cdef int open_anchor(self, uint64_t name) except -1:
        """Open a link; an <a> without href only closes the previous link."""
        if self.anchor >= 0:
            self.close_anchor()
        if self.exact_nesting and self.has_loose_anchor():
            self.needs_tree = True
        self.values[2] = NONE  # for the alternative text of the first image
        if self.values[0].end >= 0:
            self.formatting &= ~LOOSE_ANCHOR
            self.anchor = self.add_part(ANCHOR)
            self.push(name, ANCHOR, self.anchor)
            return 0
        self.formatting |= LOOSE_ANCHOR
        if self.exact_nesting:
            self.push(name, INLINE, -1)
        return 0

    cdef inline bint has_loose_anchor(self) noexcept:
        """Whether an <a> without href may be open."""
        return self.formatting & LOOSE_ANCHOR != 0

    cdef void close_anchor(self) noexcept:
        cdef int at = self.depth - 1
        while at >= 0 and self.stack[at].kind == INLINE:
            at -= 1
        if at >= 0 and self.stack[at].kind == ANCHOR:
            self.pop_to(at)
        else:
            self.needs_tree = True

    cdef void open_in_table(self, uint64_t name, Kind kind) noexcept:
        """Close and open the elements that the standard implies before a part of a table."""
        cdef int at
        cdef Kind around
        while not self.needs_tree:
            at = self.depth - 1
            while at >= 0 and not (CAPTION <= self.stack[at].kind <= COLUMNS):
                at -= 1
            if at < 0:
                return  # ignored outside a table
            around = self.stack[at].kind
            if around == TABLE and (kind == CELL or kind == ROW):
                self.push(TBODY, ROWS, -1)
            elif around == ROWS and kind == CELL:
                self.push(TR, ROW, -1)
            elif kind == COLUMN and (around == TABLE or around == COLUMNS):
                return
            elif around == TABLE or (around == ROWS and kind == ROW) or (around == ROW and kind == CELL):
                break
            else:
                self.close(at)
        if is_line(kind):
            self.end_line()
        self.push(name, kind, -1)

    # -- end tags ----------------------------------------------------------------------------------------------------

    cdef void end(self, Known* known, uint64_t name) noexcept:
        cdef Kind kind = known.kind
        if self.in_select:
            self.end_in_select(kind)
        elif kind == INLINE:
            if known.formatting:
                self.end_formatting(known.formatting)
            elif known.name == RUBY and self.depth <= self.ruby:
                self.ruby = DEEPEST
            if self.exact_nesting:
                self.end_inline(name)
        elif kind == ANCHOR:
            if self.anchor >= 0:
                self.close_anchor()
            elif self.exact_nesting and self.has_loose_anchor():
                self.end_inline(name)
            self.end_formatting(LOOSE_ANCHOR)
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
        elif kind == HEAD:
            self.head_ended = True
        elif kind >= SVG:
            self.needs_tree = True

    cdef void end_in_select(self, Kind kind) noexcept:
        self.needs_tree = self.needs_tree or not (kind == SELECT or (kind == OPTION and self.in_option))
        self.in_select, self.in_option = kind == OPTION, False
        self.end_line()

    cdef inline void end_formatting(self, uint64_t one) noexcept:
        """Count the end of a formatting element, unless a tree would keep it open."""
        cdef uint64_t all_of_name = one * MOST_FORMATTING
        cdef uint64_t count = self.formatting & all_of_name
        if count == 0 or count == all_of_name or self.depth and moves_content_out(self.stack[self.depth - 1].kind):
            return
        if self.depth < MOST_BLOCKS or self.stack[self.depth - MOST_BLOCKS].formatting & all_of_name < count:
            self.formatting -= one

    cdef void end_inline(self, uint64_t name) noexcept:
        if self.stack[self.depth - 1].kind == INLINE and self.stack[self.depth - 1].name == name:
            self.depth -= 1
        else:
            self.needs_tree = True

    cdef void end_paragraph(self, Kind kind) noexcept:
        """A </p> without an open paragraph is an empty paragraph; </br> is a <br>."""
        cdef int at = self.find_kind(PARAGRAPH) if kind == PARAGRAPH else -1
        self.has_body = self.has_body or kind == BREAK  # without a body, </p> is ignored
        if at >= 0:
            self.close(at)
        elif self.depth and moves_content_out(self.stack[self.depth - 1].kind):
            self.needs_tree = True
        else:
            self.end_line()

    cdef void end_label(self, uint64_t name) noexcept:
        """Close the label, unless a special element is open inside it."""
        cdef int at = self.depth - 1
        while at >= 0 and self.stack[at].name != name:
            at = -1 if is_special(self.stack[at].kind) else at - 1
        self.close(at)

    cdef void end_form(self) noexcept:
        """Close the form and elements with optional end tags; a tree would keep others in it open.

        A tree would also open earlier formatting elements again in the form, and keep them open.
        """
        cdef int at = self.find_kind(FORM)
        cdef int top = self.depth - 1
        if not self.has_form:
            return
        self.has_form = False
        while top > at >= 0 and PARAGRAPH <= self.stack[top].kind <= TERM:
            top -= 1
        if top == at >= 0 and not self.formatting:
            self.pop_to(at)
        else:
            self.needs_tree = True
