/* SPDX-License-Identifier: BSD-3-Clause */
/* neighbours - which block goes to whom in a communicator with a Cartesian, graph or distributed
 * graph topology. The MPI library is asked which block of a sender arrives as which block of a
 * receiver: one call of its own MPI_Neighbor_alltoall or alltoallv sends blocks that name their
 * origin. Libraries differ if a rank is a neighbour twice (periodic dimensions of size two,
 * repeated edges); MPICH 4.0 differs even between these two calls. So users get what they got
 * before. Source: li2018 section 3 (4-tuples); here neighbours come in any order. */
#include "mpi/calls.h"

#include <stdlib.h>
#include <string.h>

/* Does the communicator have two topologies at once? Open MPI 5 reports CART or GRAPH for what
 * MPI_Dist_graph_create_adjacent made from a communicator of that kind. It then crashes in the
 * queries for CART or GRAPH, and fails neighbourhood calls. Such a communicator is recognised
 * because it also answers the queries of a distributed graph. */
static bool is_two(MPI_Comm comm) {
    MPI_Errhandler users;
    int ins, outs, weighted;
    if (!host.open_mpi) return false;
    PMPI_Comm_get_errhandler(comm, &users);
    PMPI_Comm_set_errhandler(comm, host.errors_return);
    int error = PMPI_Dist_graph_neighbors_count(comm, &ins, &outs, &weighted);
    PMPI_Comm_set_errhandler(comm, users);
    PMPI_Errhandler_free(&users);
    return error == MPI_SUCCESS;
}

bool degrees(MPI_Comm comm, int *ins, int *outs) {
    int topology = MPI_UNDEFINED, dimensions, weighted, me;
    PMPI_Topo_test(comm, &topology);
    if (topology == MPI_UNDEFINED || (topology != MPI_DIST_GRAPH && is_two(comm))) return false;
    switch (topology) {
    case MPI_CART:
        PMPI_Cartdim_get(comm, &dimensions);
        *ins = *outs = 2 * dimensions;
        return true;
    case MPI_GRAPH:
        PMPI_Comm_rank(comm, &me);
        PMPI_Graph_neighbors_count(comm, me, ins);
        *outs = *ins;
        return true;
    case MPI_DIST_GRAPH: PMPI_Dist_graph_neighbors_count(comm, ins, outs, &weighted); return true;
    default: return false;
    }
}

/* The edges to this rank, by asking the host MPI. NULL: a rank has no memory, or the host's call
 * failed. Collective. */
static struct edge *ask_host(MPI_Comm comm, const struct team *team, int which, int ins, int outs,
                             int *count) {
    const size_t words = 2 * sizeof(int32_t), most = (size_t)(ins > outs ? ins : outs);
    int32_t *send = malloc((size_t)(outs + 1) * words), *recv = malloc((size_t)(ins + 1) * words);
    struct edge *edges = malloc((size_t)(ins + 1) * sizeof *edges);
    int *twos = malloc((2 * most + 1) * sizeof *twos), *displs = twos ? twos + most : NULL;
    bool fine = team_agree((struct team *)team, send && recv && edges && twos);
    for (size_t b = 0; fine && b < most; b++) twos[b] = 2, displs[b] = 2 * (int)b;
    *count = 0;
    for (int b = 0; fine && b < outs; b++) send[2 * b] = team->me, send[2 * b + 1] = b;
    for (int b = 0; fine && b < 2 * ins; b++) recv[b] = -1; /* stays if nobody sends this block */
    if (fine && which == 0)
        fine =
            host.neighbor_alltoall(send, 2, MPI_INT32_T, recv, 2, MPI_INT32_T, comm) == MPI_SUCCESS;
    else if (fine)
        fine = host.neighbor_alltoallv(send, twos, displs, MPI_INT32_T, recv, twos, displs,
                                       MPI_INT32_T, comm) == MPI_SUCCESS;
    for (int b = 0; fine && b < ins; b++)
        if (recv[2 * b] >= 0)
            edges[(*count)++] = (struct edge){.source = (uint32_t)recv[2 * b],
                                              .dest = (uint32_t)team->me,
                                              .out = (uint32_t)recv[2 * b + 1],
                                              .in = (uint32_t)b};
    free(send);
    free(recv);
    free(twos);
    if (!fine) free(edges);
    return fine ? edges : NULL;
}

static int by_source(const void *a, const void *b) {
    const struct edge *x = a, *y = b;
    if (x->source != y->source) return x->source < y->source ? -1 : 1;
    return (x->out > y->out) - (x->out < y->out);
}

enum { UNTOUCHED = UINT32_MAX };

static uint32_t root_of(uint32_t *roots, uint32_t node) {
    if (roots[node] == UNTOUCHED) roots[node] = node;
    while (roots[node] != node) node = roots[node] = roots[roots[node]];
    return node;
}

