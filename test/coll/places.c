/* SPDX-License-Identifier: BSD-3-Clause */
/* places - communicators: the world and what programs make of it; Cartesian grids with periodic
 * dimensions of one and two, graphs with duplicate edges, self loops and ranks without neighbours.
 * Which block meets which is asked of the host MPI. */
#include "reach/messages.h"

#include "driver.h"

#include <stdlib.h>
#include <string.h>

struct place places[most_places];
int place_count;

static void add(const char *name, MPI_Comm comm) {
    struct place *place = &places[place_count++];
    *place = (struct place){.name = name, .comm = comm};
    MPI_Comm_size(comm, &place->p);
    MPI_Comm_rank(comm, &place->me);
    MPI_Comm node;
    /* The first place is the world. */
    int here, pretended = places_pretended(places[0].p, places[0].me);
    if (pretended >= 0) MPI_Comm_split(comm, pretended, 0, &node);
    else MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &here);
    MPI_Comm_free(&node);
    host.allreduce(&here, &place->most, 1, MPI_INT, MPI_MAX, comm);
    place->apart = place->most < place->p;
}

static void add_split(const char *name, int color, int key) {
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, color, key, &comm);
    add(name, comm);
}

/* ---- topologies ---- */

static void count_blocks(struct place *place, int topology) {
    int dimensions, weighted;
    if (topology == MPI_CART) {
        MPI_Cartdim_get(place->comm, &dimensions);
        place->ins = place->outs = 2 * dimensions;
    } else if (topology == MPI_GRAPH) {
        MPI_Graph_neighbors_count(place->comm, place->me, &place->ins);
        place->outs = place->ins;
    } else {
        MPI_Dist_graph_neighbors_count(place->comm, &place->ins, &place->outs, &weighted);
    }
}

/* Do all ranks know the lengths of equal blocks? Those that a rank sends, r, and receives, p + r,
 * hang together by edges. There must be one piece, or two and each rank in both. */
static bool all_know(const struct place *place) {
    int p = place->p, piece[2 * 512], pieces = 0;
    bool has_edge[2 * 512] = {false};
    for (int node = 0; node < 2 * p; node++) piece[node] = node;
    for (bool more = true; more;) {
        more = false;
        for (int e = 0; e < place->edge_count; e++) {
            int a = place->edges[0][e].source, b = p + place->edges[0][e].dest;
            int least = piece[a] < piece[b] ? piece[a] : piece[b];
            more = more || piece[a] != piece[b];
            piece[a] = piece[b] = least;
            has_edge[a] = has_edge[b] = true;
        }
    }
    for (int node = 0; node < 2 * p; node++) pieces += has_edge[node] && piece[node] == node;
    for (int r = 0; r < p; r++) {
        if (!has_edge[r] && !has_edge[p + r]) return false;
        bool both = has_edge[r] && has_edge[p + r] && piece[r] != piece[p + r];
        if (pieces > 2 || (pieces == 2 && !both)) return false;
    }
    return true;
}

/* Every block says whose it is and which. */
static void ask(const struct place *place, bool vector, int *out, int *in) {
    int most = place->outs > place->ins ? place->outs : place->ins;
    int *twos = malloc(2 * (size_t)(most + 1) * sizeof *twos), *displs = twos + most + 1;
    for (int b = 0; b < most; b++) twos[b] = 2, displs[b] = 2 * b;
    for (int b = 0; b < place->outs; b++) out[2 * b] = place->me, out[2 * b + 1] = b;
    for (int b = 0; b < 2 * place->ins; b++) in[b] = -1;
    if (vector)
        host.neighbor_alltoallv(out, twos, displs, MPI_INT, in, twos, displs, MPI_INT, place->comm);
    else host.neighbor_alltoall(out, 2, MPI_INT, in, 2, MPI_INT, place->comm);
    free(twos);
}

static void learn_edges(struct place *place, bool vector) {
    int p = place->p, mine = 0, all = 0;
    int *out = malloc(2 * (size_t)(place->outs + 1) * sizeof *out),
        *in = malloc(2 * (size_t)(place->ins + 1) * sizeof *in);
    struct edge *own = malloc((size_t)(place->ins + 1) * sizeof *own);
    int *counts = malloc(2 * (size_t)p * sizeof *counts), *displs = counts + p;
    ask(place, vector, out, in);
    for (int b = 0; b < place->ins; b++)
        if (in[2 * b] >= 0) own[mine++] = (struct edge){in[2 * b], place->me, in[2 * b + 1], b};
    int ints = 4 * mine;
    host.allgather(&ints, 1, MPI_INT, counts, 1, MPI_INT, place->comm);
    for (int r = 0; r < p; r++) displs[r] = all, all += counts[r];
    place->edge_count = all / 4;
    place->edges[vector] = malloc((size_t)(place->edge_count + 1) * sizeof **place->edges);
    host.allgatherv(own, ints, MPI_INT, place->edges[vector], counts, displs, MPI_INT, place->comm);
    free(out);
    free(in);
    free(own);
    free(counts);
}

