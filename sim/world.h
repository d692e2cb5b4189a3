/* SPDX-License-Identifier: BSD-3-Clause */
/* world.h - what all simulated ranks share. SMPI gives each rank a copy of the program and its
 * globals; libmortar-sim-world.so is loaded once. Ranks are coroutines of one thread: one runs
 * until it waits here or in an MPI call. */
#ifndef MORTAR_SIM_WORLD_H
#define MORTAR_SIM_WORLD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Simulated seconds. */
double world_clock(void);
/* Lets simulated time pass for this rank. */
void world_spend(double seconds);

/* Sleeps until somebody wakes those who sleep here. The word is 0 at first; it becomes the number
 * of a queue. */
void world_park(_Atomic uint32_t *queue);
void world_wake(_Atomic uint32_t *queue);

/* Every rank calls it: returns the largest of their values, and their mean where it is asked for,
 * to all at one simulated instant; costs no time. */
double world_meet(double value, double *mean);

/* Ranks that are `count` and have the same key put their data together, in no simulated time:
 * returns those of all, by `place`. *first becomes true on one of them, which may change them
 * before the others look. They stay until the next but one time. */
char *world_gather(uint64_t key, int count, int place, const void *data, size_t bytes, bool *first);

/* Prices in seconds, from MORTAR_SIM_PRICES="piece=1e-8 byte=1e-10 ...". */
struct world_prices {
    double piece, byte;           /* of copying */
    double combine;               /* of a byte */
    double barrier, barrier_each; /* of a barrier among the ranks of a node, and for each of them */
    /* Until a rank sees what another has written, when it waits for that. */
    double flag;
    /* Not charged: what the cost model is told of the network, whose latency is that of a way from
     * node to node; 0: nothing. */
    double overhead, latency, bandwidth;
    double nodes; /* how many, with as many ranks each */
    double facts; /* by what the cost model goes: facts.c */
    /* Both: of a node's network card (adapter.cpp). Seconds from one of its messages to the next,
     * and of a rank for each byte that it sends. 0: no such limit. */
    double gap, rank_byte;
};
const struct world_prices *world_prices(void);
/* ---- adapter.cpp: from now on sends cost what a card with limits lets them ---- */
void world_adapter(double overhead, double gap, double rank_byte);

/* A descriptor of shared memory of a page, to stand for what peers can reach. */
int world_descriptor(void);
/* Memory that every rank which asks for the same number and no more bytes gets: its contents belong
 * to nobody. */
void *world_common(int number, size_t bytes);

/* Lets this memory of a page boundary and more be the same as every other rank's that asked so. */
void world_alias(void *memory, size_t bytes);

/* Processors of this rank's host. */
int world_processors(void);

/* The name of this rank's host. */
const char *world_host(void);

#endif
