# The bytes of a page: tags, attributes and comments.

cdef struct Span:
    Py_ssize_t start
    Py_ssize_t end  # before the start: no value

cdef Span NONE = Span(0, -1)


cdef class Source:
    """The bytes of a page, and the attributes of the last tag."""

    cdef bytes html
    cdef const uint8_t* source  # followed by a zero byte
    cdef Py_ssize_t size
    cdef Span values[3]  # of the kept attributes
    cdef bint has_attributes, is_self_closed

    def __cinit__(self, bytes html):
        self.html, self.size = html, len(html)
        self.source = <const uint8_t*><const char*>html
        self.values = [NONE, NONE, NONE]

    cdef object value(self, Span span):
        cdef Py_ssize_t length = span.end - span.start
        if length < 0:
            return None
        cdef const uint8_t* start = self.source + span.start
        if memchr(start, c"&", length) == NULL and memchr(start, c"\r", length) == NULL:
            return PyUnicode_DecodeUTF8(<const char*>start, length, NULL)
        return unescaped(self.source, span.start, span.end, True)

    cdef Span without_fragment(self, Span href) noexcept:
        cdef const uint8_t* start = self.source + href.start
        cdef const void* mark = memchr(start, c"#", href.end - href.start)
        cdef Py_ssize_t length = <const uint8_t*>mark - start
        if mark != NULL and (length == 0 or start[length - 1] > c" ") and memchr(start, c"&", length + 1) == NULL:
            href.end = href.start + length
        return href

    cdef bint are_same(self, Span one, Span other) noexcept:
        cdef Py_ssize_t length = one.end - one.start
        if length != other.end - other.start:
            return False
        return memcmp(self.source + one.start, self.source + other.start, length) == 0

    cdef inline Py_ssize_t read_name(self, Py_ssize_t at, uint64_t* name) noexcept:
        name[0] = NO_NAME
        while at < self.size and not ends_name(self.source[at]):
            name[0] = hash_byte(name[0], lower(self.source[at]))
            at += 1
        return at

    cdef Py_ssize_t read_attributes(self, Py_ssize_t at, Kind kind) noexcept:
        """The position after the tag; -1 if it has no end."""
        cdef const uint8_t* p = self.source
        cdef const void* quote
        cdef uint64_t name
        cdef bint counts = has_kept_attributes(kind)
        cdef int slot
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
            name = hash_byte(NO_NAME, lower(p[at]))
            at += 1
            if counts:
                while at < self.size and p[at] != c"=" and not ends_name(p[at]):
                    name = hash_byte(name, lower(p[at]))
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
                slot = attribute_slot(kind, name)
                if slot and self.values[slot - 1].end < 0:  # the first attribute of a name counts
                    self.values[slot - 1] = value

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

    cdef bint hides_script(self, Py_ssize_t start, Py_ssize_t end):
        """Whether a nested script in a comment may have ended this script too early."""
        cdef bytes script
        if memchr(self.source + start, c"!", end - start) == NULL:
            return False
        script = (<const char*>self.source)[start:end]
        return b"<!--" in script and b"<script" in script.lower()
