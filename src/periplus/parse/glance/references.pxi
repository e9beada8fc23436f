# What do `&amp;` and the like stand for?

cdef dict NAMED = _NAMED  # by name, with its semicolon; the oldest ones without it too
cdef list WINDOWS_1252 = [bytes([code]).decode("cp1252", "ignore") or chr(code) for code in range(0x80, 0xA0)]

cdef struct Letters:
    int count
    uint8_t bytes[16]


cdef int spell(str characters, Letters* letters) except -1:
    cdef bytes spelt = characters.encode()
    letters.count = len(spelt)
    memcpy(letters.bytes, <const char*>spelt, letters.count + 1)  # with its zero
    return 0


cdef Py_ssize_t read_reference(
    const uint8_t* p, Py_ssize_t at, Py_ssize_t end, bint in_value, Letters* letters
) except -1:
    """How long the reference at *at* is, 0 when it is none; *letters* is what it stands for."""
    cdef Py_ssize_t start = at + 1, stop = start
    cdef str word
    cdef object found
    if start < end and p[start] == c"#":
        return read_number(p, at, end, letters)
    while stop < end and stop - start < 40 and (is_letter(p[stop]) or is_digit(p[stop])):
        stop += 1
    if stop < end and p[stop] == c";":
        found = NAMED.get((<const char*>p)[start : stop + 1].decode("ascii"))
        if found is not None:
            spell(found, letters)
            return stop + 1 - at
    while stop > start:
        found = NAMED.get((<const char*>p)[start:stop].decode("ascii"))
        if found is not None:
            if in_value and stop < end and (p[stop] == c"=" or is_letter(p[stop]) or is_digit(p[stop])):
                return 0
            spell(found, letters)
            return stop - at
        stop -= 1
    return 0


cdef Py_ssize_t read_number(const uint8_t* p, Py_ssize_t at, Py_ssize_t end, Letters* letters) except -1:
    cdef Py_ssize_t start = at + 2, stop
    cdef uint32_t code = 0
    cdef bint is_hex = start < end and p[start] | 32 == c"x"
    start += is_hex
    stop = start
    while stop < end and (is_digit(p[stop]) or (is_hex and c"a" <= (p[stop] | 32) <= c"f")):
        if code <= 0x10FFFF:
            code = code * (16 if is_hex else 10) + (p[stop] - c"0" if is_digit(p[stop]) else (p[stop] | 32) - c"a" + 10)
        stop += 1
    if stop == start:
        return 0
    if code == 0 or code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
        spell("\ufffd", letters)
    else:
        spell(WINDOWS_1252[code - 0x80] if 0x80 <= code < 0xA0 else chr(code), letters)
    return stop - at + (stop < end and p[stop] == c";")


cdef str unescaped(const uint8_t* p, Py_ssize_t at, Py_ssize_t end, bint in_value):
    """The value of an attribute, or what is written in a title."""
    cdef list pieces = []
    cdef Py_ssize_t start = at, length
    cdef Letters letters
    while at < end:
        length = 0
        if p[at] == c"&":
            length = read_reference(p, at, end, in_value, &letters)
        elif p[at] == c"\r":
            spell("\n", &letters)
            length = 2 if at + 1 < end and p[at + 1] == c"\n" else 1
        if length:
            pieces += ((<const char*>p)[start:at], (<const char*>letters.bytes)[: letters.count])
            start = at + length
        at += length or 1
    pieces.append((<const char*>p)[start:end])
    return b"".join(pieces).decode("utf-8")
