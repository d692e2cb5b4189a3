/* SPDX-License-Identifier: BSD-3-Clause */
/* order - every row of orders[]: the parts of all workers visit each cell exactly once and keep
 * what the row promises, in all kinds of domains; numa's steps; the Morton order against two
 * references of its own (li2018 sections 2.1-2.2), and its two ways to extract bits against each
 * other. Hilbert's curve is in hilbert.c. */
#include "order/order.h"

#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The file itself, under another name: its ways to extract bits are not shown to others. */
#define order_morton morton_inside
#include "order/morton.c"
#undef order_morton

enum { guard = 4 };

static struct cell *cells_for(uint32_t p) {
    struct cell *cells = malloc(((size_t)p + guard) * sizeof *cells);
    expect(cells != NULL, "malloc");
    return cells;
}

/* Which walk over which matrix, for messages. */
struct trial {
    const struct order *order;
    struct matrix matrix;
    const char *map;
};

static void check_part(const struct trial *t, uint32_t worker, const struct cell *cells,
                       char *visited) {
    const struct order *order = t->order;
    const uint32_t *domain_of = t->matrix.domain_of;
    uint32_t p = t->matrix.p, rows = rows_of(&t->matrix);
    for (uint32_t k = 0; k < p; k++) {
        struct cell cell = cells[k];
        bool there = cell.source < p && cell.dest < rows;
        char *place = &visited[there ? (size_t)cell.dest * p + cell.source : 0];
        const char *wrong = NULL;
        if (!there) wrong = "does not exist";
        else if (*place) wrong = "for the second time";
        else if (order->own_dest && cell.dest != worker) wrong = "is not in its own receive buffer";
        else if (order->nests && domain_of && domain_of[cell.dest] != domain_of[worker])
            wrong = "is in another domain";
        expect(!wrong, "%s(%s) p=%u rows=%u domains %s, worker=%u k=%u: cell (%u, %u) %s",
               order->name, t->matrix.inner ? t->matrix.inner->name : "", p, rows, t->map, worker,
               k, cell.source, cell.dest, wrong);
        *place = 1; /* rows * p different cells: each exactly once */
    }
    for (uint32_t k = p; k < p + guard; k++)
        expect(cells[k].source == 0xeeeeeeee && cells[k].dest == 0xeeeeeeee,
               "%s p=%u: more than p cells", order->name, p);
}

static void check_order(struct trial t) {
    uint32_t p = t.matrix.p, rows = rows_of(&t.matrix);
    struct cell *cells = cells_for(p);
    char *visited = calloc(rows, p);
    expect(visited != NULL, "calloc");
    for (uint32_t worker = 0; worker < rows; worker++) {
        memset(cells, 0xee, (p + guard) * sizeof *cells);
        t.order->fill(&t.matrix, worker, cells);
        check_part(&t, worker, cells, visited);
    }
    free(visited);
    free(cells);
}

/* ---- who sits in which domain ---- */

static const char *const maps[] = {"one",         "three alike", "growing",
                                   "interleaved", "drawn",       "a rank alone, and one left out",
                                   "one each"};
enum { map_count = sizeof maps / sizeof *maps };

static void draw_map(int map, uint32_t p, uint64_t *random, uint32_t *domain_of) {
    uint32_t domains = 1 + draw_below(random, 9);
    for (uint32_t r = 0; r < p; r++) {
        switch (map) {
        case 0: domain_of[r] = 0; break;
        case 1: domain_of[r] = r / (p / 3 + (p % 3 != 0)); break;
        case 2: domain_of[r] = r == 0 ? 0 : 32 - (uint32_t)__builtin_clz(r); break;
        case 3: domain_of[r] = r % domains; break;
        case 4: domain_of[r] = draw_below(random, domains); break;
        case 5: domain_of[r] = r == p / 2 ? 1 : r % 2 * 3; break;
        default: domain_of[r] = p - 1 - r;
        }
    }
}

