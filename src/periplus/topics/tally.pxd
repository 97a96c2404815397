# C types of tally.py, used only where it is compiled.
cimport cython

cdef unsigned long long _BASE, _PRIME, _MASK, _ZERO
cdef unsigned int _BLANKS
cdef const unsigned char[::1] _BLANK
cdef int _SLOTS, _LONGEST, _MOST

cdef class ChunkTable:
    cdef readonly list chunks
    cdef readonly int renewals
    cdef unsigned long long[::1] keys
    cdef int[::1] numbers
    cdef void _clear(self) except *
    cpdef void make_room(self, int chunks) except *

@cython.locals(at=cython.int, start=cython.int, slot=cython.int, key=cython.ulonglong)
cdef int _number(ChunkTable table, str text, const unsigned int[::1] codes, int low, int high, int[::1] found, int count,
                 list long) except -1
@cython.locals(slot=cython.ulonglong)
cdef int _slot(ChunkTable table, unsigned long long key) noexcept
@cython.locals(slot=cython.int)
cdef int _number_of(ChunkTable table, unsigned long long key, str chunk) except -1
@cython.locals(at=cython.int)
cpdef list alike(int[::1] numbers, int count, int[::1] marks, int mark)
@cython.locals(at=cython.int)
cpdef list unlike(int[::1] numbers, int count, int[::1] marks, int mark)
@cython.locals(at=cython.int, total=cython.int)
cpdef int stem_room(int[::1] numbers, int count, int[::1] first, int[::1] rows) except -1
@cython.locals(length=cython.int, at=cython.int, row=cython.int, place=cython.int)
cpdef void stems_of(int[::1] numbers, int count, int[::1] first, int[::1] rows, int[::1] found) except *
@cython.locals(different=cython.int, at=cython.int, stem=cython.int)
cpdef int count_stems(int[::1] sequence, int[::1] counts, int[::1] met) except -1
@cython.locals(at=cython.int, total=cython.int)
cpdef int written_room(int[::1] numbers, int count, int[::1] sizes) except -1
@cython.locals(length=cython.int, at=cython.int, start=cython.int, place=cython.int)
cpdef void write(int[::1] numbers, int count, int[::1] first, int[::1] sizes, unsigned char[::1] pieces,
                 unsigned char[::1] found) except *
