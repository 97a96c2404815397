# C types of scoring.py, used only where it is compiled.
cimport cython
from periplus.strategies.naming cimport in_region, region_after

cdef frozenset _REGIONS

cpdef double probability(double pairs, double cities, double population_share, double region_share, double alpha,
                         double beta) noexcept

cdef class Bearers:
    cdef readonly tuple candidates, distinct
    cdef readonly list people, places, ids, regions

@cython.locals(pairs=dict, cities=dict, regions=dict, bearers=dict, taken=cython.int, comma=cython.int, end=cython.int,
               found=Bearers, region=str)
cpdef tuple count(object mentions, str text, dict owned, dict borne, object find, object join)
@cython.locals(scores=dict, places=dict, i=cython.Py_ssize_t, named=cython.int, alone=cython.int, with_state=cython.int,
               share=cython.double, value=cython.double, found=Bearers)
cpdef list score(dict pairs, dict cities, dict regions, dict bearers, double alpha, double beta)
