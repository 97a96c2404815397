# C types of link_parts.py, used only where it is compiled.
cimport cython
from periplus.pages.blanks cimport blanks

cdef double _PARENT, _OWN, _ANCHOR, _UNWORDED, _SILENT, _WINDOW
cdef int _PARTS, _STEMS

cdef class UrlSaid:
    cdef readonly tuple words, keywords
    cdef readonly int places, targets
    cdef readonly double spatial

cdef class Mentions:
    cdef int[::1] starts, wanted, lengths
    cdef int count

cdef class PageSide:
    cdef const unsigned char[::1] codes
    cdef Mentions mentions
    cdef frozenset names
    cdef double keywords, places, time
    cdef bint has_keywords, has_places

cdef class Near:
    cdef int anchored, anchored_wanted, named, wanted, terms, low, high, low_blanks, high_blanks
    cdef double covered

@cython.locals(near=Near, url=UrlSaid, i=cython.int, start=cython.int, end=cython.int, low=cython.int, high=cython.int)
cpdef void score_links(PageSide side, list links, list urls, double[::1] worded, object named_by, object loose,
                       double[::1] parts) except *
@cython.locals(mentions=Mentions, first=cython.int, last=cython.int)
cdef void _look_near(PageSide side, Near near, int start, int end, int low, int high) except *
@cython.locals(local=cython.double, total=cython.double, good=cython.double, keywords=cython.double,
               worth=cython.double)
cdef void _write(PageSide side, Near near, UrlSaid url, double worded, double[::1] parts, int at) noexcept
cdef double _real(double number) noexcept
@cython.locals(low=cython.int, high=cython.int, middle=cython.int)
cdef int _before(Mentions mentions, int position) noexcept
cdef int _blanks(const unsigned char[::1] codes, int start, int end) noexcept
@cython.locals(word=str)
cdef bint _any_in(tuple words, frozenset names) except -1
@cython.locals(found=bytearray, at=cython.int)
cpdef bytes packed(double[::1] parts)

cdef class Stems:
    cdef tuple stems
    cdef bytes hashed

@cython.locals(i=cython.int)
cpdef list joined(list anchors, list urls)
@cython.locals(room=cython.int, i=cython.int, hashed=bytes)
cdef bytes _both(Stems one, Stems other)
@cython.locals(i=cython.int, k=cython.int)
cdef bytes _each_once(bytes hashed)
