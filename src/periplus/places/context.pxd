# C types of context.py, used only where it is compiled.
cimport cython
from periplus.places.pairs cimport find_lists, find_pairs, is_lettered
from periplus.places.sheet cimport Sheet, Tables
from periplus.places.told cimport is_told
from periplus.places.usage cimport is_among_people, is_called, is_named_after, is_stray

cdef int _KIND, _POPULATION, _WORD, _PERSON, _SHAPE, _BEFORE, _AFTER, _RUN, _RUN_WORD, _INSIDE, _REPEATS
cdef int _PERSON_ON_PAGE, _TAIL_ON_PAGE, _OUTER, _CANDIDATES, _SMALL, _LENGTH, _NEIGHBOURS, _OPENING, _USAGE, _STRIDE, _HOME
cdef int _UP, _CASE, _NUMBER, _SPACE, _COMMA, _LINE, _STOP, _HYPHEN, _JOIN, _OWNS
cdef unsigned int _FIRST_NAME, _SURNAME, _TITLE, _ORGANISATION, _SOFTWARE_NAME, _SMALL_WORD
cdef int _BUILT_KIND, _COUNTRY, _LARGE, _MILLION, _CITY, _ALTERNATE, _COUNTRY_KIND, _ALTERNATE_COUNTRY, _RARE
cdef unsigned long long _SEEN
cdef const unsigned int[::1] _RUN_WORDS
cdef int _B_LINE, _B_SENTENCE, _B_TITLE, _B_FIRST, _B_MARK, _B_OF, _B_FIRM_OF, _B_PREPOSITION, _B_DIGIT, _B_HYPHEN
cdef int _B_SMALL, _B_OWNS, _B_COMMA, _B_COMMA_CAPITAL, _B_LOCATIVE, _FOREIGN
cdef int _A_LINE, _A_STOP, _A_HYPHEN, _A_OWNS, _A_COMMA, _A_COMMA_CAPITAL, _A_MARK, _A_DIGIT, _A_PAIR, _A_PAIR_COUNTRY, _A_BE
cdef int _R_NONE, _R_MIDDLE, _R_START3, _R_START2, _R_END3, _R_END2

@cython.locals(reach=cython.int, hit=cython.int, at=cython.int, last=cython.int)
cpdef void describe_hits(Sheet s, Tables t)
@cython.locals(at=cython.int, first=cython.int, last=cython.int, name=cython.int, built=cython.int, single=cython.bint,
               facts=cython.int, length=cython.int, level=cython.int, word=cython.int, before=cython.int, opening=cython.bint,
               people=cython.int, known=cython.bint, said=cython.bint)
cdef void _describe(Sheet s, Tables t, int hit) noexcept
@cython.locals(before=cython.int, kind=cython.int)
cdef void _describe_abroad(Sheet s, int at, bint single, bint at_home) noexcept
cdef int _person(unsigned int bits) noexcept
cdef int _length_code(int length) noexcept
@cython.locals(caps=cython.bint)
cdef int _shape(Sheet s, int first, int last, int length, bint single) noexcept
@cython.locals(prev=cython.int, gap=cython.int, here=cython.int, slot=cython.int, capital=cython.int, code=cython.int,
               earlier=cython.int, firm=cython.bint)
cdef int _before(Sheet s, Tables t, int first, bint abroad) noexcept
cdef int _before_mark(int gap) noexcept
@cython.locals(row=cython.int, last=cython.int, gap=cython.int, following=cython.int, here=cython.int, slot=cython.int)
cdef int _after(Sheet s, Tables t, int hit) noexcept
@cython.locals(left=cython.bint, right=cython.bint)
cdef int _neighbours(Sheet s, int first, int last) noexcept
@cython.locals(start=cython.int, token=cython.int, capital=cython.bint, linked=cython.bint, goes_on=cython.bint, bits=cython.uint)
cdef void _find_runs(Sheet s, Tables t) noexcept
@cython.locals(at=cython.int, first=cython.int, start=cython.int, before=cython.int, after=cython.int, word=cython.int,
               bits=cython.uint, i=cython.int)
cdef void _place_in_run(Sheet s, int hit) noexcept
cdef int _run_code(int before, int after) noexcept
@cython.locals(one=cython.ulonglong, i=cython.int, token=cython.int, at=cython.ulonglong)
cdef void _mark_small(Sheet s) noexcept
cdef bint _is_seen(Sheet s, unsigned long long at) noexcept
@cython.locals(mask=cython.ulonglong, slot=cython.ulonglong, hit=cython.int, at=cython.int, before=cython.int, run=cython.int,
               single=cython.bint, personal=cython.bint, tail=cython.bint, called=cython.bint, after=cython.int, ends=cython.bint, known=cython.int,
               times=cython.int)
cdef void _count_repeats(Sheet s, Tables t) noexcept
@cython.locals(slot=cython.ulonglong)
cdef unsigned long long _repeat_slot(Sheet s, unsigned long long key, unsigned long long mask) noexcept
