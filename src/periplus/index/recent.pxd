# C types of recent.py, used only where it is compiled.
cimport cython

cdef unsigned long long _BASE, _PRIME, _MASK
cdef int _LINE, _SLOTS, _MOST

cdef class RecentLinks:
    cdef int _slots, _count
    cdef unsigned long long[::1] _keys
    cpdef void clear(self) except *
    @cython.locals(at=cython.Py_ssize_t, start=cython.Py_ssize_t, end=cython.Py_ssize_t, size=cython.Py_ssize_t,
                   key=cython.ulonglong, found=list)
    cpdef list take(self, const long long[::1] targets, const unsigned short[::1] nodes, int number, bytes texts)
    @cython.locals(slot=cython.Py_ssize_t)
    cdef bint _add(self, unsigned long long key) except -1
    @cython.locals(slot=cython.ulonglong)
    cdef Py_ssize_t _slot(self, unsigned long long key) noexcept
    @cython.locals(old=cython.ulonglong[::1], held=cython.int, slot=cython.int)
    cdef void _grow(self) except *
