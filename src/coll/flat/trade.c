/* SPDX-License-Identifier: BSD-3-Clause */
/* trade - the phases of mnco's alltoall; see trade.h, and mnco.c for the algorithm. */
#include "coll/flat/trade.h"

enum { TO_OWNER = 3, TO_RECEIVER };

static char nowhere[1]; /* for a part that is lost */

static struct group group_at(int p, int groups, int group) {
    int first = group_first(p, groups, group);
    return (struct group){first, group_first(p, groups, group + 1) - first};
}

/* My blocks for a group, if they are one contiguous run; else NULL. */
static char *in_one_piece(const struct blocks *blocks, struct group group, size_t *bytes) {
    struct run first = run_of(blocks, group.first);
    bool whole = true;
    *bytes = 0;
    for (int b = 0; b < group.count; b++) {
        struct run run = run_of(blocks, group.first + b);
        whole = whole && (run.bytes == 0 || run.at == first.at + *bytes);
        *bytes += run.bytes;
    }
    return whole ? first.at : NULL;
}

static size_t *trade_remember(struct trade *t, int blocks) {
    size_t *memory = t->memory;
    if (memory) t->memory += 1 + blocks;
    return memory;
}

/* ---- 1: to the owners ---- */

static void expect_senders(struct trade *t, int mark) {
    for (int s = 0; s < t->senders.count; s++) {
        struct parcel *in = &t->in[s];
        int source = t->senders.first + s;
        *in = (struct parcel){
            .peer = source, .count = t->receivers.count, .known = t->known, .number = -1};
        in->memory = trade_remember(t, in->count);
        parcel_furnish(in, &t->larder, true);
        for (int b = 0; b < in->count && (t->known || source == t->me); b++) {
            in->sizes[b] = block_between(t->team, t->call, source, t->receivers.first + b);
            in->bytes += in->sizes[b];
        }
        if (source != t->me) parcel_expect(t->team, in, NULL, TO_OWNER, mark);
    }
}

/* Sends my blocks for an owner's tile, without a copy if they are contiguous. */
static void send_to(struct trade *t, int owner, struct group group) {
    struct parcel out = {.peer = owner,
                         .count = group.count,
                         .known = t->known,
                         .memory = trade_remember(t, group.count)};
    parcel_furnish(&out, &t->larder, false);
    out.at = in_one_piece(&t->sends, group, &out.bytes);
    bool mine = owner == t->me, kept = t->call->in_place && mine;
    if (!out.at || kept || (!t->known && !mine)) {
        char *to = far_take(t->team, parcel_head(&out) + out.bytes);
        struct joint joint = {0};
        if (to) out.at = to += parcel_head(&out);
        for (int b = 0; b < group.count && !messages_lost(t->team); b++) {
            struct run run = run_of(&t->sends, group.first + b);
            joint_add(&joint, to, run.at, run.bytes);
            to += run.bytes;
        }
        joint_end(&joint);
    }
    if (mine) {
        t->in[t->me - t->senders.first].at = out.at;
        return;
    }
    for (int b = 0; b < group.count; b++) out.sizes[b] = run_of(&t->sends, group.first + b).bytes;
    parcel_send(t->team, &out, TO_OWNER);
}

void trade_gather(struct trade *t) {
    const struct tiling *tiling = t->tiling;
    int mark = messages_mark(t->team), row = group_of(t->p, tiling->rows, t->me);
    if (t->owner) expect_senders(t, mark);
    for (int k = 0; k < tiling->columns; k++) { /* ranks start with different owners */
        int column = (k + t->me) % tiling->columns;
        send_to(t, tiling->owner[row * tiling->columns + column],
                group_at(t->p, tiling->columns, column));
    }
    if (t->known) messages_finish(t->team, mark);
    else parcels_finish(t->team, t->in, t->senders.count, TO_OWNER, mark);
}

/* ---- 2: the transposition ---- */

/* Sets the places of the tile's cells: the cells of each receiver back to back, my own in my
 * receive buffer. A cell that is longer than its place there is not delivered, which is an error
 * of the call. */
static void trade_lay_out(struct trade *t) {
    int senders = t->senders.count;
    size_t all = 0;
    for (int s = 0; s < senders; s++) all += t->in[s].bytes;
    char *at = messages_lost(t->team) ? NULL : far_take(t->team, all);
    if (!at) at = nowhere;
    for (int b = 0; b < t->receivers.count; b++)
        for (int s = 0; s < senders; s++) {
            size_t bytes = t->in[s].sizes[b];
            struct run *to = &t->to[b * senders + s];
            *to = (struct run){at, bytes};
            if (t->receivers.first + b == t->me) {
                struct run own = run_of(&t->recvs, t->senders.first + s);
                if (bytes > own.bytes) blocks_cut = true;
                else to->at = own.at;
            }
            if (to->at == at) at += bytes;
        }
}

void trade_transpose(struct trade *t) {
    static const struct copier plain = {.kernel = KERNEL_plain};
    if (!t->owner) return;
    trade_lay_out(t);
    if (messages_lost(t->team)) return;
    int senders = t->senders.count, cells = senders * t->receivers.count;
    /* In Morton order a sender's cells come with rising receivers, so its parcel is read front to
     * back. */
    for (int k = 0; k < cells; k++) {
        struct parcel *in = &t->in[t->cells[k].source];
        const struct run *to = &t->to[(int)t->cells[k].dest * senders + (int)t->cells[k].source];
        copy_block(&plain, to->at, in->at, to->bytes);
        in->at += to->bytes;
    }
}

