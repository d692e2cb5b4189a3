/* SPDX-License-Identifier: BSD-3-Clause */
/* algorithm_bruck - blocks travel in log_k p rounds, many in a message: the index algorithm with radix k (Bruck et al. 1997, as in
 * kumar2008 section 2.4). Position i of a rank holds a block that has to go i ranks further; in the round of a digit it goes as far
 * as that digit of i says. bruck(k): the k - 1 messages of a round are under way together. Sizes that the ranks do not all know
 * travel with the blocks (parcels.h).
 *
 * What comes is not unpacked: a position is a pointer into the message that it came with, and moves on from there. Messages hold
 * positions in falling order, so that what comes by the same message and goes by the same one is copied as one run, and so is what
 * arrives in the receive buffer. A block is thus copied once per message, in about 2 p pieces in all, and once in the end.
 * Allgathers: gathers.c.
 * Cost    log_k p (L + (k - 1) 2 o) + (k - 1) / k p log_k p n beta, copies of as much; scratch p (1 + (k - 1) / k log_k p) n.
 * Wins    short blocks. */
#include "coll/gathers.h"
#include "coll/parcels.h"

#include <errno.h>

extern const struct algorithm_code algorithm_bruck;

enum { TAG = 2, most_radix = 64 };

/* What a rank sends in the round of a digit. */
struct round {
    int width, radix, count; /* so many positions in a row share the digit; its base; messages */
    int early;               /* blocks at positions that leave less than this when divided by width have been packed before */
    struct parcel out[most_radix];
    char *packed; /* the messages */
    size_t room;
};

struct rounds {
    struct team *team;
    const struct call *call;
    struct blocks recvs;
    int p, me, delivered; /* positions from 0 on whose blocks are in the receive buffer */
    bool known;
    struct run *slot;      /* [p] where the block at each position lies, or will when the messages under way have come */
    size_t *memory, *next; /* what parcels remember, and what of it is for the next parcel; NULL where sizes are known */
};

static int radix_of(const struct arguments *arguments) { return arguments->number ? (int)arguments->number : 2; }

/* The last position with this digit, and the one before another. */
static int last_position(int p, const struct round *round, int digit) {
    int cycle = round->width * round->radix, from = (p - 1) / cycle * cycle + digit * round->width;
    if (from >= p) from -= cycle;
    return from + round->width <= p ? from + round->width - 1 : p - 1;
}
static inline int position_before(const struct round *round, int i) {
    return i % round->width ? i - 1 : i - 1 - (round->radix - 1) * round->width;
}

static int count_positions(int p, int radix, int width, int digit) {
    int cycle = width * radix, rest = p % cycle - digit * width;
    return p / cycle * width + (rest < 0 ? 0 : rest < width ? rest : width);
}

/* A parcel with room for the sizes. */
static int parcel_of(struct rounds *r, const struct round *round, int digit, int peer, struct parcel *parcel) {
    int count = count_positions(r->p, round->radix, round->width, digit);
    *parcel = (struct parcel){.peer = peer, .count = count, .known = r->known, .memory = r->next};
    if (r->next) r->next += 1 + count;
    parcel->sizes = scratch_take(r->team, (size_t)count * sizeof *parcel->sizes);
    return parcel->sizes ? 0 : -ENOMEM;
}

static int expect(struct rounds *r, const struct round *round, int digit, struct parcel *in, int mark) {
    int error = parcel_of(r, round, digit, (r->me + r->p - digit * round->width) % r->p, in), b = 0;
    for (int i = last_position(r->p, round, digit); i >= 0 && r->known && !error; i = position_before(round, i), b++) {
        int source = (r->me + r->p - i % (round->width * round->radix)) % r->p;
        in->sizes[b] = block_between(r->team, r->call, source, (source + i) % r->p);
        in->bytes += in->sizes[b];
    }
    return error ? error : parcel_expect(r->team, in, NULL, TAG, mark);
}

static void settle(struct rounds *r, const struct round *round, int digit, const struct parcel *in) {
    char *at = in->at;
    int b = 0;
    for (int i = last_position(r->p, round, digit); i >= 0; i = position_before(round, i)) {
        r->slot[i] = (struct run){at, in->sizes[b]};
        at += in->sizes[b++];
    }
}

static int measure(struct rounds *r, const struct round *round, int digit, struct parcel *out) {
    int error = parcel_of(r, round, digit, (r->me + digit * round->width) % r->p, out), b = 0;
    for (int i = last_position(r->p, round, digit); i >= 0 && !error; i = position_before(round, i))
        out->bytes += out->sizes[b++] = r->slot[i].bytes;
    return error;
}

static void pack(const struct rounds *r, const struct round *round, int digit, bool early) {
    const struct parcel *out = &round->out[digit - 1];
    struct joint joint = {0};
    char *to = out->at;
    for (int i = last_position(r->p, round, digit), b = 0; i >= 0; i = position_before(round, i)) {
        if ((i % round->width < round->early) == early) joint_add(&joint, to, r->slot[i].at, out->sizes[b]);
        to += out->sizes[b++];
    }
    joint_end(&joint);
}

