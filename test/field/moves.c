/* SPDX-License-Identifier: BSD-3-Clause */
/* moves.c - the collectives that move data: how much goes from whom to whom (the same answer on all
 * ranks), and how each rank lays it out by itself: types of its own with the same signature,
 * displacements in any order, gaps. */
#include "field.h"

/* Blocks one after the other; displacements; also a type each. */
enum order { REGULAR, ANY_ORDER, ANY_TYPES };
/* -1 where the block depends on no source or no destination. */
struct way {
    int source, dest, turn;
};

static bool exchange(const struct op *op) {
    return op->kind == Alltoall || op->kind == Alltoallv || op->kind == Alltoallw;
}

static bool differ(enum kind kind) { /* may blocks have different lengths? */
    return kind == Gatherv || kind == Scatterv || kind == Allgatherv || kind == Alltoallv ||
           kind == Alltoallw || kind == Neighbor_allgatherv || kind == Neighbor_alltoallv ||
           kind == Neighbor_alltoallw;
}

static uint64_t identity(const struct op *op, struct way way) {
    uint64_t comm = (uint64_t)op->comm->number << 32 | (uint32_t)op->comm->colour;
    return mix(comm, (uint64_t)(way.source + 2) << 40 | (uint64_t)(way.dest + 2) << 16 |
                         (uint64_t)way.turn);
}

static long units_of(const struct op *op, struct way way, long first_call) {
    if (!differ(op->kind)) return op->units;
    if (op->in_place && exchange(op) && way.source > way.dest)
        way = (struct way){way.dest, way.source, way.turn};
    struct dice dice = {mix(mix(settings.seed, (uint64_t)first_call), identity(op, way))};
    int steps = (int)(op->units / op->step);
    switch (op->spread) {
    case 0: return op->units;
    case 1: return chance(&dice, 70) ? 0 : op->units;
    case 2: return op->step * (long)below(&dice, 2 * steps + 1);
    case 3:
        return op->step *
               (long)(chance(&dice, 20) ? steps : below(&dice, steps < 4 ? steps + 1 : 4));
    default:
        return op->step * (long)(steps - (chance(&dice, 50) ? 0 : below(&dice, 1 + steps / 8)));
    }
}

static int divisor(struct dice *dice, long number) {
    int found = 1;
    for (int i = 1, seen = 0; i <= number && i <= 2048; i++)
        if (number % i == 0 && !below(dice, ++seen)) found = i;
    return found;
}

static struct layout *draw(const struct op *op, struct dice *own, long units, bool free, bool typed,
                           long blocks) {
    if (!typed) return layout_draw(own, &op->unit, 1, 0, true);
    int each = free && units && chance(own, 50) ? divisor(own, units) : divisor(own, op->step);
    return layout_draw(own, &op->unit, each, blocks * (units / each), false);
}

/* One side of the call: block b goes ways[b]. */
static void lay(const struct op *op, struct side *side, struct dice *own, enum order order,
                const struct way *ways, bool receives, bool typed) {
    long gap = 0, end = 0, pieces;
    int sequence[side->blocks + 1];
    for (int i = 0; i < side->blocks; i++) sequence[i] = i;
    if (order != REGULAR && chance(own, 50)) shuffle(own, sequence, side->blocks);
    if (order != REGULAR && chance(own, 50)) gap = 1 + below(own, 40);
    struct layout *layout = NULL;
    for (int i = 0; i < side->blocks; i++) {
        struct block *block = &side->block[i];
        long units = units_of(op, ways[i], op->call);
        if (!layout || order == ANY_TYPES)
            layout = draw(op, own, units, order == ANY_TYPES || !differ(op->kind), typed,
                          order == ANY_ORDER ? 0
                          : order == REGULAR ? side->blocks
                                             : 1);
        pieces = layout->bytes / op->unit.bytes;
        *block = (struct block){.layout = layout, .count = units / pieces};
        if (receives)
            block->after =
                ways[i].source == -1 && op->kind >= Neighbor_allgather ? 0 : identity(op, ways[i]);
        else block->before = identity(op, ways[i]);
    }
    for (int i = 0; i < side->blocks; i++) {
        int b = sequence[i];
        struct block *block = &side->block[b];
        const struct layout *type = block->layout;
        /* Anything for empty blocks. */
        long unit = order == ANY_TYPES ? 16 : type->extent, displ = below(own, 1000);
        if (order == REGULAR) {
            displ = b * block->count;
            block->at = displ * unit;
        } else if (block->count) {
            displ = (end - type->low + unit - 1) / unit +
                    (gap ? below(own, (int)gap) / (unit > 64 ? 8 : 1) : 0);
            displ = displ < 0 ? 0 : displ;
            block->at = displ * unit;
            end = block->at + (block->count - 1) * type->extent + type->high;
        }
        side->counts[b] = (int)block->count;
        side->displs[b] = (int)(order == ANY_TYPES ? displ * unit : displ);
        side->places[b] = side->displs[b];
        side->types[b] = type->type;
    }
}

/* What is already there for calls in place. */
static void lay_in_place(const struct op *op, struct side *side) {
    int me = op->comm->me;
    if (exchange(op)) {
        for (int i = 0; i < side->blocks; i++)
            side->block[i].before = identity(op, (struct way){me, i, 0});
    } else {
        side->block[me].before = side->block[me].after;
        side->block[me].after = 0;
    }
}

