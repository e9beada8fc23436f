# Character references such as `&amp;`.

cdef dict NAMED = _NAMED  # by name with semicolon; legacy names also without
cdef list WINDOWS_1252 = [bytes([code]).decode("cp1252", "ignore") or chr(code) for code in range(0x80, 0xA0)]

cdef struct Replacement:
    int count
    uint8_t bytes[16]


cdef int encode_to(str characters, Replacement* replacement) except -1:
    cdef bytes encoded = characters.encode()
    replacement.count = len(encoded)
    memcpy(replacement.bytes, <const char*>encoded, replacement.count + 1)  # including the terminating zero
    return 0


cdef Py_ssize_t read_reference(
    const uint8_t* p, Py_ssize_t at, Py_ssize_t end, bint in_value, Replacement* replacement
) except -1:
    """The length of the reference at *at*, 0 if it is none; writes its characters to *replacement*."""
    cdef Py_ssize_t start = at + 1, stop = start
    cdef str word
    cdef object found
    if start < end and p[start] == c"#":
        return read_number(p, at, end, replacement)
    while stop < end and stop - start < 40 and (is_letter(p[stop]) or is_digit(p[stop])):
        stop += 1
    if stop < end and p[stop] == c";":
        found = NAMED.get((<const char*>p)[start : stop + 1].decode("ascii"))
        if found is not None:
            encode_to(found, replacement)
            return stop + 1 - at
    while stop > start:
        found = NAMED.get((<const char*>p)[start:stop].decode("ascii"))
        if found is not None:
            if in_value and stop < end and (p[stop] == c"=" or is_letter(p[stop]) or is_digit(p[stop])):
                return 0
            encode_to(found, replacement)
            return stop - at
        stop -= 1
    return 0


cdef Py_ssize_t read_number(const uint8_t* p, Py_ssize_t at, Py_ssize_t end, Replacement* replacement) except -1:
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
        encode_to("\ufffd", replacement)
    else:
        encode_to(WINDOWS_1252[code - 0x80] if 0x80 <= code < 0xA0 else chr(code), replacement)
    return stop - at + (stop < end and p[stop] == c";")


cdef str unescaped(const uint8_t* p, Py_ssize_t at, Py_ssize_t end, bint in_value):
    """The text of an attribute or title, with references replaced."""
    cdef list pieces = []
    cdef Py_ssize_t start = at, length
    cdef Replacement replacement
    while at < end:
        length = 0
        if p[at] == c"&":
            length = read_reference(p, at, end, in_value, &replacement)
        elif p[at] == c"\r":
            encode_to("\n", &replacement)
            length = 2 if at + 1 < end and p[at + 1] == c"\n" else 1
        if length:
            pieces += ((<const char*>p)[start:at], (<const char*>replacement.bytes)[: replacement.count])
            start = at + length
        at += length or 1
    pieces.append((<const char*>p)[start:end])
    return b"".join(pieces).decode("utf-8")
