/* SPDX-License-Identifier: BSD-3-Clause */
/* rounds - the messages of a round of bruck; see rounds.h. */
#include "coll/flat/rounds.h"

size_t rounds_need(int p, int radix, bool known) {
    size_t bytes = 0;
    for (struct digit digit = {p, 1, radix}; digit.width < p; digit.width *= radix)
        for (int v = 1; v <= last_value(&digit); v++)
            bytes += parcel_needs(count_positions(&digit, v), known, true) +
                     parcel_needs(count_positions(&digit, v), known, false);
    return bytes;
}

static void parcel_of(struct rounds *r, const struct digit *digit, int value, int peer, bool comes,
                      struct parcel *parcel) {
    int count = count_positions(digit, value);
    *parcel = (struct parcel){.peer = peer, .count = count, .known = r->known, .memory = r->next};
    if (r->next) r->next += 1 + count;
    parcel_furnish(parcel, &r->larder, comes);
}

static void rounds_measure(struct rounds *r, const struct digit *digit, int value,
                           struct parcel *out) {
    int b = 0;
    parcel_of(r, digit, value, (r->me + value * digit->width) % r->p, false, out);
    for (int i = last_position(digit, value); i >= 0; i = position_before(digit, i))
        out->bytes += out->sizes[b++] = r->slot[i].bytes;
}

static void rounds_pack(const struct rounds *r, const struct round *round, int value, bool early) {
    const struct parcel *out = &round->out[value - 1];
    struct joint joint = {0};
    char *to = out->at;
    if (messages_lost(r->team)) return;
    for (int i = last_position(&round->digit, value), b = 0; i >= 0;
         i = position_before(&round->digit, i)) {
        if ((i % round->digit.width < round->early) == early)
            joint_add(&joint, to, r->slot[i].at, out->sizes[b]);
        to += out->sizes[b++];
    }
    joint_end(&joint);
}

void round_open(struct rounds *r, struct round *round) {
    int messages = last_value(&round->digit);
    size_t bytes = 0;
    for (int v = 1; v <= messages; v++) {
        rounds_measure(r, &round->digit, v, &round->out[v - 1]);
        bytes += parcel_head(&round->out[v - 1]) + round->out[v - 1].bytes + 16;
    }
    if (bytes > round->room && !messages_lost(r->team)) {
        round->packed = far_take(r->team, bytes);
        round->room = bytes;
    }
    char *at = round->packed;
    for (int v = 1; v <= messages && !messages_lost(r->team); v++) {
        struct parcel *out = &round->out[v - 1];
        out->at = at + (parcel_head(out) + 7) / 8 * 8;
        at = out->at + (out->bytes + 7) / 8 * 8;
        if (round->early > 0) rounds_pack(r, round, v, true);
    }
}

/* Starts to receive a message. In the last round it is received in place if its blocks' places are
 * consecutive. */
static void rounds_await(struct rounds *r, struct round *round, int value, int mark) {
    const struct digit *digit = &round->digit;
    struct parcel *in = &round->in[value - 1];
    int b = 0;
    parcel_of(r, digit, value, (r->me + r->p - value * digit->width) % r->p, true, in);
    bool straight = is_last(digit) && !r->call->in_place;
    char *first = NULL;
    for (int i = last_position(digit, value); i >= 0 && r->known;
         i = position_before(digit, i), b++) {
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
    parcel_expect(r->team, in, straight ? first : NULL, TAG, mark);
}

void round_expect(struct rounds *r, struct round *round, int mark) {
    for (int v = 1; v <= last_value(&round->digit); v++) rounds_await(r, round, v, mark);
}

void round_send(struct rounds *r, struct round *round) {
    for (int v = 1; v <= last_value(&round->digit); v++) {
        struct parcel *out = &round->out[v - 1];
        if (round->whole) out->at = round->whole, out->bytes = (size_t)r->p * r->call->shape.bytes;
        else rounds_pack(r, round, v, false);
        parcel_send(r->team, out, TAG);
    }
}

void round_settle(struct rounds *r, const struct round *round) {
    for (int v = 1; v <= last_value(&round->digit); v++) {
        const struct parcel *in = &round->in[v - 1];
        char *at = in->at;
        for (int i = last_position(&round->digit, v), b = 0; i >= 0;
             i = position_before(&round->digit, i), b++) {
            if (round->whole) at = in->at + (size_t)((in->peer + i) % r->p) * in->sizes[b];
            r->slot[i] = (struct run){at, in->sizes[b]};
            at += in->sizes[b];
        }
    }
}
