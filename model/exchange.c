/* SPDX-License-Identifier: BSD-3-Clause */
/* exchange - which lines the ranks of a node touch in one collective: the benchmark of li2018,
 * figure 9, around the algorithm `pull` (src/coll/node/pull.c). Rank r runs on core r. Ranks take
 * turns, a few lines each. */
#include "cachesim.h"

#include "order/order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Lines that a rank copies before the next one goes on: 4 KiB, or a block if that is less. */
enum { turn = 64 };

/* Where things lie, in lines from 1 up. Each rank has a region: send buffer, receive buffer. */
struct places {
    uint32_t per_page, region; /* lines of a page, of a region */
    /* Bytes from a region's start, where the send buffer is, to the receive buffer. */
    uint64_t recv;
    uint32_t control, posts; /* arrived, epoch; one line per rank, twice */
    uint32_t own, own_size;  /* each rank's step list and table of peers */
    uint32_t leaves, leaf_lines, directories, directory_lines; /* page tables of each core */
};

struct trace {
    const struct exchange *exchange;
    struct node *node;
    struct places at;
    /* What rank r copies, in its order: steps[first[r]] .. steps[first[r + 1] - 1]. */
    struct edge *steps;
    size_t first[most_cores + 1];
    uint32_t line_bytes, barriers, ahead;
};

/* Blocks in the send buffer, in the receive buffer. */
static uint64_t sent(const struct exchange *x) {
    if (!x->alltoall) return 1;
    return x->around ? x->around->degree : x->ranks;
}
static uint64_t received(const struct exchange *x) {
    return x->around ? x->around->degree : x->ranks;
}

static uint64_t up(uint64_t value, uint64_t step) { return (value + step - 1) / step * step; }

static bool place(struct trace *t, const struct machine *m) {
    const struct exchange *x = t->exchange;
    uint64_t p = x->ranks, per_page = m->page_bytes / m->line_bytes, block = x->bytes;
    uint64_t recv = up(block * sent(x), m->line_bytes), bytes = recv + block * received(x);
    /* Regions start at multiples of what one line of a page directory covers: 8 x 512 pages. */
    uint64_t step = per_page * 512 * 8,
             region = up(bytes / m->line_bytes + 1 + per_page, x->bare ? per_page : step);
    uint64_t list = received(x) * 2 * sizeof(struct edge), table = p * sizeof(struct cell);
    uint64_t own_size =
                 up(up(x->around && list > table ? list : table, m->line_bytes) / m->line_bytes * 2,
                    64),
             next = step;
    next += p * region;
    uint64_t pages = next / per_page + 1, leaf_lines = up(pages / 8 + 1, 64),
             directory_lines = up(pages / 4096 + 1, 64);
    uint64_t control = next, own = control + up(2 + 2 * p, 64), leaves = own + p * own_size;
    uint64_t directories = leaves + p * leaf_lines, end = directories + p * directory_lines;
    if (end > UINT32_MAX) return false;
    t->at = (struct places){.per_page = (uint32_t)per_page,
                            .region = (uint32_t)region,
                            .recv = recv,
                            .control = (uint32_t)control,
                            .posts = (uint32_t)control + 2,
                            .own = (uint32_t)own,
                            .own_size = (uint32_t)own_size,
                            .leaves = (uint32_t)leaves,
                            .leaf_lines = (uint32_t)leaf_lines,
                            .directories = (uint32_t)directories,
                            .directory_lines = (uint32_t)directory_lines};
    for (uint32_t r = 0; r < p; r++)
        node_tables(t->node, r, t->at.leaves + r * t->at.leaf_lines,
                    t->at.directories + r * t->at.directory_lines);
    return true;
}

static uint32_t region_of(const struct places *at, uint32_t rank) {
    return at->per_page * 512 * 8 + rank * at->region;
}

/* One rank's part of a neighbourhood, at the end of the steps. Returns how many steps it is. */
static size_t fill_part(struct trace *t, const struct matrix *matrix, uint32_t rank,
                        struct edge *steps) {
    const struct exchange *x = t->exchange;
    const struct around *around = x->around;
    size_t kept = 0;
    memcpy(steps, around->edges, around->count * sizeof *steps);
    if (x->order->part) return x->order->part(matrix, rank, steps, around->count);
    for (size_t e = 0; e < around->count; e++) /* rows */
        if (steps[e].dest == rank) steps[kept++] = steps[e];
    return kept;
}

