/* SPDX-License-Identifier: BSD-3-Clause */
/* algorithm_mnco - the cache-oblivious alltoall among nodes (li2018 section 2.5: MN-CO), for any number of ranks. The matrix of
 * senders and receivers is cut into tiles, each with an owner (owners.c). A rank (1) sends each owner in its row of tiles what it
 * has for the receivers there, in one message; as an owner (2) transposes what came, in Morton order, and (3) sends each receiver
 * what all senders of the tile have for it. mnco(rows), mnco(morton): which tile belongs to whom.
 *
 * A receiver knows what owners send it. An owner that does not know what senders send it is told with the blocks (parcels.h).
 * Cost    2 (L + sqrt p 2 o + p n beta), copies of p n; about 2 sqrt p messages; scratch 2 p n.
 * Wins    short blocks on many ranks, where the network carries many messages at once. */
#include "coll/owners.h"
#include "coll/parcels.h"

#include <errno.h>

extern const struct algorithm_code algorithm_mnco;

enum { TO_OWNER = 3, TO_RECEIVER };

/* Ranks first .. first + count - 1. */
struct group {
    int first, count;
};

struct trade {
    struct team *team;
    const struct call *call;
    const struct tiling *tiling;
    struct blocks sends, recvs;
    int p, me;
    bool known;
    size_t *memory; /* what the parcels remember, [1 + blocks] each; NULL where sizes are known */
    bool owner;     /* of a tile: */
    struct group senders, receivers;
    struct parcel *in;        /* [senders] */
    struct run *to;           /* [receivers][senders] the transposed tile */
    const struct cell *cells; /* its cells in Morton order */
    struct run *last;         /* [rows] what comes for me, by rows of tiles */
};

static struct group group_at(int p, int groups, int group) {
    int first = group_first(p, groups, group);
    return (struct group){first, group_first(p, groups, group + 1) - first};
}

/* What I have for a group, if it lies in one piece. */
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

static size_t *remember(struct trade *t, int blocks) {
    size_t *memory = t->memory;
    if (memory) t->memory += 1 + blocks;
    return memory;
}

/* ---- 1: to the owners ---- */

static int expect_senders(struct trade *t, int mark) {
    int error = 0;
    for (int s = 0; s < t->senders.count && !error; s++) {
        struct parcel *in = &t->in[s];
        int source = t->senders.first + s;
        *in = (struct parcel){.peer = source, .count = t->receivers.count, .known = t->known, .number = -1};
        in->memory = remember(t, in->count);
        in->sizes = scratch_take(t->team, (size_t)in->count * sizeof *in->sizes);
        if (!in->sizes) return -ENOMEM;
        for (int b = 0; b < in->count && (t->known || source == t->me); b++) {
            in->sizes[b] = block_between(t->team, t->call, source, t->receivers.first + b);
            in->bytes += in->sizes[b];
        }
        if (source != t->me) error = parcel_expect(t->team, in, NULL, TO_OWNER, mark);
    }
    return error;
}

/* Without a copy where it can go as it lies. */
static int send_to(struct trade *t, int owner, struct group group) {
    struct parcel out = {.peer = owner, .count = group.count, .known = t->known, .memory = remember(t, group.count)};
    out.at = in_one_piece(&t->sends, group, &out.bytes);
    bool mine = owner == t->me, kept = t->call->in_place && mine;
    if (!out.at || kept || (!t->known && !mine)) {
        char *to = scratch_take(t->team, parcel_head(&out) + out.bytes);
        struct joint joint = {0};
        if (!to) return -ENOMEM;
        out.at = to += parcel_head(&out);
        for (int b = 0; b < group.count; b++) {
            struct run run = run_of(&t->sends, group.first + b);
            joint_add(&joint, to, run.at, run.bytes);
            to += run.bytes;
        }
        joint_end(&joint);
    }
    if (mine) return t->in[t->me - t->senders.first].at = out.at, 0;
    if (t->known) return parcel_send(t->team, &out, TO_OWNER);
    out.sizes = scratch_take(t->team, (size_t)group.count * sizeof *out.sizes);
    if (!out.sizes) return -ENOMEM;
    for (int b = 0; b < group.count; b++) out.sizes[b] = run_of(&t->sends, group.first + b).bytes;
    return parcel_send(t->team, &out, TO_OWNER);
}

static int gather_tile(struct trade *t) {
    const struct tiling *tiling = t->tiling;
    int mark = messages_mark(t->team), row = group_of(t->p, tiling->rows, t->me);
    int error = t->owner ? expect_senders(t, mark) : 0;
    for (int k = 0; k < tiling->columns && !error; k++) { /* not all to the same owner first */
        int column = (k + t->me) % tiling->columns;
        error = send_to(t, tiling->owner[row * tiling->columns + column], group_at(t->p, tiling->columns, column));
    }
    if (error) return messages_finish(t->team, mark), error;
    return t->known ? messages_finish(t->team, mark) : parcels_finish(t->team, t->in, t->senders.count, TO_OWNER, mark);
}

/* ---- 2: the transposition ---- */

/* Where each cell of the tile goes: behind each other for a receiver, mine to where they belong. */
static int lay_out(struct trade *t) {
    int senders = t->senders.count;
    size_t all = 0;
    for (int s = 0; s < senders; s++) all += t->in[s].bytes;
    char *at = scratch_take(t->team, all);
    if (!at) return -ENOMEM;
    for (int b = 0; b < t->receivers.count; b++)
        for (int s = 0; s < senders; s++) {
            bool mine = t->receivers.first + b == t->me;
            size_t bytes = t->in[s].sizes[b];
            t->to[b * senders + s] = (struct run){mine ? run_of(&t->recvs, t->senders.first + s).at : at, bytes};
            at += mine ? 0 : bytes;
        }
    return 0;
}

