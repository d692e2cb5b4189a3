/* SPDX-License-Identifier: BSD-3-Clause */
/* comms.c - communicators that are made and freed during the run, several alive at the same time.
 * Who is a neighbour of whom is worked out here, not asked of the library, but where the standard
 * leaves the order to it (MPI_Dist_graph_create). */
#include <stdlib.h>
#include "field.h"

_Thread_local struct comm comms[COMMS];
const char *const comm_names[COMM_KINDS] = {
    "world", "dup", "reversed", "split", "subset", "cart", "dist graph adjacent", "dist graph"};
static _Thread_local int made;

bool has_neighbours(const struct comm *comm) { return comm->kind >= CART; }

static void know(struct comm *comm) {
    if (comm->handle == MPI_COMM_NULL) return;
    MPI_Comm_size(comm->handle, &comm->size);
    MPI_Comm_rank(comm->handle, &comm->me);
}

void comms_start(MPI_Comm world) {
    for (int i = 0; i < COMMS; i++) comms[i] = (struct comm){.handle = MPI_COMM_NULL};
    comms[0] = (struct comm){.alive = true, .handle = world, .kind = WORLD};
    know(&comms[0]);
}

static void neighbours(struct comm *comm, int ins, int outs) {
    comm->ins = ins, comm->outs = outs;
    comm->in = calloc((size_t)ins + 1, sizeof(int));
    comm->out = calloc((size_t)outs + 1, sizeof(int));
    comm->in_turn = calloc((size_t)ins + 1, sizeof(int));
    comm->out_turn = calloc((size_t)outs + 1, sizeof(int));
}

/* Between the same two ranks the first edge in the one's list meets the first in the other's. */
static void count_turns(const int *list, int *turns, int length) {
    for (int i = 0; i < length; i++)
        for (int k = 0; k < i; k++) turns[i] += list[k] == list[i];
}

static void make_cart(struct comm *comm, MPI_Comm parent, int parents, struct dice dice) {
    int dims[3], periods[3], wanted = 1 + below(&dice, 3), used = 1;
    for (int d = 0; d < 3; d++) periods[d] = chance(&dice, 50);
    for (int d = 0; d < wanted; d++) {
        int most = parents / used;
        dims[d] = d == wanted - 1 ? most - (most > 1 && chance(&dice, 20))
                                  : 1 + below(&dice, most < 4 ? most : 4);
        used *= dims[d];
    }
    MPI_Cart_create(parent, wanted, dims, periods, chance(&dice, 30), &comm->handle);
    know(comm);
    if (comm->handle == MPI_COMM_NULL) return;
    neighbours(comm, 2 * wanted, 2 * wanted);
    /* Ranks go row by row, the last dimension fastest. */
    for (int d = 0, below_d = comm->size; d < wanted; d++) {
        below_d /= dims[d];
        int here = comm->me / below_d % dims[d];
        for (int side = 0; side < 2; side++) {
            int there = here + (side ? 1 : -1), peer = -1;
            if (periods[d]) there = (there + dims[d]) % dims[d];
            if (there >= 0 && there < dims[d]) peer = comm->me + (there - here) * below_d;
            comm->in[2 * d + side] = comm->out[2 * d + side] = peer;
        }
        /* Standards before 4.0 do not say which of the two blocks is which where both neighbours
         * are one. */
        comm->ambiguous |= periods[d] && dims[d] < 3;
    }
    count_turns(comm->in, comm->in_turn, comm->ins);
    count_turns(comm->out, comm->out_turn, comm->outs);
}

/* How many edges go from a to b. */
static int edges(uint64_t graph, int a, int b, int size, bool twice) {
    int dense = (int)(graph >> 8) % 3;
    uint64_t luck =
        mix(graph, (uint64_t)a << 32 | (uint64_t)b) % (uint64_t)(dense == 0   ? 2
                                                                 : dense == 1 ? 1 + size / 2
                                                                              : size);
    return luck ? 0 : 1 + (twice && mix(graph, luck + (uint64_t)(a + b)) % 5 == 0);
}