/* Orders that nest, with every inner order in every kind of domains; far from all of that for a
 * large p. */
static void check_nesting(const struct order *order, uint32_t p, uint64_t *random) {
    uint32_t *domain_of = malloc(p * sizeof *domain_of);
    expect(domain_of != NULL, "malloc");
    check_order((struct trial){order, {.p = p}, "unknown"});
    for (int map = 0; map < map_count; map++) {
        draw_map(map, p, random, domain_of);
        for (int inner = 0; inner < ORDERS; inner++)
            if (!orders[inner].nests && (p <= 40 || draw_below(random, p / 8) == 0))
                check_order((struct trial){
                    order, {.p = p, .domain_of = domain_of, .inner = &orders[inner]}, maps[map]});
    }
    free(domain_of);
}

/* Matrices that are not square. */
static void check_bunches(uint64_t *random) {
    for (int o = 0; o < ORDERS; o++) {
        if (orders[o].nests) continue;
        for (uint32_t rows = 1; rows <= 20; rows++)
            for (uint32_t p = 1; p <= 20; p++)
                check_order((struct trial){&orders[o], {.p = p, .rows = rows}, "-"});
        for (int i = 0; i < 20; i++)
            check_order((struct trial){
                &orders[o],
                {.p = 1 + draw_below(random, 200), .rows = 1 + draw_below(random, 200)},
                "-"});
    }
}

/* ---- numa: li2018 section 2.4, figure 5 ---- */

/* In step i a rank reads from domain own + i only, as many cells as that has ranks, in the inner
 * order of the two. */
static void check_steps(uint32_t p, uint64_t *random) {
    uint32_t *domain_of = malloc(p * sizeof *domain_of),
             *ranks = malloc(2 * (size_t)p * sizeof *ranks), *local = ranks + p;
    struct cell *cells = cells_for(p), *inside = cells_for(p);
    expect(domain_of && ranks, "malloc");
    uint32_t domains = 1 + draw_below(random, p < 6 ? p : 6), start[8] = {0};
    for (uint32_t r = 0; r < p; r++) domain_of[r] = r < domains ? r : draw_below(random, domains);
    for (uint32_t d = 0, at = 0; d < domains; d++) {
        for (uint32_t r = 0; r < p; r++)
            if (domain_of[r] == d) local[r] = at - start[d], ranks[at++] = r;
        start[d + 1] = at;
    }
    for (int round = 0; round < 20; round++) {
        uint32_t worker = draw_below(random, p), own = domain_of[worker], at = 0;
        const struct order *inner = &orders[draw_below(random, ORDERS)];
        if (inner->nests) continue;
        orders[ORDER_numa].fill(&(struct matrix){.p = p, .domain_of = domain_of, .inner = inner},
                                worker, cells);
        for (uint32_t step = 0; step < domains; step++) {
            const uint32_t *senders, *receivers = ranks + start[own];
            uint32_t from = (own + step) % domains, there = start[from + 1] - start[from];
            senders = ranks + start[from];
            inner->fill(&(struct matrix){.p = there, .rows = start[own + 1] - start[own]},
                        local[worker], inside);
            for (uint32_t k = 0; k < there; k++, at++)
                expect(cells[at].source == senders[inside[k].source] &&
                           cells[at].dest == receivers[inside[k].dest],
                       "numa(%s) p=%u domains=%u worker=%u step=%u k=%u: (%u, %u)", inner->name, p,
                       domains, worker, step, k, cells[at].source, cells[at].dest);
        }
    }
    free(domain_of);
    free(ranks);
    free(cells);
    free(inside);
}

/* "Starting behind itself": in no step do two workers read the same sender (rows), or write to the
 * same receiver (columns). */
