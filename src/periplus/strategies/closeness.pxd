# C types of closeness.py, used only where it is compiled.
cimport cython

@cython.locals(count=cython.int, text_end=cython.int, start=cython.int, end=cython.int, first=cython.int, n=cython.int,
               distance=cython.int, name_start=cython.int, name_end=cython.int, starts=list, ends=list, near=list,
               result=list)
cpdef list closest(list names, object links, int[::1] before, int window, int side)
@cython.locals(low=cython.int, high=cython.int, middle=cython.int)
cdef int _first_from(list starts, int size, int at) except -1
@cython.locals(n=cython.Py_ssize_t, done=list, targets=list, owned=tuple)
cpdef list claims_near(list nearby, list nobody, dict known, object made)
