# C types of terms.py, used only where it is compiled.
cimport cython

cdef unsigned long long _BASE, _PRIME, _MASK, _LENGTH
cdef unsigned int _BLANKS
cdef const unsigned char[::1] _BLANK
cdef int _LONGEST, _MOST, _SLOTS, _BYTES

cdef class TermWriter:
    cdef object _analyse, _turn
    cdef int _slots, _known
    cdef Py_ssize_t _used
    cdef unsigned long long[::1] _table
    cdef unsigned char[::1] _pieces, _written
    cdef Py_ssize_t _room, _count
    cdef void _begin_anew(self) except *
    cpdef str write(self, str text)
    @cython.locals(at=cython.Py_ssize_t, start=cython.Py_ssize_t, key=cython.ulonglong, code=cython.uint,
                   character=cython.Py_UCS4)
    cdef str _write(self, str text)
    @cython.locals(first=cython.Py_ssize_t, length=cython.Py_ssize_t, count=cython.Py_ssize_t, place=cython.Py_ssize_t)
    cdef void _add(self, unsigned long long span) except *
    @cython.locals(slot=cython.Py_ssize_t, span=cython.ulonglong, piece=bytes)
    cdef unsigned long long _span(self, unsigned long long key, str text, Py_ssize_t start, Py_ssize_t end) except? 1
    @cython.locals(slot=cython.ulonglong)
    cdef Py_ssize_t _slot(self, unsigned long long key) noexcept
    @cython.locals(place=cython.Py_ssize_t)
    cdef unsigned long long _put(self, bytes piece) except? 1
    @cython.locals(old=cython.ulonglong[::1], held=cython.int, slot=cython.int, fresh=cython.Py_ssize_t)
    cdef void _grow(self) except *

@cython.locals(code=cython.uint, character=cython.Py_UCS4)
cpdef bint may_be_unspaced(str text) except -1