static void check_staggered(uint32_t p) {
    struct cell *rows = cells_for(p), *columns = cells_for(p);
    for (uint32_t worker = 0; worker < p; worker++) {
        orders[ORDER_rows].fill(&(struct matrix){.p = p}, worker, rows);
        orders[ORDER_columns].fill(&(struct matrix){.p = p}, worker, columns);
        for (uint32_t k = 0; k < p; k++) {
            expect((rows[k].source + p - worker) % p == (k + 1) % p,
                   "rows p=%u: worker %u reads %u in step %u", p, worker, rows[k].source, k);
            expect((columns[k].dest + p - worker) % p == (k + 1) % p && columns[k].source == worker,
                   "columns p=%u: worker %u writes to %u in step %u", p, worker, columns[k].dest,
                   k);
        }
    }
    free(rows);
    free(columns);
}

/* With spread, too, all workers read different senders in each step. 2, 4, 8 or 16 neighbours begin
 * at least three quarters as far from each other as p senders allow. */
static void check_spread(uint32_t p) {
    struct cell *cells = cells_for(p);
    char *begun = calloc(p, 1);
    expect(begun != NULL, "calloc");
    for (uint32_t worker = 0; worker < p; worker++) {
        orders[ORDER_spread].fill(&(struct matrix){.p = p}, worker, cells);
        uint32_t first = cells[0].source;
        expect(first < p && !begun[first]++, "spread p=%u: worker %u begins with %u", p, worker,
               first);
        for (uint32_t k = 0; k < p; k++)
            expect(cells[k].source == (first + k) % p && cells[k].dest == worker,
                   "spread p=%u worker=%u k=%u: (%u, %u)", p, worker, k, cells[k].source,
                   cells[k].dest);
    }
    for (uint32_t near = 2; near <= 16 && 4 * near <= p; near *= 2)
        for (uint32_t a = 0; a < p / near * near; a++)
            for (uint32_t b = a / near * near; b < a; b++) {
                uint32_t apart = (far_apart(a, p) + p - far_apart(b, p)) % p;
                if (p - apart < apart) apart = p - apart;
                expect(4 * near * apart >= 3 * p, "spread p=%u: %u and %u begin %u apart", p, a, b,
                       apart);
            }
    free(cells);
    free(begun);
}

/* ---- Morton ---- */

static struct cell interleaved(uint64_t code) {
    struct cell cell = {0, 0};
    for (uint32_t b = 0; b < 32; b++) {
        cell.source |= (uint32_t)(code >> (2 * b) & 1) << b;
        cell.dest |= (uint32_t)(code >> (2 * b + 1) & 1) << b;
    }
    return cell;
}

static void same_cell(struct cell got, struct cell wanted, const char *what, uint32_t p,
                      uint64_t number) {
    expect(got.source == wanted.source && got.dest == wanted.dest,
           "morton (%s) p=%u, cell %llu of the curve: (%u, %u), not (%u, %u)", what, p,
           (unsigned long long)number, got.source, got.dest, wanted.source, wanted.dest);
}

static void check_bits(uint32_t p, uint32_t worker) {
    struct cell *cells = cells_for(p);
    uint64_t first = (uint64_t)p * worker;
    orders[ORDER_morton].fill(&(struct matrix){.p = p}, worker, cells);
    for (uint32_t k = 0; k < p; k++)
        same_cell(cells[k], interleaved(first + k), "as chosen", p, first + k);
    by_bits(p, first, cells);
    for (uint32_t k = 0; k < p; k++)
        same_cell(cells[k], interleaved(first + k), "portable", p, first + k);
    if (have_pext()) {
        by_pext(p, first, cells);
        for (uint32_t k = 0; k < p; k++)
            same_cell(cells[k], interleaved(first + k), "pext", p, first + k);
    }
    free(cells);
}

/* Cells of curves that are longer than any that could be walked: all bits of a code. */
static void check_wide_codes(uint64_t *random) {
    struct cell cells[2][16];
    for (int i = 0; i < 10000; i++) {
        uint64_t first = draw(random) >> draw_below(random, 40) & ~(uint64_t)15;
        by_bits(16, first, cells[0]);
        if (have_pext()) by_pext(16, first, cells[1]);
        for (uint32_t k = 0; k < 16; k++) {
            same_cell(cells[0][k], interleaved(first + k), "portable", 0, first + k);
            if (have_pext()) same_cell(cells[1][k], interleaved(first + k), "pext", 0, first + k);
        }
    }
}

