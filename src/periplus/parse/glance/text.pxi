# Which words are on the page, and which elements say something about it?

cdef struct Part:  # an element that says something
    Kind kind
    bint is_in_head
    Span values[3]  # of the attributes that are kept
    Py_ssize_t start  # of its words, in the text of the page
    Py_ssize_t end


cdef class Text(Source):
    """What was found so far."""

    cdef uint8_t* text
    cdef Py_ssize_t room, length, line  # line: where the last line of the text begins
    cdef bint pending  # a space, if a word follows
    cdef Part* parts
    cdef Py_ssize_t part_count, part_room
    cdef bint has_body  # the head is over
    cdef bint is_odd  # only the tree tells what is on this page

    def __cinit__(self, bytes html):
        self.make_room(self.size // 2 + 64)
        self.add_part(ROOT)

    def __dealloc__(self):
        free(self.text)
        free(self.parts)

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

    cdef Py_ssize_t start_of_words(self, Part* part) noexcept:
        cdef Py_ssize_t start = part.start
        while start < part.end and self.text[start] <= c" ":
            start += 1
        return start
