# C types of maintext.py, used only where it is compiled.
cimport cython

cdef int LONG_LINE, LINKS, SHORT, LONG
cdef double MOST_LINKED

@cython.locals(sorts=bytearray, last=cython.Py_ssize_t, begin=cython.Py_ssize_t, kept=cython.Py_ssize_t,
               number=cython.Py_ssize_t, sort=cython.int, beside=cython.bint)
cpdef str main_text(str text, list links)
@cython.locals(sorts=bytearray, begin=cython.Py_ssize_t, at=cython.Py_ssize_t, count=cython.Py_ssize_t,
               size=cython.Py_ssize_t, end=cython.Py_ssize_t, linked=cython.Py_ssize_t, start=cython.Py_ssize_t,
               stop=cython.Py_ssize_t, is_prose=cython.bint)
cdef bytearray _sorts_of_lines(str text, list links)
