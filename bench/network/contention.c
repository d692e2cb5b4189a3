/* SPDX-License-Identifier: BSD-3-Clause */
/* contention - all nodes send at once, each one long messages to 16 others: one at a time, or 8.
 * The times, divided by those of a pair of nodes that has the network to itself, are what bytes
 * cost more where links are shared: the reciprocal of an effective bisection bandwidth (Hoefler,
 * Schneider, Lumsdaine 2008, "Multistage switches are not crossbars"), but of the slowest node,
 * over permutations one after the other without barriers, as collectives have it.
 *
 * The permutations are shifts of the nodes' numbers, which is what nearly all collectives send
 * along. Where nodes are numbered as they stand, a fat tree carries shifts without any contention,
 * and random permutations not; where they lie anywhere in it, both fare alike. */
#include "contention.h"

static const double clearly = 1.1; /* more than that is not nothing */

/* Distances as even and as little ordered as the multiples of the golden ratio. */
static int distance(int k, int nodes) {
    double spot = (k + 1) * 0.6180339887498949;
    return 1 + (int)((spot - (int)spot) * (nodes - 1));
}

int contention_partner(const struct contention *c, int k, bool alone, bool sends) {
    int other = c->nodes / 2, shift = distance(k, c->nodes);
    if (!alone) return (c->me + (sends ? shift : c->nodes - shift)) % c->nodes;
    return c->me == 0 ? other : c->me == other ? 0 : -1;
}

void contention_exchange(const struct contention *c, int window, bool alone) {
    if (contention_partner(c, 0, alone, true) < 0) return;
    MPI_Request requests[2 * contention_window];
    /* Compilers take MPI_STATUSES_IGNORE for a mistake. */
    MPI_Status statuses[2 * contention_window];
    for (int first = 0; first < contention_messages; first += window) {
        for (int w = 0; w < window; w++)
            MPI_Irecv(c->recv + (size_t)(first + w) * c->bytes, (int)c->bytes, MPI_BYTE,
                      contention_partner(c, first + w, alone, false) * c->stride, first + w,
                      c->comm, &requests[w]);
        for (int w = 0; w < window; w++)
            MPI_Isend(c->send, (int)c->bytes, MPI_BYTE,
                      contention_partner(c, first + w, alone, true) * c->stride, first + w, c->comm,
                      &requests[window + w]);
        MPI_Waitall(2 * window, requests, statuses);
    }
}

/* The law of src/coll/far.c: one message of a window pays `one`, each other one what is asked
 * for. */
double contention_limit(double one, double window) {
    double limit = (contention_window * window - one) / (contention_window - 1);
    return limit > 1 ? limit : 1;
}

double contention_told(double ratio) { return ratio > clearly ? ratio : 1; }

const char *contention_text(double one, double many) {
    if (one < clearly && many < clearly)
        return "the network carries what all of them send: full bisection bandwidth";
    if (many < clearly)
        return "links are shared while others idle (static routes); many messages at once to different nodes even that out";
    if (one / many > clearly)
        return "links are shared; many messages at once to different nodes even out a part of it";
    return "the links are too few for all of them (a tapered network), however many messages are under way";
}
