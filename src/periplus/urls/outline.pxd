# C types of outline.py, used only where it is compiled.
cimport cython

cdef unsigned long long _BASE, _PRIME, _MASK, _MIX
cdef unsigned int _SLASH, _ASK, _AND, _EQUALS, _ZERO, _NINE
cdef int _FOLDERS

@cython.locals(size=cython.longlong, at=cython.longlong, slashes=cython.int, dimensions=cython.int,
               key=cython.ulonglong, folder=cython.ulonglong, code=cython.uint)
cpdef tuple outline(str url)
@cython.locals(at=cython.longlong, total=cython.ulonglong, key=cython.ulonglong, code=cython.uint, is_name=cython.bint)
cdef unsigned long long _names(str url, long long start, long long size) noexcept
cdef unsigned long long _mixed(unsigned long long key) noexcept