/* How many lengths blocks may have, if all ranks know them; else 0. The same on all ranks. What one
 * sends is as long as what the other receives, edge by edge, but a rank may receive blocks of
 * another length than it sends. So the edges tie 2 p lengths together, of which those in one piece
 * are equal. All ranks know them if there is one piece, or if there are two and each rank has an
 * end in both, as in a grid that is coloured like a chessboard. roots: [2 p] scratch; rank r sends
 * r and receives p + r. */
static int known_lengths(const struct neighbours *n, uint32_t p, uint32_t *roots) {
    int pieces = 0;
    for (uint32_t node = 0; node < 2 * p; node++) roots[node] = UNTOUCHED;
    for (size_t e = 0; e < n->edge_count; e++) {
        uint32_t sent = root_of(roots, n->edges[e].source);
        roots[sent] = root_of(roots, p + n->edges[e].dest);
    }
    for (uint32_t node = 0; node < 2 * p; node++) pieces += roots[node] == node;
    for (uint32_t r = 0; r < p; r++) {
        bool sends = roots[r] != UNTOUCHED, receives = roots[p + r] != UNTOUCHED;
        if (!sends && !receives) return 0;
        if (pieces == 2 && !(sends && receives && root_of(roots, r) != root_of(roots, p + r)))
            return 0;
    }
    return pieces <= 2 ? pieces : 0;
}

/* Allocates the struct and its three lists in one block of memory. */
static struct neighbours *neighbours_room_for(size_t edges, int to, int from) {
    struct neighbours *n =
        malloc(sizeof *n + (edges + (size_t)to + (size_t)from) * sizeof *n->edges);
    if (!n) return NULL;
    n->edges = (struct edge *)(n + 1);
    n->edge_count = edges;
    n->to = n->edges + edges;
    n->from = n->to + to;
    n->to_count = to;
    n->from_count = from;
    return n;
}

/* Gathers the edges of all ranks. own: those to this rank, sorted by `in`. NULL on all ranks if one
 * has no memory. Collective. */
static struct neighbours *gather(MPI_Comm comm, struct team *team, const struct edge *own,
                                 int own_count) {
    int p = team->p, bytes = own_count * (int)sizeof *own, to = 0;
    int *counts = malloc(2 * (size_t)p * sizeof *counts), *displs = counts ? counts + p : NULL;
    uint32_t *roots = malloc(2 * (size_t)p * sizeof *roots);
    if (!team_agree(team, counts && roots)) {
        free(counts);
        free(roots);
        return NULL;
    }
    host.allgather(&bytes, 1, MPI_INT, counts, 1, MPI_INT, comm);
    size_t all = 0;
    for (int r = 0; r < p; r++) displs[r] = (int)all, all += (size_t)counts[r];
    struct edge *edges = malloc(all + 1);
    bool fine = team_agree(team, edges != NULL);
    if (fine) host.allgatherv(own, bytes, MPI_BYTE, edges, counts, displs, MPI_BYTE, comm);
    all /= sizeof *edges;
    for (size_t e = 0; fine && e < all; e++) to += edges[e].source == (uint32_t)team->me;
    struct neighbours *n = fine ? neighbours_room_for(all, to, own_count) : NULL;
    if (fine) fine = team_agree(team, n != NULL);
    if (n) {
        memcpy(n->edges, edges, all * sizeof *edges);
        qsort(n->edges, all, sizeof *edges, by_source);
        memcpy(n->from, own, (size_t)own_count * sizeof *own);
        to = 0;
        for (size_t e = 0; e < all; e++)
            if (n->edges[e].source == (uint32_t)team->me) n->to[to++] = n->edges[e];
        n->lengths = known_lengths(n, (uint32_t)p, roots);
    }
    free(counts);
    free(roots);
    free(edges);
    if (fine) return n;
    free(n);
    return NULL;
}

HOT const struct neighbours *neighbours_of(MPI_Comm comm, struct team *team,
                                           enum collective collective) {
    int which = neighbourhood_of(collective);
    if (team->neighbours[which]) return team->neighbours[which];
    int ins = 0, outs = 0, count = 0;
    if (!degrees(comm, &ins, &outs)) return NULL;
    struct edge *own = ask_host(comm, team, which, ins, outs, &count);
    if (!team_agree(team, own != NULL)) {
        free(own);
        return NULL;
    }
    team->neighbours[which] = gather(comm, team, own, count);
    free(own);
    if (!team->neighbours[which]) return NULL;
    team->neighbours[which]->ins = ins;
    team->neighbours[which]->outs = outs;
    team->figures.edge_count = team->neighbours[which]->edge_count;
    return team->neighbours[which];
}
