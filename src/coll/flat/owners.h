/* SPDX-License-Identifier: BSD-3-Clause */
/* owners.h - whose part of the matrix of senders and receivers a rank transposes: private to
 * coll/. */
#ifndef MORTAR_OWNERS_H
#define MORTAR_OWNERS_H

#include "coll/coll.h"

/* The ranks as senders are cut into `rows` groups, as receivers into `columns`, of ranks that
 * follow each other and as equal as can be. Tile (row, column) is what one group sends to another:
 * rows * columns <= p tiles, each with an owner of its own. */
struct tiling {
    int p, rows, columns;
    int *owner;   /* [rows * columns] by row */
    int *tile_of; /* [p] the tile that a rank owns; -1: none */
};
static inline int group_first(int p, int groups, int group) {
    return (int)((int64_t)group * p / groups);
}
static inline int group_of(int p, int groups, int rank) {
    return (int)((((int64_t)rank + 1) * groups - 1) / p);
}

/* The numbers of rows and columns with the fewest messages per rank, about 2 sqrt p. Local. */
void tiling_sides(int p, int *rows, int *columns);
/* The team keeps it. NULL: no memory. Local. */
const struct tiling *tiling_for(struct team *team, enum owners owners);

#endif
