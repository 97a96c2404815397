# C types of usage.py, used only where it is compiled.
cimport cython
from periplus.places.forms cimport mixed, name_index
from periplus.places.sheet cimport Sheet, Tables

cdef int _UP, _SPACE, _STOP, _D, _E, _H, _L, _T, _U, _ABBREVIATED, _MOST_LINKS, _CITY, _ADMIN1, _LINE, _HYPHEN, _LETTERS, _LARGE, _COMMA
cdef unsigned long long _BASE, _MASK
cdef unsigned int _FIRST_NAME, _ACTING, _SPEAKING, _SOFTWARE, _SOFTWARE_NAME
cdef unsigned int _SURNAME, _PUBLIC, _JOINING, _GOING, _STREET, _STREET_FIRST, _SQUARE_FIRST

@cython.locals(token=cython.int, own=cython.uint, after=cython.uint, follows=cython.bint, spoken=cython.bint)
cpdef bint is_called(Sheet s, Tables t, int hit, bint ends) noexcept
@cython.locals(both=cython.uint, joined=cython.uint)
cdef bint _are_going(Sheet s, Tables t, int token) noexcept
@cython.locals(token=cython.int, name=cython.int, own=cython.uint)
cpdef bint is_among_people(Sheet s, Tables t, int hit) noexcept
cdef bint _are_public(Sheet s, Tables t, int one, int two) noexcept
cdef bint _are_joined(Sheet s, Tables t, int one, int two) noexcept
@cython.locals(free=cython.bint)
cdef bint _is_surname_only(Sheet s, Tables t, int token) noexcept
@cython.locals(first=cython.int)
cpdef bint is_named_after(Sheet s, Tables t, int hit, bint be_have) noexcept
@cython.locals(prev=cython.int, linked=cython.bint, brief=cython.bint, bits=cython.uint, capital=cython.int,
               inside=cython.bint, _turn=cython.int)
cdef bint _is_street(Sheet s, Tables t, int first) noexcept
@cython.locals(at=cython.int, size=cython.int)
cdef bint _is_link(Sheet s, int token) noexcept
@cython.locals(first=cython.int, last=cython.int, name=cython.int, prev=cython.int, token=cython.int,
               total=cython.ulonglong, power=cython.ulonglong)
cdef bint _has_article(Sheet s, Tables t, int hit) noexcept
@cython.locals(token=cython.int, name=cython.int, gap=cython.int, ends=cython.bint)
cpdef bint is_stray(Sheet s, Tables t, int hit) noexcept
@cython.locals(at=cython.int)
cdef bint _is_the(Sheet s, int token) noexcept
