/* SPDX-License-Identifier: BSD-3-Clause */
/* contention.h - what is left of a node's bandwidth when all nodes send at once: who sends to whom,
 * and what the figures mean. `mortar bench network` and the simulations measure alike. */
#ifndef MORTAR_CONTENTION_H
#define MORTAR_CONTENTION_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

/* Messages that each node sends, and how many of them it has under way at once at most. */
enum { contention_messages = 16, contention_window = 8 };

/* Rank number n * stride of the communicator speaks for node number n; me: the number of mine.
 * Buffers: one message to send, one to receive for each of contention_messages. */
struct contention {
    MPI_Comm comm;
    int stride, nodes, me;
    const char *send;
    char *recv;
    size_t bytes;
};
/* From whom message number k comes to me, or to whom it goes. alone: only nodes 0 and nodes / 2
 * send, to each other; -1: nobody. */
int contention_partner(const struct contention *c, int k, bool alone, bool sends);
/* All messages, `window` of them at a time. Collective over the nodes' ranks that send, or each by
 * itself. */
void contention_exchange(const struct contention *c, int window, bool alone);
/* What would be left of the ratio with very many messages at once, from those measured with one and
 * with a whole window. */
double contention_limit(double one, double window);
/* As the cost model is told: what is hardly more than 1 is 1. */
double contention_told(double ratio);
/* What two such ratios mean for a collective. */
const char *contention_text(double one, double many);

#endif
