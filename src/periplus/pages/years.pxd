# C types of years.py, used only where it is compiled.
cimport cython

cdef int _MOST_YEARS, _FARTHEST

@cython.locals(years=list, start=cython.Py_ssize_t)
cpdef list years_of_days(str text, Py_ssize_t limit)
@cython.locals(found=list, size=cython.Py_ssize_t, at=cython.Py_ssize_t, hit=cython.Py_ssize_t, sign=str)
cdef list _years(str text, str century, Py_ssize_t rare, Py_ssize_t limit)
cdef bint _ends_a_year(str text, Py_ssize_t at, Py_ssize_t size) except -1
cdef bint _is_of_a_day(str text, Py_ssize_t start) except -1
@cython.locals(at=cython.Py_ssize_t, farthest=cython.Py_ssize_t, character=cython.Py_UCS4)
cdef bint _follows_a_digit(str text, Py_ssize_t start) except -1
@cython.locals(at=cython.Py_ssize_t)
cdef bint _leads_to_a_digit(str text, Py_ssize_t end) except -1
