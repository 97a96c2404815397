# C types of flow.py, used only where it is compiled.
cimport cython

cdef int _LESS, _MORE, _EQUALS, _QUOTE, _AND, _SPACE, _BREAK, _SLASH, _BANG
cdef int PLAIN, WITHIN, BLANK, TAG, ESCAPE, WIDE, BLOCK, PART, LINK, AREA, IMAGE, NOTHING, GAP, LINE
cdef int _TWO_BYTES, _LAST_WIDE, _LONGEST_NAME, _HEADING, _NAVIGATION, _BREADCRUMB, _MOST_ANCHOR, _FAR
cdef int _AT_HREF, _AT_REL, _AT_SPARE, _AT_START, _AT_END, _AT_POSITION, _FIELDS, _AT_TITLE, _AT_LABEL, _ATTRIBUTES
cdef long long _RADIX, _SLOTS, _HREF, _REL, _ALT, _TITLE, _LABEL, _CLASS, _ID, _ROLE
cdef const unsigned char[::1] _SORTS, _WIDE_BLANKS, _DIGITS, _KINDS, _POSITIONS
cdef const long long[::1] _NAMES, _BESIDE

cdef class Walk:
    cdef readonly str text
    cdef readonly int links
    cdef readonly int at
    cdef bytes source
    cdef int size, length, rest, words, opened, gap, closed_at, position, code
    cdef unsigned char[::1] out
    cdef int[::1] begins, rows, spans
    cdef list around
    cdef bint beside
    cdef readonly list apart, headings
    @cython.locals(at=cython.int, codes="const unsigned char[::1]", out="unsigned char[::1]", begins="int[::1]")
    cpdef void run(self, int most_chars) except *
    @cython.locals(length=cython.int, row=cython.int, start=cython.int, end=cython.int)
    cpdef void finish(self, int most_chars) except *
    @cython.locals(at=cython.int, slot=cython.int, kind=cython.int, written=cython.int, closing=cython.bint)
    cdef int take_tag(self, const unsigned char[::1] codes, int start) except -1
    cdef int pass_comment(self, const unsigned char[::1] codes, int start, int at) except -1
    @cython.locals(at=cython.int, name=cython.int, value=cython.int, span=cython.int)
    cdef int take_attributes(self, const unsigned char[::1] codes, int start, bint wanted) except -1
    @cython.locals(span=cython.int)
    cdef void keep(self, long long name, int start, int end) noexcept
    @cython.locals(position=cython.int, before=cython.bint)
    cdef void pass_border(self, const unsigned char[::1] codes, int slot, bint closing, int start, int end) except *
    @cython.locals(length=cython.int, row=cython.int, span=cython.int)
    cdef void take_other(self, int kind, bint closing) except *
    @cython.locals(at=cython.int, size=cython.int, length=cython.int, rest=cython.int, begun=cython.bint,
                   blank=cython.bint, code=cython.int, sort=cython.int)
    cdef int take_text(self, const unsigned char[::1] codes, unsigned char[::1] out, int[::1] begins, int start) except -1
    @cython.locals(wide=cython.int, stop=cython.int)
    cdef int take_special(self, const unsigned char[::1] codes, int at, int sort) except -1
    cdef void end_text(self, bint begun, bint blank, int length, int rest) noexcept
    @cython.locals(between=cython.int)
    cdef void begin_text(self, bint blank) noexcept
    @cython.locals(row=cython.int)
    cpdef list written(self)
    @cython.locals(start=cython.int, end=cython.int)
    cdef str said(self, int field)
    @cython.locals(text=str, length=cython.int, row=cython.int, start=cython.int, end=cython.int, low=cython.int,
                   high=cython.int, number=cython.int, anchor=str)
    cpdef list placed(self, list taken, int tokens)
    @cython.locals(first=cython.int)
    cdef int before(self, int start, int tokens) noexcept
    @cython.locals(stop=cython.int)
    cdef int behind(self, int end, int length, int tokens) noexcept

@cython.locals(low=cython.int, high=cython.int, middle=cython.int)
cdef int _first_from(const int[::1] words, int count, int at) noexcept
@cython.locals(number=cython.longlong, at=cython.int)
cdef long long _numbered(const unsigned char[::1] codes, int start, int end) noexcept
@cython.locals(at=cython.int, name=cython.int, kind=cython.longlong, told=cython.bint, word=cython.int)
cdef bint _is_beside(const unsigned char[::1] codes, int start, int end) noexcept
@cython.locals(place=cython.int)
cdef bint _names_beside(long long number) noexcept
@cython.locals(number=cython.longlong, slot=cython.int)
cdef int _slot(const unsigned char[::1] codes, int start, int end) noexcept
@cython.locals(code=cython.int, character=cython.int)
cdef int _wide_blank(const unsigned char[::1] codes, int at) noexcept
