# C types of chances.py, used only where it is compiled.
cimport cython

cdef int _NOBODY

@cython.locals(nodes=list, features=list, values=list, named=list, scores=list, i=cython.int, node=cython.int,
               feature=cython.int, strength=cython.double, value=cython.double)
cpdef tuple weigh(object terms, dict owners, list nobodys, int nowhere, tuple host, int parent, int parent_feature,
                  list weights, double odds)
@cython.locals(i=cython.int)
cdef void _add(list named, list scores, int node, double score) except *
@cython.locals(i=cython.int, top=cython.double, total=cython.double, value=cython.double)
cdef list _softmax(list scores)
@cython.locals(i=cython.int, best=cython.int)
cpdef int leader(list nodes, list chances) except -1
