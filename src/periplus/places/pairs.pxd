# C types of pairs.py, used only where it is compiled.
cimport cython
from periplus.places.sheet cimport Sheet, Tables

cdef int _STRIDE, _COMMA, _SPACE, _LETTER, _NUMBER, _CANADIAN_FIRST, _CANADIAN_SECOND, _BRITISH_SECOND
cdef int _CITY, _LIKELIEST, _CAP, _STATE_LETTERS, _BRACKET, _A, _LINE
cdef double _LARGE, _SAME_MIDDLE
cdef int _ADMIN1, _DEMONYM, _TOWNS, _STATES
cdef long long _TOWN, _STATE, _EITHER, _FIELD
cdef unsigned int _JOINING, _PLACING

@cython.locals(hit=cython.int, last=cython.int, other=cython.int, column=cython.int, row=cython.int)
cpdef void find_pairs(Sheet s, Tables t, int group) noexcept
@cython.locals(hit=cython.int)
cpdef int area_from(Sheet s, Tables t, int token) noexcept
@cython.locals(low=cython.int, high=cython.int, at=cython.int)
cpdef bint some_inside(Tables t, int name, int row) noexcept
@cython.locals(fact=cython.int)
cpdef bint is_inside(Tables t, int place, int row) noexcept
@cython.locals(before=cython.int, first=cython.int, second=cython.int)
cdef bint _are_listed(Sheet s, Tables t, int hit, int other, int row) noexcept
@cython.locals(token=cython.int, third=cython.int)
cdef bint _are_states(Sheet s, Tables t, int hit, int other) noexcept
cdef int _likeliest(Tables t, int name) noexcept
@cython.locals(low=cython.int, high=cython.int, at=cython.int, fact=cython.int)
cdef bint _is_large_town(Tables t, int name) noexcept
@cython.locals(first=cython.int, second=cython.int, size=cython.int, one=cython.int, two=cython.int)
cdef int _postal_country(Sheet s, Tables t, int last) noexcept
@cython.locals(first=cython.int, code=cython.int, name=cython.int, gap=cython.int, at=cython.int, known=cython.int,
               row=cython.int, coded=cython.bint, written=cython.bint)
cdef int _lettered_state(Sheet s, Tables t, int hit) noexcept
@cython.locals(one=cython.int, two=cython.int)
cdef int _state_of(Sheet s, Tables t, int at) noexcept
@cython.locals(first=cython.int, gap=cython.int)
cpdef bint is_lettered(Sheet s, int hit) noexcept
@cython.locals(bits=cython.int, at=cython.int, here=cython.int)
cdef int _letters(Sheet s, Tables t, int token) noexcept
@cython.locals(hit=cython.int, token=cython.int, other=cython.int)
cpdef void find_lists(Sheet s, Tables t, int group) noexcept
@cython.locals(hit=cython.int, settled=cython.bint, members=cython.longlong, towns=cython.longlong,
               states=cython.longlong)
cdef void _compare_members(Sheet s, Tables t, int group) noexcept
@cython.locals(kind=cython.int, state=cython.int, town=cython.int)
cdef long long _member(Tables t, int name) noexcept
@cython.locals(low=cython.int, high=cython.int, at=cython.int)
cdef int _state_called(Tables t, int name) noexcept
@cython.locals(low=cython.int, high=cython.int, at=cython.int, fact=cython.int)
cdef int _town_called(Tables t, int name, int state) noexcept
@cython.locals(dot=cython.double, axis=cython.int, x=cython.double, y=cython.double)
cdef bint _are_close(Tables t, int one, int two) noexcept
@cython.locals(token=cython.int)
cdef int _next_member(Sheet s, Tables t, int last) noexcept
cdef bint _places_next(Sheet s, Tables t, int token) noexcept
