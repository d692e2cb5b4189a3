/* SPDX-License-Identifier: BSD-3-Clause */
/* cell - the buffers of one block size. Every eight bytes of a block tell from whom, for whom and where in the block they are. */
#define _GNU_SOURCE
#include "bench.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

size_t cell_send_bytes(const struct cell *cell) { return cell->bytes * (size_t)(cell->kind->same_to_all ? 1 : cell->p); }
size_t cell_recv_bytes(const struct cell *cell) { return cell->bytes * (size_t)cell->p; }

static char *get(const struct cell *cell, size_t bytes) {
    void *memory;
    if (!cell->stack) return posix_memalign(&memory, 64, bytes) == 0 ? memory : NULL;
    memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static void give_back(const struct cell *cell, char *memory, size_t bytes) {
    if (!cell->stack) free(memory);
    else if (memory) munmap(memory, bytes);
}

bool cell_open(struct cell *cell) {
    cell->send = get(cell, cell_send_bytes(cell));
    cell->recv = get(cell, cell_recv_bytes(cell));
    if (meet_max(!cell->send || !cell->recv) == 0) return true;
    cell_close(cell);
    return false;
}

void cell_close(struct cell *cell) {
    give_back(cell, cell->send, cell_send_bytes(cell));
    give_back(cell, cell->recv, cell_recv_bytes(cell));
}

/* What starts word k of a block: w(from, to) + k * step. No two blocks of a cell share a word at the same place. */
static const uint64_t step = 0x9e3779b97f4a7c15;
static uint64_t first_word(const struct cell *cell, int from, int to) {
    int whom = cell->kind->same_to_all ? 0 : to;
    return ((uint64_t)from * (uint64_t)cell->p + (uint64_t)whom + 1) * 0xd1342543de82ef95;
}

static void fill_block(char *block, size_t bytes, uint64_t word) {
    size_t k = 0;
    for (; k + sizeof word <= bytes; k += sizeof word, word += step) memcpy(block + k, &word, sizeof word);
    memcpy(block + k, &word, bytes - k);
}

static long long wrong_in_block(const char *block, size_t bytes, uint64_t word) {
    uint64_t found = 0;
    size_t k = 0;
    for (; k + sizeof word <= bytes; k += sizeof word, word += step) {
        memcpy(&found, block + k, sizeof found);
        if (found != word) break;
    }
    const char *wanted = (const char *)&word;
    for (size_t i = 0; k + i < bytes && i < sizeof word; i++)
        if (block[k + i] != wanted[i]) return (long long)(k + i);
    return -1;
}

void cell_fill(const struct cell *cell, char *send) {
    for (int j = 0; j < (cell->kind->same_to_all ? 1 : cell->p); j++)
        fill_block(send + cell->bytes * (size_t)j, cell->bytes, first_word(cell, cell->me, j));
}

/* The complement of what must come differs from it in every bit of every byte. */
void cell_poison(const struct cell *cell, char *recv) {
    for (int i = 0; i < cell->p; i++) {
        char *block = recv + cell->bytes * (size_t)i;
        fill_block(block, cell->bytes, first_word(cell, i, cell->me));
        for (size_t k = 0; k < cell->bytes; k++) block[k] = (char)~block[k];
    }
}

long long cell_wrong(const struct cell *cell, const char *recv) {
    for (int i = 0; i < cell->p; i++) {
        long long place = wrong_in_block(recv + cell->bytes * (size_t)i, cell->bytes, first_word(cell, i, cell->me));
        if (place >= 0) return place + (long long)cell->bytes * i;
    }
    return -1;
}
