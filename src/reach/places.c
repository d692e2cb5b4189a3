/* SPDX-License-Identifier: BSD-3-Clause */
/* places - the node of each rank; see messages.h. */
#include "reach/reach.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int places_make(struct places *places, int p, const int *lowest) {
    int *memory = calloc(4 * (size_t)p + 1, sizeof *memory);
    *places = (struct places){.in_order = true};
    if (!memory) return -ENOMEM;
    places->node_of = memory;
    places->local_of = memory + p;
    places->ranks = memory + 2 * p;
    places->first = memory + 3 * p;
    for (int r = 0; r < p; r++) {
        if (lowest[r] < 0 || lowest[r] > r || lowest[lowest[r]] != lowest[r]) {
            free(memory);
            *places = (struct places){0};
            return -EPROTO;
        }
        int node = lowest[r] == r ? places->nodes++ : places->node_of[lowest[r]];
        places->node_of[r] = node;
        places->local_of[r] = places->first[node + 1]++; /* first: counts, until below */
        if (places->first[node + 1] > places->most) places->most = places->first[node + 1];
    }
    for (int n = 0; n < places->nodes; n++) places->first[n + 1] += places->first[n];
    for (int r = 0; r < p; r++) {
        int at = places->first[places->node_of[r]] + places->local_of[r];
        places->ranks[at] = r;
        places->in_order = places->in_order && at == r;
    }
    return 0;
}

static bool at_home(const struct home *a, const struct home *b) {
    return a->node == b->node && a->pretended == b->pretended;
}

bool places_one(const struct home *homes, int p) {
    int r = 1;
    while (r < p && at_home(&homes[r], &homes[0])) r++;
    return r == p;
}

void places_lowest(const struct home *homes, int p, int *lowest) {
    for (int r = 0; r < p; r++) {
        /* Mostly a rank's neighbour shares its node. */
        int other = r > 0 && at_home(&homes[r], &homes[r - 1]) ? r - 1 : 0;
        while (!at_home(&homes[r], &homes[other])) other++;
        lowest[r] = other < r ? lowest[other] : r;
    }
}

void places_free(struct places *places) { free(places->node_of); }

/* Checks the whole list, because all ranks must find the same mistake. */
static bool is_list(const char *at) {
    for (char *end; *at; at = *end ? end + 1 : end) {
        long count = strtol(at, &end, 10);
        if (end == at || count < 1 || count > 1 << 20 || (*end && *end != ',')) return false;
    }
    return true;
}

/* "5,3,1": ranks 0-4, 5-7 and 8 on a node each; then again, on further nodes. */
static int listed(const char *text, int rank) {
    if (!is_list(text)) return -EINVAL;
    for (int node = 0, first = 0;;) {
        const char *at = text;
        for (; *at; node++) {
            char *end;
            first += (int)strtol(at, &end, 10);
            if (rank < first) return node;
            at = *end ? end + 1 : end;
        }
    }
}

int places_pretended(int p, int rank) {
    const char *text = option_text(OPTION_NODES), *number = text;
    bool cyclic = strncmp(text, "cyclic:", 7) == 0;
    char *end;
    if (cyclic) number += 7;
    if (strchr(number, ',')) return cyclic ? -EINVAL : listed(number, rank);
    if (!*text) return -1;
    long nodes = strtol(number, &end, 10);
    if (end == number || *end || nodes < 1 || nodes > 1 << 20) return -EINVAL;
    if (nodes > p) nodes = p;
    return (int)(cyclic ? rank % nodes : (long)rank * nodes / p);
}
