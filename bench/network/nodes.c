/* SPDX-License-Identifier: BSD-3-Clause */
/* network_nodes - all nodes at once: one rank of each sends long messages to other nodes, against a
 * pair of them that has the network to itself (contention.c says what, and where it comes from). In
 * turns: the pair and all, one message at a time and several. */
#include "bench/common/bench.h"
#include "network.h"

#include "contention.h"

#include <stdio.h>
#include <stdlib.h>

enum { least_rounds = 5 };
static const size_t longest = 1 << 20, shortest = 64 << 10; /* of long messages */

const int nodes_windows[2] = {1, contention_window};

size_t nodes_bytes(const struct network_settings *settings) {
    size_t bytes = settings->sizes.bytes[settings->sizes.sizes - 1];
    return bytes < shortest ? 0 : bytes > longest ? longest : bytes;
}

static bool room(struct contention *c, char **send) {
    *send = malloc(c->bytes);
    c->recv = malloc(contention_messages * c->bytes);
    if (most_of(c->comm, !*send || !c->recv) > 0) {
        fprintf(stderr, "mortar bench network: no memory for %d messages of %zu bytes\n",
                contention_messages, c->bytes);
        return false;
    }
    for (size_t i = 0; i < c->bytes; i++) (*send)[i] = content(c->me, i);
    c->send = *send;
    return true;
}

/* One exchange of all nodes: does every byte arrive, on all of them? */
static bool verified(const struct contention *c, int window) {
    for (int k = 0; k < contention_messages; k++) {
        int from = contention_partner(c, k, false, false);
        for (size_t i = 0; i < c->bytes; i++)
            c->recv[(size_t)k * c->bytes + i] = (char)~content(from, i);
    }
    sharp_barrier(c->comm);
    contention_exchange(c, window, false);
    size_t wrong = 0, bytes = contention_messages * c->bytes;
    while (wrong < bytes &&
           c->recv[wrong] == content(contention_partner(c, (int)(wrong / c->bytes), false, false),
                                     wrong % c->bytes))
        wrong++;
    if (wrong < bytes)
        fprintf(
            stderr,
            "mortar bench network: WRONG RESULT: all nodes at once, node %d: byte %zu of message %zu of %zu bytes\n",
            c->me, wrong % c->bytes, wrong / c->bytes, c->bytes);
    return most_of(c->comm, wrong < bytes) == 0;
}

/* Seconds of a message, the slowest node's. */
static double batch(const struct contention *c, int window, bool alone, int times) {
    sharp_barrier(c->comm);
    double start = clock_seconds();
    for (int t = 0; t < times; t++) contention_exchange(c, window, alone);
    return most_of(c->comm, clock_seconds() - start) / (contention_messages * times);
}

static void measure(const struct contention *c, const struct network_settings *settings,
                    struct figures *figures) {
    int row = settings->sizes.sizes + 1, times = (int)(longest / c->bytes);
    double start = clock_seconds();
    bool enough = false;
    for (int r = 0; r < settings->rounds && !enough; r++) {
        for (int k = 0; k < 4; k++) {
            int w = (k + r) / 2 % 2, alone = (k + r) % 2;
            figure(figures, row + w, !alone)[r] = batch(c, nodes_windows[w], alone, times);
        }
        figures->done[row] = figures->done[row + 1] = r + 1;
        enough = most_of(c->comm, r + 1 >= least_rounds &&
                                      clock_seconds() - start > 2 * settings->seconds) > 0;
    }
}

bool network_nodes(const struct pairs *pairs, const struct network_settings *settings,
                   struct figures *figures) {
    struct contention c = {
        .comm = pairs->leaders, .stride = 1, .nodes = pairs->nodes, .bytes = nodes_bytes(settings)};
    if (pairs->leaders == MPI_COMM_NULL || c.bytes == 0) return true;
    MPI_Comm_rank(c.comm, &c.me);
    char *send;
    bool fine = room(&c, &send) && verified(&c, 1) && verified(&c, contention_window);
    if (fine) measure(&c, settings, figures);
    fine = fine && verified(&c, 1);
    free(send);
    free(c.recv);
    return fine;
}

/* ---- what it means: on the world's first rank; local ---- */

static struct estimate ratio(const struct network_settings *settings, const struct figures *figures,
                             int w) {
    int row = settings->sizes.sizes + 1 + w;
    return estimate_ratio(figure(figures, row, 1), figure(figures, row, 0), figures->done[row]);
}

static bool measured(const struct network_settings *settings, const struct figures *figures) {
    return figures->done[settings->sizes.sizes + 1] > 0;
}

void nodes_facts_of(const struct network_settings *settings, const struct figures *figures,
                    struct network_facts *facts) {
    if (!measured(settings, figures)) return;
    double one = ratio(settings, figures, 0).median, window = ratio(settings, figures, 1).median;
    facts->one_partner_ratio = contention_told(one);
    facts->many_partners_ratio = contention_told(contention_limit(one, window));
}

void nodes_print(const struct network_settings *settings, const struct pairs *pairs,
                 const struct figures *figures) {
    char text[32];
    if (pairs->nodes == 2) {
        printf("\nall nodes at once: there are only these two\n");
        return;
    }
    if (!measured(settings, figures)) {
        printf(
            "\nall %d nodes at once: not measured, for that takes messages of 64K or more (--bytes)\n",
            pairs->nodes);
        return;
    }
    printf(
        "\nall %d nodes at once, one rank of each sends %s-byte messages to other nodes: how many times as long they take\n"
        "as those of a pair of nodes alone, and the share of the bandwidth that is left (effective bisection bandwidth)\n",
        pairs->nodes, size_text(nodes_bytes(settings), text, sizeof text));
    for (int w = 0; w < 2; w++) {
        struct estimate found = ratio(settings, figures, w);
        printf("%9d at a time %7.2f (%.2f-%.2f) %6.0f %%\n", nodes_windows[w], found.median,
               found.low, found.high, 100 / found.median);
    }
    struct network_facts facts;
    nodes_facts_of(settings, figures, &facts);
    printf("very many at a time %5.2f, extrapolated\n", facts.many_partners_ratio);
    printf("all nodes: %s\n", contention_text(facts.one_partner_ratio, facts.many_partners_ratio));
}
