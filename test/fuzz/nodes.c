/* SPDX-License-Identifier: BSD-3-Clause */
/* nodes - any text as a map of nodes, MORTAR_NODES: all ranks find the same mistake, or each is on
 * the node where the text puts it. And any list of lowest ranks as the places of a team: it is
 * refused if it contradicts itself, or the places are those of a simple count. */
#define _GNU_SOURCE
#include "fuzz.h"

#include "reach/reach.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { most_ranks = 200 };

/* What both say about the ranks up to `rank` on its node. */
static void check_places(const struct places *places, int p, const int *lowest) {
    int nodes = 0, most = 0, at = 0;
    bool in_order = true;
    for (int r = 0; r < p; r++) nodes += lowest[r] == r;
    must(places->nodes == nodes && places->first[0] == 0 && places->first[nodes] == p,
         "%d nodes of %d ranks, not %d", places->nodes, places->first[places->nodes], nodes);
    for (int first = 0, node = 0; first < p; first++) {
        if (lowest[first] != first) continue;
        int local = 0;
        for (int r = first; r < p; r++) {
            if (lowest[r] != first) continue;
            must(places->node_of[r] == node && places->local_of[r] == local &&
                     places->ranks[at] == r && rank_at(places, node, local) == r,
                 "rank %d is %d on node %d, not %d on %d", r, places->local_of[r],
                 places->node_of[r], local, node);
            in_order = in_order && at == r;
            local++, at++;
        }
        must(ranks_on(places, node) == local, "%d ranks, not %d", ranks_on(places, node), local);
        if (local > most) most = local;
        node++;
    }
    must(places->most == most && places->in_order == in_order, "%d ranks at most, not %d",
         places->most, most);
}

static void check_figures(const struct places *places, int p) {
    struct figures fullest = figures_of_node(places->most);
    struct figures figures = figures_over(places, &fullest), lane = figures_of_lane(&figures);
    must(figures.p == p && figures.nodes == places->nodes && figures.most == places->most &&
             figures.fewest >= 1 && figures.fewest * figures.nodes <= p &&
             figures.most * figures.nodes >= p && lane.p == places->nodes,
         "figures of %d ranks", p);
}

static void check_lowest(int p, const int *lowest) {
    struct places places;
    bool right = true;
    for (int r = 0; r < p && right; r++)
        right = lowest[r] >= 0 && lowest[r] <= r && lowest[lowest[r]] == lowest[r];
    int error = places_make(&places, p, lowest);
    must(error == (right ? 0 : -EPROTO), "places of %d ranks: error %d", p, error);
    if (error) return;
    check_places(&places, p, lowest);
    check_figures(&places, p);
    places_free(&places);
}

/* A number of 1 .. 2^20, as strtol reads it: blanks and a sign may be before it. */
static bool is_number(const char *at, size_t length) {
    const char *end = at + length;
    long value = 0;
    while (at < end && isspace((unsigned char)*at)) at++;
    if (at < end && *at == '+') at++;
    for (; at < end && isdigit((unsigned char)*at); at++)
        if (value <= 1 << 20) value = value * 10 + *at - '0';
    return at == end && value >= 1 && value <= 1 << 20;
}

static bool is_map(const char *text) {
    bool cyclic = strncmp(text, "cyclic:", 7) == 0;
    if (cyclic) text += 7;
    if (!strchr(text, ',')) return is_number(text, strlen(text));
    for (const char *at = text; *at;) {
        size_t length = strcspn(at, ",");
        if (!is_number(at, length)) return false;
        at += length + (at[length] == ',');
    }
    return !cyclic;
}

/* The node of a rank where the text is right, counted rank by rank. */
static int plain_node(const char *text, int p, int rank) {
    int counts[1024], count = 0, node = 0, left;
    bool cyclic = strncmp(text, "cyclic:", 7) == 0;
    if (!strchr(text, ',')) {
        int nodes = atoi(cyclic ? text + 7 : text);
        if (nodes > p) nodes = p;
        if (cyclic) return rank % nodes;
        while (((long)node + 1) * p <= (long)rank * nodes) node++; /* first rank: node p / nodes */
        return node;
    }
    for (const char *at = text; *at && count < 1024;) {
        counts[count++] = atoi(at);
        at += strcspn(at, ",");
        at += *at == ',';
    }
    left = counts[0];
    for (int r = 0; r < rank; r++)
        if (--left == 0) left = counts[++node % count];
    return node;
}

static void check_text(int p, const char *text) {
    int lowest[most_ranks], node[most_ranks];
    for (int r = 0; r < p; r++) {
        node[r] = places_pretended(p, r);
        must(node[r] >= 0 || node[r] == node[0], "\"%s\": rank %d finds another mistake", text, r);
        must((node[r] == -1) == !*text, "\"%s\": rank %d finds %d", text, r, node[r]);
        must(!*text || (is_map(text) ? node[r] >= 0 : node[r] == -EINVAL), "\"%s\": %d", text,
             node[r]);
        if (node[r] < 0) continue;
        must(node[0] >= 0 && node[r] == plain_node(text, p, r),
             "\"%s\": rank %d of %d on node %d, not %d", text, r, p, node[r],
             plain_node(text, p, r));
        for (lowest[r] = 0; node[lowest[r]] != node[r];) lowest[r]++;
    }
    if (node[0] >= 0) check_lowest(p, lowest);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct food food = {data, size};
    int p = 1 + (int)eat(&food, most_ranks), lowest[most_ranks];
    if (eat(&food, 2)) {
        char *text = eat_text(&food), *variable, **outside = environ;
        must(asprintf(&variable, "MORTAR_NODES=%s", text) > 0, "no memory");
        environ = (char *[]){variable, NULL};
        check_text(p, text);
        environ = outside;
        free(variable);
        free(text);
    } else {
        /* Mostly the lowest rank of an earlier one's node, so that much of it is right. */
        for (int r = 0; r < p; r++) {
            int drawn = (int)eat(&food, 256);
            lowest[r] = drawn >= 250 ? drawn - 253 : drawn < r ? lowest[drawn] : r;
        }
        check_lowest(p, lowest);
    }
    return 0;
}
