# C types of closeness.py, used only where it is compiled.
cimport cython

@cython.locals(size=cython.int, at=cython.int, start=cython.int, end=cython.int, until=cython.int, until_end=cython.int,
               first=cython.int, n=cython.int, distance=cython.int, near=list, result=list)
cpdef list closest(list starts, list ends, object spans, list words, int window, int side)
@cython.locals(low=cython.int, high=cython.int, middle=cython.int)
cdef int _first_from(list starts, int size, int at) except -1