static void learn(struct place *place) {
    int topology;
    MPI_Topo_test(place->comm, &topology);
    place->topology = topology != MPI_UNDEFINED;
    if (!place->topology) return;
    count_blocks(place, topology);
    learn_edges(place, false);
    learn_edges(place, true);
    place->all_know = all_know(place);
}

const struct edge *edges_for(const struct place *place, enum collective collective) {
    return place
        ->edges[collective == COLL_neighbor_alltoallv || collective == COLL_neighbor_alltoallw];
}

static void add_grid(const char *name, int dimensions, const int *wish, const int *periods, int p) {
    MPI_Comm comm;
    int dims[3] = {wish[0], dimensions > 1 ? wish[1] : 1, dimensions > 2 ? wish[2] : 1};
    MPI_Dims_create(p, dimensions, dims);
    MPI_Cart_create(MPI_COMM_WORLD, dimensions, dims, periods, 0, &comm);
    add(name, comm);
}

/* A ring, some edges of it twice, and a loop on each third rank; both ways, as graphs are. */
static void add_graph(int p) {
    int *index = malloc((size_t)p * sizeof *index), *edges = malloc(7 * (size_t)p * sizeof *edges),
        count = 0;
    for (int r = 0; r < p; r++) {
        int left = (r + p - 1) % p, right = (r + 1) % p;
        edges[count++] = right;
        if (r % 3 == 0) edges[count++] = r;
        edges[count++] = left;
        if (r % 4 == 0) edges[count++] = right;
        if (left % 4 == 0) edges[count++] = left;
        index[r] = count;
    }
    MPI_Comm comm;
    MPI_Graph_create(MPI_COMM_WORLD, p, index, edges, 0, &comm);
    add("graph", comm);
    free(index);
    free(edges);
}

static void shuffle(struct random *random, int *list, int count) {
    for (int i = count - 1; i > 0; i--) {
        int j = below(random, i + 1), swap = list[i];
        list[i] = list[j], list[j] = swap;
    }
}

/* Random directed edges, the same on all ranks, neighbours in any order. Of each `lonely` ranks one
 * has none. */
static void add_directed(const char *name, int p, int me, int edges, int lonely, bool adjacent) {
    struct random random = {(uint64_t)(p * 1000 + edges)}, local = {(uint64_t)me};
    int *from = malloc((size_t)(2 * edges + 2) * sizeof *from),
        *to = malloc((size_t)(2 * edges + 2) * sizeof *to), ins = 0, outs = 0;
    for (int e = 0; e < edges; e++) {
        int source = below(&random, p), dest = below(&random, 5) ? below(&random, p) : source;
        int times = below(&random, 6) == 0 ? 2 : 1;
        if (source % lonely == lonely - 1 || dest % lonely == lonely - 1) continue;
        for (int t = 0; t < times; t++) {
            if (dest == me) from[ins++] = source;
            if (source == me) to[outs++] = dest;
        }
    }
    shuffle(&local, from, ins);
    shuffle(&local, to, outs);
    MPI_Comm comm;
    /* Of which nothing depends. */
    int one = me, *weights = calloc((size_t)(2 * edges + 2), sizeof *weights);
    if (adjacent)
        MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, ins, from, weights, outs, to, weights,
                                       MPI_INFO_NULL, 0, &comm);
    else
        MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &one, &outs, to, weights, MPI_INFO_NULL, 0, &comm);
    add(name, comm);
    free(from);
    free(to);
    free(weights);
}

void places_open(void) {
    int p, me;
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm comm;
    add("world", MPI_COMM_WORLD);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    add("dup", comm);
    add_split("reversed", 0, -me);
    add_split("even ranks, then odd ranks", 0, me % 2 * p + me);
    add_split("even and odd ranks apart", me % 2, me);
    add_split("a third and the rest", me < p / 3, -me);
    add("self", MPI_COMM_SELF);
    const int any[3] = {0}, flat[2] = {0, 1}, pairs[2] = {p % 2 == 0 ? 2 : 1, 0}, none[3] = {0},
              all[3] = {1, 1, 1}, some[3] = {1, 0, 1};
    add_grid("line", 1, any, none, p);
    add_grid("ring", 1, any, all, p);
    add_grid("ring of one column", 2, flat, all, p);
    add_grid("torus of two rows", 2, pairs, all, p);
    add_grid("grid", 2, any, some, p);
    add_grid("3-D torus", 3, any, all, p);
    add_grid("3-D grid", 3, any, some, p);
    add_graph(p);
    add_directed("directed graph", p, me, 4 * p, p + 1, true);
    add_directed("directed graph with lonely ranks", p, me, 2 * p, 3, true);
    add_directed("directed graph by its sources", p, me, 3 * p, p + 1, false);
    for (int i = 0; i < place_count; i++) learn(&places[i]);
}

void places_close(void) {
    for (int i = 0; i < place_count; i++) {
        free(places[i].edges[0]);
        free(places[i].edges[1]);
        if (places[i].comm != MPI_COMM_WORLD && places[i].comm != MPI_COMM_SELF)
            MPI_Comm_free(&places[i].comm);
    }
}
