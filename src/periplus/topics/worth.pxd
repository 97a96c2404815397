# C types of worth.py, used only where it is compiled.
cimport cython
from libc.math cimport log1p

cdef double _WORDS, _SIBLINGS, _HUB, _CAUTION, _SIBLING_CAUTION, _NOTICEABLE
cdef long long _FEATURES, _PARENTS, _NO_WORD, _PAGES

cdef class Columns:
    cdef readonly int size
    cdef bint adaptive
    cdef double learnt_sum, learnt_count
    cdef double[::1] learnt, children, total, relevance, hub, queued
    cdef long long[::1] mark, count, node
    cdef int[::1] parents
    cdef unsigned short[::1] words
    cpdef void grow(self, int size) except *
    @cython.locals(at=cython.longlong)
    cpdef void begin_page(self, long long page) noexcept

@cython.locals(i=cython.int, words=cython.int, word=cython.longlong)
cpdef void take(Columns c, int slot, long long mark, bytes features) except *
@cython.locals(i=cython.int, slot=cython.int, worth=cython.double, moved=list)
cpdef list name_links(Columns c, long long[::1] slots, double[::1] priorities, long long[::1] nodes, long long page,
                      double relevance, double[::1] worths)
@cython.locals(slot=cython.int, worth=cython.double, moved=list)
cpdef list value_turn(Columns c, int start, int stop)
@cython.locals(i=cython.int, at=cython.longlong, word=cython.longlong, page=cython.longlong)
cpdef void let_go(Columns c, int slot, double relevance, bint learn) except *
@cython.locals(change=cython.double)
cdef bint _moves(Columns c, int slot, double worth) noexcept
@cython.locals(mean=cython.double, worth=cython.double, best=cython.double)
cdef double _worth(Columns c, int slot) noexcept
@cython.locals(prior=cython.double, best=cython.double, worth=cython.double, i=cython.int, word=cython.longlong)
cdef double _best_word(Columns c, int slot) noexcept
@cython.locals(total=cython.double, count=cython.double, i=cython.int, at=cython.longlong, page=cython.longlong)
cdef double _of_siblings(Columns c, int slot) noexcept
