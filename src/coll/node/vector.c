/* SPDX-License-Identifier: BSD-3-Clause */
/* vector - exchanges of blocks of any counts, places and types: what pull and cico do for
 * alltoallv, alltoallw, allgatherv, for typed alltoall and allgather, and along the edges of a
 * neighbourhood. Each rank writes a card that says how peers get at its blocks (offers.h). After
 * one barrier all ranks read the cards and copy. If some rank's blocks are read in place, a second
 * barrier ends the call. If some blocks are out of reach and do not fit into the stage, further
 * rounds follow, with a barrier each. Staged blocks are packed as densely as the sizes of the last
 * call allow, since on oversubscribed nodes the pages touched dominate a short call. A rank that
 * needs more room than that has another round. li2018 section 2.2 (irregular exchanges in the same
 * order), section 3 (neighbourhoods); the offers are mortar's own. */
#include "coll/node/notes.h"

#include <stdlib.h>

struct vector_card {
    _Alignas(64) struct offer sends;
    struct offer recvs; /* straight, if others may write my receive buffer */
};
_Static_assert(sizeof(struct vector_card) <= CARD_BYTES && CARD_BYTES % 64 == 0,
               "a card has its place in the control block");
_Static_assert(COLLECTIVES <= sizeof((struct team *)0)->last_calls / sizeof(struct last_call),
               "every collective has a last call");

/* One call on one rank. */
struct exchange {
    struct team *team;
    const struct call *call;
    const struct arguments *arguments;
    uint32_t half;  /* of the cards to read */
    uint32_t first; /* whose block I take first, if each rank takes its own */
    size_t most;    /* up to so many bytes in all are staged even if they could be read in place */
    size_t room;    /* staging bytes of each rank */
    bool cells;     /* in this walk ranks write each other's receive buffers */
    bool later;     /* in a round after the first: there are no notes */
};

static struct vector_card *card_of(const struct exchange *x, int rank) {
    return card_at(x->team, x->half, rank);
}
static inline struct note_place place_of(const struct exchange *x, int rank) {
    char *area = stage_of(x->team, x->half, rank, x->room), *beside = area;
    if (x->team->beacons) beside = stage_of(x->team, x->half, rank, BEACON_INSIDE);
    return (struct note_place){(struct note *)(void *)beside, area};
}
static bool has_note(const struct exchange *x, int rank) {
    return !x->later && note_is_here(place_of(x, rank).note);
}
/* For what is offered by card: it leaves room for the note. */
static char *vector_area_of(const struct exchange *x, int rank) {
    return stage_of(x->team, x->half, rank, x->room) + NOTE_BYTES;
}
static bool is_straight(const struct exchange *x, int rank) {
    return !has_note(x, rank) && card_of(x, rank)->sends.how == OFFER_STRAIGHT;
}

size_t short_bytes(const struct figures *f, size_t block) {
    return (size_t)(f->sync_seconds / (crowding(f) * copy_seconds(f, 1, block) / (double)block));
}
HOT size_t short_in(struct team *team) {
    if (team->short_bytes == 0) team->short_bytes = short_bytes(&team->figures, usual_block) + 1;
    return team->short_bytes - 1;
}

/* ---- before the barrier ---- */

/* A part has a table of its blocks, and some bytes of them. */
static inline size_t least_room(int blocks) {
    return NOTE_BYTES + starts_bytes(blocks) + sizeof(uint64_t);
}

/* Room of each rank in the first round: what the last call needed, as a power of two, and at least
 * what a part takes (least_room). The whole slot if the last call's blocks were too long to be
 * staged, as then only blocks out of reach are staged; also for neighbourhoods, of which nothing is
 * known. */
HOT static size_t first_room(const struct exchange *x, const struct last_call *last) {
    const struct call *call = x->call;
    size_t slot = x->team->figures.slot, chunk = x->arguments->chunk, room = 64;
    if (call->neighbours) return slot;
    size_t count = (size_t)call->sends->count, least = least_room(call->sends->count);
    if (chunk > 0 && chunk < slot) room = chunk * count + least;
    else if (last->bytes > x->most || last->bytes > slot) return slot;
    else {
        while (room < last->bytes) room *= 2;
        room += note_head(call->sends->count, last->uneven, room);
    }
    if (room < least) room = least;
    room = (room + 63) / 64 * 64;
    return room < slot ? room : slot;
}

