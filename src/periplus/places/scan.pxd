# C types of scan.py, used only where it is compiled.
cimport cython
from periplus.places.sheet cimport Sheet, Tables

cdef int WRAPPED, MAX_WRAPPED, MAX_TOKENS, MAX_SOLO_TOKENS, MAX_ABBREVIATION
cdef int _WORD, _UPPER, _LOWER, _SOLO, _CASELESS, _APOSTROPHE
cdef int _JOIN, _SPACE, _HYPHEN, _STOP, _COMMA, _LINE, _OTHER, _POSSESSIVE
cdef unsigned long long _BASE, _MIX, _MASK, _BLOOM, _SLOTS
cdef int _BUCKET_SHIFT
cdef unsigned int _LANDFORM, _DIVISION, _LAKE, _DIRECTION, _NO_NAME

cpdef int read_text(Sheet s, Tables t, codes)
cdef int _class_at(Sheet s, Tables t, int at, int size) noexcept
@cython.locals(count=cython.int, at=cython.int, end=cython.int)
cdef void _tokenise(Sheet s, Tables t, int size) noexcept
@cython.locals(at=cython.int, total=cython.ulonglong, power=cython.ulonglong, value=cython.ulonglong, code=cython.uint,
               here=cython.int, after=cython.int, before=cython.int)
cdef int _token_end(Sheet s, Tables t, int token, int start, int size) noexcept
@cython.locals(head=cython.int, second=cython.int, following=cython.uint)
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
@cython.locals(total=cython.ulonglong, power=cython.ulonglong, last=cython.int, limit=cython.int, name=cython.int, gap=cython.int)
cdef void _plain_from(Sheet s, Tables t, int first) noexcept
@cython.locals(bit=cython.ulonglong, bucket=cython.ulonglong, low=cython.uint, high=cython.uint)
cdef int _name_index(Tables t, unsigned long long key) noexcept
@cython.locals(form=cython.int)
cdef bint _well_written(Sheet s, Tables t, int name, int first, int last) noexcept
@cython.locals(hit=cython.int)
cdef void _keep_hit(Sheet s, int first, int last, int name) noexcept
@cython.locals(token=cython.int, bits=cython.uint)
cdef list _built(Sheet s, Tables t)
cdef bint _spaced(Sheet s, int token) noexcept
cdef bint _may_name(Sheet s, Tables t, int token) noexcept
@cython.locals(longest=cython.int)
cdef void _add(Sheet s, dict found, int head, int tail, int name, int how) except *
@cython.locals(base=cython.int)
cdef void _before_generic(Sheet s, Tables t, int token, int how, dict found) except *
@cython.locals(base=cython.int, gap=cython.int)
cdef void _after_generic(Sheet s, Tables t, int token, unsigned int bits, dict found) except *
@cython.locals(source=cython.int, goal=cython.int)
cdef void _merge(Sheet s, list built) except *