static void transpose(struct trade *t) {
    static const struct copier plain = {.kernel = KERNEL_plain};
    int senders = t->senders.count, cells = senders * t->receivers.count;
    /* In Morton order the cells of a sender come with rising receivers, so its parcel is read from front to back. */
    for (int k = 0; k < cells; k++) {
        struct parcel *in = &t->in[t->cells[k].source];
        const struct run *to = &t->to[(int)t->cells[k].dest * senders + (int)t->cells[k].source];
        copy_block(&plain, to->at, in->at, to->bytes);
        in->at += to->bytes;
    }
}

/* ---- 3: to the receivers ---- */

static int expect_owners(struct trade *t) {
    const struct tiling *tiling = t->tiling;
    int column = group_of(t->p, tiling->columns, t->me), error = 0;
    for (int row = 0; row < tiling->rows && !error; row++) {
        int owner = tiling->owner[row * tiling->columns + column];
        struct run *last = &t->last[row];
        *last = (struct run){0};
        if (owner == t->me) continue;
        size_t bytes;
        char *at = in_one_piece(&t->recvs, group_at(t->p, tiling->rows, row), &bytes);
        if (!at) at = last->at = scratch_take(t->team, bytes);
        if (!at) return -ENOMEM;
        error = message_recv(t->team, owner, at, bytes, TO_RECEIVER);
    }
    return error;
}

static int send_tile(struct trade *t) {
    int senders = t->senders.count, error = 0;
    for (int k = 0; k < t->receivers.count && !error; k++) {
        int b = (k + t->me) % t->receivers.count, receiver = t->receivers.first + b;
        size_t bytes = 0;
        for (int s = 0; s < senders; s++) bytes += t->to[b * senders + s].bytes;
        if (receiver != t->me) error = message_send(t->team, receiver, t->to[b * senders].at, bytes, TO_RECEIVER);
    }
    return error;
}

static void spread(struct trade *t) {
    for (int row = 0; row < t->tiling->rows; row++) {
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

/* ---- all of it ---- */

/* The cells of my tile in Morton order: made once. */
static const struct cell *cells_of(struct trade *t, enum owners owners) {
    static const char whose[2];
    uint32_t columns = (uint32_t)t->senders.count, rows = (uint32_t)t->receivers.count;
    bool fresh;
    struct cell *cells = team_keeps(t->team, &whose[owners], 0, (size_t)columns * rows * sizeof *cells, &fresh);
    for (uint32_t worker = 0; cells && fresh && worker < rows; worker++)
        orders[ORDER_morton].fill(&(struct matrix){.p = columns, .rows = rows}, worker, cells + (size_t)worker * columns);
    return cells;
}

static bool prepare_tile(struct trade *t, int tile, enum owners owners) {
    t->owner = tile >= 0;
    if (!t->owner) return true;
    t->senders = group_at(t->p, t->tiling->rows, tile / t->tiling->columns);
    t->receivers = group_at(t->p, t->tiling->columns, tile % t->tiling->columns);
    size_t senders = (size_t)t->senders.count, cells = senders * (size_t)t->receivers.count;
    t->in = scratch_take(t->team, senders * sizeof *t->in);
    t->to = scratch_take(t->team, cells * sizeof *t->to);
    t->cells = cells_of(t, owners);
    return t->in && t->to && t->cells;
}

static bool prepare_call(struct trade *t, enum owners owners) {
    sides_of(t->team, t->call, &t->sends, &t->recvs);
    t->known = t->call->bytes_between || t->call->shape.collective == COLL_alltoall;
    t->tiling = tiling_for(t->team, owners);
    if (!t->tiling || !prepare_tile(t, t->tiling->tile_of[t->me], owners)) return false;
    t->last = scratch_take(t->team, (size_t)t->tiling->rows * sizeof *t->last);
    if (t->known) return t->last != NULL;
    size_t words = (size_t)(t->senders.count * (1 + t->receivers.count) + t->tiling->columns + t->p);
    bool fresh;
    t->memory = team_keeps(t->team, &algorithm_mnco, owners, words * sizeof(size_t), &fresh);
    return t->last && t->memory;
}

static enum outcome run(struct team *team, const struct call *call, const struct arguments *arguments) {
    struct trade t = {.team = team, .call = call, .p = team->p, .me = team->me};
    int error = prepare_call(&t, arguments->owners) ? 0 : -ENOMEM, mark = messages_mark(team);
    /* In place, what comes last goes where what goes first lies. */
    if (!error && !call->in_place) error = expect_owners(&t);
    if (!error) error = gather_tile(&t);
    if (!error && call->in_place) error = expect_owners(&t);
    if (!error && t.owner) error = lay_out(&t);
    if (!error && t.owner) {
        transpose(&t);
        error = send_tile(&t);
    }
    int last = messages_finish(team, mark);
    if (!error && !last) spread(&t);
    scratch_drop(team);
    return error || last ? FAILED : DONE;
}

static double cost(const struct team *team, const struct shape *shape, const struct arguments *arguments) {
    (void)arguments;
    int rows, columns;
    tiling_sides(team->p, &rows, &columns);
    double p = team->p, senders = p / rows, receivers = p / columns, n = (double)shape->bytes;
    double first = senders > columns ? senders : columns, second = receivers > rows ? receivers : rows;
    return burst_seconds(team, shape, first, p * n / first) + copy_seconds(team, p, shape->bytes) +
           burst_seconds(team, shape, second, p * n / second);
}

static const char *const variants[] = {"mnco(rows)", "mnco(morton)", NULL};

const struct algorithm_code algorithm_mnco = {
    .where = BY_MESSAGES, .loose = true, .copies_in = true, .variants = variants, .cost = cost, .run = run};