/* The balanced curve by its definition: halve the longer side, the smaller half first, depth
 * first. */
static struct cell *depth_first(struct cell *at, uint32_t row, uint32_t rows, uint32_t column,
                                uint32_t columns) {
    if (rows == 1 && columns == 1) {
        *at = (struct cell){.source = column, .dest = row};
        return at + 1;
    }
    if (rows >= columns) {
        at = depth_first(at, row, rows / 2, column, columns);
        return depth_first(at, row + rows / 2, rows - rows / 2, column, columns);
    }
    at = depth_first(at, row, rows, column, columns / 2);
    return depth_first(at, row, rows, column + columns / 2, columns - columns / 2);
}

static void check_balanced(uint32_t p) {
    struct cell *curve = malloc((size_t)p * p * sizeof *curve), *cells = cells_for(p);
    expect(curve && depth_first(curve, 0, p, 0, p) == curve + (size_t)p * p,
           "the reference has p * p cells");
    for (uint32_t worker = 0; worker < p; worker++) {
        uint64_t first = (uint64_t)p * worker;
        orders[ORDER_morton].fill(&(struct matrix){.p = p}, worker, cells);
        for (uint32_t k = 0; k < p; k++)
            same_cell(cells[k], curve[first + k], "balanced", p, first + k);
        for (uint32_t k = 0; k < p; k++)
            same_cell(balanced(p, p, first + k), curve[first + k], "recursion", p, first + k);
    }
    free(curve);
    free(cells);
}

/* What the order is for: a part touches about 2 sqrt(p) different buffers, not p + 1. Four times
 * the square is never reached. */
static void check_compact(uint32_t p) {
    struct cell *cells = cells_for(p);
    char *touched = malloc(2 * (size_t)p);
    expect(touched != NULL, "malloc");
    for (uint32_t worker = 0; worker < p; worker++) {
        uint32_t buffers = 0;
        orders[ORDER_morton].fill(&(struct matrix){.p = p}, worker, cells);
        memset(touched, 0, 2 * (size_t)p);
        for (uint32_t k = 0; k < p; k++) {
            buffers += !touched[cells[k].source]++;
            buffers += !touched[p + cells[k].dest]++;
        }
        expect((uint64_t)buffers * buffers <= 36 * (uint64_t)p,
               "morton p=%u worker=%u touches %u buffers", p, worker, buffers);
    }
    free(touched);
    free(cells);
}

int main(int count, char **words) {
    uint64_t random = seed_from(count, words);
    uint32_t sizes[130 + 3];
    for (uint32_t i = 0; i < 130; i++) sizes[i] = i + 1;
    for (uint32_t i = 130; i < 133; i++) sizes[i] = 131 + draw_below(&random, 1024 - 131 + 1);
    for (uint32_t i = 0; i < 133; i++) {
        for (int o = 0; o < ORDERS; o++)
            if (orders[o].nests) check_nesting(&orders[o], sizes[i], &random);
            else check_order((struct trial){&orders[o], {.p = sizes[i]}, "-"});
        check_steps(sizes[i], &random);
        check_staggered(sizes[i]);
        check_spread(sizes[i]);
        check_balanced(sizes[i]);
        check_compact(sizes[i]);
    }
    check_bunches(&random);
    check_steps(2500, &random); /* more ranks in a domain than fit into one piece of its table */
    for (uint32_t p = 1; p <= 1 << 20; p *= 2)
        for (uint32_t i = 0; i < 4; i++)
            check_bits(p, i == 0 ? 0 : i == 1 ? p - 1 : draw_below(&random, p));
    check_wide_codes(&random);
    printf("%d orders, p = 1..130 and 3 up to 1024; Morton up to 2^20\n", ORDERS);
    return 0;
}
