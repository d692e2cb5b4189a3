/* SPDX-License-Identifier: BSD-3-Clause */
/* packing - what the ranks of a node miss in their caches while they pack and unpack an alltoall
 * over several nodes through one leader (li2018 section 2.5, src/coll/nodes/lanes.c). Packed blocks
 * lie node by node, there by sender, there by receiver. So packing moves runs of blocks, but who
 * unpacks only its own blocks reads one of every `ranks`. Compared with that: all ranks transpose
 * what has come along the curve, straight into the receive buffers, or first within the node's
 * memory. */
#include "model.h"

#include <errno.h>
#include <stdlib.h>

enum way { ROWS, CURVE, CURVE_TWICE, WAYS };
static const char *const way_names[WAYS] = {"rows", "morton", "morton, twice"};

/* A copy between two places, both in bytes from line 0. */
struct move {
    uint64_t from, to, bytes;
};

struct packing {
    struct node *node;
    uint64_t line, p, nodes, block;
    uint64_t send, recv, out, in; /* in bytes; send and recv of rank 0, then those of rank 1, ... */
    uint64_t stride;              /* from one rank's buffers to the next one's */
    struct cell *curve;           /* [p * p], over one node's blocks */
    struct counts counted;        /* of all ranks */
};

/* The k-th copy of a rank; .bytes 0: there is none. */
typedef struct move moves(const struct packing *g, uint64_t rank, uint64_t k);

static struct move pack(const struct packing *g, uint64_t rank, uint64_t k) {
    uint64_t run = g->p * g->block;
    if (k == g->nodes) return (struct move){0};
    return (struct move){g->send + rank * g->stride + k * run, g->out + (k * g->p + rank) * run,
                         run};
}

static struct move unpack_rows(const struct packing *g, uint64_t rank, uint64_t k) {
    if (k == g->nodes * g->p) return (struct move){0};
    return (struct move){g->in + (k * g->p + rank) * g->block,
                         g->recv + rank * g->stride + k * g->block, g->block};
}

/* Of the curve over all nodes' blocks, one node after the other, rank r has the r-th of p equal
 * parts. */
static struct move along(const struct packing *g, uint64_t rank, uint64_t k, uint64_t to,
                         uint64_t stride) {
    uint64_t place = rank * g->nodes * g->p + k, from_node = place / (g->p * g->p);
    if (k == g->nodes * g->p) return (struct move){0};
    struct cell cell = g->curve[place % (g->p * g->p)];
    uint64_t source = from_node * g->p + cell.source;
    return (struct move){g->in + (source * g->p + cell.dest) * g->block,
                         to + cell.dest * stride + source * g->block, g->block};
}

static struct move unpack_curve(const struct packing *g, uint64_t rank, uint64_t k) {
    return along(g, rank, k, g->recv, g->stride);
}

static struct move transpose(const struct packing *g, uint64_t rank, uint64_t k) {
    return along(g, rank, k, g->out, g->nodes * g->p * g->block);
}

static struct move take(const struct packing *g, uint64_t rank, uint64_t k) {
    uint64_t mine = g->nodes * g->p * g->block;
    if (k == 1) return (struct move){0};
    return (struct move){g->out + rank * mine, g->recv + rank * g->stride, mine};
}

static void copy(struct packing *g, uint32_t core, struct move m) {
    uint64_t load = m.from / g->line, loaded = (m.from + m.bytes - 1) / g->line;
    uint64_t store = m.to / g->line, stored = (m.to + m.bytes - 1) / g->line;
    for (; load <= loaded || store <= stored; load++, store++) {
        if (load <= loaded) node_load(g->node, core, (uint32_t)load);
        if (store <= stored) node_store(g->node, core, (uint32_t)store);
    }
}

/* All ranks do their copies; the rank whose core has used up the least time goes on. */
static void all_do(struct packing *g, moves *next_of) {
    uint64_t k[most_cores] = {0};
    for (;;) {
        uint32_t next = most_cores;
        for (uint32_t r = 0; r < g->p; r++)
            if (next_of(g, r, k[r]).bytes > 0 &&
                (next == most_cores || node_clock(g->node, r) < node_clock(g->node, next)))
                next = r;
        if (next == most_cores) return;
        copy(g, next, next_of(g, next, k[next]++));
    }
}

