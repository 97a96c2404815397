# C types of rank.py, used only where it is compiled.
cimport cython
from libc.math cimport exp, log1p
from periplus.places.sheet cimport Sheet, Tables

cdef int _MAX_ANCHOR_UNITS, _WITHIN, _ALTERNATE, _COUNTRY, _ADMIN1, _ADMIN2, _CITY
cdef int _FIRST, _KIND0, _FLAG0, _WITHIN0, _WITHIN_CLOSE, _WITHIN_FIRST, _NAMED0, _NEAR, _AROUND
cdef int _SAME_COUNTRY, _SAME_ADMIN1, _HOLDS, _HOST_SAME, _HOST_NEAR, _HOST_COUNTRY, _HINT_NEAR, _TLD, _NAMED_PEOPLE, _WITHIN_IMPLIED, _FAME, _LANGUAGE, _HOLDS_COUNTRY, _WIDTH, _FAR
cdef double _R2, _NEAR_SCALE, _AROUND_SCALE, _TOO_FAR, _SAME_MIDDLE, _LARGE, _TINY, _ABROAD

cdef class Outside:
    cdef const int[::1] rows
    cdef const double[::1] mass
    cdef const float[::1] points
    cdef const int[::1] countries, spoken
    cdef int homes
    cdef double total

@cython.locals(low=cython.int, high=cython.int, top=cython.double, c=cython.int, base=cython.int, i=cython.int,
               flag=cython.int, kind=cython.int, shaded=cython.bint)
cdef void _static_features(Sheet s, int unit) noexcept
cdef bint _is_overshadowed(Sheet s, int first, int c) noexcept
@cython.locals(at=cython.int, row=cython.int)
cdef void _within_features(Sheet s, int unit, int c, int base, int kind) noexcept
@cython.locals(at=cython.int, far=cython.int, base=cython.int, column=cython.int, close=cython.double)
cdef void _named_features(Sheet s, int unit, int c, int which, int row, bint shaded) noexcept
@cython.locals(square=cython.double)
cdef double closeness(double dot, double km) noexcept
@cython.locals(i=cython.int)
cdef void _country_features(Sheet s, Outside o, int base, int country) noexcept
@cython.locals(base=cython.int, px=cython.double, py=cython.double, pz=cython.double, dot=cython.double,
               country=cython.int, i=cython.int, best=cython.double, value=cython.double, same=cython.double,
               near=cython.double, shared=cython.double, row=cython.int, host=cython.int, mass=cython.double)
cdef void _outside_features(Sheet s, Tables t, Outside o, int c) noexcept
@cython.locals(base=cython.int, score=cython.double)
cdef double _static_score(Sheet s, int c, const double[::1] w) noexcept
@cython.locals(i=cython.int)
cdef double _part_score(Sheet s, int base, const double[::1] w, int low, int high, double score) noexcept
@cython.locals(count=cython.int, unit=cython.int, c=cython.int, outside=cython.bint, area=cython.int)
cpdef int rank_units(Sheet s, Tables t, Outside o, const double[::1] w)
@cython.locals(unit=cython.int, low=cython.int, high=cython.int, c=cython.int, top=cython.double, total=cython.double,
               weight=cython.double)
cdef void _softmax(Sheet s) noexcept
@cython.locals(unit=cython.int)
cdef void _choose_anchors(Sheet s) except *
@cython.locals(below=cython.double, best=cython.int, c=cython.int, value=cython.double, _turn=cython.int)
cdef void _keep_anchors(Sheet s, int unit) noexcept
cdef int _called(Sheet s, int unit) noexcept
@cython.locals(a=cython.int, c=cython.int, group=cython.int)
cdef void _find_groups(Sheet s, int count) noexcept
cdef int _group(Sheet s, int row) noexcept
@cython.locals(a=cython.int, unit=cython.int, rest=cython.double, c=cython.int)
cdef void _weigh_company(Sheet s, const double[::1] w) noexcept
@cython.locals(a=cython.int, group=cython.int, rest=cython.double)
cdef double _weigh_others(Sheet s, int called, bint town) noexcept
@cython.locals(unit=cython.int)
cdef bint _is_listed(Sheet s, int c) noexcept
@cython.locals(low=cython.int, other=cython.int, mass=cython.double, unit=cython.int)
cdef void _add_anchor(Sheet s, int a) noexcept
@cython.locals(near_scale=cython.double, around_scale=cython.double, too_far=cython.double, x=cython.double,
               y=cython.double, z=cython.double, c=cython.int, dot=cython.double, apart=cython.double,
               one=cython.double, two=cython.double, share=cython.double)
cdef void _add_nearness(const double[::1] xs, const double[::1] ys, const double[::1] zs, double[::1] near,
                        double[::1] around, int low, int high, int other, double mass) noexcept
@cython.locals(near=cython.double, around=cython.double, in_country=cython.double, in_admin1=cython.double,
               base=cython.int, row=cython.int, holds_country=cython.double, holds=cython.double, score=cython.double)
cdef void _company_of(Sheet s, int c, double rest, const double[::1] w) noexcept
@cython.locals(unit=cython.int, best=cython.int, c=cython.int)
cdef void _choose(Sheet s) noexcept
@cython.locals(row=cython.int, city=cython.int, c=cython.int, dot=cython.double)
cdef int _city_in_the_middle(Sheet s, int unit, int top) noexcept