static bool fill_steps(struct trace *t, const struct machine *m) {
    const struct exchange *x = t->exchange;
    uint32_t p = x->ranks, domains[most_cores];
    for (uint32_t r = 0; r < p; r++) domains[r] = r / (m->cores / m->domains);
    struct matrix matrix = {.p = p, .domain_of = domains, .inner = x->inner};
    /* fill_part has a copy of all edges where its own will be. */
    size_t most = x->around ? 2 * x->around->count : (size_t)p * p;
    struct cell *cells = malloc((size_t)p * sizeof *cells);
    t->steps = malloc(most * sizeof *t->steps);
    for (uint32_t r = 0; cells && t->steps && r < p; r++) {
        struct edge *steps = t->steps + t->first[r];
        t->first[r + 1] = t->first[r] + (x->around ? fill_part(t, &matrix, r, steps) : p);
        if (x->around) continue;
        x->order->fill(&matrix, r, cells);
        for (uint32_t k = 0; k < p; k++)
            steps[k] = (struct edge){.source = cells[k].source,
                                     .dest = cells[k].dest,
                                     .out = cells[k].dest,
                                     .in = cells[k].source};
    }
    free(cells);
    return cells && t->steps;
}

struct span {
    uint64_t first, last; /* lines */
};

static struct span span_of(uint32_t line_bytes, uint64_t start_line, uint64_t offset,
                           uint64_t bytes) {
    return (struct span){start_line + offset / line_bytes,
                         start_line + (offset + bytes - 1) / line_bytes};
}

/* Each rank walks through its send buffer, then its receive buffer. Of very long ones only the end
 * is walked: what four times fills every cache has pushed out all that came before. */
static void touch(struct trace *t, const struct machine *m) {
    const struct exchange *x = t->exchange;
    uint64_t p = x->ranks, block = x->bytes;
    uint64_t most =
        4 * (m->l3.bytes / (m->cores / m->domains) + m->l2.bytes + m->l1.bytes) / t->line_bytes;
    struct span send = span_of(t->line_bytes, 0, 0, block * sent(x));
    struct span recv = span_of(t->line_bytes, 0, t->at.recv, block * received(x));
    uint64_t all = recv.last + 1;
    for (uint64_t from = all > most ? all - most : 0; from < all; from += turn)
        for (uint32_t r = 0; r < p; r++)
            for (uint64_t i = from; i < all && i < from + turn; i++) {
                if (i <= send.last) node_load(t->node, r, region_of(&t->at, r) + (uint32_t)i);
                if (i >= recv.first) node_store(t->node, r, region_of(&t->at, r) + (uint32_t)i);
            }
}

/* As src/reach/sync.c does it: all add themselves to one counter, the last one writes the word that
 * the others wait for. */
static void barrier(struct trace *t) {
    uint32_t p = t->exchange->ranks;
    for (uint32_t r = 0; r < p; r++) {
        node_access(t->node, r, t->at.control + 1, LOAD);
        node_access(t->node, r, t->at.control, STORE);
    }
    node_access(t->node, p - 1, t->at.control + 1, STORE);
    for (uint32_t r = 0; r < p; r++) node_access(t->node, r, t->at.control + 1, LOAD);
    t->barriers++;
}

/* What is read before a block can be copied: the step, the two peers' bases, their posts. */
static void look_up(struct trace *t, uint32_t rank, uint32_t k, struct edge step) {
    uint32_t own = t->at.own + rank * t->at.own_size, peers = own + t->at.own_size / 2;
    size_t listed = t->exchange->around ? sizeof(struct edge) : sizeof(struct cell);
    uint32_t steps_per_line = t->line_bytes / (uint32_t)listed, bases_per_line = t->line_bytes / 8;
    node_access(t->node, rank, own + k / steps_per_line, LOAD | KNOWN);
    node_access(t->node, rank, peers + step.source / bases_per_line, LOAD | KNOWN);
    node_access(t->node, rank, peers + step.dest / bases_per_line, LOAD | KNOWN);
    node_access(t->node, rank, t->at.posts + step.source, LOAD);
    node_access(t->node, rank, t->at.posts + step.dest, LOAD);
}

/* Copies up to `turn` lines of the k-th block of a rank, from `from` on. Returns whether the block
 * is done. */