static void absolute(const struct op *op, struct side *side, enum order order) {
    struct block *block = side->block;
    if (op->kind == Neighbor_alltoallw) {
        for (int i = 0; i < side->blocks; i++)
            side->places[i] = (MPI_Aint)(side->base + block[i].at);
        return;
    }
    if (order != REGULAR || side->blocks != 1 || !block->count) return;
    MPI_Aint place;
    int count = (int)block->count;
    MPI_Get_address(side->base + block->at, &place);
    MPI_Type_create_hindexed(1, &count, &place, block->layout->type, &side->bottom);
    MPI_Type_commit(&side->bottom);
}

struct sides { /* how many blocks this rank has on each side, and where they go */
    int sends, receives;
    enum order from, to;
    bool rooted, all_in_place;
};

static struct sides sides_of(const struct op *op) {
    const struct comm *comm = op->comm;
    bool root = comm->me == op->root;
    int p = comm->size;
    switch (op->kind) {
    case Bcast: return (struct sides){root ? 1 : -1, root ? -1 : 1, REGULAR, REGULAR, true, false};
    case Gather: return (struct sides){1, root ? p : -1, REGULAR, REGULAR, true, false};
    case Gatherv: return (struct sides){1, root ? p : -1, REGULAR, ANY_ORDER, true, false};
    case Scatter: return (struct sides){root ? p : -1, 1, REGULAR, REGULAR, true, false};
    case Scatterv: return (struct sides){root ? p : -1, 1, ANY_ORDER, REGULAR, true, false};
    case Allgather: return (struct sides){1, p, REGULAR, REGULAR, false, true};
    case Allgatherv: return (struct sides){1, p, REGULAR, ANY_ORDER, false, true};
    case Alltoall: return (struct sides){p, p, REGULAR, REGULAR, false, true};
    case Alltoallv: return (struct sides){p, p, ANY_ORDER, ANY_ORDER, false, true};
    case Alltoallw: return (struct sides){p, p, ANY_TYPES, ANY_TYPES, false, true};
    case Neighbor_allgather: return (struct sides){1, comm->ins, REGULAR, REGULAR, false, false};
    case Neighbor_allgatherv: return (struct sides){1, comm->ins, REGULAR, ANY_ORDER, false, false};
    case Neighbor_alltoall:
        return (struct sides){comm->outs, comm->ins, REGULAR, REGULAR, false, false};
    case Neighbor_alltoallv:
        return (struct sides){comm->outs, comm->ins, ANY_ORDER, ANY_ORDER, false, false};
    default: return (struct sides){comm->outs, comm->ins, ANY_TYPES, ANY_TYPES, false, false};
    }
}

static struct way way_of(const struct op *op, bool receives, int block) {
    const struct comm *comm = op->comm;
    switch (op->kind) {
    case Bcast: return (struct way){-1, -1, 0};
    case Scatter:
    case Scatterv: return (struct way){-1, receives ? comm->me : block, 0};
    case Alltoall:
    case Alltoallv:
    case Alltoallw:
        return receives ? (struct way){block, comm->me, 0} : (struct way){comm->me, block, 0};
    case Neighbor_allgather:
    case Neighbor_allgatherv: return (struct way){receives ? comm->in[block] : comm->me, -1, 0};
    case Neighbor_alltoall:
    case Neighbor_alltoallv:
    case Neighbor_alltoallw:
        return receives ? (struct way){comm->in[block], comm->me, comm->in_turn[block]}
                        : (struct way){comm->me, comm->out[block], comm->out_turn[block]};
    default: return (struct way){receives ? block : comm->me, -1, 0};
    }
}

static void plan_side(struct op *op, struct side *side, struct dice *own, int blocks, bool receives,
                      enum order order, bool typed, enum place place) {
    struct way ways[(blocks < 0 ? 0 : blocks) + 1];
    if (blocks < 0) return;
    for (int i = 0; i < blocks; i++) ways[i] = way_of(op, receives, i);
    side_open(side, blocks);
    lay(op, side, own, order, ways, receives, typed);
    if (receives && op->in_place) lay_in_place(op, side);
    side_place(side, place, own);
    if (op->bottom) absolute(op, side, order);
}

void moves_plan(struct op *op, struct dice shared, struct dice own, enum place place) {
    static const int steps[] = {1, 2, 4, 6, 12, 60};
    bool typed = chance(&shared, 50) && !quirk(op->kind, TYPES) &&
                 !(op->bytes > 16384 && quirk(op->kind, LONG_TYPES));
    op->unit = unit_draw(&shared, !typed || (op->bytes > 2048 && quirk(op->kind, MIXED)));
    op->root = below(&shared, op->comm->size);
    op->step = typed ? steps[below(&shared, 6)] : 1;
    op->units = (op->bytes / op->unit.bytes + op->step - 1) / op->step * op->step;
    op->spread = below(&shared, 5);
    struct sides sides = sides_of(op);
    op->in_place = chance(&shared, 15) && op->kind != Bcast && !quirk(op->kind, IN_PLACE) &&
                   (sides.rooted ? op->comm->me == op->root : sides.all_in_place);
    op->junk = chance(&own, 50) && settings.nothing;
    op->bottom = chance(&own, 6) && !quirk(op->kind, ABSOLUTE);
    bool root_receives = op->kind == Gather || op->kind == Gatherv;
    if (op->in_place && (!sides.rooted || root_receives)) sides.sends = -1;
    if (op->in_place && sides.rooted && !root_receives) sides.receives = -1;
    op->bottom &= !(op->in_place && exchange(op));
    plan_side(op, &op->send, &own, sides.sends, false, sides.from, typed && chance(&own, 60),
              place);
    plan_side(op, &op->recv, &own, sides.receives, true, sides.to, typed && chance(&own, 60),
              place);
}
