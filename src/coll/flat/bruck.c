/* SPDX-License-Identifier: BSD-3-Clause */
/* algorithm_bruck - blocks travel in log_k p rounds, many in a message: the index algorithm with
 * radix k (Bruck et al. 1997, as in kumar2008 section 2.4). Position i of a rank holds a block that
 * must travel i ranks further; in the round of a digit it travels the part of i that this digit
 * stands for. bruck(k): the k - 1 messages of a round are in flight together. Sizes that not all
 * ranks know travel with the blocks (parcels.h).
 *
 * Received blocks are not unpacked: slot[i] points into the receive buffer of the message, and the
 * next round sends from there. Messages hold positions in falling order, so that blocks which share
 * both messages are copied as one run; the same holds for the receive buffer. So a block is copied
 * once per message, in about 2 p pieces in all, and once at the end, unless its last message is
 * received in place. Blocks that skip a round, or have arrived, are copied while the round's
 * messages are in flight. For an alltoall of very short blocks the first round sends the whole
 * buffer, which is faster than picking blocks out. Allgathers: gathers.c.
 * Cost    log_k p (L + (k - 1) 2 o) + (k - 1) / k p log_k p n beta, copies of as much, partly
 *         hidden by waiting (k small); scratch p (1 + (k - 1) / k log_k p) n.
 * Wins    short blocks. */
#include "coll/flat/gathers.h"
#include "coll/flat/rounds.h"

extern const struct algorithm_code algorithm_bruck;

static int radix_of(const struct arguments *arguments) {
    return arguments->number ? (int)arguments->number : 2;
}

static void deliver(struct rounds *r, int positions) {
    struct joint joint = {0};
    if (messages_lost(r->team)) return;
    for (int i = positions - 1; i >= r->delivered; i--) {
        struct run to = run_of(&r->recvs, (r->me + r->p - i) % r->p);
        if (r->slot[i].bytes > to.bytes) blocks_cut = true;
        else to.bytes = r->slot[i].bytes;
        if (to.at != r->slot[i].at) joint_add(&joint, to.at, r->slot[i].at, to.bytes);
    }
    joint_end(&joint);
    r->delivered = positions;
}

/* If sizes are known, the next round's blocks that do not move in this round are packed while its
 * messages are in flight. */
static void move_on(struct rounds *r, const struct round *now, struct round *next) {
    round_settle(r, now);
    if (is_last(&now->digit)) return;
    next->digit = now->digit;
    next->digit.width *= now->digit.radix;
    next->early = r->known ? now->digit.width : 0;
    next->whole = NULL;
    round_open(r, next);
}

static void turn(struct rounds *r, struct round *now, struct round *next) {
    int mark = messages_mark(r->team);
    round_expect(r, now, mark);
    round_send(r, now);
    if (r->known) move_on(r, now, next);
    /* In place, the receive buffer is also the send buffer. */
    if (is_last(&now->digit) && !r->call->in_place) deliver(r, now->digit.width);
    parcels_finish(r->team, now->in, last_value(&now->digit), TAG, mark);
    if (!r->known) move_on(r, now, next);
}

static size_t remembered(int p, int radix) {
    size_t words = 0;
    for (struct digit digit = {p, 1, radix}; digit.width < p; digit.width *= radix)
        words += 2 * (size_t)(last_value(&digit) + count_moving(&digit));
    return words * sizeof(size_t);
}

/* Should the first round send the whole buffer? It should if that is faster and short enough for
 * eager messages. The same on all ranks. */
static bool is_whole(const struct figures *f, const struct shape *shape, int radix) {
    enum { unasked = 8 << 10 };
    struct digit digit = {f->p, 1, radix};
    size_t n = shape->bytes, all = (size_t)f->p * n;
    if (shape->collective != COLL_alltoall || f->p <= radix || n == 0 || all > unasked)
        return false;
    double messages = last_value(&digit), blocks = count_moving(&digit);
    return burst_seconds(f, shape, messages, (double)all) <
           burst_seconds(f, shape, messages, blocks * (double)n / messages) +
               copy_seconds(f, blocks, n);
}