static bool copy_some(struct trace *t, uint32_t rank, uint32_t k, uint64_t from) {
    const struct exchange *x = t->exchange;
    struct edge step = t->steps[t->first[rank] + k];
    struct span load = span_of(t->line_bytes, region_of(&t->at, step.source),
                               x->alltoall ? step.out * x->bytes : 0, x->bytes);
    struct span store = span_of(t->line_bytes, region_of(&t->at, step.dest),
                                t->at.recv + step.in * x->bytes, x->bytes);
    bool past = x->nontemporal && x->bytes >= x->nontemporal;
    if (from == 0 && !x->bare) look_up(t, rank, k, step);
    for (uint64_t i = from; i < from + turn; i++) {
        if (load.first + i > load.last && store.first + i > store.last) return true;
        if (load.first + i <= load.last) {
            if (t->ahead && x->sample <= 1)
                node_prefetch(t->node, rank, (uint32_t)(load.first + i + t->ahead));
            node_load(t->node, rank, (uint32_t)(load.first + i));
        }
        if (store.first + i <= store.last)
            (past ? node_store_past : node_store)(t->node, rank, (uint32_t)(store.first + i));
    }
    return load.first + from + turn > load.last && store.first + from + turn > store.last;
}

/* The rank whose core has used up the least time goes on: who finds in L3 what another has just
 * fetched catches up with it. */
static void copy_all(struct trace *t) {
    uint32_t p = t->exchange->ranks, k[most_cores] = {0}, steps[most_cores], left = 0;
    uint64_t from[most_cores] = {0};
    for (uint32_t r = 0; r < p; r++) {
        steps[r] = (uint32_t)(t->first[r + 1] - t->first[r]);
        left += steps[r] > 0;
    }
    while (left > 0) {
        uint32_t next = p;
        for (uint32_t r = 0; r < p; r++)
            if (k[r] < steps[r] &&
                (next == p || node_clock(t->node, r) < node_clock(t->node, next)))
                next = r;
        bool done = copy_some(t, next, k[next], from[next]);
        from[next] = done ? 0 : from[next] + turn;
        k[next] += done;
        left -= k[next] == steps[next] && done;
    }
}

static void add_up(struct trace *t, struct result *result) {
    struct counts all = {0};
    for (uint32_t r = 0; r < t->exchange->ranks; r++) {
        const struct counts *c = node_counts(t->node, r);
        all.l1 += c->l1, all.l2 += c->l2, all.l3 += c->l3, all.remote += c->remote,
            all.memory += c->memory;
        all.neighbour += c->neighbour, all.ownership += c->ownership,
            all.back_invalidated += c->back_invalidated;
        all.nontemporal += c->nontemporal, all.walks += c->walks;
    }
    double p = t->exchange->ranks, part = p / t->exchange->sample;
    *result = (struct result){.l1 = (double)all.l1 / part,
                              .l2 = (double)all.l2 / part,
                              .l3 = (double)all.l3 / part,
                              .remote = (double)all.remote / part,
                              .memory = (double)all.memory / part,
                              .neighbour = (double)all.neighbour / part,
                              .ownership = (double)all.ownership / part,
                              .back_invalidated = (double)all.back_invalidated / part,
                              .nontemporal = (double)all.nontemporal / part,
                              .walks = (double)all.walks / p};
}

int simulate(const struct machine *machine, const struct exchange *exchange,
             struct result *result) {
    struct trace t = {.exchange = exchange, .line_bytes = machine->line_bytes};
    if (exchange->ranks == 0 || exchange->ranks > machine->cores || exchange->bytes == 0)
        return -EINVAL;
    t.node = node_make(machine, exchange->sample);
    bool fine = t.node && place(&t, machine) && fill_steps(&t, machine);
    if (machine->copy_ahead && exchange->bytes >= machine->copy_large)
        t.ahead = machine->copy_ahead;
    if (fine) {
        if (!exchange->bare) touch(&t, machine);
        if (!exchange->bare) barrier(&t);
        if (!exchange->bare && !exchange->kept) node_forget(t.node);
        for (uint32_t r = 0; r < exchange->ranks; r++) *node_counts(t.node, r) = (struct counts){0};
        for (uint32_t r = 0; !exchange->bare && r < exchange->ranks; r++)
            node_access(t.node, r, t.at.posts + r, STORE);
        if (!exchange->bare) barrier(&t);
        copy_all(&t);
        if (!exchange->bare) barrier(&t);
        add_up(&t, result);
    }
    free(t.steps);
    node_free(t.node);
    return fine ? 0 : -ENOMEM;
}