/* Where the messages of a round will lie, and what of them can be packed already. */
static int open_round(struct rounds *r, struct round *round, int width, int radix, int early) {
    int error = 0;
    size_t bytes = 0;
    round->width = width, round->radix = radix, round->early = early, round->count = 0;
    for (int digit = 1; digit < radix && digit * width < r->p && !error; digit++) { /* digit 0 stays */
        struct parcel *out = &round->out[round->count++];
        error = measure(r, round, digit, out);
        bytes += parcel_head(out) + out->bytes + 16;
    }
    if (!error && bytes > round->room) {
        round->packed = scratch_take(r->team, bytes);
        round->room = bytes;
        if (!round->packed) error = -ENOMEM;
    }
    char *at = round->packed;
    for (int d = 0; d < round->count && !error; d++) {
        struct parcel *out = &round->out[d];
        out->at = at + (parcel_head(out) + 7) / 8 * 8;
        at = out->at + (out->bytes + 7) / 8 * 8;
        if (early) pack(r, round, d + 1, true);
    }
    return error;
}

static void deliver(struct rounds *r, int positions) {
    struct joint joint = {0};
    for (int i = positions - 1; i >= r->delivered; i--) {
        struct run to = run_of(&r->recvs, (r->me + r->p - i) % r->p);
        if (to.at != r->slot[i].at) joint_add(&joint, to.at, r->slot[i].at, r->slot[i].bytes);
    }
    joint_end(&joint);
    r->delivered = positions;
}

/* The round after this one begins once all sizes are known. */
static int move_on(struct rounds *r, const struct round *now, struct round *next, const struct parcel *in) {
    for (int d = 0; d < now->count; d++) settle(r, now, d + 1, &in[d]);
    return open_round(r, next, now->width * now->radix, now->radix, r->known ? now->width : 0);
}

static int turn(struct rounds *r, struct round *now, struct round *next) {
    struct parcel in[most_radix];
    int mark = messages_mark(r->team), error = 0;
    for (int d = 0; d < now->count && !error; d++) error = expect(r, now, d + 1, &in[d], mark);
    for (int d = 0; d < now->count && !error; d++) {
        pack(r, now, d + 1, false);
        error = parcel_send(r->team, &now->out[d], TAG);
    }
    /* While these are under way: what stays. In place, the receive buffer is also the send buffer. */
    if (!error && r->known) error = move_on(r, now, next, in);
    if (!error && now->width * now->radix >= r->p && !r->call->in_place) deliver(r, now->width);
    int last = error ? messages_finish(r->team, mark) : parcels_finish(r->team, in, now->count, TAG, mark);
    if (!error) error = last;
    return error || r->known ? error : move_on(r, now, next, in);
}

static size_t remembered(int p, int radix) {
    size_t words = 0;
    for (int width = 1; width < p; width *= radix)
        for (int d = 1; d < radix && d * width < p; d++) words += 2 * (1 + (size_t)count_positions(p, radix, width, d));
    return words * sizeof(size_t);
}

static enum outcome run(struct team *team, const struct call *call, const struct arguments *arguments) {
    if (!is_personal(call->shape.collective)) return gather_bruck(team, call);
    struct rounds r = {.team = team, .call = call, .p = team->p, .me = team->me};
    int radix = radix_of(arguments);
    struct round rounds[2];
    struct blocks sends;
    bool fresh;
    sides_of(team, call, &sends, &r.recvs);
    r.known = call->bytes_between || call->shape.collective == COLL_alltoall;
    r.slot = scratch_take(team, (size_t)r.p * sizeof *r.slot);
    if (!r.known) r.memory = team_keeps(team, &algorithm_bruck, (unsigned)radix, remembered(r.p, radix), &fresh);
    r.next = r.memory;
    int error = r.slot && (r.known || r.memory) ? 0 : -ENOMEM;
    for (int i = 0; i < r.p && !error; i++) r.slot[i] = run_of(&sends, (r.me + i) % r.p);
    for (int k = 0; k < 2; k++) rounds[k].room = 0, rounds[k].packed = NULL;
    if (!error) error = open_round(&r, &rounds[0], 1, radix, 0);
    for (int k = 0; rounds[k % 2].count > 0 && !error; k++) error = turn(&r, &rounds[k % 2], &rounds[(k + 1) % 2]);
    if (!error) deliver(&r, r.p);
    scratch_drop(team);
    return error ? FAILED : DONE;
}

static bool can(const struct team *team, const struct shape *shape, const struct arguments *arguments) {
    (void)team;
    if (!is_personal(shape->collective)) return arguments->number == 0;
    return arguments->number != 1 && arguments->number <= most_radix;
}

static double cost(const struct team *team, const struct shape *shape, const struct arguments *arguments) {
    if (!is_personal(shape->collective)) return gather_bruck_cost(team, shape);
    int p = team->p, radix = radix_of(arguments);
    double seconds = 0, copied = p, n = (double)shape->bytes;
    for (int width = 1; width < p; width *= radix) {
        double messages = 0, blocks = 0;
        for (int d = 1; d < radix && d * width < p; d++) messages++, blocks += count_positions(p, radix, width, d);
        seconds += burst_seconds(team, shape, messages, blocks * n / messages);
        copied += blocks;
    }
    double pieces = copied < 2 * p ? copied : 2 * p; /* see above */
    return seconds + copy_seconds(team, pieces, (size_t)(copied * n / pieces));
}

static const char *const variants[] = {"bruck", "bruck(4)", "bruck(8)", NULL};

const struct algorithm_code algorithm_bruck = {
    .where = BY_MESSAGES, .loose = true, .copies_in = true, .variants = variants, .can = can, .cost = cost, .run = run};
