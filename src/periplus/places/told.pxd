# C types of told.py, used only where it is compiled.
cimport cython
from periplus.places.pairs cimport area_from, some_inside
from periplus.places.scan cimport word_slot
from periplus.places.sheet cimport Sheet, Tables

cdef int _UP, _SPACE, _ADJECTIVES, _A, _F, _I, _N, _O, _S, _W
cdef unsigned int _DIVISION, _KIND_OF_PLACE, _ARTICLE, _PERSON

cpdef bint is_told(Sheet s, Tables t, int hit) noexcept
@cython.locals(at=cython.int, is_of=cython.bint)
cdef bint _is_one_of_places(Sheet s, Tables t, int first) noexcept
@cython.locals(first=cython.int, last=cython.int, area=cython.int)
cdef bint _lies_in(Sheet s, Tables t, int hit) noexcept
@cython.locals(token=cython.int, _turn=cython.int)
cdef bint _is_a_place(Sheet s, Tables t, int last) noexcept
@cython.locals(at=cython.int)
cdef bint _is_small(Sheet s, int token, int one, int two) noexcept
@cython.locals(at=cython.int)
cdef bint _is_was(Sheet s, int token) noexcept
