# C types of scan.py, used only where it is compiled.
cimport cython
from periplus.places.forms cimport cut, is_elided, is_governed, is_large, mixed, name_index, prefix_end, without_ending
from periplus.places.sheet cimport Sheet, Tables

cdef int WRAPPED, MAX_WRAPPED, MAX_TOKENS, MAX_SOLO_TOKENS, MAX_MARKED_TOKENS, MAX_ABBREVIATION
cdef int _WORD, _UPPER, _LOWER, _SOLO, _CASELESS, _APOSTROPHE
cdef int _JOIN, _SPACE, _HYPHEN, _STOP, _COMMA, _LINE, _OTHER, _POSSESSIVE
cdef unsigned long long _BASE, _MASK, _SLOTS
cdef int _HAN_FIRST, _GREEK, _HEBREW_FIRST, _ARABIC_LAST, _KNOWN_SIZE, _LARGE_SIZE, _KATAKANA_FIRST, _KATAKANA_LAST, _BRACKET

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
@cython.locals(hit=cython.int, first=cython.int, last=cython.int, token=cython.int)
cdef void _find_words(Sheet s, Tables t) noexcept
@cython.locals(one=cython.ulonglong, two=cython.ulonglong)
cpdef int word_slot(Tables t, unsigned long long key) noexcept
@cython.locals(hits=cython.int, start=cython.int, length=cython.int)
cdef void _plain_from(Sheet s, Tables t, int first) except *
@cython.locals(hits=cython.int, whole=cython.int, longest=cython.int, brief=cython.bint)
cdef bint _names_behind(Sheet s, Tables t, int first, int start) except -1
@cython.locals(hit=cython.int)
cdef void _forget_from(Sheet s, int hits) noexcept
@cython.locals(total=cython.ulonglong, power=cython.ulonglong, before=cython.ulonglong, scale=cython.ulonglong,
               last=cython.int, limit=cython.int, name=cython.int, gap=cython.int, cased=cython.bint)
cdef void _names_from(Sheet s, Tables t, int first) except *
@cython.locals(inside=cython.bint)
cdef bint _may_have_ending(Sheet s, int first, int last) except -1
@cython.locals(form=cython.int)
cdef bint _well_written(Sheet s, Tables t, int name, int first, int last) noexcept
cdef bint _is_bracketed(Sheet s, int last) noexcept
cdef bint _is_torn(Sheet s, int first, int last) noexcept
cdef bint _is_katakana(Sheet s, int token) noexcept
@cython.locals(hit=cython.int)
cdef void _keep_hit(Sheet s, int first, int last, int name, bint cased) noexcept
