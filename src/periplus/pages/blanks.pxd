# C types of blanks.py, used only where it is compiled.
cimport cython

@cython.locals(found=cython.int, at=cython.Py_ssize_t)
cpdef int blanks(const unsigned char[::1] codes, Py_ssize_t start, Py_ssize_t end) noexcept
