/* SPDX-License-Identifier: BSD-3-Clause */
/* lanes.h - exchanges among nodes over lanes, what leader, aggregate and distribute have in common.
 * A call is a matrix of cells for every pair of nodes: the blocks that ranks of the one have for
 * ranks of the other. All ranks of a node write what they send into the node's space, cell after
 * cell; each lane carries its part of every such matrix; then all take what is for them. */
#ifndef MORTAR_LANES_H
#define MORTAR_LANES_H

#include "coll/flat/parcels.h"

/* Which cells of a matrix a lane carries, and so in which order they lie: the rows of the sources
 * one after the other, cut into as many equal parts as there are lanes; those of one local rank
 * that sends; or of one that receives, column after column. */
struct scheme {
    enum cut { EVENLY, BY_SOURCE, BY_DEST, CUTS } cut;
    int lanes;
};

/* A cell that is a block of mine. */
struct stop {
    size_t cell;
    int block, node; /* of my buffer; where it goes to or comes from */
};

/* What leaves my node's ranks, or comes to them. Cells are numbered by node, then as the scheme
 * orders them. */
struct half {
    size_t cells;
    /* [nodes][lanes + 1] with which cell the part of each lane begins, and the last one ends. */
    size_t *cut;
    size_t count;       /* of stops */
    struct stop *stops; /* my own, ascending */
    /* [my lanes][nodes] the first of the stops that alone make up the lane's part, or -1. */
    int *whole;
    /* [count] in this call: it goes from my buffer, or into it, with nothing between. */
    bool *straight;
    int64_t *counts, *displs; /* [nodes] of the call on a lane */
    /* [count] of my blocks in the last call, and where each cell began: */
    uint64_t *bytes;
    uint64_t *at; /* [cells + 1]; NULL, as `bytes`: all cells are equal */
};

struct routes {
    struct scheme scheme;
    int mine;  /* lanes that I am in, */
    int *lane; /* [mine] ascending */
    struct half out, in;
};

/* ---- routes.c ---- */
/* The routes of calls like this one, made when first asked for; equal: all cells have the same
 * size. Collective when they are made; NULL on all ranks when one has no memory. */
struct routes *routes_of(struct team *team, const struct call *call, const struct scheme *scheme,
                         bool equal);
/* With which cell of the matrix of two nodes a lane's part begins, where all pairs of ranks have a
 * cell. */
size_t pairs_cut(const struct scheme *scheme, size_t rows, size_t columns, int lane);

/* ---- lanes.c ---- */
enum outcome lanes_run(struct team *team, const struct call *call,
                       const struct arguments *arguments, struct scheme scheme);
/* As the members of struct algorithm_code. */
enum collective lanes_ask(enum collective collective);
bool lanes_can(const struct figures *f, const struct calls *calls,
               const struct arguments *arguments, int lanes);
/* Copying apart, which is the algorithm's own: -1 where nobody knows what the inner routine
 * takes. */
double lanes_seconds(const struct figures *f, const struct shape *shape,
                     const struct arguments *arguments, int lanes);
/* Seconds for each rank to copy what it sends, or receives, in so many pieces. */
double lanes_copy(const struct figures *f, const struct shape *shape, double pieces);
/* The same of lanes_spread: its own block, and all that has come, in one piece where ranks are
 * numbered node by node. */
double lanes_spread_copy(const struct figures *f, const struct shape *shape);

/* ---- spread.c: allgather and allgatherv ---- */
enum outcome lanes_spread(struct team *team, const struct call *call,
                          const struct arguments *arguments, struct scheme scheme);

/* ---- what both share ---- */
/* The last barrier of a call: have all ranks of the node got what they expect? cut: a message to
 * this rank was too long; nobody knows whose block of it was, so all are told. */
enum outcome lanes_end(struct team *node, bool failed, bool cut);
/* A block to a place in the space, and back. */
void pack_block(struct joint *joint, char *to, const struct block *block);
void unpack_block(struct joint *joint, const struct block *block, const char *from);

#endif
