# Which elements are open, what opens and what closes them?

cdef enum:
    DEEPEST = 256

cdef Py_ssize_t MOST_HEADINGS = _HEADINGS  # that anybody looks at

cdef struct Open:
    uint64_t name
    Kind kind
    Py_ssize_t part  # -1: none


cdef class Nest(Text):
    """The open elements that could matter."""

    cdef Open stack[DEEPEST]
    cdef int depth
    cdef int fragile  # open elements that the end of an inline element could close, or that one could keep open
    cdef Py_ssize_t anchor  # the part of the open link, -1 without one
    cdef bint has_loose_anchor  # an <a> without href may be open
    cdef bint has_form, in_select, in_option
    cdef int ruby  # how many were open when the last <ruby> began
    cdef Py_ssize_t headings  # so far

    def __cinit__(self, bytes html):
        self.anchor = -1
        self.ruby = DEEPEST

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

    # -- start tags --------------------------------------------------------------------------------------------------

    cdef int open(self, uint64_t name, Kind kind) except -1:
        if kind == INLINE:
            if (name == RT or name == RB or name == RTC) and self.depth > self.ruby:
                self.is_odd = True  # it would end what is open in the <ruby>
            if self.fragile:
                self.is_odd = self.is_odd or name == NOBR  # a second one ends the first
                self.push(name, INLINE, -1)
            if name == RUBY:
                self.ruby = self.depth
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
            self.is_odd = True  # it ends the first, unless a <b> around both is in the way
        self.end_line()
        self.headings += 1
        self.push(name, HEADING, self.add_part(HEADING) if self.headings <= MOST_HEADINGS else -1)
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
            if is_special(one.kind) and one.kind != PARAGRAPH and one.name != DIV and one.name != ADDRESS:
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

    # -- end tags ----------------------------------------------------------------------------------------------------

    cdef void end(self, uint64_t name, Kind kind) noexcept:
        if self.in_select:
            self.end_in_select(kind)
        elif kind == INLINE:
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
            at = -1 if is_special(self.stack[at].kind) else at - 1
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
        if top == at >= 0:
            self.pop_to(at)
        else:
            self.is_odd = True
