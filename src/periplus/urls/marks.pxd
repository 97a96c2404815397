# C types of marks.py, used only where it is compiled.
cimport cython

cdef class Segment:
    cdef readonly unsigned long long[::1] marks
    cdef unsigned int[::1] counts
    cdef unsigned long long places
    cdef bint counted
    cdef readonly long long used
    cdef long long room
    @cython.locals(at=cython.longlong, end=cython.longlong, found=cython.ulonglong)
    cdef long long slot(self, unsigned long long mark) noexcept
    @cython.locals(at=cython.longlong)
    cdef long long find(self, unsigned long long mark) noexcept
    @cython.locals(at=cython.longlong)
    cdef long long enter(self, unsigned long long mark) except -1
    cdef void grow(self) except *

cdef class Table:
    cdef readonly list segments
    @cython.locals(key=cython.ulonglong, segment=Segment)
    cpdef bint has(self, object mark) except -1
    @cython.locals(at=cython.longlong, key=cython.ulonglong, segment=Segment, found=list)
    cpdef list missing(self, const unsigned long long[::1] marks)

cdef class MarkSet(Table):
    @cython.locals(key=cython.ulonglong, segment=Segment)
    cpdef bint add(self, object mark) except -1
    cpdef void update(self, object marks) except *

cdef class MarkCounter(Table):
    @cython.locals(key=cython.ulonglong, segment=Segment, at=cython.longlong)
    cpdef unsigned int count(self, object mark) except? 0
    @cython.locals(key=cython.ulonglong, segment=Segment, at=cython.longlong)
    cpdef void put(self, object mark, unsigned int number) except *
    @cython.locals(key=cython.ulonglong, segment=Segment, at=cython.longlong)
    cpdef unsigned int add(self, object mark, unsigned int count=*) except? 0
