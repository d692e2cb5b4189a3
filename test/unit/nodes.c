/* SPDX-License-Identifier: BSD-3-Clause */
/* nodes - MORTAR_NODES puts ranks where it says, and a mistake in it is seen by all ranks alike, or
 * they would wait for each other; what the cost model takes of a measured network. */
#define _GNU_SOURCE
#include "reach/reach.h"
#include "unit.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

enum { ranks = 9 };

static void sits(const char *text, const int nodes[ranks]) {
    setenv("MORTAR_NODES", text, 1);
    for (int r = 0; r < ranks; r++)
        expect(places_pretended(ranks, r) == nodes[r], "%s: rank %d on node %d", text, r,
               places_pretended(ranks, r));
}

static void refused(const char *text) {
    int wrong[ranks];
    for (int r = 0; r < ranks; r++) wrong[r] = -EINVAL;
    sits(text, wrong);
}

static void same(double a, double b) { expect(fabs(a - b) <= 1e-12 * fabs(b), "%g, not %g", a, b); }

static void model(void) {
    struct network_facts facts = {.latency_seconds = 3e-6,
                                  .send_seconds = 0.5e-6,
                                  .receive_seconds = 0.7e-6,
                                  .message_seconds = 9e-6,
                                  .node_message_seconds = 0.25e-6,
                                  .byte_seconds = 2e-10,
                                  .node_byte_seconds = 1e-10};
    struct network network = network_of(&facts);
    same(network.latency, 1.8e-6);
    same(network.overhead, 0.6e-6);
    same(network.gap, 0.25e-6);
    same(network.byte, 2e-10);
    same(network.node_byte, 1e-10);
    /* Shorter than both overheads: they were measured without anybody to talk to. */
    facts.latency_seconds = 1e-6;
    expect(network_of(&facts).latency == 0, "a message cannot arrive before it was sent");
    network = network_of(&network_usual);
    expect(network.latency > 0 && network.overhead > 0 && network.gap > 0 && network.byte > 0 &&
               network.node_byte > 0,
           "usual");
}

/* Lowest ranks of nodes as no job has them: all ranks see the same, and all leave it. */
static void astray(void) {
    static const int wrong[][4] = {
        {0, 0, 75, 2}, {0, 0, -1, 2}, {0, 2, 2, 2}, {0, 0, 1, 2}, {1, 1, 2, 2}};
    struct places places;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        expect(places_make(&places, 4, wrong[i]) == -EPROTO && !places.node_of,
               "places that cannot be, %zu", i);
    expect(places_make(&places, 4, (int[]){0, 0, 2, 0}) == 0 && places.nodes == 2 &&
               places.most == 3,
           "places");
    places_free(&places);
}

int main(void) {
    astray();
    unsetenv("MORTAR_NODES");
    for (int r = 0; r < ranks; r++) expect(places_pretended(ranks, r) == -1, "pretended unasked");
    sits("1", (int[ranks]){0});
    sits("2", (int[]){0, 0, 0, 0, 0, 1, 1, 1, 1});
    sits("99", (int[]){0, 1, 2, 3, 4, 5, 6, 7, 8});
    sits("5,3,1", (int[]){0, 0, 0, 0, 0, 1, 1, 1, 2});
    sits("2,1", (int[]){0, 0, 1, 2, 2, 3, 4, 4, 5});
    sits("cyclic:4", (int[]){0, 1, 2, 3, 0, 1, 2, 3, 0});
    static const char *const mistakes[] = {"two",     "2x",       "0",        "-1",
                                           "5,3,x",   "5,0",      "3,,1",     ",1",
                                           "cyclic:", "cyclic:0", "cyclic:x", "cyclic:2,1"};
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) refused(mistakes[i]);
    model();
    return 0;
}
