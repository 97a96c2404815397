# C types of naming.py, used only where it is compiled.
cimport cython

cdef frozenset _STATE_NAMES

@cython.locals(pattern=cython.int, start=cython.int, end=cython.int, stop=cython.int, size=cython.int, found=list,
               bearers=tuple)
cpdef list settled(object hits, list keys, dict candidates, str text)
cpdef object in_region(tuple bearers, str region)
@cython.locals(size=cython.int, at=cython.int, stop=cython.int, first=str, joined=str)
cpdef str region_after(str text, int end)
@cython.locals(after=cython.int)
cdef str _code(str text, int at, int size)
@cython.locals(stop=cython.int)
cdef int _word_end(str text, int at, int size) except -1
cdef bint _capital(Py_UCS4 char) noexcept
cdef bint _in_word(Py_UCS4 char) noexcept
