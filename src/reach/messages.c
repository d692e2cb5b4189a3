/* SPDX-License-Identifier: BSD-3-Clause */
/* messages - between the ranks of a team with a wire: numbered, counted, cut where they are long; and what set-up needs of them. */
#include "reach/reach.h"

#include <errno.h>

static double longer(double ratio) { return ratio > 1 ? ratio - 1 : 0; }

struct network network_of(const struct network_facts *facts) {
    double overhead = (facts->send_seconds + facts->receive_seconds) / 2, latency = facts->latency_seconds - 2 * overhead;
    return (struct network){.latency = latency > 0 ? latency : 0,
                            .overhead = overhead,
                            .byte = facts->byte_seconds,
                            .node_byte = facts->node_byte_seconds,
                            .gap = facts->node_message_seconds,
                            .one = longer(facts->one_partner_ratio),
                            .many = longer(facts->many_partners_ratio),
                            .measured = facts->pairs > 0};
}

const size_t message_most = 1 << 30;

enum { TAG_SETUP = TAGS - 1 };

int messages_mark(const struct team *team) { return *team->wire->under_way; }

static int peer_of(const struct wire *wire, int rank) { return wire->ranks ? wire->ranks[rank] : rank; }

/* Is the rank on my node? The other ranks of a lane never are. */
static bool is_near(const struct team *team, int rank) {
    return team->places ? team->places->node_of[rank] == team->places->node_of[team->me] : rank == team->me;
}

static int start(struct team *team, bool sends, int rank, char *data, size_t bytes, int tag) {
    struct wire *wire = team->wire;
    int error = 0;
    for (size_t done = 0, now; done < bytes && !error; done += now) {
        now = bytes - done < message_most ? bytes - done : message_most;
        error = wire->carrier->start(wire->state, sends, peer_of(wire, rank), data + done, now, wire->tag + tag, *wire->under_way);
        if (!error) ++*wire->under_way;
        if (!sends || error) continue;
        bool far = !is_near(team, rank);
        wire->traffic->messages++, wire->traffic->bytes += now;
        wire->traffic->far_messages += far, wire->traffic->far_bytes += far ? now : 0;
    }
    return error;
}

int message_send(struct team *team, int to, const void *data, size_t bytes, int tag) {
    return start(team, true, to, (char *)(uintptr_t)data, bytes, tag);
}

int message_recv(struct team *team, int from, void *data, size_t bytes, int tag) {
    return start(team, false, from, data, bytes, tag);
}

int messages_finish(struct team *team, int mark) {
    struct wire *wire = team->wire;
    int error = wire->carrier->all(wire->state, team, mark, *wire->under_way - mark);
    *wire->under_way = mark;
    return error;
}

int messages_next(struct team *team, int mark, int *which) {
    struct wire *wire = team->wire;
    int error = wire->carrier->some(wire->state, team, mark, *wire->under_way - mark, which);
    if (error || *which < 0) *which = -1, *wire->under_way = mark;
    else *which -= mark;
    return error;
}

int messages_look(struct team *team, int tag) {
    const struct wire *wire = team->wire;
    int peer = wire->carrier->look(wire->state, wire->tag + tag), rank = 0;
    if (peer < 0 || !wire->ranks) return peer;
    while (rank < team->p && wire->ranks[rank] != peer) rank++;
    return rank < team->p ? rank : -1;
}

/* ---- what set-up needs: a binomial tree with rank 0 as its root ---- */

int messages_tell(struct team *team, void *data, size_t bytes) {
    int mark = messages_mark(team), bit = 1, error = 0;
    while (bit < team->p && !(team->me & bit)) bit *= 2;
    if (team->me > 0) error = message_recv(team, team->me - bit, data, bytes, TAG_SETUP);
    if (!error) error = messages_finish(team, mark);
    for (bit /= 2; bit > 0 && !error; bit /= 2)
        if (team->me + bit < team->p) error = message_send(team, team->me + bit, data, bytes, TAG_SETUP);
    int last = messages_finish(team, mark);
    return error ? error : last;
}

int messages_sum(struct team *team, const uint64_t values[2], uint64_t sums[2]) {
    int mark = messages_mark(team), error = 0;
    uint64_t mine[2] = {values[0], values[1]}, theirs[2];
    for (int bit = 1; bit < team->p && !error; bit *= 2) {
        if (team->me & bit) {
            error = message_send(team, team->me - bit, mine, sizeof mine, TAG_SETUP);
            break;
        }
        if (team->me + bit >= team->p) continue;
        error = message_recv(team, team->me + bit, theirs, sizeof theirs, TAG_SETUP);
        if (!error) error = messages_finish(team, mark);
        mine[0] += theirs[0], mine[1] += theirs[1];
    }
    int last = messages_finish(team, mark);
    if (!error && !last) last = messages_tell(team, mine, sizeof mine);
    sums[0] = mine[0], sums[1] = mine[1];
    return error ? error : last;
}

bool messages_agree(struct team *team, bool fine) {
    uint64_t sums[2], values[2] = {!fine, 0};
    return messages_sum(team, values, sums) == 0 && sums[0] == 0;
}
