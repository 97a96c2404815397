# C types of support.py, used only where it is compiled.
cimport cython
from periplus.places.sheet cimport Sheet, Tables

cdef int _GROUPS, _ALL, _STRIDE, _OWN, _ROW, _SUPPORTS, _KINDS, _WITHIN, _SOLO, _KIND, _POPULATION, _SHAPE, _WORD
cdef int _DEMONYM, _CASELESS, _BIG, _COMMON, _AREA_1, _AREA_2, _AREA_3, _AREA_4
cdef int _WORDS, _SPACE, _JOIN, _LANDFORM, _LAKE
cdef unsigned long long _WORD_MASK
cdef unsigned int _HANGUL_FIRST, _HANGUL_LAST
cdef double _HOPELESS, _E

@cython.locals(score=cython.double, at=cython.int, group=cython.int)
cdef double _score(Sheet s, int hit, const double[::1] weights, int groups) noexcept
cdef double _probability(double score) noexcept
@cython.locals(first=cython.int, last=cython.int, near=cython.bint)
cpdef int word_at(Sheet s, int hit, int which)
@cython.locals(score=cython.double, which=cython.int, token=cython.int, key=cython.ulonglong, slot=cython.ulonglong)
cdef double _word_score(Sheet s, int hit, const unsigned long long[::1] keys, const double[::1] weights) noexcept
@cython.locals(kept=cython.int, hit=cython.int, probability=cython.double, keep=cython.bint)
cpdef int screen(Sheet s, const double[::1] weights)
cdef int _step(double value, double one, double two, double three, double four) noexcept
@cython.locals(unit=cython.int, hit=cython.int, i=cython.int)
cpdef void support_hits(Sheet s, Tables t, bint has_host)
@cython.locals(at=cython.int, best=cython.int, i=cython.int, named=cython.int)
cdef void _support(Sheet s, Tables t, int unit, bint has_host) noexcept
@cython.locals(hit=cython.int, score=cython.double)
cpdef void accept(Sheet s, const double[::1] weights, const unsigned long long[::1] word_keys,
                  const double[::1] word_weights)
@cython.locals(first=cython.int, length=cython.int, kind=cython.int, known=cython.bint, head=cython.uint,
               syllables=cython.bint)
cdef double _caseless(Sheet s, int hit) noexcept
@cython.locals(chosen=list, group=list, reach=cython.int, hit=cython.int, first=cython.int, last=cython.int)
cpdef list select(Sheet s, double threshold)
cdef _settle(Sheet s, list group, list chosen)
@cython.locals(hit=cython.int, unit=cython.int, best=cython.int, row=cython.int, flag=cython.int, sure=cython.double)
cpdef list outcome(Sheet s, list chosen)
@cython.locals(scale=cython.double, scaled=cython.double, whole=cython.long, over=cython.double)
cpdef double rounded(double value, int digits) except? -1
@cython.locals(c=cython.int)
cpdef list likeliest(Sheet s, int unit, int limit)
cpdef bint is_demonym(Sheet s, Tables t, int hit)
