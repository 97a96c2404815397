# C types of built.py, used only where it is compiled.
cimport cython
from periplus.places.sheet cimport Sheet, Tables

cdef int _UPPER, _SPACE, _HYPHEN, _STOP
cdef unsigned int _LANDFORM, _DIVISION, _LAKE, _DIRECTION, _NO_NAME

cpdef void add_built(Sheet s, Tables t) except *
@cython.locals(token=cython.int, bits=cython.uint)
cdef list _built(Sheet s, Tables t)
cdef bint _spaced(Sheet s, int token) noexcept
cdef bint _may_name(Sheet s, Tables t, int token) noexcept
@cython.locals(longest=cython.int)
cdef void _add(Sheet s, dict found, int head, int tail, int name, int how) except *
@cython.locals(base=cython.int)
cdef void _before_generic(Sheet s, Tables t, int token, int how, dict found) except *
@cython.locals(base=cython.int, gap=cython.int)
cdef void _after_generic(Sheet s, Tables t, int token, unsigned int bits, dict found) except *
@cython.locals(source=cython.int, goal=cython.int)
cdef void _merge(Sheet s, list built) except *
