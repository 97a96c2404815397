# C types of signs.py, used only where it is compiled.
cimport cython

cdef int _NOTHING, _TAG, _VALUE, _REFERENCE, _TURNING, _CONTROL
cdef int _NONE, _MORE, _QUOTE, _APOSTROPHE, _HASH, _HREFLANG, _HREFLANG_SIZE, _HREFLANG_END
cdef int _CONTROL_BIT, _REFERENCE_BIT, _TURNING_BIT, _CROWD_BIT, _CROWD_TAGS
cdef const unsigned char[::1] _SORTS, _LOWER, _ELEMENT, _FIRST, _COUNT, _BLANK

cdef class Look:
    cdef const unsigned char[::1] codes
    cdef Py_ssize_t size, bare_until
    cdef int found
    @cython.locals(codes="const unsigned char[::1]", sorts="const unsigned char[::1]", at=cython.Py_ssize_t,
                   size=cython.Py_ssize_t, sort=cython.int, tags=cython.Py_ssize_t)
    cpdef int run(self) except -1
    @cython.locals(at=cython.Py_ssize_t)
    cdef void see_name(self, const unsigned char[::1] codes, Py_ssize_t end) except *
    @cython.locals(at=cython.Py_ssize_t, size=cython.Py_ssize_t, quote=cython.int)
    cdef void see_value(self, const unsigned char[::1] codes, Py_ssize_t start) except *
    @cython.locals(number=cython.int, first=cython.int)
    cdef void see_words(self, const unsigned char[::1] codes, Py_ssize_t at) except *
    @cython.locals(word=bytes, length=cython.Py_ssize_t, place=cython.Py_ssize_t)
    cdef void see_word(self, const unsigned char[::1] codes, Py_ssize_t at, int number) except *
