# C types of rank.py, used only where it is compiled.
cimport cython
from periplus.places.sheet cimport Sheet, Tables

cdef int _MAX_ANCHOR_UNITS, _WITHIN, _ALIAS, _COUNTRY, _ADMIN1, _ADMIN2, _CITY
cdef int _FIRST, _KIND0, _FLAG0, _WITHIN0, _WITHIN_CLOSE, _WITHIN_FIRST, _NAMED0, _NEAR, _AROUND
cdef int _SAME_COUNTRY, _SAME_ADMIN1, _HOLDS, _HOST_SAME, _HOST_NEAR, _HOST_COUNTRY, _HINT_NEAR, _TLD, _NAMED_PEOPLE, _WITHIN_IMPLIED, _WIDTH, _FAR
cdef double _E, _R2, _TOO_FAR, _SAME_MIDDLE

cdef class Outside:
    cdef const int[::1] rows
    cdef const double[::1] mass
    cdef const float[::1] points
    cdef const int[::1] countries
    cdef double total

@cython.locals(low=cython.int, high=cython.int, top=cython.double, c=cython.int, base=cython.int, i=cython.int,
               fact=cython.int, flag=cython.int, kind=cython.int, which=cython.int)
cdef void _static_features(Sheet s, Tables t, int unit) noexcept
@cython.locals(at=cython.int, row=cython.int)
cdef void _within_features(Sheet s, int unit, int c, int base, int kind) noexcept
@cython.locals(row=cython.int, at=cython.int, far=cython.int, column=cython.int, close=cython.double)
cdef void _named_features(Sheet s, Tables t, int unit, int c, int base, int which) noexcept
@cython.locals(square=cython.double)
cdef double closeness(double dot, double km) noexcept
@cython.locals(base=cython.int, fact=cython.int, px=cython.double, py=cython.double, pz=cython.double, dot=cython.double,
               country=cython.int, i=cython.int, best=cython.double, value=cython.double, same=cython.double,
               near=cython.double, shared=cython.double, row=cython.int, host=cython.int, mass=cython.double)
cdef void _outside_features(Sheet s, Tables t, Outside o, int c) except *
@cython.locals(count=cython.int, unit=cython.int, c=cython.int, i=cython.int, outside=cython.bint, score=cython.double,
               area=cython.int)
cpdef int rank_units(Sheet s, Tables t, Outside o, const double[::1] w)
@cython.locals(unit=cython.int, low=cython.int, high=cython.int, c=cython.int, top=cython.double, total=cython.double,
               weight=cython.double)
cdef void _softmax(Sheet s) noexcept
@cython.locals(unit=cython.int, below=cython.double, best=cython.int, c=cython.int, value=cython.double)
cdef _choose_anchors(Sheet s, Tables t)
@cython.locals(a=cython.int, fact=cython.int, i=cython.int)
cdef void _keep_anchor(Sheet s, Tables t, int unit, int c) noexcept
@cython.locals(a=cython.int, unit=cython.int, called=cython.int, rest=cython.double, c=cython.int)
cdef void _weigh_company(Sheet s, Tables t, const double[::1] w) except *
@cython.locals(fact=cython.int, px=cython.double, py=cython.double, pz=cython.double, country=cython.int,
               admin1=cython.int, near=cython.double, around=cython.double, in_country=cython.double,
               in_admin1=cython.double, a=cython.int, mass=cython.double, dot=cython.double, base=cython.int,
               holds=cython.double, score=cython.double)
cdef void _company_of(Sheet s, Tables t, int c, int called, double rest, const double[::1] w) except *
@cython.locals(unit=cython.int, best=cython.int, c=cython.int, kind=cython.int)
cdef void _choose(Sheet s, Tables t) noexcept
@cython.locals(row=cython.int, centre=cython.int, city=cython.int, c=cython.int, fact=cython.int, dot=cython.double,
               i=cython.int)
cdef int _city_in_the_middle(Sheet s, Tables t, int unit, int top) noexcept