static void make_graph(struct comm *comm, MPI_Comm parent, struct dice dice, struct dice own) {
    int size, me, most, ins = 0, outs = 0, *sources, *targets, *ones;
    MPI_Comm_size(parent, &size);
    MPI_Comm_rank(parent, &me);
    most = 2 * size;
    uint64_t graph = roll(&dice);
    bool twice = chance(&dice, 30) && !quirk(Neighbor_alltoall, DUPLICATES);
    sources = calloc((size_t)most, sizeof(int)), targets = calloc((size_t)most, sizeof(int));
    ones = calloc((size_t)most, sizeof(int));
    for (int i = 0; i < most; i++) ones[i] = 1;
    for (int i = 0; i < size; i++) {
        for (int k = edges(graph, i, me, size, twice); k > 0; k--) sources[ins++] = i;
        for (int k = edges(graph, me, i, size, twice); k > 0; k--) targets[outs++] = i;
    }
    if ((!ins || !outs) && quirk(Neighbor_alltoall, LONELY)) sources[ins++] = targets[outs++] = me;
    shuffle(&own, sources, ins);
    shuffle(&own, targets, outs);
    if (comm->kind == GRAPH_ANYHOW) {
        MPI_Dist_graph_create(parent, 1, &me, &outs, targets, ones, MPI_INFO_NULL, 0,
                              &comm->handle);
        MPI_Dist_graph_neighbors(comm->handle, ins, sources, ones, outs, targets, ones);
    } else {
        bool weighted = chance(&dice, 50);
        MPI_Dist_graph_create_adjacent(parent, ins, sources, weighted ? ones : MPI_UNWEIGHTED, outs,
                                       targets, weighted ? ones : MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                       &comm->handle);
    }
    know(comm);
    neighbours(comm, ins, outs);
    for (int i = 0; i < ins; i++) comm->in[i] = sources[i];
    for (int i = 0; i < outs; i++) comm->out[i] = targets[i];
    count_turns(comm->in, comm->in_turn, ins);
    count_turns(comm->out, comm->out_turn, outs);
    free(sources), free(targets), free(ones);
}

static void make_split(struct comm *comm, const struct comm *parent, struct dice dice) {
    int colour, key = parent->me;
    if (comm->kind == SUBSET) {
        colour = mix(roll(&dice), (uint64_t)parent->me) % 3 ? 1 : MPI_UNDEFINED;
    } else if (comm->kind == REVERSED) {
        colour = 1, key = -parent->me;
    } else {
        int ways = 2 + below(&dice, 2);
        uint64_t salt = roll(&dice);
        bool dealt = chance(&dice, 50);
        colour = 1 + (dealt ? parent->me % ways
                            : (int)(mix(salt, (uint64_t)parent->me) % (uint64_t)ways));
        key = chance(&dice, 50) ? key : (int)(mix(salt + 1, (uint64_t)parent->me) % 1000);
    }
    MPI_Comm_split(parent->handle, colour, key, &comm->handle);
    comm->colour =
        (int)(mix((uint64_t)parent->colour, (uint64_t)(colour == MPI_UNDEFINED ? 0 : colour)) &
              0xffffff);
    know(comm);
}

void comm_make(int slot, struct dice dice) {
    struct comm *comm = &comms[slot];
    const struct comm *parent = &comms[0];
    int choice = below(&dice, COMMS);
    if (choice < COMMS && comms[choice].alive && !has_neighbours(&comms[choice]))
        parent = &comms[choice];
    static const enum comm_kind kinds[] = {DUP,  REVERSED, SPLIT, SPLIT, SUBSET,
                                           CART, CART,     GRAPH, GRAPH, GRAPH_ANYHOW};
    enum comm_kind kind = kinds[below(&dice, sizeof kinds / sizeof *kinds)];
    if (kind == GRAPH_ANYHOW && quirk(Neighbor_alltoall, GRAPHS_ANYHOW)) kind = GRAPH;
    *comm = (struct comm){.alive = true,
                          .handle = MPI_COMM_NULL,
                          .kind = kind,
                          .number = ++made,
                          .colour = parent->colour};
    if (parent->handle == MPI_COMM_NULL) return;
    at_work(-1, "making a communicator", parent, comm_names[kind]);
    struct dice own = {mix(roll(&dice), (uint64_t)parent->me)};
    switch (kind) {
    case DUP:
        MPI_Comm_dup(parent->handle, &comm->handle);
        know(comm);
        break;
    case CART: make_cart(comm, parent->handle, parent->size, dice); break;
    case GRAPH:
    case GRAPH_ANYHOW: make_graph(comm, parent->handle, dice, own); break;
    default: make_split(comm, parent, dice);
    }
    tally.communicators++;
}

void comm_drop(int slot) {
    struct comm *comm = &comms[slot];
    if (comm->handle != MPI_COMM_NULL) {
        at_work(-1, "freeing a communicator", comm, "");
        if (comm->number % 3) MPI_Comm_free(&comm->handle);
        else MPI_Comm_disconnect(&comm->handle);
        free(comm->in), free(comm->out), free(comm->in_turn), free(comm->out_turn);
    }
    *comm = (struct comm){.handle = MPI_COMM_NULL};
}
