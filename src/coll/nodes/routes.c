/* SPDX-License-Identifier: BSD-3-Clause */
/* routes - which block of a call travels on which lane, and in which place; see lanes.h. Made once
 * for all calls that are alike. */
#include "coll/nodes/lanes.h"

#include <stdlib.h>

enum route_kind { PAIRS, EDGES }; /* EDGES + 1: of the other neighbourhood */
enum { ONE_BLOCK = 4, SIZED = 8 };

static const char ours;

static unsigned routes_kind_of(const struct call *call, bool equal) {
    enum collective c = call->shape.collective;
    unsigned kind = among(c, NEIGHBORS) ? EDGES + (unsigned)neighbourhood_of(c) : PAIRS;
    if (!is_personal(c)) kind += ONE_BLOCK;
    return equal ? kind : kind + SIZED;
}

size_t pairs_cut(const struct scheme *scheme, size_t rows, size_t columns, int lane) {
    size_t l = (size_t)lane;
    switch (scheme->cut) {
    case BY_SOURCE: return (l < rows ? l : rows) * columns;
    case BY_DEST: return (l < columns ? l : columns) * rows;
    default: return rows * columns * l / (size_t)scheme->lanes;
    }
}

/* ---- all pairs of ranks ---- */

static void list_pairs(const struct team *team, const struct scheme *scheme, struct lane_half *half,
                       bool sends) {
    const struct places *places = team->places;
    int home = places->node_of[team->me], me = places->local_of[team->me],
        here = ranks_on(places, home);
    struct stop *stop = half->stops;
    size_t first = 0;
    for (int n = 0; n < places->nodes; n++) {
        int there = ranks_on(places, n);
        int rows = sends ? here : there;
        int columns = sends ? there : here;
        for (int l = 0; l <= scheme->lanes; l++)
            half->cut[n * (scheme->lanes + 1) + l] =
                first + pairs_cut(scheme, (size_t)rows, (size_t)columns, l);
        for (int other = 0; other < there; other++) {
            int i = sends ? me : other;
            int j = sends ? other : me;
            size_t inside = scheme->cut == BY_DEST ? (size_t)j * (size_t)rows + (size_t)i
                                                   : (size_t)i * (size_t)columns + (size_t)j;
            *stop++ = (struct stop){first + inside, rank_at(places, n, other), n};
        }
        first += (size_t)rows * (size_t)columns;
    }
}

/* ---- the edges of a neighbourhood ---- */

struct way {
    int node;         /* at the other end */
    int major, minor; /* what the cells of that node are ordered by */
    struct edge edge;
};

static int by_way(const void *a, const void *b) {
    const struct way *x = a, *y = b;
    if (x->node != y->node) return x->node < y->node ? -1 : 1;
    if (x->major != y->major) return x->major < y->major ? -1 : 1;
    if (x->minor != y->minor) return x->minor < y->minor ? -1 : 1;
    return (x->edge.out > y->edge.out) - (x->edge.out < y->edge.out);
}

/* The edges that leave my node, or come to it. NULL: no memory. */
static struct way *ways_of(const struct team *team, const struct scheme *scheme,
                           const struct neighbours *n, bool sends, size_t *count) {
    const struct places *places = team->places;
    int home = places->node_of[team->me];
    struct way *ways = malloc((n->edge_count + 1) * sizeof *ways);
    *count = 0;
    for (size_t e = 0; ways && e < n->edge_count; e++) {
        const struct edge *edge = &n->edges[e];
        int from = places->node_of[edge->source], to = places->node_of[edge->dest];
        if ((sends ? from : to) != home) continue;
        int source = places->local_of[edge->source], dest = places->local_of[edge->dest];
        struct way way = {sends ? to : from, source, dest, *edge};
        if (scheme->cut == BY_DEST) way.major = dest, way.minor = source;
        ways[(*count)++] = way;
    }
    if (ways) qsort(ways, *count, sizeof *ways, by_way);
    return ways;
}

static void list_edges(const struct team *team, const struct scheme *scheme, struct lane_half *half,
                       bool sends, const struct way *ways, bool personal) {
    struct stop *stop = half->stops;
    size_t first = 0, lanes = (size_t)scheme->lanes;
    for (int n = 0; n < team->places->nodes; n++) {
        size_t *cut = half->cut + (size_t)n * (lanes + 1), last = first, at = first;
        while (last < half->cells && ways[last].node == n) last++;
        for (size_t l = 0; l <= lanes; l++) {
            while (at < last && ways[at].major < (int)l) at++;
            cut[l] = scheme->cut == EVENLY ? first + (last - first) * l / lanes : at;
        }
        for (; first < last; first++) {
            const struct edge *edge = &ways[first].edge;
            if ((int)(sends ? edge->source : edge->dest) != team->me) continue;
            int block = (int)edge->in;
            if (sends) block = personal ? (int)edge->out : 0;
            *stop++ = (struct stop){first, block, n};
        }
    }
}

/* ---- together ---- */

/* Hands out pieces of *memory; *memory NULL: only counts the bytes needed. */
static void *routes_take(char **memory, size_t *used, size_t bytes) {
    void *taken = *memory ? *memory + *used : NULL;
    *used += (bytes + 15) / 16 * 16;
    return taken;
}

