/* SPDX-License-Identifier: BSD-3-Clause */
/* lanes.h - exchanges among nodes over lanes, shared by leader, aggregate and distribute. Every
 * pair of nodes has a matrix of cells: the blocks from ranks of one node to ranks of the other. All
 * ranks of a node write their blocks into the node's space, cell after cell; each lane carries its
 * part of every such matrix; then each rank copies its blocks out. */
#ifndef MORTAR_LANES_H
#define MORTAR_LANES_H

#include "coll/flat/parcels.h"

/* Which cells of a matrix a lane carries, and so in which order cells lie. EVENLY: the rows of the
 * sources one after the other, cut into equal parts, one per lane. BY_SOURCE: lane i has row i, of
 * local rank i as sender. BY_DEST: lane j has column j, of local rank j as receiver. */
struct scheme {
    enum cut { EVENLY, BY_SOURCE, BY_DEST, CUTS } cut;
    int lanes;
};

/* A cell that is a block of mine. */
struct stop {
    size_t cell;
    int block; /* number in my buffer */
    int node;  /* where it goes to or comes from */
};

/* What my node's ranks send, or receive. Cells are numbered by node, then in the scheme's order. */
struct lane_half {
    size_t cells;
    /* [nodes][lanes + 1] the cell at which each lane's part begins; the last: where all parts
     * end. */
    size_t *cut;
    size_t count;       /* of stops */
    struct stop *stops; /* my own, by ascending cell */
    /* [my lanes][nodes] the first stop of a lane's part that consists of my stops only; -1: it does
     * not. */
    int *whole;
    /* [count] in this call: the block is sent from my buffer, or received in it, without
     * packing. */
    bool *straight;
    int64_t *counts, *displs; /* [nodes] of the call on a lane */
    uint64_t *bytes;          /* [count] of my blocks in the last call; NULL: all cells are equal */
    uint64_t *at;             /* [cells + 1] where each cell begins; NULL: all cells are equal */
};

struct routes {
    struct scheme scheme;
    int mine;  /* number of lanes that I am in */
    int *lane; /* [mine] these lanes, ascending */
    struct lane_half out, in;
};

/* ---- routes.c ---- */
/* The routes of calls like this one, made at the first such call. equal: all cells have the same
 * size. Collective when they are made. NULL on all ranks: one has no memory. */
struct routes *routes_of(struct team *team, const struct call *call, const struct scheme *scheme,
                         bool equal);
/* The cell of two nodes' matrix at which a lane's part begins, if all pairs of ranks have a
 * cell. */
size_t pairs_cut(const struct scheme *scheme, size_t rows, size_t columns, int lane);

/* ---- lanes.c ---- */
enum outcome lanes_run(struct team *team, const struct call *call,
                       const struct arguments *arguments, struct scheme scheme);
/* As the members of struct algorithm_code. */
enum collective lanes_ask(enum collective collective);
bool lanes_can(const struct figures *f, const struct calls *calls,
               const struct arguments *arguments, int lanes);
/* Seconds without the copying, which depends on the algorithm; -1: the inner routine's cost is
 * unknown. */
double lanes_seconds(const struct figures *f, const struct shape *shape,
                     const struct arguments *arguments, int lanes);
/* Seconds for each rank to copy all that it sends, or receives, in `pieces` pieces. */
double lanes_copy(const struct figures *f, const struct shape *shape, double pieces);
/* The same for lanes_spread: its own block, and all blocks, in one piece if ranks are numbered node
 * by node. */
double lanes_spread_copy(const struct figures *f, const struct shape *shape);

/* ---- spread.c: allgather and allgatherv ---- */
enum outcome lanes_spread(struct team *team, const struct call *call,
                          const struct arguments *arguments, struct scheme scheme);

/* ---- lanes.c: used by both ---- */
/* The last barrier of a call. DONE if no rank of the node has failed. cut: a message to this rank
 * was too long; it is unknown whose block in it was, so all ranks of the node are told. */
enum outcome lanes_end(struct team *node, bool failed, bool cut);
/* Copies a block to a place in the space; copies it back. */
void pack_block(struct joint *joint, char *to, const struct block *block);
void unpack_block(struct joint *joint, const struct block *block, const char *from);

#endif
