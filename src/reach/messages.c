/* SPDX-License-Identifier: BSD-3-Clause */
/* messages - messages between the ranks of a team with a wire: numbers requests, counts traffic,
 * splits long messages, tracks lost parts. Also the small collectives that set-up needs. */
#include "reach/reach.h"

#include <errno.h>
#include <string.h>

const size_t message_most = 1 << 30;

enum { TAG_SETUP = TAGS - 1 };

int messages_mark(const struct team *team) { return *team->wire->under_way; }

static int peer_of(const struct wire *wire, int rank) {
    return wire->ranks ? wire->ranks[rank] : rank;
}

/* True: the rank is on my node. The other ranks of a lane never are. */
static bool is_near(const struct team *team, int rank) {
    const struct places *places = team->places;
    if (!places) return rank == team->me;
    return places->node_of[rank] == places->node_of[team->me];
}

/* The address of an empty message: a lost part sends it instead of data. */
static char nothing[8];

static void messages_start(struct team *team, bool sends, int rank, char *data, size_t bytes,
                           int tag, bool word) {
    struct wire *wire = team->wire;
    bool empty = wire->fate->lost && !word;
    for (size_t done = 0, now; done < bytes; done += now) {
        now = bytes - done < message_most ? bytes - done : message_most;
        size_t moved = empty && sends ? 0 : now;
        char *at = data + done;
        if (empty) at = sends ? nothing : NULL;
        if (wire->carrier->start(wire->state, sends, peer_of(wire, rank), at, moved,
                                 wire->tag + tag, *wire->under_way) != 0) {
            wire->fate->lost = true;
            continue;
        }
        ++*wire->under_way;
        if (!sends) continue;
        bool far = !is_near(team, rank);
        wire->traffic->messages++, wire->traffic->bytes += moved;
        wire->traffic->far_messages += far, wire->traffic->far_bytes += far ? moved : 0;
    }
}

void message_send(struct team *team, int to, const void *data, size_t bytes, int tag) {
    messages_start(team, true, to, (char *)(uintptr_t)data, bytes, tag, false);
}

void message_recv(struct team *team, int from, void *data, size_t bytes, int tag) {
    messages_start(team, false, from, data, bytes, tag, false);
}

void word_send(struct team *team, int to, const void *data, size_t bytes, int tag) {
    messages_start(team, true, to, (char *)(uintptr_t)data, bytes, tag, true);
}

void word_recv(struct team *team, int from, void *data, size_t bytes, int tag) {
    messages_start(team, false, from, data, bytes, tag, true);
}

/* ---- the state of this rank's part in a call ---- */

void messages_begin(struct team *team, bool lost, bool ends_here) {
    *team->wire->fate = (struct fate){.lost = lost, .ends_here = ends_here};
}

bool messages_lost(const struct team *team) { return team->wire->fate->lost; }

void messages_lose(struct team *team) { team->wire->fate->lost = true; }

static void note_mishaps(struct fate *fate, int mishaps) {
    if (mishaps & CAME_CUT) fate->cut = true;
    if (mishaps & (CAME_EMPTY | NOT_CARRIED) || (mishaps & CAME_CUT && !fate->ends_here))
        fate->lost = true;
}

void messages_finish(struct team *team, int mark) {
    struct wire *wire = team->wire;
    int count = *wire->under_way - mark;
    if (count > 0) note_mishaps(wire->fate, wire->carrier->all(wire->state, team, mark, count));
    *wire->under_way = mark;
}

void messages_next(struct team *team, int mark, int *which) {
    struct wire *wire = team->wire;
    int mishaps = wire->carrier->some(wire->state, team, mark, *wire->under_way - mark, which);
    note_mishaps(wire->fate, mishaps);
    if (mishaps & NOT_CARRIED) *which = -1;
    if (*which < 0) *wire->under_way = mark;
    else *which -= mark;
}

int messages_look(struct team *team, int tag) {
    const struct wire *wire = team->wire;
    int peer = wire->carrier->look(wire->state, wire->tag + tag), rank = 0;
    if (peer < 0 || !wire->ranks) return peer;
    while (rank < team->p && wire->ranks[rank] != peer) rank++;
    return rank < team->p ? rank : -1;
}

/* ---- collectives for set-up: a binomial tree with rank 0 as its root ---- */

/* Restores the fate of the call that was interrupted. 0, or -EIO if a message was lost or cut. */
static int messages_settle(struct team *team, struct fate before) {
    bool fine = !team->wire->fate->lost && !team->wire->fate->cut;
    *team->wire->fate = before;
    return fine ? 0 : -EIO;
}

/* Broadcasts from rank 0. */
static void messages_relay(struct team *team, void *data, size_t bytes) {
    int mark = messages_mark(team), bit = 1;
    while (bit < team->p && !(team->me & bit)) bit *= 2;
    if (team->me > 0) message_recv(team, team->me - bit, data, bytes, TAG_SETUP);
    messages_finish(team, mark);
    for (bit /= 2; bit > 0; bit /= 2)
        if (team->me + bit < team->p) message_send(team, team->me + bit, data, bytes, TAG_SETUP);
    messages_finish(team, mark);
}

int messages_tell(struct team *team, void *data, size_t bytes) {
    struct fate before = *team->wire->fate;
    messages_begin(team, false, false);
    messages_relay(team, data, bytes);
    return messages_settle(team, before);
}

int messages_gather(struct team *team, const void *mine, void *all, size_t bytes) {
    struct fate before = *team->wire->fate;
    int mark = messages_mark(team);
    messages_begin(team, false, false);
    memcpy((char *)all + (size_t)team->me * bytes, mine, bytes);
    if (team->me > 0) message_send(team, 0, mine, bytes, TAG_SETUP);
    for (int r = 1; team->me == 0 && r < team->p; r++)
        message_recv(team, r, (char *)all + (size_t)r * bytes, bytes, TAG_SETUP);
    messages_finish(team, mark);
    messages_relay(team, all, (size_t)team->p * bytes);
    return messages_settle(team, before);
}

int messages_sum(struct team *team, const uint64_t *values, uint64_t *sums, int count) {
    struct fate before = *team->wire->fate;
    int mark = messages_mark(team);
    messages_begin(team, false, false);
    uint64_t theirs[sum_words] = {0};
    size_t bytes = (size_t)count * sizeof *sums;
    memcpy(sums, values, bytes);
    for (int bit = 1; bit < team->p; bit *= 2) {
        if (team->me & bit) {
            message_send(team, team->me - bit, sums, bytes, TAG_SETUP);
            break;
        }
        if (team->me + bit >= team->p) continue;
        message_recv(team, team->me + bit, theirs, bytes, TAG_SETUP);
        messages_finish(team, mark);
        for (int i = 0; i < count; i++) sums[i] += theirs[i];
    }
    messages_finish(team, mark);
    messages_tell(team, sums, bytes);
    return messages_settle(team, before);
}

bool messages_agree(struct team *team, bool fine) {
    uint64_t refusals, refused = !fine;
    return messages_sum(team, &refused, &refusals, 1) == 0 && refusals == 0;
}
