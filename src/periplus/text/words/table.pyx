# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""Splits documents into words and numbers the words in a hash table, in one pass over the characters.

`plain` has the same class in Python. `tests/text/test_words.py` compares both results. `characters` decides what each
character becomes; the answer is stored here when the character first occurs.
"""

from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, realloc
from libc.string cimport memcmp, memcpy

import os

from periplus.text.words.characters import LONGEST as _LONGEST
from periplus.text.words.characters import replacement

cdef enum:
    COLUMNS = 7  # of a document: one per field given, and the body as two: its opening, and the rest
    OPENING = COLUMNS - 2
    LONGEST_REPLACEMENT = 12  # bytes
    LONGEST_WORD = 256  # bytes
    CODES = 0x110000
    FIRST_SLOTS = 1 << 16

cdef enum:
    SEPARATOR = 1  # ends a word
    LETTERS = 2  # continues a word, possibly with no letter at all
    ALONE = 3  # is a word by itself

cdef Py_ssize_t LONGEST = _LONGEST
if 4 * _LONGEST + LONGEST_REPLACEMENT > LONGEST_WORD:
    raise ImportError("the longest word does not fit")

cdef struct Replacement:
    uint8_t kind
    uint8_t size  # bytes
    uint8_t letters
    char text[LONGEST_REPLACEMENT]

cdef struct Word:
    uint64_t end  # in the concatenated words
    uint64_t hash
    uint64_t languages
    uint32_t documents
    uint32_t newest
    uint32_t votes
    uint32_t language
    uint32_t counts[COLUMNS]


cdef void* grown(void* memory, size_t size) except NULL:
    cdef void* moved = realloc(memory, size)
    if moved == NULL:
        raise MemoryError
    return moved


cdef class WordTable:
    """Numbers the distinct words of documents in the order of their first occurrence, and counts them.

    Word 0 is a break between two values of a field.
    """

    cdef uint32_t* known  # by code point: 1 + the place of its replacement, 0 when unknown
    cdef Replacement* replacements
    cdef size_t replaced, replacements_room
    cdef uint32_t* slots  # number of the word in each slot, 0 when free
    cdef uint64_t slot_mask
    cdef Word* entries
    cdef size_t size, room, limit
    cdef char* letters  # of all words
    cdef size_t letters_room
    cdef uint32_t* found  # the words of the current document
    cdef size_t found_size, found_room
    cdef uint64_t seed  # random, so that no page can choose words that collide
    cdef uint32_t number, document_language
    cdef char word[LONGEST_WORD]
    cdef size_t word_bytes, word_letters
    # the field that is being split
    cdef int column
    cdef size_t used, most, opening

    def __cinit__(self, size_t limit):
        self.limit = limit
        self.seed = int.from_bytes(os.urandom(8), "little")
        self.known = <uint32_t*>calloc(CODES, sizeof(uint32_t))
        self.slots = <uint32_t*>calloc(FIRST_SLOTS, sizeof(uint32_t))
        if self.known == NULL or self.slots == NULL:
            raise MemoryError
        self.slot_mask = FIRST_SLOTS - 1
        self.append_word(0)  # the break; no slot refers to it

    def __dealloc__(self):
        free(self.known)
        free(self.replacements)
        free(self.slots)
        free(self.entries)
        free(self.letters)
        free(self.found)

    def __len__(self):
        return self.size

    def add(self, fields, uint32_t language, size_t opening, size_t most):
        """Add a document, whose last field is the body; at most *most* words of every field are used.

        The first *opening* words of the body are a column of their own. Returns the words of all columns as 32-bit
        numbers, and as 32-bit numbers the size of every column with breaks, then without breaks.
        """
        cdef uint32_t[2 * COLUMNS] sizes
        cdef size_t start, breaks, total
        cdef int column
        if len(fields) != COLUMNS - 1 or language >= 64:
            raise ValueError("a document has six fields and one of 64 languages")
        self.number += 1
        self.document_language, self.most, self.opening = language, most, opening
        self.found_size = 0
        for column in range(2 * COLUMNS):
            sizes[column] = 0
        for column in range(COLUMNS - 1):
            start = self.found_size
            breaks = self.split_field(fields[column], column)
            total = self.found_size - start
            sizes[column], sizes[COLUMNS + column] = total, total - breaks
        if sizes[OPENING] > opening:
            sizes[OPENING + 1] = sizes[COLUMNS + OPENING + 1] = sizes[OPENING] - opening
            sizes[OPENING] = sizes[COLUMNS + OPENING] = opening
        return (
            PyBytes_FromStringAndSize(<char*>self.found, self.found_size * sizeof(uint32_t)),
            PyBytes_FromStringAndSize(<char*>sizes, sizeof(sizes)),
        )

    cdef Py_ssize_t split_field(self, texts, int column) except -1:
        """Split the values of a field; returns the number of breaks between them."""
        cdef Py_ssize_t breaks = 0
        cdef size_t start = self.found_size, before
        self.column, self.used = column, 0
        for text in texts:
            before = self.found_size
            if before > start:
                self.append_found(0)
            self.split(text)
            if before > start:
                if self.found_size == before + 1:
                    self.found_size = before  # no word followed
                else:
                    breaks += 1
        return breaks

    cdef int split(self, str text) except -1:
        cdef Py_UCS4 code
        cdef uint32_t place
        cdef Replacement* by
        self.word_bytes = self.word_letters = 0
        for code in text:
            place = self.known[code]
            if place == 0:
                place = self.learn(code)
            by = self.replacements + (place - 1)
            if by.kind == LETTERS:
                self.append_letters(by)
                continue
            if self.word_letters:
                self.end_word()
            if by.kind == ALONE:
                self.append_letters(by)
                self.end_word()
            if self.used == self.most:
                return 0
        if self.word_letters and self.used < self.most:
            self.end_word()
        return 0

    cdef inline void append_letters(self, Replacement* by) noexcept:
        if self.word_letters + by.letters <= <size_t>LONGEST:
            memcpy(self.word + self.word_bytes, by.text, LONGEST_REPLACEMENT)
            self.word_bytes += by.size
        self.word_letters += by.letters

    cdef uint32_t learn(self, Py_UCS4 code) except 0:
        """Store what a character becomes."""
        cdef Replacement* by
        cdef str text = replacement(<uint32_t>code)
        cdef str letters = text.strip(" ")
        cdef bytes encoded = letters.encode("utf-8")
        if len(encoded) > LONGEST_REPLACEMENT:
            raise ValueError(f"U+{<uint32_t>code:04X} becomes {len(encoded)} bytes")
        if self.replaced == self.replacements_room:
            self.replacements_room = 2 * self.replacements_room + 256
            self.replacements = <Replacement*>grown(self.replacements, self.replacements_room * sizeof(Replacement))
        by = self.replacements + self.replaced
        by.kind = SEPARATOR if text == " " else ALONE if text.startswith(" ") else LETTERS
        by.size, by.letters = len(encoded), len(letters)
        memcpy(by.text, <char*>encoded, len(encoded))
        self.replaced += 1
        self.known[code] = self.replaced
        return self.replaced

    cdef int end_word(self) except -1:
        """Count the word that ends here and append it to the document."""
        cdef uint32_t number = 0
        cdef Word* entry
        cdef int column = self.column
        if self.word_letters <= <size_t>LONGEST and self.used < self.most:
            number = self.number_of_word()
        self.word_bytes = self.word_letters = 0
        if number == 0:
            return 0
        if column == OPENING and self.used >= self.opening:
            column += 1
        entry = self.entries + number
        entry.counts[column] += 1
        if entry.newest != self.number:
            self.count_document(entry)
        self.used += 1
        self.append_found(number)
        return 0

    cdef void count_document(self, Word* entry) noexcept:
        """Count a document with a word; the vote finds the language of most documents (Boyer-Moore)."""
        entry.newest = self.number
        entry.documents += 1
        entry.languages |= <uint64_t>1 << self.document_language
        if entry.language == self.document_language:
            entry.votes += 1
        elif entry.votes:
            entry.votes -= 1
        else:
            entry.language, entry.votes = self.document_language, 1

    cdef int append_found(self, uint32_t number) except -1:
        if self.found_size == self.found_room:
            self.found_room = 2 * self.found_room + 4096
            self.found = <uint32_t*>grown(self.found, self.found_room * sizeof(uint32_t))
        self.found[self.found_size] = number
        self.found_size += 1
        return 0

    # -- hash table --------------------------------------------------------------------------------------------------

    cdef uint32_t number_of_word(self) except? 0:
        """The number of the current word; 0 when it is new and the table is full."""
        cdef uint64_t hashed = self.hash_of_word()
        cdef uint64_t slot = hashed & self.slot_mask
        cdef uint64_t start
        cdef uint32_t number
        while self.slots[slot]:
            number = self.slots[slot]
            if self.entries[number].hash == hashed:
                start = self.entries[number - 1].end
                if (
                    self.entries[number].end - start == self.word_bytes
                    and memcmp(self.letters + start, self.word, self.word_bytes) == 0
                ):
                    return number
            slot = (slot + 1) & self.slot_mask
        if self.size > self.limit:
            return 0
        number = self.append_word(hashed)
        self.slots[slot] = number
        if 2 * self.size > self.slot_mask:
            self.grow_slots()
        return number

    cdef inline uint64_t hash_of_word(self) noexcept:
        cdef uint64_t hashed = self.seed
        cdef size_t place
        for place in range(self.word_bytes):
            hashed = (hashed ^ <uint8_t>self.word[place]) * 0x9E3779B97F4A7C15ULL
            hashed ^= hashed >> 29
        return hashed

    cdef uint32_t append_word(self, uint64_t hashed) except? 0:
        cdef uint64_t start = self.entries[self.size - 1].end if self.size else 0
        cdef Word* entry
        if self.size == self.room:
            self.room = 2 * self.room + 65536
            self.entries = <Word*>grown(self.entries, self.room * sizeof(Word))
        if start + self.word_bytes > self.letters_room:
            self.letters_room = 2 * self.letters_room + (1 << 20)
            self.letters = <char*>grown(self.letters, self.letters_room)
        if self.word_bytes:
            memcpy(self.letters + start, self.word, self.word_bytes)
        entry = self.entries + self.size
        entry[0] = Word(start + self.word_bytes, hashed, 0, 0, 0, 0, 0, [0, 0, 0, 0, 0, 0, 0])
        self.size += 1
        return self.size - 1

    cdef int grow_slots(self) except -1:
        cdef uint64_t mask = 2 * self.slot_mask + 1, slot
        cdef uint32_t* slots = <uint32_t*>calloc(mask + 1, sizeof(uint32_t))
        cdef size_t number
        if slots == NULL:
            raise MemoryError
        for number in range(1, self.size):
            slot = self.entries[number].hash & mask
            while slots[slot]:
                slot = (slot + 1) & mask
            slots[slot] = number
        free(self.slots)
        self.slots, self.slot_mask = slots, mask
        return 0

    # -- results -----------------------------------------------------------------------------------------------------

    def words(self):
        """All words in UTF-8, concatenated, and their 64-bit offsets, one more than words."""
        cdef size_t number
        offsets = bytearray(8 * (self.size + 1))
        cdef uint64_t[::1] out = memoryview(offsets).cast("Q")
        for number in range(self.size):
            out[number + 1] = self.entries[number].end
        end = self.entries[self.size - 1].end
        return PyBytes_FromStringAndSize(self.letters, end) if end else b"", bytes(offsets)

    def counts(self):
        """The occurrences of every word, by column; 32 bits each."""
        values = bytearray(4 * COLUMNS * self.size)
        cdef uint32_t[::1] out = memoryview(values).cast("I")
        cdef size_t number
        for number in range(self.size):
            memcpy(&out[number * COLUMNS], self.entries[number].counts, sizeof(uint32_t) * COLUMNS)
        return bytes(values)

    def documents(self):
        """The number of documents with each word; 32 bits each."""
        values = bytearray(4 * self.size)
        cdef uint32_t[::1] out = memoryview(values).cast("I")
        cdef size_t number
        for number in range(self.size):
            out[number] = self.entries[number].documents
        return bytes(values)

    def languages(self):
        """The languages of the documents with each word, a bit per language; 64 bits each."""
        values = bytearray(8 * self.size)
        cdef uint64_t[::1] out = memoryview(values).cast("Q")
        cdef size_t number
        for number in range(self.size):
            out[number] = self.entries[number].languages
        return bytes(values)

    def language(self):
        """The language of most documents with each word, by Boyer-Moore majority vote; 8 bits each."""
        values = bytearray(self.size)
        cdef uint8_t[::1] out = values
        cdef size_t number
        for number in range(self.size):
            out[number] = self.entries[number].language
        return bytes(values)
