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

struct rounds {
    struct team *team;
    const struct call *call;
    int p, me, radix;
    bool known;
    struct run *slot;      /* [p] where the block at each position lies now */
    size_t *memory, *next; /* what parcels remember, and what of it is for the next parcel; NULL where sizes are known */
    char *packed;          /* the messages that go in one round */
    size_t room;
};

static int radix_of(const struct arguments *arguments) { return arguments->number ? (int)arguments->number : 2; }

/* The last position with this digit, and the one before another. */
static int last_position(const struct rounds *r, int width, int digit) {
    int cycle = width * r->radix, from = (r->p - 1) / cycle * cycle + digit * width;
    if (from >= r->p) from -= cycle;
    return from + width <= r->p ? from + width - 1 : r->p - 1;
}
static inline int position_before(const struct rounds *r, int width, int i) {
    return i % width ? i - 1 : i - 1 - (r->radix - 1) * width;
}

static int count_positions(int p, int radix, int width, int digit) {
    int cycle = width * radix, rest = p % cycle - digit * width;
    return p / cycle * width + (rest < 0 ? 0 : rest < width ? rest : width);
}

/* A parcel with room for the sizes. */
static int parcel_of(struct rounds *r, int width, int digit, int peer, struct parcel *parcel) {
    int count = count_positions(r->p, r->radix, width, digit);
    *parcel = (struct parcel){.peer = peer, .count = count, .known = r->known, .memory = r->next};
    if (r->next) r->next += 1 + count;
    parcel->sizes = scratch_take(r->team, (size_t)count * sizeof *parcel->sizes);
    return parcel->sizes ? 0 : -ENOMEM;
}

static int expect(struct rounds *r, int width, int digit, struct parcel *in, int mark) {
    int error = parcel_of(r, width, digit, (r->me + r->p - digit * width) % r->p, in), b = 0;
    for (int i = last_position(r, width, digit); i >= 0 && r->known && !error; i = position_before(r, width, i), b++) {
        int source = (r->me + r->p - i % (width * r->radix)) % r->p;
        in->sizes[b] = block_between(r->team, r->call, source, (source + i) % r->p);
        in->bytes += in->sizes[b];
    }
    return error ? error : parcel_expect(r->team, in, NULL, TAG, mark);
}

static int measure(struct rounds *r, int width, int digit, struct parcel *out) {
    int error = parcel_of(r, width, digit, (r->me + digit * width) % r->p, out), b = 0;
    for (int i = last_position(r, width, digit); i >= 0 && !error; i = position_before(r, width, i))
        out->bytes += out->sizes[b++] = r->slot[i].bytes;
    return error;
}

static char *pack(struct rounds *r, int width, int digit, struct parcel *out, char *to) {
    struct joint joint = {0};
    out->at = to += (parcel_head(out) + 7) / 8 * 8;
    for (int i = last_position(r, width, digit); i >= 0; i = position_before(r, width, i)) {
        joint_add(&joint, to, r->slot[i].at, r->slot[i].bytes);
        to += r->slot[i].bytes;
    }
    joint_end(&joint);
    return out->at + (out->bytes + 7) / 8 * 8;
}

static void settle(struct rounds *r, int width, int digit, const struct parcel *in) {
    char *at = in->at;
    int b = 0;
    for (int i = last_position(r, width, digit); i >= 0; i = position_before(r, width, i)) {
        r->slot[i] = (struct run){at, in->sizes[b]};
        at += in->sizes[b++];
    }
}

static int turn(struct rounds *r, int width) {
    struct parcel in[most_radix], out[most_radix];
    int mark = messages_mark(r->team), digits = 0, error = 0;
    size_t bytes = 0;
    for (; digits + 1 < r->radix && (digits + 1) * width < r->p && !error; digits++) { /* digit 0 stays */
        error = expect(r, width, digits + 1, &in[digits], mark);
        if (!error) error = measure(r, width, digits + 1, &out[digits]);
        if (!error) bytes += parcel_head(&out[digits]) + out[digits].bytes + 16;
    }
    if (!error && bytes > r->room) {
        r->packed = scratch_take(r->team, bytes);
        r->room = bytes;
        if (!r->packed) error = -ENOMEM;
    }
    char *to = r->packed;
    for (int d = 0; d < digits && !error; d++) {
        to = pack(r, width, d + 1, &out[d], to);
        error = parcel_send(r->team, &out[d], TAG);
    }
    int last = error ? messages_finish(r->team, mark) : parcels_finish(r->team, in, digits, TAG, mark);
    if (!error) error = last;
    for (int d = 0; d < digits && !error; d++) settle(r, width, d + 1, &in[d]);
    return error;
}

/* Only now: in place, the receive buffer is also the send buffer. */
static void deliver(const struct rounds *r, const struct blocks *recvs) {
    struct joint joint = {0};
    for (int i = r->p - 1; i >= 0; i--) {
        struct run to = run_of(recvs, (r->me + r->p - i) % r->p);
        if (to.at != r->slot[i].at) joint_add(&joint, to.at, r->slot[i].at, r->slot[i].bytes);
    }
    joint_end(&joint);
}

static size_t remembered(int p, int radix) {
    size_t words = 0;
    for (int width = 1; width < p; width *= radix)
        for (int d = 1; d < radix && d * width < p; d++) words += 2 * (1 + (size_t)count_positions(p, radix, width, d));
    return words * sizeof(size_t);
}

static enum outcome run(struct team *team, const struct call *call, const struct arguments *arguments) {
    if (!is_personal(call->shape.collective)) return gather_bruck(team, call);
    struct rounds r = {.team = team, .call = call, .p = team->p, .me = team->me, .radix = radix_of(arguments)};
    struct blocks sends, recvs;
    bool fresh;
    sides_of(team, call, &sends, &recvs);
    r.known = call->bytes_between || call->shape.collective == COLL_alltoall;
    r.slot = scratch_take(team, (size_t)r.p * sizeof *r.slot);
    if (!r.known) r.memory = team_keeps(team, &algorithm_bruck, (unsigned)r.radix, remembered(r.p, r.radix), &fresh);
    r.next = r.memory;
    int error = r.slot && (r.known || r.memory) ? 0 : -ENOMEM;
    for (int i = 0; i < r.p && !error; i++) r.slot[i] = run_of(&sends, (r.me + i) % r.p);
    for (int width = 1; width < r.p && !error; width *= r.radix) error = turn(&r, width);
    if (!error) deliver(&r, &recvs);
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
