# C types of forms.py, used only where it is compiled.
cimport cython
from periplus.places.sheet cimport Sheet, Tables

cdef int _WORD, _UPPER, _LOWER, _SPACE, _COMMA
cdef unsigned long long _BASE, _MIX, _MASK, _BLOOM
cdef int _BUCKET_SHIFT, _LONGEST_PARTICLE, _LONGEST_SUFFIX, _SHORTEST_STEM
cdef int _HANGUL_FIRST, _HANGUL_LAST, _CAPITAL_L, _GREEK, _CYRILLIC_FIRST, _CYRILLIC_LAST, _SHORTEST_ROOT
cdef int _VE, _CLOSED, _HEBREW_FIRST, _HEBREW_LAST, _ARABIC_FIRST, _ARABIC_LAST, _TEN_THOUSAND, _HUNDRED_THOUSAND
cdef int _BENGALI_FIRST, _BENGALI_LAST, _LONGEST_ENDING, _LETTER_FIRST, _LETTER_LAST
cdef frozenset _BENGALI, _ENDINGS, _VOWELS, _CASES, _SLAVIC_CASES, _GOVERNORS, _OPENED, _HEBREW, _ARABIC
cdef tuple _NOMINATIVES, _SLAVIC

@cython.locals(key=cython.ulonglong)
cpdef unsigned long long mixed(unsigned long long total) noexcept
@cython.locals(bit=cython.ulonglong, bucket=cython.ulonglong, low=cython.uint, high=cython.uint)
cpdef int name_index(Tables t, unsigned long long key) noexcept
@cython.locals(at=cython.int, total=cython.ulonglong, power=cython.ulonglong, value=cython.ulonglong)
cpdef void cut(Sheet s, Tables t, int token, int start, int end) noexcept
@cython.locals(start=cython.int, mark=cython.int, small=cython.bint)
cpdef bint is_elided(Sheet s, Tables t, int token) noexcept
@cython.locals(end=cython.int, cut_at=cython.int, name=cython.int)
cpdef int without_ending(Sheet s, Tables t, int token, unsigned long long before, unsigned long long scale) except -2
@cython.locals(start=cython.int, end=cython.int, length=cython.int, stem=cython.int, letter=cython.int,
               code=cython.ulonglong, name=cython.int, total=cython.ulonglong, power=cython.ulonglong, one=cython.int,
               letters=bytes)
cdef int _without_case(Sheet s, Tables t, int token, unsigned long long before, unsigned long long scale) except -2
@cython.locals(start=cython.int, end=cython.int, mark=cython.int, size=cython.int, ends=cython.bint, length=cython.int,
               at=cython.int, code=cython.ulonglong, endings=frozenset)
cdef int _ending(Sheet s, Tables t, int token) except -2
@cython.locals(start=cython.int, end=cython.int, length=cython.int, stem=cython.int, total=cython.ulonglong,
               power=cython.ulonglong, closed=cython.ulonglong, name=cython.int)
cdef int _nominative(Sheet s, Tables t, int token, unsigned long long before, unsigned long long scale) except -2
@cython.locals(name=cython.int, letter=cython.int)
cdef int _name_with(Tables t, unsigned long long total, unsigned long long power, tuple letters) except -2
cpdef bint is_large(Tables t, int name, int people) noexcept
@cython.locals(prev=cython.int, size=cython.int, head=cython.uint, code=cython.ulonglong)
cpdef bint is_governed(Sheet s, int token) except -1
@cython.locals(start=cython.int, end=cython.int, length=cython.int, stem=cython.int, code=cython.ulonglong,
               name=cython.int, people=cython.int)
cdef int _slavic_nominative(Sheet s, Tables t, int token) except -2
@cython.locals(start=cython.int, head=cython.ulonglong, second=cython.ulonglong, code=cython.ulonglong,
               letters=frozenset)
cpdef int prefix_end(Sheet s, int token, int length) except -1