/* What my card says of blocks that are not short enough for a note. */
static uint32_t offer_sends(const struct exchange *x) {
    struct offer *sends = &card_of(x, x->team->me)->sends;
    char *area = vector_area_of(x, x->team->me);
    size_t room = x->room - NOTE_BYTES;
    if (x->most == SIZE_MAX) offer_copied(sends, area, room, x->call->sends);
    else offer_make(x->team, sends, area, room, x->most, x->call->sends);
    return sends->how == OFFER_STRAIGHT ? IN_PLACE : MORE;
}

/* Leaves my note, or writes my card; returns the trouble flags to arrive with. */
HOT static uint32_t offer(const struct exchange *x) {
    const struct call *call = x->call;
    if (call->trouble & LEAVE) return call->trouble;
    /* Very many neighbours. */
    if (least_room(call->sends->count) > x->room) return NO_MEMORY;
    bool noted = note_write(place_of(x, x->team->me), x->room, x->most, call->sends);
    uint32_t trouble = noted ? 0 : offer_sends(x);
    if (x->cells && !offer_shown(x->team, &card_of(x, x->team->me)->recvs, call->recvs))
        trouble |= RECV_UNREACHABLE;
    return trouble;
}

/* My part of a neighbourhood's edges in this order. False: no memory. */
static bool have_segment(struct team *team, const struct neighbours *neighbours, int which,
                         enum order_id order) {
    struct edge **segment = &team->segment[which][order];
    if (*segment) return true;
    size_t count = neighbours->edge_count, *mine = &team->segment_count[which][order];
    struct matrix matrix = {.p = (uint32_t)team->p, .domain_of = team->domain_of};
    struct edge *all = malloc((count + 1) * sizeof *all);
    if (!all) return false;
    if (count > 0) memcpy(all, neighbours->edges, count * sizeof *all);
    *mine = orders[order].part(&matrix, (uint32_t)team->me, all, count);
    *segment = malloc((*mine + 1) * sizeof *all);
    if (*segment) memcpy(*segment, all, *mine * sizeof *all);
    free(all);
    return *segment != NULL;
}

/* ---- after the barrier ---- */

/* Records what the next call may expect. Every rank reads all cards, which it needs anyway, and
 * gets the same result. */
HOT static void vector_remember(const struct exchange *x, struct last_call *last) {
    *last = (struct last_call){.left = sure_calls};
    for (int r = 0; r < x->team->p; r++) {
        const struct note *note = place_of(x, r).note;
        const struct offer *sends = &card_of(x, r)->sends;
        bool here = note_is_here(note);
        size_t bytes = here ? note->bytes : sends->bytes;
        if (bytes > last->bytes) last->bytes = bytes;
        last->uneven |= here ? note->each == NOTE_UNEVEN : !sends->even;
    }
}

/* If every rank has left a note: takes my blocks from them, and records the same. */
HOT static void take_notes(const struct exchange *x, struct last_call *last) {
    const struct call *call = x->call;
    const int me = is_personal(call->shape.collective) ? x->team->me : 0;
    *last = (struct last_call){.left = sure_calls};
    uint32_t p = (uint32_t)x->team->p, i = x->first < p ? x->first : 0;
    for (uint32_t k = 0; k < p; k++, i = i + 1 < p ? i + 1 : 0) {
        struct note_place place = place_of(x, (int)i);
        struct block mine = block_of(call->recvs, (int)i);
        size_t bytes;
        const char *data = note_block(place, me, &bytes);
        if (place.note->bytes > last->bytes) last->bytes = place.note->bytes;
        last->uneven |= place.note->each == NOTE_UNEVEN;
        fit_block(&mine, bytes);
        put_block(&mine, data, bytes);
    }
}

/* Copies one block. cells: in a walk in which ranks write each other's receive buffers, through the
 * writable mapping. */
HOT static void copy_edge(const struct exchange *x, struct edge e, bool cells) {
    const struct call *call = x->call;
    int me = x->team->me, source = (int)e.source, dest = (int)e.dest,
        out = is_personal(call->shape.collective) ? (int)e.out : 0;
    const struct vector_card *from = card_of(x, source);
    struct block to = cells ? offer_block(x->team, dest, &card_of(x, dest)->recvs, (int)e.in, true)
                            : block_of(call->recvs, (int)e.in);
    if (source == me || (cells && is_straight(x, source))) {
        struct block block = source == me ? block_of(call->sends, out)
                                          : offer_block(x->team, source, &from->sends, out, true);
        if (source == me && dest == me) fit_block(&to, block_bytes(&block));
        relay_block(&to, &block, &x->arguments->copier);
    } else if (has_note(x, source)) {
        size_t bytes;
        const char *data = note_block(place_of(x, source), out, &bytes);
        fit_block(&to, bytes);
        put_block(&to, data, bytes);
    } else {
        offer_take(x->team, source, &from->sends, vector_area_of(x, source), out, &to,
                   &x->arguments->copier);
    }
}

