/* SPDX-License-Identifier: BSD-3-Clause */
/* contents - every kind among a few imagined ranks: what is filled in at one end must be what is
 * expected at the other one after a plain exchange, and whatever is changed in between must be
 * noticed. Without an MPI library at work. */
#include "bench/common/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most_ranks = 9 };
static struct cell cells[most_ranks];
static struct topology topologies[most_ranks];
static int p, checks;

static void check(bool fine, const struct cell *cell, const char *what) {
    checks++;
    if (fine) return;
    fprintf(stderr, "contents: %s of %zu bytes%s, rank %d of %d, root %d: %s\n", cell->kind->name,
            cell->bytes, cell->irregular ? ", irregular" : "", cell->me, p, cell->root, what);
    exit(1);
}

/* A graph: two neighbours in each direction, among few ranks the same one several times. */
static struct topology *neighbours_of(int me) {
    topologies[me] = (struct topology){
        .count = 4, .to = {(me + 1) % p, (me + p - 1) % p, (me + 3) % p, (me + 3 * p - 3) % p}};
    topologies[me].from[0] = topologies[me].to[1], topologies[me].from[1] = topologies[me].to[0];
    topologies[me].from[2] = topologies[me].to[3], topologies[me].from[3] = topologies[me].to[2];
    return &topologies[me];
}

static void open_cells(const struct kind *kind, size_t bytes, int root, bool irregular) {
    for (int r = 0; r < p; r++) {
        struct cell *cell = &cells[r];
        *cell = (struct cell){
            .kind = kind, .bytes = bytes, .p = p, .me = r, .root = root, .irregular = irregular};
        cell->topology = neighbours_of(r);
        if (kind_grid(kind))
            cell->grid =
                (struct grid){.edge = (int)(bytes % 21), .before = root ? 2 : 0, .after = 1};
        check(blocks_open(cell) && (!kind_grid(kind) || grid_open(cell)), cell, "no memory");
        cell->send = malloc(cell->out.bytes + 1), cell->recv = malloc(cell->in.bytes + 1);
        cell_fill(cell, cell->send);
        cell_poison(cell, cell->recv);
    }
}

static void close_cells(void) {
    for (int r = 0; r < p; r++) {
        free(cells[r].send), free(cells[r].recv);
        if (kind_grid(cells[r].kind)) grid_close(&cells[r]);
        blocks_close(&cells[r]);
    }
}

/* Which of its blocks a rank sends to another one. */
static int block_for(const struct cell *from, int to) {
    if (from->out.count == 1) return 0;
    int b = 0;
    while (from->out.peers[b] != to) b++;
    return b;
}

static size_t block_bytes(const struct cell *cell, const struct blocks *blocks, int b) {
    return (size_t)blocks->counts[b] * cell->unit;
}

static void copy_blocks(struct cell *cell) {
    for (int b = 0; b < cell->in.count; b++) {
        const struct cell *from = &cells[cell->in.peers[b]];
        int theirs = block_for(from, cell->me);
        size_t bytes = block_bytes(cell, &cell->in, b);
        check(bytes == block_bytes(from, &from->out, theirs), cell, "a block has two lengths");
        memcpy(cell->recv + cell->in.offsets[b], from->send + from->out.offsets[theirs], bytes);
    }
}

/* By way of what is packed. */
static void redistribute(struct cell *cell) {
    struct cut *in = &cell->grid.in;
    for (int r = 0; r < p; r++) {
        const struct cut *out = &cells[r].grid.out;
        grid_pack(&cells[r]);
        check(out->counts[cell->me] == in->counts[r], cell, "a part has two lengths");
        memcpy((in->packed ? in->packed : cell->recv) + (size_t)in->places[r] * grid_element,
               (out->packed ? out->packed : cells[r].send) +
                   (size_t)out->places[cell->me] * grid_element,
               (size_t)in->counts[r] * grid_element);
    }
    grid_unpack(cell);
}

