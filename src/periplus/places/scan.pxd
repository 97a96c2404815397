# C types of scan.py, used only where it is compiled.
cimport cython
from periplus.places.sheet cimport Sheet, Tables

cdef int WRAPPED, MAX_WRAPPED, MAX_TOKENS, MAX_SOLO_TOKENS, MAX_MARKED_TOKENS, MAX_ABBREVIATION
cdef int _WORD, _UPPER, _LOWER, _SOLO, _CASELESS, _APOSTROPHE
cdef int _JOIN, _SPACE, _HYPHEN, _STOP, _COMMA, _LINE, _OTHER, _POSSESSIVE
cdef unsigned long long _BASE, _MIX, _MASK, _BLOOM, _SLOTS
cdef int _BUCKET_SHIFT, _LONGEST_PARTICLE, _LONGEST_SUFFIX, _SHORTEST_STEM
cdef int _HANGUL_FIRST, _HANGUL_LAST, _HAN_FIRST, _CAPITAL_L, _GREEK, _CYRILLIC_FIRST, _CYRILLIC_LAST, _SHORTEST_ROOT
cdef frozenset _ENDINGS, _VOWELS, _CASES
cdef tuple _NOMINATIVES

cpdef int read_text(Sheet s, Tables t, codes)
cdef int _class_at(Sheet s, Tables t, int at, int size) noexcept
@cython.locals(count=cython.int, at=cython.int, end=cython.int)
cdef void _tokenise(Sheet s, Tables t, int size) noexcept
@cython.locals(at=cython.int, total=cython.ulonglong, power=cython.ulonglong, value=cython.ulonglong, code=cython.uint,
               here=cython.int, mark=cython.int)
cdef int _token_end(Sheet s, Tables t, int token, int start, int size) noexcept
@cython.locals(after=cython.int, before=cython.int)
cdef bint _joins(Sheet s, Tables t, int at, int size) noexcept
@cython.locals(head=cython.int, second=cython.int, following=cython.uint, mark=cython.int)
cdef void _keep_token(Sheet s, Tables t, int token, int start, int end, int size) noexcept
@cython.locals(at=cython.int, blanks=cython.int, head=cython.int, mark=cython.int)
cdef int _gap(Sheet s, Tables t, int low, int high) noexcept
@cython.locals(back=cython.int)
cdef bint _is_wrapped(Sheet s, int at) noexcept
@cython.locals(key=cython.ulonglong)
cdef unsigned long long mixed(unsigned long long total) noexcept
@cython.locals(hit=cython.int, first=cython.int, last=cython.int, token=cython.int)
cdef void _find_words(Sheet s, Tables t) noexcept
@cython.locals(one=cython.ulonglong, two=cython.ulonglong)
cdef int _word_slot(Tables t, unsigned long long key) noexcept
@cython.locals(hits=cython.int, start=cython.int)
cdef void _plain_from(Sheet s, Tables t, int first) except *
@cython.locals(start=cython.int, mark=cython.int, small=cython.bint)
cdef bint _is_elided(Sheet s, Tables t, int token) noexcept
@cython.locals(at=cython.int, total=cython.ulonglong, power=cython.ulonglong, value=cython.ulonglong)
cdef void _cut(Sheet s, Tables t, int token, int start, int end) noexcept
@cython.locals(total=cython.ulonglong, power=cython.ulonglong, before=cython.ulonglong, scale=cython.ulonglong,
               last=cython.int, limit=cython.int, name=cython.int, gap=cython.int)
cdef void _names_from(Sheet s, Tables t, int first) except *
@cython.locals(end=cython.int, cut=cython.int, name=cython.int)
cdef int _without_ending(Sheet s, Tables t, int token, unsigned long long before, unsigned long long scale) except -2
@cython.locals(start=cython.int, end=cython.int, mark=cython.int, size=cython.int, ends=cython.bint, length=cython.int,
               at=cython.int, code=cython.ulonglong)
cdef int _ending(Sheet s, Tables t, int token) except -2
@cython.locals(bit=cython.ulonglong, bucket=cython.ulonglong, low=cython.uint, high=cython.uint)
cdef int _name_index(Tables t, unsigned long long key) noexcept
@cython.locals(form=cython.int)
cdef bint _well_written(Sheet s, Tables t, int name, int first, int last) noexcept
@cython.locals(hit=cython.int)
cdef void _keep_hit(Sheet s, int first, int last, int name) noexcept
@cython.locals(start=cython.int, end=cython.int, length=cython.int, stem=cython.int, total=cython.ulonglong,
               power=cython.ulonglong, name=cython.int, letter=cython.int)
cdef int _nominative(Sheet s, Tables t, int token, unsigned long long before, unsigned long long scale) except -2
