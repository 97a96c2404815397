# C types of maintext.py, used only where it is compiled.
cimport cython

cdef int LONG_LINE, WIDER, LEAST_PROSE, REACH, LINKS, ASIDE, SHORT, LONG, OWN_LINKS, ASIDE_LONG
cdef double MOST_LINKED, LEAST_SHARE

@cython.locals(sorts=bytearray, spans=list, begin=cython.Py_ssize_t, kept=cython.Py_ssize_t, number=cython.Py_ssize_t,
               sort=cython.int, before=cython.int)
cpdef list furniture_of(str text, list links, list apart)
@cython.locals(sort=cython.int)
cdef bint _is_content(bytearray sorts, Py_ssize_t number)
@cython.locals(sorts=bytearray, begin=cython.Py_ssize_t, at=cython.Py_ssize_t, count=cython.Py_ssize_t,
               size=cython.Py_ssize_t, end=cython.Py_ssize_t, linked=cython.Py_ssize_t, start=cython.Py_ssize_t,
               stop=cython.Py_ssize_t, length=cython.Py_ssize_t, prose=cython.Py_ssize_t,
               own=cython.Py_ssize_t, spare=cython.Py_ssize_t, few=bytes, border=cython.Py_ssize_t, borders=cython.Py_ssize_t, beside=cython.bint)
cdef bytearray _sorts_of_lines(str text, list links, list apart)
