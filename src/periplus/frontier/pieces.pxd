# C types of pieces.py, used only where it is compiled.
cimport cython

cdef unsigned long long _MASK, _SPREAD, _SPREAD_AGAIN
cdef int _PIECE

@cython.locals(
    piece=cython.ulonglong, byte=cython.ulonglong, mark=cython.ulonglong, count=cython.longlong, at=cython.longlong
)
cpdef long long chosen_pieces(
    const unsigned char[::1] text, const unsigned char[::1] folded, unsigned long long most, unsigned long long[::1] chosen
) except -1
@cython.locals(
    votes=int[64], voters=cython.longlong, at=cython.longlong, mark=cython.ulonglong, last=cython.ulonglong,
    result=cython.ulonglong, bit=cython.int
)
cpdef unsigned long long voted_bits(const unsigned long long[::1] hashes, long long count) except? 0
