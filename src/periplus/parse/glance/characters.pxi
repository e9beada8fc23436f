# Classes of bytes, and UTF-8 validation.

cdef enum ByteClass:
    PLAIN
    SPACE
    TAG_START  # <
    REFERENCE  # &
    PERHAPS_SPACE  # may be the first byte of a non-ASCII space
    CONTROL  # white space in Python but not in HTML; and the zero after the last byte

cdef uint8_t CLASS[256]  # PLAIN by default


cdef void set_class(ByteClass byte_class, bytes characters):
    cdef uint8_t byte
    for byte in characters:
        CLASS[byte] = byte_class


set_class(SPACE, b" \t\n\f\r")
set_class(TAG_START, b"<")
set_class(REFERENCE, b"&")
set_class(PERHAPS_SPACE, b"\xc2\xe1\xe2\xe3")
set_class(CONTROL, b"\0\x0b\x1c\x1d\x1e\x1f")


cdef inline bint is_space(uint8_t byte) noexcept nogil:
    return CLASS[byte] == SPACE


cdef inline bint is_letter(uint8_t byte) noexcept nogil:
    return c"a" <= (byte | 32) <= c"z"


cdef inline bint is_digit(uint8_t byte) noexcept nogil:
    return c"0" <= byte <= c"9"


cdef inline uint8_t lower(uint8_t byte) noexcept nogil:
    return byte + 32 if c"A" <= byte <= c"Z" else byte


cdef inline bint ends_name(uint8_t byte) noexcept nogil:
    return byte == c">" or byte == c"/" or is_space(byte)


cdef inline int space_length(const uint8_t* p) noexcept nogil:
    """The length of the non-ASCII space that starts here, 0 if there is none; needs a zero after the last byte."""
    if p[0] == 0xC2:
        return 2 if p[1] == 0xA0 or p[1] == 0x85 else 0
    if p[0] == 0xE2 and p[1] == 0x80:
        return 3 if 0x80 <= p[2] <= 0x8A or p[2] == 0xA8 or p[2] == 0xA9 or p[2] == 0xAF else 0
    if p[0] == 0xE2:
        return 3 if p[1] == 0x81 and p[2] == 0x9F else 0
    if p[0] == 0xE1:
        return 3 if p[1] == 0x9A and p[2] == 0x80 else 0
    return 3 if p[0] == 0xE3 and p[1] == 0x80 and p[2] == 0x80 else 0


cdef bint is_same_word(const uint8_t* one, const uint8_t* other, Py_ssize_t length) noexcept nogil:
    cdef Py_ssize_t at
    for at in range(length):
        if lower(one[at]) != lower(other[at]):
            return False
    return True


cdef bint is_utf8(const uint8_t* p, Py_ssize_t size) noexcept nogil:
    """Whether all bytes are valid UTF-8; needs a zero after the last byte."""
    cdef Py_ssize_t at = 0
    cdef uint64_t some[4]
    cdef int length
    while at < size:
        if at + 32 <= size:
            memcpy(some, p + at, 32)
            if not (some[0] | some[1] | some[2] | some[3]) & 0x8080808080808080ULL:
                at += 32
                continue
        length = utf8_length(p + at)
        if length == 0:
            return False
        at += length
    return True


cdef inline int utf8_length(const uint8_t* p) noexcept nogil:
    """The length of the UTF-8 character that starts here; 0 if it is invalid."""
    if p[0] < 0x80:
        return 1
    if p[1] & 0xC0 != 0x80 or not 0xC2 <= p[0] <= 0xF4:
        return 0
    if p[0] < 0xE0:
        return 2
    if p[2] & 0xC0 != 0x80 or (p[0] == 0xE0 and p[1] < 0xA0) or (p[0] == 0xED and p[1] >= 0xA0):
        return 0  # also overlong forms and surrogates
    if p[0] < 0xF0:
        return 3
    return 0 if p[3] & 0xC0 != 0x80 or (p[0] == 0xF0 and p[1] < 0x90) or (p[0] == 0xF4 and p[1] >= 0x90) else 4
