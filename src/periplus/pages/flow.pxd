# C types of flow.py, used only where it is compiled.
cimport cython

cdef unsigned int _LESS, _MORE, _EQUALS, _QUOTE, _AND, _SPACE, _BREAK
cdef const unsigned char[::1] _BLANK
cdef int _LONGEST_NAME, _LONGEST_ATTRIBUTE, _NOTHING, _GAP, _LINE, _FAR

cdef class Walk:
    cdef str html
    cdef int size, length, words, gap, closed_at
    cdef const unsigned int[::1] codes
    cdef unsigned int[::1] out
    cdef int[::1] begins
    cdef readonly list links
    cdef object opened, position
    cdef list around
    cpdef void run(self, int most_chars) except *
    @cython.locals(at=cython.int, name=cython.int, kind=cython.int, value=cython.int)
    cdef int take_tag(self, int start) except -1
    cdef void take_other(self, int kind, dict attributes) except *
    cdef void take_part(self, int kind, dict attributes) except *
    @cython.locals(at=cython.int, begun=cython.bint, blank=cython.bint, code=cython.uint, stop=cython.int)
    cdef int take_text(self, int start) except -1
    @cython.locals(between=cython.uint)
    cdef void begin_word(self, bint blank, bint begun) except *

@cython.locals(count=cython.int, start=cython.int, end=cython.int, first=cython.int, low=cython.int, stop=cython.int, high=cython.int)
cpdef list windows(const int[::1] words, int length, list spans, int tokens)
@cython.locals(low=cython.int, high=cython.int, middle=cython.int)
cdef int _first_from(const int[::1] words, int count, int at) noexcept
