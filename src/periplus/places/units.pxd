# C types of units.py, used only where it is compiled.
cimport cython
from periplus.places.pairs cimport is_inside
from periplus.places.sheet cimport Sheet, Tables

cdef unsigned long long _NAMELESS
cdef double _TOWN, _LARGE, _KNOWN, _FAMOUS, _SURE, _DWARFED, _SMALL, _SMALLER, _ECLIPSED, _HAMLET
cdef int _MAX_OF_NAME, _SEVERAL, _NEXT, _BESIDE, _LIKELIEST, _WITHIN, _FAR, _ROOM, _COUNTRY, _ADMIN1, _ADMIN2, _CITY
cdef int _ALTERNATE, _POSTAL, _ABBREVIATION, _TOWNS, _STATES, _REGION

@cython.locals(mask=cython.ulonglong, slot=cython.ulonglong, hit=cython.int, unit=cython.int, weight=cython.double)
cpdef int gather_units(Sheet s)
@cython.locals(slot=cython.ulonglong)
cdef unsigned long long _unit_slot(Sheet s, unsigned long long key, unsigned long long mask) noexcept
@cython.locals(name=cython.longlong, one=cython.ulonglong, two=cython.ulonglong)
cdef unsigned long long _unit_key(Sheet s, int hit) noexcept
@cython.locals(unit=cython.int, which=cython.int, row=cython.int, i=cython.int)
cpdef void find_areas(Sheet s, Tables t) except *
@cython.locals(votes=dict, unit=cython.int, name=cython.int, fact=cython.int, row=cython.int)
cdef int _implied(Sheet s, Tables t, int column) except -2
cdef int _names_area(Sheet s, Tables t, int unit, int which) noexcept
@cython.locals(area=cython.int, unit=cython.int, which=cython.int, row=cython.int)
cdef void _mark_towns(Sheet s, Tables t) noexcept
@cython.locals(fact=cython.int, low=cython.int, high=cython.int, state=cython.int, at=cython.int, place=cython.int)
cdef bint _has_town(Tables t, int name, int row) noexcept
@cython.locals(width=cython.int, area=cython.int, hit=cython.int, unit=cython.int, token=cython.int, which=cython.int,
               row=cython.int, is_first=cython.bint, gap=cython.int, at=cython.int)
cdef void _sweep(Sheet s, Tables t, int step) noexcept
@cython.locals(unit=cython.int, which=cython.int, row=cython.int, at=cython.int)
cdef void _except_own(Sheet s, Tables t) noexcept
@cython.locals(count=cython.int, unit=cython.int, name=cython.int, outer=cython.int, best_kind=cython.int,
               settled=cython.bint, outers=dict)
cpdef void find_candidates(Sheet s, Tables t) except *
@cython.locals(alone=dict, found=dict, unit=cython.int, name=cython.int, outer=cython.int, says=cython.bint)
cdef dict _outers(Sheet s)
@cython.locals(name=cython.int, low=cython.int, high=cython.int, fits=cython.bint, at=cython.int, row=cython.int)
cdef int _add_named(Sheet s, Tables t, int unit, int outer, int count) noexcept
@cython.locals(among=cython.int)
cdef bint _is_of_other_kind(Sheet s, int unit, int kind) noexcept
@cython.locals(people=cython.double, others=cython.double)
cdef bint _is_dwarfed(Tables t, int first, int at) noexcept
@cython.locals(whole=cython.int, row=cython.int, kind=cython.int)
cdef bint _is_eclipsed(Tables t, int first, int at) noexcept
@cython.locals(fact=cython.int)
cdef int _add(Sheet s, Tables t, int unit, int row, int flag, int count) noexcept
cdef void _close_area(Sheet s, int row) noexcept
@cython.locals(area=cython.int, at=cython.int, row=cython.int, which=cython.int,
               wanted=cython.int, best=cython.int, people=cython.double)
cdef int _add_containers(Sheet s, Tables t, int unit, int count) noexcept
@cython.locals(best=cython.int, nearest=cython.int, base=cython.int, area=cython.int, gap=cython.int)
cdef int _nearest_open(Sheet s, Tables t, int unit, int wanted, double people) noexcept
@cython.locals(home=cython.int, row=cython.int)
cdef bint _may_hold(Sheet s, Tables t, int unit, int area, bint known) noexcept
@cython.locals(name=cython.int, first=cython.int, people=cython.double, alone=cython.bint, at=cython.int,
               division=cython.int, elsewhere=cython.bint)
cdef double _people(Sheet s, Tables t, int unit) noexcept
