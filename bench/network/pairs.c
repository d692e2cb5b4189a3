/* SPDX-License-Identifier: BSD-3-Clause */
/* network_pairs - the ranks of two nodes, one of each in a pair. */
#include "bench/common/bench.h"
#include "network.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* MPI libraries may spin while they wait, which on a crowded node takes the processor from whom
 * they wait for. */
static void wait_for(MPI_Request *request, bool sleeps) {
    int done = 0;
    for (int tests = 0; !done; tests++) {
        MPI_Test(request, &done, MPI_STATUS_IGNORE);
        if (done || tests < 64) continue;
        if (sleeps) nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
        else if (tests > 2000) sched_yield();
    }
}

void polite_barrier(MPI_Comm comm) {
    MPI_Request request;
    MPI_Ibarrier(comm, &request);
    wait_for(&request, true);
}

void sharp_barrier(MPI_Comm comm) {
    MPI_Request request;
    MPI_Ibarrier(comm, &request);
    wait_for(&request, false);
}

double most_of(MPI_Comm comm, double mine) {
    double most;
    MPI_Request request;
    MPI_Iallreduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, comm, &request);
    wait_for(&request, false);
    return most;
}

static int ascending(const void *a, const void *b) {
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

/* The numbers of pairs in order, one pair always among them, each once. */
static void complete(struct network_settings *settings, int most) {
    int kept = 0;
    if (settings->all) settings->pairs[settings->columns++] = most;
    settings->pairs[settings->columns++] = 1;
    qsort(settings->pairs, (size_t)settings->columns, sizeof *settings->pairs, ascending);
    for (int i = 0; i < settings->columns; i++)
        if (settings->pairs[i] <= most &&
            (kept == 0 || settings->pairs[i] != settings->pairs[kept - 1]))
            settings->pairs[kept++] = settings->pairs[i];
    settings->columns = kept;
}

/* Why the network between these nodes cannot be measured; NULL: it can. All ranks get the same
 * answer. */
static const char *obstacle(const struct network_settings *settings, const int *sizes, int nodes,
                            char *text, size_t size) {
    const int *chosen = settings->nodes;
    if (nodes_unreadable())
        return snprintf(text, size,
                        "MORTAR_NODES=%s: expected a number of nodes, or like 5,3,1 or cyclic:3",
                        option_text(OPTION_NODES)),
               text;
    if (nodes == 1) {
        snprintf(
            text, size,
            "all ranks sit on one node, so that there is no network between them. Start it on two nodes, or pretend two with "
            "MORTAR_NODES=2: the figures are then those of shared memory");
        return text;
    }
    for (int i = 0; i < 2; i++)
        if (chosen[i] >= nodes)
            return snprintf(text, size, "--nodes %d,%d: there are %d nodes, from 0 to %d",
                            chosen[0], chosen[1], nodes, nodes - 1),
                   text;
    int least = sizes[chosen[0]] < sizes[chosen[1]] ? sizes[chosen[0]] : sizes[chosen[1]];
    for (int i = 0; settings->listed && i < settings->columns; i++)
        if (settings->pairs[i] > least)
            return snprintf(
                       text, size,
                       "--pairs %d: node %d has %d ranks and node %d has %d, which makes %d pairs",
                       settings->pairs[i], chosen[0], sizes[chosen[0]], chosen[1], sizes[chosen[1]],
                       least),
                   text;
    return NULL;
}

/* On all ranks: which hosts they are, from the first pair. */
static void name_hosts(struct pairs *pairs, const int ranks[2]) {
    char host[64] = "", other[64];
    gethostname(host, sizeof host - 1);
    memcpy(other, host, sizeof other);
    library.bcast(host, sizeof host, MPI_CHAR, ranks[0], MPI_COMM_WORLD);
    library.bcast(other, sizeof other, MPI_CHAR, ranks[1], MPI_COMM_WORLD);
    snprintf(pairs->between, sizeof pairs->between, "%s and %s%s", host, other,
             nodes_pretended() ? " (nodes pretended by MORTAR_NODES)" : "");
}

static void make_communicators(struct pairs *pairs, const struct network_settings *settings) {
    bool in = pairs->place >= 0;
    int key = 2 * pairs->place + pairs->side;
    MPI_Comm_split(MPI_COMM_WORLD, in ? 0 : MPI_UNDEFINED, key, &pairs->both);
    bool leads = pairs->leads && pairs->nodes > 2;
    MPI_Comm_split(MPI_COMM_WORLD, leads ? 0 : MPI_UNDEFINED, 0, &pairs->leaders);
    for (int c = 0; c < settings->columns && in; c++)
        MPI_Comm_split(pairs->both, pairs->place < settings->pairs[c] ? 0 : MPI_UNDEFINED, key,
                       &pairs->of[c]);
    pairs->partner = key ^ 1;
}

/* Who am I, when node_of says where all ranks are? */
static void take_places(const struct world *world, const int *node_of,
                        const struct network_settings *settings, struct pairs *pairs) {
    int before = 0, firsts[2] = {-1, -1};
    const int *chosen = settings->nodes;
    pairs->place = pairs->side = -1;
    for (int r = 0; r < world->p; r++) {
        for (int i = 0; i < 2; i++)
            if (node_of[r] == chosen[i] && firsts[i] < 0) firsts[i] = r;
        before += r < world->me && node_of[r] == node_of[world->me];
    }
    for (int i = 0; i < 2; i++)
        if (node_of[world->me] == chosen[i] && before < settings->pairs[settings->columns - 1])
            pairs->side = i, pairs->place = before;
    pairs->first = firsts[0];
    pairs->leads = before == 0;
    name_hosts(pairs, firsts);
}

int pairs_open(const struct world *world, struct network_settings *settings, struct pairs *pairs) {
    char text[256];
    MPI_Comm node;
    *pairs = (struct pairs){.both = MPI_COMM_NULL, .leaders = MPI_COMM_NULL};
    for (int c = 0; c < most_columns; c++) pairs->of[c] = MPI_COMM_NULL;
    nodes_split(MPI_COMM_WORLD, true, &node);
    int *node_of = nodes_of(MPI_COMM_WORLD, node, &pairs->nodes),
        *sizes = calloc((size_t)world->p, sizeof *sizes);
    MPI_Comm_free(&node);
    bool fine = meet_first(1) && node_of && sizes;
    const char *why = fine ? NULL : "out of memory";
    for (int r = 0; fine && r < world->p; r++) sizes[node_of[r]]++;
    if (fine) why = obstacle(settings, sizes, pairs->nodes, text, sizeof text);
    if (!why) {
        const int *chosen = settings->nodes;
        pairs->most = sizes[chosen[0]] < sizes[chosen[1]] ? sizes[chosen[0]] : sizes[chosen[1]];
        complete(settings, pairs->most);
        take_places(world, node_of, settings, pairs);
        make_communicators(pairs, settings);
    }
    if (why && world->me == 0) fprintf(stderr, "mortar bench network: %s\n", why);
    free(node_of);
    free(sizes);
    return why ? 2 : 0;
}

void pairs_close(struct pairs *pairs, const struct network_settings *settings) {
    for (int c = 0; c < settings->columns; c++)
        if (pairs->of[c] != MPI_COMM_NULL) MPI_Comm_free(&pairs->of[c]);
    if (pairs->leaders != MPI_COMM_NULL) MPI_Comm_free(&pairs->leaders);
    if (pairs->both != MPI_COMM_NULL) MPI_Comm_free(&pairs->both);
}