/* ---- 3: to the receivers ---- */

void trade_expect(struct trade *t) {
    const struct tiling *tiling = t->tiling;
    int column = group_of(t->p, tiling->columns, t->me);
    for (int row = 0; row < tiling->rows; row++) {
        int owner = tiling->owner[row * tiling->columns + column];
        struct run *last = &t->last[row];
        *last = (struct run){0};
        if (owner == t->me) continue;
        size_t bytes;
        char *at = in_one_piece(&t->recvs, group_at(t->p, tiling->rows, row), &bytes);
        if (!at) at = last->at = far_take(t->team, bytes);
        message_recv(t->team, owner, at, bytes, TO_RECEIVER);
    }
}

/* The owners of a column of tiles send to the same receivers, so each begins with a different one.
 * So do the owners of a row: they are neighbours, and on networks that route by receiver their
 * messages would otherwise leave their switch by the same link. */
void trade_send(struct trade *t) {
    int senders = t->senders.count, tile = t->tiling->tile_of[t->me];
    int begin = tile / t->tiling->columns + tile % t->tiling->columns;
    for (int k = 0; k < t->receivers.count; k++) {
        int b = (k + begin) % t->receivers.count, receiver = t->receivers.first + b;
        size_t bytes = 0;
        for (int s = 0; s < senders; s++) bytes += t->to[b * senders + s].bytes;
        if (receiver != t->me)
            message_send(t->team, receiver, t->to[b * senders].at, bytes, TO_RECEIVER);
    }
}

void trade_spread(struct trade *t) {
    for (int row = 0; row < t->tiling->rows && !messages_lost(t->team); row++) {
        struct group group = group_at(t->p, t->tiling->rows, row);
        const char *at = t->last[row].at;
        struct joint joint = {0};
        for (int b = 0; at && b < group.count; b++) {
            struct run run = run_of(&t->recvs, group.first + b);
            joint_add(&joint, run.at, at, run.bytes);
            at += run.bytes;
        }
        joint_end(&joint);
    }
}

/* ---- before ---- */

/* The cells of my tile in Morton order, made at the first call and kept by the team. */
static const struct cell *trade_cells_of(struct trade *t, enum owners owners) {
    static const char whose[2];
    uint32_t columns = (uint32_t)t->senders.count, rows = (uint32_t)t->receivers.count;
    bool fresh;
    struct cell *cells =
        team_keeps(t->team, &whose[owners], 0, (size_t)columns * rows * sizeof *cells, &fresh);
    for (uint32_t worker = 0; cells && fresh && worker < rows; worker++)
        orders[ORDER_morton].fill(&(struct matrix){.p = columns, .rows = rows}, worker,
                                  cells + (size_t)worker * columns);
    return cells;
}

static void find_tile(struct trade *t) {
    int tile = t->tiling->tile_of[t->me];
    t->owner = tile >= 0;
    if (!t->owner) return;
    t->senders = group_at(t->p, t->tiling->rows, tile / t->tiling->columns);
    t->receivers = group_at(t->p, t->tiling->columns, tile % t->tiling->columns);
}

/* Bytes that the call cannot do without: for all my messages and my tile. */
static size_t needs(const struct trade *t) {
    int columns = t->tiling->columns, cells = t->senders.count * t->receivers.count;
    size_t bytes = 256 + (size_t)t->tiling->rows * sizeof *t->last + (size_t)cells * sizeof *t->to;
    bytes += (size_t)(t->senders.count + cells + columns + t->p) * sizeof *t->memory;
    for (int s = 0; s < t->senders.count; s++)
        bytes += sizeof *t->in + parcel_needs(t->receivers.count, t->known, true);
    for (int c = 0; c < columns; c++)
        bytes += parcel_needs(group_at(t->p, columns, c).count, t->known, false);
    return bytes;
}

bool trade_open(struct trade *t, enum owners owners) {
    static const char whose;
    sides_of(t->team, t->call, &t->sends, &t->recvs);
    t->known = t->call->bytes_between || t->call->shape.collective == COLL_alltoall;
    t->tiling = tiling_for(t->team, owners);
    if (t->tiling) find_tile(t);
    if (t->owner) t->cells = trade_cells_of(t, owners);
    bool fine = t->tiling && (t->cells || !t->owner);
    void *memory =
        team_keeps_agreed(t->team, &whose, 2 * owners + t->known, fine ? needs(t) : 0, fine);
    if (!memory) return false;
    t->larder.at = memory;
    size_t cells = (size_t)(t->senders.count * t->receivers.count),
           senders = (size_t)t->senders.count;
    t->memory = larder_take(&t->larder, (senders + cells + (size_t)(t->tiling->columns + t->p)) *
                                            sizeof *t->memory);
    if (t->known) t->memory = NULL;
    t->last = larder_take(&t->larder, (size_t)t->tiling->rows * sizeof *t->last);
    t->in = larder_take(&t->larder, senders * sizeof *t->in);
    t->to = larder_take(&t->larder, cells * sizeof *t->to);
    return true;
}
