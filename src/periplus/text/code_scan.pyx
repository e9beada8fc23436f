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
cdef const char* CLASSES = CLASS_BYTES
cdef const char* AT_END = END_BYTES
cdef size_t AT_END_SIZE = len(_AT_END)
cdef size_t LONGEST = _LONGEST
if _LONGEST >= ROOM or len(_CLASSES) != 256:
    raise ImportError("the longest token does not fit")


cdef struct Run:
    char text[ROOM]  # in lower case
    size_t size  # may exceed the room; such a run is no token
    bint has_token  # a mark has another character after it
    bint has_mark
    bint is_option  # hyphens, then a letter or digit
    bint is_at_hyphens  # only hyphens so far


def find_tokens(str text, Py_ssize_t most):
    """The distinct tokens among the first *most* characters, in lower case: those with a mark, then options."""
    cdef dict marked = {}, options = {}
    cdef Py_UCS4 code
    cdef char kind
    cdef Run run
    cdef Py_ssize_t place = 0
    reset(&run)
    for code in text:
        if place == most:
            break
        place += 1
        kind = CLASSES[code] if code < 128 else b" "
        if kind != b" ":
            extend(&run, <char>code, kind)
        elif run.size:
            finish(&run, marked, options)
    if run.size:
        finish(&run, marked, options)
    marked.update(options)
    return b" ".join(marked).decode("ascii")


cdef inline void reset(Run* run) noexcept:
    run.size = 0
    run.has_token = run.has_mark = run.is_option = False
    run.is_at_hyphens = True


cdef inline void extend(Run* run, char letter, char kind) noexcept:
    """Append a character to a run; letters become lower case."""
    if run.has_mark:
        run.has_token = True
    if kind == b"M":
        run.has_mark = True
        run.has_token = run.has_token or letter == b"#"
    if run.is_at_hyphens and kind != b"-":
        run.is_at_hyphens = False
        run.is_option = kind == b"a" and run.size > 0
    if run.size < ROOM:
        run.text[run.size] = letter + 32 if b"A" <= letter <= b"Z" else letter
    run.size += 1


cdef int finish(Run* run, dict marked, dict options) except -1:
    """Store a run that is a token, without the punctuation at its end."""
    cdef size_t size = run.size
    if (run.has_token or run.is_option) and size <= LONGEST:
        while size and memchr(AT_END, run.text[size - 1], AT_END_SIZE) != NULL:
            size -= 1
        if size:
            (marked if run.has_token else options)[PyBytes_FromStringAndSize(run.text, size)] = None
    reset(run)
    return 0
