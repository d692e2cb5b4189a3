/* SPDX-License-Identifier: BSD-3-Clause */
/* One row per collective: CALL(name, pattern, what it has, arguments). N and D are the types of
 * counts and displacements, W those of neighbor_alltoallw; s, r: its sides, b: the one of a bcast
 * that is used. */
CALL(alltoall, TO_ALL, IN_PLACE,
     (s->memory, (N)s->count, s->type, r->memory, (N)r->count, r->type, c->comm))
CALL(allgather, SPREAD, IN_PLACE,
     (s->memory, (N)s->count, s->type, r->memory, (N)r->count, r->type, c->comm))
CALL(alltoallv, TO_ALL, SEND_COUNTS | RECV_COUNTS | IN_PLACE,
     (s->memory, (N *)s->counts, (D *)s->displs, s->type, r->memory, (N *)r->counts, (D *)r->displs,
      r->type, c->comm))
CALL(alltoallw, TO_ALL, SEND_COUNTS | RECV_COUNTS | TYPES | IN_PLACE,
     (s->memory, (N *)s->counts, (D *)s->displs, s->types, r->memory, (N *)r->counts,
      (D *)r->displs, r->types, c->comm))
CALL(allgatherv, SPREAD, RECV_COUNTS | IN_PLACE,
     (s->memory, (N)s->count, s->type, r->memory, (N *)r->counts, (D *)r->displs, r->type, c->comm))
CALL(bcast, ROOTS, 0, (b->memory, (N)b->count, b->type, c->root, c->comm))
CALL(gather, TO_ROOT, IN_PLACE,
     (s->memory, (N)s->count, s->type, r->memory, (N)r->count, r->type, c->root, c->comm))
CALL(gatherv, TO_ROOT, RECV_COUNTS | IN_PLACE,
     (s->memory, (N)s->count, s->type, r->memory, (N *)r->counts, (D *)r->displs, r->type, c->root,
      c->comm))
CALL(scatter, FROM_ROOT, IN_PLACE,
     (s->memory, (N)s->count, s->type, r->memory, (N)r->count, r->type, c->root, c->comm))
CALL(scatterv, FROM_ROOT, SEND_COUNTS | IN_PLACE,
     (s->memory, (N *)s->counts, (D *)s->displs, s->type, r->memory, (N)r->count, r->type, c->root,
      c->comm))
CALL(reduce, REDUCTION, IN_PLACE,
     (s->memory, r->memory, (N)r->count, r->type, c->op, c->root, c->comm))
CALL(allreduce, REDUCTION, IN_PLACE, (s->memory, r->memory, (N)r->count, r->type, c->op, c->comm))
CALL(reduce_scatter, REDUCTION, RECV_COUNTS | IN_PLACE,
     (s->memory, r->memory, (N *)r->counts, r->type, c->op, c->comm))
CALL(reduce_scatter_block, REDUCTION, IN_PLACE,
     (s->memory, r->memory, (N)r->count, r->type, c->op, c->comm))
CALL(scan, REDUCTION, IN_PLACE, (s->memory, r->memory, (N)r->count, r->type, c->op, c->comm))
CALL(exscan, REDUCTION, IN_PLACE, (s->memory, r->memory, (N)r->count, r->type, c->op, c->comm))
CALL(neighbor_alltoall, EDGES, 0,
     (s->memory, (N)s->count, s->type, r->memory, (N)r->count, r->type, c->comm))
CALL(neighbor_alltoallv, EDGES, SEND_COUNTS | RECV_COUNTS,
     (s->memory, (N *)s->counts, (D *)s->displs, s->type, r->memory, (N *)r->counts, (D *)r->displs,
      r->type, c->comm))
CALL(neighbor_alltoallw, EDGES, SEND_COUNTS | RECV_COUNTS | TYPES | WIDE,
     (s->memory, (N *)s->counts, (MPI_Aint *)s->displs, s->types, r->memory, (N *)r->counts,
      (MPI_Aint *)r->displs, r->types, c->comm))
CALL(neighbor_allgather, EDGES_SPREAD, 0,
     (s->memory, (N)s->count, s->type, r->memory, (N)r->count, r->type, c->comm))
CALL(neighbor_allgatherv, EDGES_SPREAD, RECV_COUNTS,
     (s->memory, (N)s->count, s->type, r->memory, (N *)r->counts, (D *)r->displs, r->type, c->comm))
