/* SPDX-License-Identifier: BSD-3-Clause */
/* contents - what is in the blocks. Every eight bytes of a block tell from whom, for whom and where
 * in the block they are; what is summed up are whole numbers, so that the sum is exact in any
 * order. All of it is known to every rank without asking. */
#include "bench/common/bench.h"

#include <string.h>

enum { piece_bytes = 4096 };

/* Word k of a block is w(from, to) + k * step. No two blocks of a cell share a word at the same
 * place. */
static void words(const struct cell *cell, int from, int to, size_t begin, size_t bytes,
                  char *piece) {
    static const uint64_t step = 0x9e3779b97f4a7c15;
    int whom = kind_same_to_all(cell->kind) ? 0 : to;
    uint64_t word = ((uint64_t)from * (uint64_t)cell->p + (uint64_t)whom + 1) * 0xd1342543de82ef95 +
                    begin / sizeof word * step;
    size_t k = 0;
    for (; k + sizeof word <= bytes; k += sizeof word, word += step)
        memcpy(piece + k, &word, sizeof word);
    memcpy(piece + k, &word, bytes - k);
}

/* Element e of rank r is f(r) * g(e), below 2^30: the sum over 2^20 ranks still fits a double. */
static double factor(int rank) { return (double)(1 + draw((uint64_t)rank, 1) % (1 << 20)); }

static void numbers(double ranks, size_t element, size_t bytes, char *piece) {
    for (size_t k = 0; k < bytes; k += sizeof(double), element++) {
        double value = ranks * (double)(1 + draw(element, 2) % 1021);
        memcpy(piece + k, &value, sizeof value);
    }
}

/* The factors of all whose numbers are summed up. */
static double factors(const struct cell *cell) {
    int end = cell->kind->contents == SUM     ? cell->p
              : cell->kind->contents == UP_TO ? cell->me + 1
                                              : cell->me;
    double sum = 0;
    for (int r = 0; r < end; r++) sum += factor(r);
    return sum;
}

/* What block b that I send, or that must come in, holds from that byte on. */
static void produce(const struct cell *cell, bool incoming, int b, size_t begin, size_t bytes,
                    char *piece) {
    const struct blocks *blocks = incoming ? &cell->in : &cell->out;
    int peer = blocks->peers[b];
    if (kind_grid(cell->kind)) {
        grid_words(cell, incoming, begin, bytes, piece);
        return;
    }
    if (cell->kind->contents == BYTES) {
        words(cell, incoming ? peer : cell->me, incoming ? cell->me : peer, begin, bytes, piece);
        return;
    }
    /* Then my result is the part of the vector that begins where my block does. */
    bool scattered = cell->kind->sends == ALL;
    size_t first =
        scattered ? (size_t)cell->out.offsets[incoming ? cell->me : b] / sizeof(double) : 0;
    numbers(incoming ? factors(cell) : factor(cell->me), first + begin / sizeof(double), bytes,
            piece);
}

static size_t block_bytes(const struct cell *cell, const struct blocks *blocks, int b) {
    return (size_t)blocks->counts[b] * cell->unit;
}

void cell_fill(const struct cell *cell, char *send) {
    for (int b = 0; b < cell->out.count; b++)
        produce(cell, false, b, 0, block_bytes(cell, &cell->out, b), send + cell->out.offsets[b]);
}

/* The complement of what must come differs from it in every bit of every byte. */
void cell_poison(const struct cell *cell, char *recv) {
    for (int b = 0; b < cell->in.count; b++)
        produce(cell, true, b, 0, block_bytes(cell, &cell->in, b), recv + cell->in.offsets[b]);
    for (size_t k = 0; k < cell->in.bytes; k++) recv[k] = (char)~recv[k];
}

/* The first byte of two pieces that differs; `bytes` when none does. */
static size_t differs(const char *a, const char *b, size_t bytes) {
    size_t k = 0;
    if (memcmp(a, b, bytes) == 0) return bytes;
    while (a[k] == b[k]) k++;
    return k;
}

bool cell_wrong(const struct cell *cell, const char *recv, int *block, size_t *place) {
    char piece[piece_bytes];
    for (int b = 0; b < cell->in.count; b++) {
        size_t all = block_bytes(cell, &cell->in, b);
        for (size_t begin = 0; begin < all; begin += piece_bytes) {
            size_t bytes = all - begin < piece_bytes ? all - begin : piece_bytes;
            produce(cell, true, b, begin, bytes, piece);
            size_t k = differs(piece, recv + (size_t)cell->in.offsets[b] + begin, bytes);
            if (k == bytes) continue;
            *block = b, *place = begin + k;
            return true;
        }
    }
    return false;
}
