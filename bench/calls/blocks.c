/* SPDX-License-Identifier: BSD-3-Clause */
/* blocks - what a rank sends and receives in a cell: to whom and from whom, how much, and where in
 * its buffers. */
#include "bench/common/bench.h"

#include <limits.h>
#include <stdlib.h>

/* Scatters bits: irregular counts, contents and delays are drawn with it, the same in every run. */
uint64_t draw(uint64_t a, uint64_t b) {
    uint64_t x = a * 0x9e3779b97f4a7c15 + b * 0xd1342543de82ef95 + 0x632be59bd9b4e019;
    x = (x ^ x >> 31) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 29) * 0x94d049bb133111eb;
    return x ^ x >> 32;
}

/* Bytes of the block between two ranks. Irregular: 0 to twice the usual, that on average, in whole
 * elements. What is the same to all has one length whoever gets it, and the parts of a sum have one
 * whoever contributes. */
static size_t length(const struct cell *cell, int from, int to) {
    if (!cell->irregular || !cell->kind->vector) return cell->bytes;
    if (kind_same_to_all(cell->kind)) to = 0;
    if (cell->kind->contents != BYTES) from = 0;
    size_t grain = cell->bytes % 8 == 0 ? 8 : cell->unit;
    return draw((uint64_t)from, (uint64_t)to + 1) % (2 * cell->bytes / grain + 1) * grain;
}

static int count_of_blocks(const struct cell *cell, enum blocks_of whose) {
    switch (whose) {
    case NOBODY: return 0;
    case ONE: return 1;
    case ALL: return cell->p;
    case NEIGHBOURS: return cell->topology->count;
    case ONE_ROOT: return cell->me == cell->root;
    case ALL_ROOT: return cell->me == cell->root ? cell->p : 0;
    case ONE_OTHERS: return cell->me != cell->root;
    case ONE_LATER: return cell->me > 0;
    case SLAB: return 1;
    }
    return 0;
}

static int peer_of(const struct cell *cell, enum blocks_of whose, const int *neighbours, int b) {
    if (whose == ALL || whose == ALL_ROOT) return b;
    if (whose == SLAB) return cell->me;
    return whose == NEIGHBOURS ? neighbours[b] : cell->root;
}

static bool lay_out(const struct cell *cell, struct blocks *blocks, enum blocks_of whose,
                    const int *neighbours, bool incoming) {
    size_t count = (size_t)count_of_blocks(cell, whose), end = 0;
    *blocks = (struct blocks){.count = (int)count};
    blocks->peers = calloc(count + 1, sizeof(int)), blocks->counts = calloc(count + 1, sizeof(int));
    blocks->places = calloc(count + 1, sizeof(int)),
    blocks->offsets = calloc(count + 1, sizeof(MPI_Aint));
    blocks->types = calloc(count + 1, sizeof(MPI_Datatype));
    if (!blocks->peers || !blocks->counts || !blocks->places || !blocks->offsets || !blocks->types)
        return false;
    for (size_t b = 0; b < count; b++) {
        int peer = peer_of(cell, whose, neighbours, (int)b);
        int from = incoming ? peer : cell->me, to = incoming ? cell->me : peer;
        blocks->peers[b] = peer;
        blocks->types[b] = cell->type;
        blocks->offsets[b] = (MPI_Aint)end;
        blocks->places[b] = (int)(end / cell->unit);
        size_t bytes = whose == SLAB ? grid_bytes(cell, incoming) : length(cell, from, to);
        blocks->counts[b] = (int)(bytes / cell->unit);
        end += bytes;
        /* A displacement is an int. */
        if (end / cell->unit > INT_MAX && cell->kind->vector) return false;
    }
    blocks->bytes = end;
    return true;
}

bool blocks_open(struct cell *cell) {
    const struct topology *topology = cell->topology;
    bool sum = cell->kind->contents != BYTES;
    cell->type = sum ? MPI_DOUBLE : MPI_BYTE;
    cell->unit = sum ? sizeof(double) : 1;
    if (kind_grid(cell->kind)) cell->type = MPI_C_DOUBLE_COMPLEX, cell->unit = grid_element;
    bool fine = lay_out(cell, &cell->out, cell->kind->sends, topology ? topology->to : NULL, false);
    return lay_out(cell, &cell->in, cell->kind->receives, topology ? topology->from : NULL, true) &&
           fine;
}

static void free_blocks(struct blocks *blocks) {
    free(blocks->peers), free(blocks->counts), free(blocks->places), free(blocks->offsets),
        free(blocks->types);
    *blocks = (struct blocks){0};
}

void blocks_close(struct cell *cell) {
    free_blocks(&cell->out);
    free_blocks(&cell->in);
}
