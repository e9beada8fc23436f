# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""Finds code-like tokens in one pass over the characters.

`code_tokens` has the same function in plain Python. `tests/text/test_code_tokens.py` compares both results.
"""

from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.string cimport memchr

from periplus.text.code_rules import AT_END as _AT_END
from periplus.text.code_rules import CLASSES as _CLASSES
from periplus.text.code_rules import LONGEST as _LONGEST

cdef enum:
    ROOM = 128  # bytes of a token

cdef bytes CLASS_BYTES = _CLASSES
cdef bytes END_BYTES = _AT_END
cdef const unsigned char* CLASSES = CLASS_BYTES
cdef const unsigned char* AT_END = END_BYTES
cdef Py_ssize_t AT_END_SIZE = len(_AT_END)
cdef Py_ssize_t LONGEST = _LONGEST
if _LONGEST > ROOM or len(_CLASSES) != 256:
    raise ImportError("the longest token does not fit")


def find_tokens(str text, Py_ssize_t most):
    """The distinct tokens among the first *most* characters, in lower case: those with a mark, then options."""
    cdef bytes encoded = text[:most].encode("ascii", "replace")
    cdef const unsigned char* letters = encoded
    cdef Py_ssize_t size = len(encoded), start, place = 0, mark
    cdef dict marked = {}, options = {}
    cdef bint has_token
    while place < size:
        if CLASSES[letters[place]] == b" ":
            place += 1
            continue
        start, mark = place, -1
        while place < size and CLASSES[letters[place]] != b" ":
            if mark < 0 and CLASSES[letters[place]] == b"M":
                mark = place
            place += 1
        if mark >= 0 or letters[start] == b"-":  # neither: a word, as nearly all runs are
            has_token = mark >= 0 and (mark + 1 < place or letters[mark] == b"#")
            if (has_token or is_option(letters, start, place)) and place - start <= LONGEST:
                add_token(marked if has_token else options, letters + start, place - start)
    marked.update(options)
    return b" ".join(marked).decode("ascii")


cdef inline bint is_option(const unsigned char* letters, Py_ssize_t start, Py_ssize_t end) noexcept:
    """Whether a run begins with hyphens, then a letter or digit."""
    cdef Py_ssize_t place = start
    while place < end and letters[place] == b"-":
        place += 1
    return start < place < end and CLASSES[letters[place]] == b"a"


cdef int add_token(dict tokens, const unsigned char* letters, Py_ssize_t size) except -1:
    """Add a token in lower case, without the punctuation at its end."""
    cdef char[ROOM] lower
    cdef Py_ssize_t place
    while size and memchr(AT_END, letters[size - 1], AT_END_SIZE) != NULL:
        size -= 1
    for place in range(size):
        lower[place] = letters[place] + 32 if b"A" <= letters[place] <= b"Z" else letters[place]
    if size:
        tokens[PyBytes_FromStringAndSize(lower, size)] = None
    return 0