/* Takes the memory that the call cannot do without. False on all ranks: a rank has none. */
static bool furnish(struct rounds *r, int radix) {
    size_t rounds = 2 * sizeof(struct round), slots = (size_t)r->p * sizeof *r->slot;
    size_t words = r->known ? 0 : remembered(r->p, radix);
    unsigned which = 2 * (unsigned)radix + r->known;
    size_t bytes = rounds + words + slots + 64 + rounds_need(r->p, radix, r->known);
    char *memory = team_keeps_agreed(r->team, &algorithm_bruck, which, bytes, true);
    if (!memory) return false;
    r->larder.at = memory;
    r->turns = larder_take(&r->larder, rounds);
    r->next = r->known ? NULL : larder_take(&r->larder, words);
    r->slot = larder_take(&r->larder, slots);
    return true;
}

static enum outcome bruck_run(struct team *team, const struct call *call,
                              const struct arguments *arguments) {
    if (!is_personal(call->shape.collective)) return gather_bruck(team, call);
    struct rounds r = {.team = team, .call = call, .p = team->p, .me = team->me};
    int radix = radix_of(arguments);
    sides_of(team, call, &r.sends, &r.recvs);
    r.known = call->bytes_between || call->shape.collective == COLL_alltoall;
    if (!furnish(&r, radix)) return LEFT;
    far_begin(team, call, false);
    for (int i = 0; i < r.p; i++) r.slot[i] = run_of(&r.sends, (r.me + i) % r.p);
    struct round *now = &r.turns[0], *next = &r.turns[1];
    now->packed = next->packed = NULL, now->room = next->room = 0;
    now->digit = (struct digit){r.p, 1, radix}, now->early = 0;
    now->whole = is_whole(&team->figures, &call->shape, radix) ? r.sends.base : NULL;
    round_open(&r, now);
    for (int width = 1, k = 0; width < r.p; width *= radix, k++)
        turn(&r, &r.turns[k % 2], &r.turns[1 - k % 2]);
    deliver(&r, r.p);
    return far_end(team);
}

static bool bruck_can(const struct figures *f, const struct calls *calls,
                      const struct arguments *arguments) {
    (void)f;
    if (!is_personal(calls->largest.collective)) return arguments->number == 0;
    return arguments->number != 1 && arguments->number <= most_radix;
}

static double pieces_seconds(const struct figures *f, double pieces, double bytes) {
    return pieces > 0 ? copy_seconds(f, pieces, (size_t)(bytes / pieces)) : 0;
}

/* A round sends, and the end delivers, two kinds of blocks. Those that moved in the round before
 * are copied after they have arrived, in runs of that round's width; except for the first message
 * this overlaps with the message before on the link. The others are copied while messages are in
 * flight, as far as the rank is idle. */
static double bruck_cost(const struct figures *f, const struct shape *shape,
                         const struct arguments *arguments) {
    if (!is_personal(shape->collective)) return gather_bruck_cost(f, shape);
    int p = f->p, radix = radix_of(arguments);
    /* each: pieces per block, of blocks that stayed. */
    double seconds = 0, n = (double)shape->bytes, idle = 0, each = 1;
    for (struct digit digit = {p, 1, radix};; digit.width *= radix) {
        bool first = digit.width == 1, end = digit.width >= p,
             whole = first && is_whole(f, shape, radix);
        double messages = last_value(&digit), blocks = end ? p : count_moving(&digit);
        double stayed = first ? blocks : blocks / radix, moved = blocks - stayed;
        double early = whole ? 0 : pieces_seconds(f, stayed * each, stayed * n);
        double late = pieces_seconds(f, moved * radix / digit.width, moved * n);
        if (end && !shape->unsized) late = 0; /* received in place */
        if (early > idle) late += early - idle;
        if (end) return seconds + late;
        double burst = burst_seconds(f, shape, messages, whole ? p * n : blocks * n / messages);
        double longer = burst - burst_seconds(f, shape, messages, 0);
        double hidden = (late < longer ? late : longer) * (messages - 1) / messages;
        seconds += late + burst - hidden;
        idle = shape->unsized ? 0 : burst - hidden - 2 * messages * f->network.overhead;
        each = (1 - 1.0 / radix) / digit.width + each / radix;
    }
}

static const char *const variants[] = {"bruck", "bruck(4)", "bruck(8)", NULL};

const struct algorithm_code algorithm_bruck = {.where = BY_MESSAGES,
                                               .loose = true,
                                               .copies_in = true,
                                               .variants = variants,
                                               .can = bruck_can,
                                               .cost = bruck_cost,
                                               .run = bruck_run};
