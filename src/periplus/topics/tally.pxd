# C types of tally.py, used only where it is compiled.
cimport cython

cdef unsigned long long _BASE, _PRIME, _MASK, _ZERO, _NUMBER
cdef unsigned int _BLANKS
cdef const unsigned char[::1] _BLANK
cdef int _FEWEST, _NUMBER_BITS, _AT_ONCE, _LONGEST, _MOST, _LOGS
cdef double[::1] _SQUARED

cdef class ChunkTable:
    cdef readonly list chunks
    cdef readonly int renewals
    cdef unsigned long long[::1] slots
    cdef unsigned long long last
    cdef int[::1] starts, ends
    cdef unsigned long long[::1] keys
    cdef int waiting
    cdef void _clear(self) except *
    cpdef void make_room(self) except *
    @cython.locals(number=cython.int)
    cdef int put(self, unsigned long long key, str chunk) except -1
    @cython.locals(at=cython.Py_ssize_t, old="unsigned long long[::1]")
    cdef void _grow(self) except *

cdef class Chunks:
    cdef readonly int renewals, count
    cdef readonly list known, long
    cdef int[::1] numbers
    cpdef str chunk(self, int number)
    cdef void add(self, int number) noexcept

@cython.locals(at=cython.int, start=cython.int, end=cython.int)
cpdef Chunks cut(ChunkTable table, str text, object skip=*)
@cython.locals(at=cython.int, start=cython.int, end=cython.int, i=cython.int, key=cython.ulonglong,
               taken_slot=cython.ulonglong)
cdef void _number(ChunkTable table, str text, int low, int high, Chunks found) except *
@cython.locals(at=cython.int, count=cython.int, start=cython.int, key=cython.ulonglong, code=cython.uint)
cdef int _find_keys(ChunkTable table, str text, int low, int high) except -1
@cython.locals(slot=cython.ulonglong)
cdef unsigned long long _slot(ChunkTable table, unsigned long long key) noexcept
cdef int _number_in(unsigned long long taken_slot) noexcept
@cython.locals(taken_slot=cython.ulonglong)
cdef int _number_of(ChunkTable table, unsigned long long key, str chunk, Chunks found) except -1

cdef class RowTable:
    cdef int[::1] first, rows
    cdef int used, kept
    @cython.locals(at=cython.int, number=cython.int)
    cpdef void learn(self, Chunks chunks, object row_of) except *
    cdef void _make_room(self, int room) except *
    @cython.locals(at=cython.int, place=cython.int)
    cdef int _put(self, object row) except -1
    @cython.locals(at=cython.int, row=cython.int, place=cython.int)
    cpdef void add_up(self, Chunks chunks, int[::1] counts) except *
    @cython.locals(length=cython.int, at=cython.int, row=cython.int, place=cython.int, found=cython.int[::1])
    cpdef int[::1] in_a_row(self, Chunks chunks)

cdef class StemCounts:
    cdef readonly list names
    cdef readonly int[::1] sequence
    cdef int[::1] met
    cdef int room
    cdef readonly int different
    cdef readonly double norm
    @cython.locals(at=cython.int)
    cpdef dict among(self, const unsigned char[::1] wanted)
    @cython.locals(at=cython.int, one=cython.int, next_one=cython.int)
    cpdef list pairs_from(self, const unsigned char[::1] firsts)

@cython.locals(at=cython.int, stem=cython.int, count=cython.int, total=cython.double, found=StemCounts,
               sequence=cython.int[::1])
cpdef StemCounts count_stems(list names, RowTable rows, Chunks text, int[::1] title, int boost, int[::1] counts)
@cython.locals(at=cython.int, stem=cython.int)
cdef void _count(StemCounts found, int[::1] sequence, int step, int[::1] counts) noexcept
@cython.locals(number=cython.int)
cpdef dict taken(int[::1] counts)