/* The sum over the ranks from first to before end, of whom one is taken for another. */
static void sum_up(struct cell *cell, int end, int one, int other) {
    if (cell->in.count == 0) return;
    memset(cell->recv, 0, cell->in.bytes);
    for (int r = 0; r < end; r++) {
        const struct cell *from = &cells[r == one ? other : r];
        int theirs = from->out.count == 1 ? 0 : cell->me;
        check(block_bytes(cell, &cell->in, 0) == block_bytes(from, &from->out, theirs), cell,
              "a part has two lengths");
        for (size_t k = 0; k < cell->in.bytes; k += sizeof(double)) {
            double sum, more;
            memcpy(&sum, cell->recv + k, sizeof sum);
            memcpy(&more, from->send + from->out.offsets[theirs] + k, sizeof more);
            sum += more;
            memcpy(cell->recv + k, &sum, sizeof sum);
        }
    }
}

static int ranks_summed(const struct cell *cell) {
    return cell->kind->contents == SUM     ? p
           : cell->kind->contents == UP_TO ? cell->me + 1
                                           : cell->me;
}

static void exchange(struct cell *cell) {
    if (kind_grid(cell->kind)) redistribute(cell);
    else if (cell->kind->contents == BYTES) copy_blocks(cell);
    else sum_up(cell, ranks_summed(cell), -1, -1);
}

static void must_be_wrong(const struct cell *cell, size_t at, const char *what) {
    int block = -1;
    size_t place = 0;
    check(cell_wrong(cell, cell->recv, &block, &place), cell, what);
    if (at < cell->in.bytes)
        check((size_t)cell->in.offsets[block] + place == at, cell, "found elsewhere");
}

/* One bit, here and there. */
static void damage_bits(struct cell *cell) {
    for (size_t k = 0; k < cell->in.bytes; k += 1 + k / 16) {
        char bit = (char)(1 << draw(k, 9) % 8);
        cell->recv[k] = (char)(cell->recv[k] ^ bit);
        must_be_wrong(cell, k, "a changed bit is not noticed");
        cell->recv[k] = (char)(cell->recv[k] ^ bit);
    }
}

/* A rank's block, or contribution, in the place of another one's. */
static void mix_up(struct cell *cell) {
    const struct blocks *in = &cell->in;
    if (cell->kind->contents != BYTES) {
        int end = ranks_summed(cell);
        if (in->count == 0 || end < 2 || in->bytes == 0) return;
        sum_up(cell, end, end - 1, 0);
        must_be_wrong(cell, in->bytes, "a contribution that is missing is not noticed");
        return;
    }
    for (int b = 1; b < in->count; b++) {
        size_t bytes = block_bytes(cell, in, b);
        if (in->counts[b] != in->counts[0] || bytes < sizeof(uint64_t) ||
            in->peers[b] == in->peers[0])
            continue;
        memcpy(cell->recv + in->offsets[0], cell->recv + in->offsets[b], bytes);
        must_be_wrong(cell, cell->in.bytes, "a block of another rank is not noticed");
        return;
    }
}

static void one_case(const struct kind *kind, size_t bytes, int root, bool irregular) {
    size_t received = 0;
    open_cells(kind, bytes, root, irregular);
    for (int r = 0; r < p; r++) {
        int block;
        size_t place;
        struct cell *cell = &cells[r];
        if (cell->in.bytes) must_be_wrong(cell, 0, "poison is not noticed");
        exchange(cell);
        check(!cell_wrong(cell, cell->recv, &block, &place), cell,
              "what was sent is not what is expected");
        damage_bits(cell);
        mix_up(cell);
        received += cell->in.bytes;
    }
    check(kind->sends == NOBODY || irregular || p == 1 || received > 0, &cells[0],
          "nobody receives anything");
    close_cells();
}

/* Rows that are flushed one by one are lost one by one: the end has to know. */
static bool full_disk(void) {
    FILE *csv = fopen("/dev/full", "w");
    if (!csv) return true;
    csv_text(csv, "a row");
    return fflush(csv) != 0 && csv_close(csv) == 1;
}

int main(void) {
    for (int k = 0; k < count_of_kinds; k++)
        for (p = 1; p <= most_ranks; p++)
            for (int i = 0; i <= kinds[k].vector; i++)
                for (int root = 0; root<p; root += p> 1 ? p - 1 : 1) {
                    one_case(&kinds[k], 8, root, i);
                    one_case(&kinds[k], 9000, root, i);
                    if (kinds[k].contents == BYTES) one_case(&kinds[k], 13, root, i);
                }
    if (!full_disk()) return puts("a CSV file is taken for complete that is not"), 1;
    printf("%d checks of %d kinds\n", checks, count_of_kinds);
    return 0;
}