/* Every rank takes its own blocks, from itself in the first round. */
HOT static void take_rows(const struct exchange *x) {
    const struct neighbours *neighbours = x->call->neighbours;
    uint32_t p = (uint32_t)x->team->p, me = (uint32_t)x->team->me;
    for (int e = 0; neighbours && e < neighbours->from_count; e++)
        if (!x->later || neighbours->from[e].source != me) copy_edge(x, neighbours->from[e], false);
    for (uint32_t k = 0; !neighbours && k < p; k++) {
        uint32_t i = x->first + k < p ? x->first + k : x->first + k - p;
        if (!x->later || i != me)
            copy_edge(x, (struct edge){.source = i, .dest = me, .out = me, .in = i}, false);
    }
}

/* Copies a piece of one block, or all of it. False: nothing of the block is left. */
HOT static bool copy_piece(const struct exchange *x, struct cell c, size_t piece) {
    const struct call *call = x->call;
    int me = x->team->me, source = (int)c.source, dest = (int)c.dest;
    const struct vector_card *from = card_of(x, source), *to = card_of(x, dest);
    struct edge e = {.source = c.source, .dest = c.dest, .out = c.dest, .in = c.source};
    /* It is there. Its owner may be copying from it, so it must not be written again either. */
    if (source == dest && call->in_place) return false;
    if (source != me && !is_straight(x, source)) {
        if (piece == 0) copy_edge(x, e, true);
        return false;
    }
    int out = is_personal(call->shape.collective) ? dest : 0;
    struct block target = offer_block(x->team, dest, &to->recvs, source, true);
    struct block block = source == me ? block_of(call->sends, out)
                                      : offer_block(x->team, source, &from->sends, out, true);
    return relay_piece(&target, &block, &x->arguments->copier, piece);
}

/* Every rank copies the blocks of its part of the walk, its own or others'. */
static void take_cells(const struct exchange *x) {
    const struct team *team = x->team;
    if (x->call->neighbours) {
        int which = neighbourhood_of(x->call->shape.collective);
        enum order_id order = x->arguments->walk.order;
        for (size_t e = 0; e < team->segment_count[which][order]; e++)
            copy_edge(x, team->segment[which][order][e], true);
        return;
    }
    const struct cell *cells = team->cells[x->arguments->walk.order][x->arguments->walk.inner];
    bool more = true;
    for (size_t piece = 0; more; piece++) {
        more = false;
        for (int k = 0; k < team->p; k++) more |= copy_piece(x, cells[k], piece);
    }
    if (x->arguments->copier.kernel != KERNEL_plain) copy_fence();
}

/* If others have copied to my blocks, I check myself that these were long enough. */
static void fit_rows(const struct exchange *x) {
    const struct call *call = x->call;
    bool personal = is_personal(call->shape.collective);
    int count = call->neighbours ? call->neighbours->from_count : x->team->p;
    for (int k = 0; k < count; k++) {
        struct edge e = {.source = (uint32_t)k, .out = (uint32_t)x->team->me, .in = (uint32_t)k};
        if (call->neighbours) e = call->neighbours->from[k];
        struct block mine = block_of(call->recvs, (int)e.in);
        int source = (int)e.source, out = personal ? (int)e.out : 0;
        size_t bytes;
        if (has_note(x, source)) note_block(place_of(x, source), out, &bytes);
        else
            bytes = offer_bytes(x->team, source, &card_of(x, source)->sends,
                                vector_area_of(x, source), out);
        fit_block(&mine, bytes);
    }
}

/* Further rounds until no rank has more. My last card lies in the other half, where only I write
 * mine. */
