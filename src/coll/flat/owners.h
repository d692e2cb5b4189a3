/* SPDX-License-Identifier: BSD-3-Clause */
/* owners.h - which tile of the matrix of senders and receivers a rank transposes: private to
 * coll/. */
#ifndef MORTAR_OWNERS_H
#define MORTAR_OWNERS_H

#include "coll/coll.h"

/* As senders the ranks form `rows` groups, as receivers `columns` groups, of consecutive ranks and
 * about equal. Tile (row, column) holds the blocks from one group to another. There are rows *
 * columns <= p tiles, each with its own owner. */
struct tiling {
    int p, rows, columns;
    int *owner;   /* [rows * columns] owners of the tiles, row by row */
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
/* The team's tiling, made at the first call and kept by the team. NULL: no memory. Local. */
const struct tiling *tiling_for(struct team *team, enum owners owners);

#endif