/* The leader sends all that is packed, and what comes is packed alike. */
static void exchange(struct packing *g) {
    uint64_t bytes = g->nodes * g->p * g->p * g->block;
    for (uint64_t at = 0; at < bytes; at += g->line) {
        node_load(g->node, 0, (uint32_t)((g->out + at) / g->line));
        node_store(g->node, 0, (uint32_t)((g->in + at) / g->line));
    }
}

static void count(struct packing *g, moves *next_of) {
    for (uint32_t r = 0; r < g->p; r++) *node_counts(g->node, r) = (struct counts){0};
    all_do(g, next_of);
    for (uint32_t r = 0; r < g->p; r++) {
        const struct counts *c = node_counts(g->node, r);
        g->counted.l1 += c->l1, g->counted.l2 += c->l2, g->counted.ownership += c->ownership;
    }
}

static void print_counts(struct packing *g, const char *phase, const char *way) {
    double p = (double)g->p;
    const struct counts *c = &g->counted;
    printf("| %llu | %s%s | %.0f | %.0f | %.0f |\n", (unsigned long long)g->block, phase, way,
           (double)c->l1 / p, (double)c->l2 / p, (double)c->ownership / p);
}

/* Two calls, of which the second is counted. Packing is the same for all ways. */
static void one_way(struct packing *g, enum way way) {
    for (int call = 0; call < 2; call++) {
        g->counted = (struct counts){0};
        count(g, pack);
        if (call == 1 && way == ROWS) print_counts(g, "packing", "");
        exchange(g);
        g->counted = (struct counts){0};
        if (way == CURVE_TWICE) count(g, transpose), count(g, take);
        else count(g, way == ROWS ? unpack_rows : unpack_curve);
    }
    print_counts(g, "unpacking, ", way_names[way]);
}

static struct cell *curve_of(uint32_t p) {
    struct matrix matrix = {.p = p};
    struct cell *curve = malloc((size_t)p * p * sizeof *curve);
    for (uint32_t r = 0; curve && r < p; r++)
        orders[ORDER_morton].fill(&matrix, r, curve + (size_t)r * p);
    return curve;
}

static uint64_t round_up(uint64_t value, uint64_t step) { return (value + step - 1) / step * step; }

/* One size of blocks. */
static bool pack_size(const struct settings *s, struct cell *curve, uint64_t block) {
    struct machine machine = s->machine;
    uint64_t p = s->ranks, all = round_up(s->packing * p * block, machine.page_bytes);
    machine.tlb_entries = 0; /* no page tables here */
    for (int way = 0; way < WAYS; way++) {
        struct packing g = {.line = machine.line_bytes,
                            .p = p,
                            .nodes = s->packing,
                            .block = block,
                            .send = machine.page_bytes,
                            .curve = curve,
                            .stride = 2 * all};
        g.recv = g.send + all;
        g.out = g.send + p * g.stride;
        g.in = g.out + p * all;
        if ((g.in + p * all) / g.line > UINT32_MAX) return false;
        g.node = node_make(&machine, 1);
        if (!g.node) return false;
        one_way(&g, (enum way)way);
        node_free(g.node);
    }
    return true;
}

int print_packing(const struct settings *s) {
    struct cell *curve = curve_of(s->ranks);
    bool fine = curve != NULL;
    puts("| block | | L1 | L2 | ownership |\n|---|---|---:|---:|---:|");
    char size[64] = "";
    for (const char *sizes = s->bytes; fine && next_word("--bytes", &sizes, size);)
        fine = pack_size(s, curve, bytes_or_fail("--bytes", size));
    free(curve);
    if (!fine)
        fprintf(
            stderr,
            "mortar model: --packing %llu, blocks of %s bytes: more than 4G cache lines, or than "
            "memory holds; fewer nodes, ranks or bytes may do\n",
            (unsigned long long)s->packing, size);
    return fine ? 0 : 2;
}
