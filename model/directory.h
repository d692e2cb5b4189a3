/* SPDX-License-Identifier: BSD-3-Clause */
/* directory.h - who holds which line: one entry per line that is in any cache of the node. Not a
 * cache of the machine: the simulator's own book, from which it sees where a line is served from
 * and whom a store has to invalidate. */
#ifndef MORTAR_DIRECTORY_H
#define MORTAR_DIRECTORY_H

#include "cachesim.h"

struct holders {
    uint32_t line;                   /* 0: an empty place */
    int16_t owner;                   /* the core that may write without asking; -1: none */
    bool modified;                   /* the owner has written */
    uint32_t l3s;                    /* bit per domain */
    uint64_t cores[most_cores / 64]; /* bit per core: in its L1 or L2 */
};

struct directory {
    struct holders *places;
    uint64_t mask; /* places - 1, a power of two less one */
};

bool directory_make(struct directory *directory, uint64_t most_lines);
void directory_free(struct directory *directory);
/* NULL: nobody holds it. What it returns is good until the next add or remove. */
struct holders *directory_find(const struct directory *directory, uint32_t line);
/* Finds it, or makes an entry without holders. */
struct holders *directory_add(struct directory *directory, uint32_t line);
void directory_remove(struct directory *directory, struct holders *entry);

#endif
