/* SPDX-License-Identifier: BSD-3-Clause */
/* rounds - the messages of a round of bruck; see rounds.h. */
#include "coll/rounds.h"

#include <errno.h>

/* A parcel with room for the sizes. */
static int parcel_of(struct rounds *r, const struct digit *digit, int value, int peer, struct parcel *parcel) {
    int count = count_positions(digit, value);
    *parcel = (struct parcel){.peer = peer, .count = count, .known = r->known, .memory = r->next};
    if (r->next) r->next += 1 + count;
    parcel->sizes = scratch_take(r->team, (size_t)count * sizeof *parcel->sizes);
    return parcel->sizes ? 0 : -ENOMEM;
}

static int measure(struct rounds *r, const struct digit *digit, int value, struct parcel *out) {
    int error = parcel_of(r, digit, value, (r->me + value * digit->width) % r->p, out), b = 0;
    for (int i = last_position(digit, value); i >= 0 && !error; i = position_before(digit, i))
        out->bytes += out->sizes[b++] = r->slot[i].bytes;
    return error;
}

static void pack(const struct rounds *r, const struct round *round, int value, bool early) {
    const struct parcel *out = &round->out[value - 1];
    struct joint joint = {0};
    char *to = out->at;
    for (int i = last_position(&round->digit, value), b = 0; i >= 0; i = position_before(&round->digit, i)) {
        if ((i % round->digit.width < round->early) == early) joint_add(&joint, to, r->slot[i].at, out->sizes[b]);
        to += out->sizes[b++];
    }
    joint_end(&joint);
}

int round_open(struct rounds *r, struct round *round) {
    int messages = last_value(&round->digit), error = 0;
    size_t bytes = 0;
    for (int v = 1; v <= messages && !error; v++) {
        error = measure(r, &round->digit, v, &round->out[v - 1]);
        bytes += parcel_head(&round->out[v - 1]) + round->out[v - 1].bytes + 16;
    }
    if (!error && bytes > round->room) {
        round->packed = scratch_take(r->team, bytes);
        round->room = bytes;
        if (!round->packed) error = -ENOMEM;
    }
    char *at = round->packed;
    for (int v = 1; v <= messages && !error; v++) {
        struct parcel *out = &round->out[v - 1];
        out->at = at + (parcel_head(out) + 7) / 8 * 8;
        at = out->at + (out->bytes + 7) / 8 * 8;
        if (round->early > 0) pack(r, round, v, true);
    }
    return error;
}

/* What a message of the last round brings is received where it belongs, if its places follow each other. */
static int expect(struct rounds *r, struct round *round, int value, int mark) {
    const struct digit *digit = &round->digit;
    struct parcel *in = &round->in[value - 1];
    int error = parcel_of(r, digit, value, (r->me + r->p - value * digit->width) % r->p, in), b = 0;
    bool straight = is_last(digit) && !r->call->in_place;
    char *first = NULL;
    for (int i = last_position(digit, value); i >= 0 && r->known && !error; i = position_before(digit, i), b++) {
        int source = (r->me + r->p - i % (digit->width * digit->radix)) % r->p;
        in->sizes[b] = block_between(r->team, r->call, source, (source + i) % r->p);
        if (straight) {
            char *place = run_of(&r->recvs, (r->me + r->p - i) % r->p).at;
            if (b == 0) first = place;
            straight = place == first + in->bytes;
        }
        in->bytes += in->sizes[b];
    }
    if (round->whole) in->bytes = (size_t)r->p * r->call->shape.bytes;
    return error ? error : parcel_expect(r->team, in, straight ? first : NULL, TAG, mark);
}

int round_expect(struct rounds *r, struct round *round, int mark) {
    int error = 0;
    for (int v = 1; v <= last_value(&round->digit) && !error; v++) error = expect(r, round, v, mark);
    return error;
}

int round_send(struct rounds *r, struct round *round) {
    int error = 0;
    for (int v = 1; v <= last_value(&round->digit) && !error; v++) {
        struct parcel *out = &round->out[v - 1];
        if (round->whole) out->at = round->whole, out->bytes = (size_t)r->p * r->call->shape.bytes;
        else pack(r, round, v, false);
        error = parcel_send(r->team, out, TAG);
    }
    return error;
}

void round_settle(struct rounds *r, const struct round *round) {
    for (int v = 1; v <= last_value(&round->digit); v++) {
        const struct parcel *in = &round->in[v - 1];
        char *at = in->at;
        for (int i = last_position(&round->digit, v), b = 0; i >= 0; i = position_before(&round->digit, i), b++) {
            if (round->whole) at = in->at + (size_t)((in->peer + i) % r->p) * in->sizes[b];
            r->slot[i] = (struct run){at, in->sizes[b]};
            at += in->sizes[b];
        }
    }
}
