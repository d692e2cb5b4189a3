/* SPDX-License-Identifier: BSD-3-Clause */
/* directory - a hash table with linear probing. The caches bound how many entries there are. */
#include "directory.h"

#include <stdlib.h>

/* The lines of a page lie side by side, as they are used. */
static uint64_t home(const struct directory *directory, uint32_t line) {
    return ((line / 64 * 0x9e3779b97f4a7c15u >> 20) * 64 + line % 64) & directory->mask;
}

bool directory_make(struct directory *directory, uint64_t most_lines) {
    uint64_t places = 1024;
    while (places / 2 < most_lines) places *= 2;
    directory->mask = places - 1;
    directory->places = calloc(places, sizeof *directory->places);
    return directory->places != NULL;
}

void directory_free(struct directory *directory) { free(directory->places); }

struct holders *directory_find(const struct directory *directory, uint32_t line) {
    for (uint64_t i = home(directory, line); directory->places[i].line != 0;
         i = (i + 1) & directory->mask)
        if (directory->places[i].line == line) return &directory->places[i];
    return NULL;
}

struct holders *directory_add(struct directory *directory, uint32_t line) {
    uint64_t i = home(directory, line);
    for (; directory->places[i].line != 0; i = (i + 1) & directory->mask)
        if (directory->places[i].line == line) return &directory->places[i];
    directory->places[i] = (struct holders){.line = line, .owner = -1};
    return &directory->places[i];
}

/* No gap may lie between an entry's home and its place: what comes behind moves up. */
void directory_remove(struct directory *directory, struct holders *entry) {
    uint64_t mask = directory->mask, gap = (uint64_t)(entry - directory->places);
    for (uint64_t i = (gap + 1) & mask; directory->places[i].line != 0; i = (i + 1) & mask) {
        uint64_t from_home = (i - home(directory, directory->places[i].line)) & mask;
        if (from_home < ((i - gap) & mask)) continue;
        directory->places[gap] = directory->places[i];
        gap = i;
    }
    directory->places[gap].line = 0;
}