static void take_more(struct exchange *x, uint32_t trouble) {
    struct team *team = x->team;
    bool over = has_note(x, team->me);
    x->room = x->arguments->chunk ? x->room : team->figures.slot;
    x->later = true;
    while (trouble & MORE) {
        const struct offer *before = &card_of(x, team->me)->sends;
        x->half = team->epoch & 1;
        struct offer *offer = &card_of(x, team->me)->sends;
        *offer = *before;
        char *area = vector_area_of(x, team->me);
        if (over || !offer_next(offer, area, x->room - NOTE_BYTES, x->call->sends))
            offer->how = OFFER_OVER;
        bool more = offer->how == OFFER_PART && offer->at + offer->window < offer->bytes;
        trouble = sync_all(team, more ? MORE : 0);
        take_rows(x);
    }
}

/* Sets all members. most: as in vector_exchange. half: of the barrier that shows the cards. A
 * struct that is returned would be copied by wider loads than it was stored by, which wait. */
HOT static inline void exchange_enter(struct exchange *x, struct team *team,
                                      const struct call *call, const struct arguments *arguments,
                                      size_t most, uint32_t half) {
    const struct last_call *last = &team->last_calls[call->shape.collective];
    enum order_id order = arguments->walk.order;
    x->team = team;
    x->call = call;
    x->arguments = arguments;
    x->half = half;
    /* pull(rows) begins with the next rank's block. Without an order (cico) all is staged. */
    bool next = most != SIZE_MAX && order == ORDER_rows;
    x->first = (uint32_t)(next ? team->me + 1 : team->first);
    x->most = most;
    /* Short blocks are staged, and each rank takes its own: showing the receive side would cost
     * more than it saves. */
    x->cells = !orders[order].own_dest && (call->neighbours || last->bytes > most);
    x->later = false;
    x->room = first_room(x, last);
}

/* Behind the barrier. trouble: of all ranks. */
HOT static inline enum outcome exchange_end(struct exchange *x, uint32_t trouble) {
    struct team *team = x->team;
    const struct call *call = x->call;
    struct last_call *last = &team->last_calls[call->shape.collective];
    if (trouble & LEAVE) return LEFT;
    if (!trouble && !call->neighbours) {
        take_notes(x, last);
        return DONE;
    }
    if (!call->neighbours) vector_remember(x, last);
    bool cells = x->cells && (trouble & (IN_PLACE | MORE | RECV_UNREACHABLE)) == IN_PLACE;
    if (cells) take_cells(x), fit_rows(x);
    else take_rows(x);
    /* a rank that arrives there has read all blocks in place */
    if (trouble & MORE) take_more(x, trouble);
    else if (trouble & IN_PLACE) sync_all(team, 0);
    if (cells) offer_taken_back(team, call->recvs);
    return DONE;
}

HOT enum outcome vector_exchange(struct team *team, const struct call *call,
                                 const struct arguments *arguments, size_t most) {
    struct exchange x;
    exchange_enter(&x, team, call, arguments, most, team->epoch & 1);
    const struct neighbours *neighbours = call->neighbours;
    int which = neighbourhood_of(call->shape.collective);
    bool able = !x.cells || !neighbours ||
                have_segment(team, neighbours, which, arguments->walk.order);
    return exchange_end(&x, sync_all(team, able ? offer(&x) : NO_MEMORY));
}

/* ---- short blocks, by a single barrier ---- */

static bool is_single(const struct team *team, const struct call *call,
                      const struct arguments *arguments) {
    (void)team;
    return is_vector(call->shape.collective) && !call->neighbours &&
           orders[arguments->walk.order].own_dest;
}

SHORT_WAY static uint32_t before(struct team *team, const struct call *call,
                                 const struct arguments *arguments) {
    struct exchange x;
    exchange_enter(&x, team, call, arguments, short_in(team), team->epoch & 1);
    return offer(&x);
}

SHORT_WAY static enum outcome after(struct team *team, const struct call *call,
                                    const struct arguments *arguments, uint32_t half,
                                    uint32_t trouble) {
    struct exchange x;
    exchange_enter(&x, team, call, arguments, short_in(team), half);
    blocks_cut = false;
    enum outcome outcome = exchange_end(&x, trouble);
    return !trouble && blocks_cut ? FAILED : outcome;
}

const struct single vector_single = {.is = is_single, .before = before, .after = after};

enum outcome typed_exchange(struct team *team, const struct call *call,
                            const struct arguments *arguments, size_t most) {
    struct call typed = *call;
    struct blocks sends, recvs;
    sides_of(team, call, &sends, &recvs);
    typed.sends = &sends, typed.recvs = &recvs;
    return vector_exchange(team, &typed, arguments, most);
}