static void place_half(struct lane_half *half, char **memory, size_t *used, size_t nodes,
                       size_t lanes, size_t mine, bool equal) {
    half->cut = routes_take(memory, used, nodes * (lanes + 1) * sizeof *half->cut);
    half->stops = routes_take(memory, used, half->count * sizeof *half->stops);
    half->whole = routes_take(memory, used, mine * nodes * sizeof *half->whole);
    half->counts = routes_take(memory, used, nodes * sizeof *half->counts);
    half->displs = routes_take(memory, used, nodes * sizeof *half->displs);
    half->straight = routes_take(memory, used, half->count * sizeof *half->straight);
    if (equal) return;
    half->bytes = routes_take(memory, used, half->count * sizeof *half->bytes);
    half->at = routes_take(memory, used, (half->cells + 1) * sizeof *half->at);
}

/* What the team keeps for one kind of calls under `which`; it keeps the routes under which + 1. */
struct holder {
    struct routes *routes; /* NULL: some rank had no memory for them */
};

static struct routes *routes_room_for(struct team *team, struct routes like, bool equal,
                                      unsigned which) {
    char *memory = NULL;
    size_t nodes = (size_t)team->places->nodes, mine = (size_t)like.mine,
           lanes = (size_t)like.scheme.lanes;
    for (int round = 0;; round++) {
        size_t used = 0;
        struct routes *routes = routes_take(&memory, &used, sizeof *routes);
        like.lane = routes_take(&memory, &used, mine * sizeof *like.lane);
        place_half(&like.out, &memory, &used, nodes, lanes, mine, equal);
        place_half(&like.in, &memory, &used, nodes, lanes, mine, equal);
        if (routes) *routes = like;
        if (round == 1) return routes;
        bool fresh;
        memory = team_keeps(team, &ours, which + 1, used, &fresh);
        if (!memory) return NULL;
    }
}

/* Finds the messages of my lanes that consist of my own blocks only. */
static void find_whole(const struct routes *routes, struct lane_half *half, int nodes) {
    int lanes = routes->scheme.lanes;
    for (int m = 0; m < routes->mine; m++) {
        size_t k = 0;
        for (int n = 0; n < nodes; n++) {
            size_t begin = half->cut[n * (lanes + 1) + routes->lane[m]],
                   end = half->cut[n * (lanes + 1) + routes->lane[m] + 1];
            while (k < half->count && half->stops[k].cell < begin) k++;
            /* Cells ascend: if the first and the last of end - begin stops are those of the part,
             * all are. */
            size_t last = k + (end - begin) - 1;
            bool whole = end > begin && last < half->count && half->stops[k].cell == begin &&
                         half->stops[last].cell == end - 1;
            half->whole[m * nodes + n] = whole ? (int)k : -1;
        }
    }
}

static struct routes *routes_make(struct team *team, const struct call *call,
                                  const struct scheme *scheme, bool equal, unsigned which) {
    const struct places *places = team->places;
    const struct neighbours *n = call->neighbours;
    int here = team->node->p;
    struct routes like = {.scheme = *scheme};
    for (int l = 0; l < scheme->lanes; l++) like.mine += l % here == team->node->me;
    like.out.cells = like.in.cells = (size_t)here * (size_t)team->p;
    like.out.count = like.in.count = (size_t)team->p;
    struct way *out = NULL, *in = NULL;
    bool edges = among(call->shape.collective, NEIGHBORS);
    if (edges) {
        out = ways_of(team, scheme, n, true, &like.out.cells),
        in = ways_of(team, scheme, n, false, &like.in.cells);
        like.out.count = (size_t)n->to_count, like.in.count = (size_t)n->from_count;
    }
    bool fine =
        (!edges || (out && in)) &&
        (equal || (like.out.cells + like.in.cells) * sizeof(uint64_t) <= team->node->tables.bytes);
    struct routes *routes = fine ? routes_room_for(team, like, equal, which) : NULL;
    int m = 0;
    for (int l = 0; routes && l < scheme->lanes; l++)
        if (l % here == team->node->me) routes->lane[m++] = l;
    bool personal = is_personal(call->shape.collective);
    if (routes && edges) {
        list_edges(team, scheme, &routes->out, true, out, personal);
        list_edges(team, scheme, &routes->in, false, in, personal);
    } else if (routes) {
        list_pairs(team, scheme, &routes->out, true);
        list_pairs(team, scheme, &routes->in, false);
    }
    if (routes) {
        find_whole(routes, &routes->out, places->nodes);
        find_whole(routes, &routes->in, places->nodes);
    }
    free(out);
    free(in);
    return routes;
}

struct routes *routes_of(struct team *team, const struct call *call, const struct scheme *scheme,
                         bool equal) {
    unsigned which =
        (routes_kind_of(call, equal) * CUTS + scheme->cut) * ((unsigned)team->places->most + 1) +
        (unsigned)scheme->lanes;
    bool fresh;
    struct holder *holder = team_keeps(team, &ours, 2 * which, sizeof *holder, &fresh);
    if (holder && holder->routes) return holder->routes;
    struct routes *routes = holder ? routes_make(team, call, scheme, equal, 2 * which) : NULL;
    if (!messages_agree(team, routes != NULL)) return NULL;
    holder->routes = routes;
    return routes;
}
