# C types of digits.py, used only where it is compiled.
cimport cython

cdef int _SPACE, _TAB, _COMMA, _DASH

cpdef tuple digit_groups(str text)
@cython.locals(zips=list, houses=list, at=cython.int, size=cython.int, start=cython.int)
cdef tuple _groups(const unsigned char[::1] raw)
@cython.locals(begins=cython.bint)
cdef bint _may_lead_on(int after, int then) noexcept
cdef bint _is_digit(int code) noexcept
cdef bint _is_capital(int code) noexcept
