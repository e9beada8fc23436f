# The extracted text, and the elements with links, headings and fields.

cdef struct Part:  # an element with a link, heading or field
    Kind kind
    bint is_in_head
    Span values[3]  # of the kept attributes
    Py_ssize_t start  # of its text, in the text of the page
    Py_ssize_t end


cdef class Text(Source):
    """The text and parts found so far."""

    cdef uint8_t* text
    cdef Py_ssize_t capacity, length, line  # line: the start of the last line
    cdef bint pending  # write a space before the next word
    cdef Part* parts
    cdef Py_ssize_t part_count, part_capacity
    cdef bint has_body  # the body has begun
    cdef bint head_ended  # by its end tag
    cdef bint needs_tree  # the page cannot be scanned; the caller must build a tree

    def __cinit__(self, bytes html):
        self.grow(self.size // 2 + 64)
        self.add_part(ROOT)

    def __dealloc__(self):
        free(self.text)
        free(self.parts)

    cdef int grow(self, Py_ssize_t more) except -1:
        cdef Py_ssize_t capacity = (self.length + more) * 2
        cdef void* larger = realloc(self.text, capacity)
        if larger == NULL:
            raise MemoryError
        self.text, self.capacity = <uint8_t*>larger, capacity
        return 0

    cdef inline int write(self, const uint8_t* words, Py_ssize_t length) except -1:
        if self.length + length + 2 > self.capacity:  # for a space before and a line end after the text
            self.grow(length + 2)
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

    cdef Py_ssize_t write_reference(self, Py_ssize_t at, Py_ssize_t end) except -1:
        cdef Replacement replacement
        cdef Py_ssize_t length = read_reference(self.source, at, end, False, &replacement)
        if length == 0:
            self.write(self.source + at, 1)
            return 1
        if CLASS[replacement.bytes[0]] == CONTROL:
            self.needs_tree = True
        elif CLASS[replacement.bytes[0]] == SPACE:
            self.needs_tree = self.needs_tree or self.length == 0  # it does not begin the body
            self.pending = True
        elif space_length(replacement.bytes):
            self.pending = True
        else:
            self.write(replacement.bytes, replacement.count)
        return length

    cdef Py_ssize_t add_part(self, Kind kind) except -1:
        cdef void* larger
        cdef Part* part
        if self.part_count == self.part_capacity:
            self.part_capacity = self.part_capacity * 2 or 64
            larger = realloc(self.parts, self.part_capacity * sizeof(Part))
            if larger == NULL:
                raise MemoryError
            self.parts = <Part*>larger
        part = &self.parts[self.part_count]
        part.kind, part.is_in_head = kind, not self.has_body
        part.values = self.values
        part.start = part.end = self.length
        self.part_count += 1
        return self.part_count - 1

    cdef Py_ssize_t start_of_words(self, Part* part) noexcept:
        cdef Py_ssize_t start = part.start
        while start < part.end and self.text[start] <= c" ":
            start += 1
        return start
