/* SPDX-License-Identifier: BSD-3-Clause */
/* algorithm_arrival - a rank leaves its vector in shared memory and goes; nobody waits but the root (parsons2015 section III, the
 * part within a node). At each inner node of a binary tree over the ranks the first of the two to arrive deposits what it carries
 * and leaves, the second combines both and climbs; who gets to the top hands the result to the root. So work after the last
 * arrival is log p combinations, and who combines depends on arrival, but order and brackets do not.
 *
 * Deposits lie in rings, so that ranks run `depth` calls ahead. All ranks number the calls alike; call k uses entry k % depth of
 * each node. Its word says which side has deposited: 0, or 1 (left), 2 (right). Each side has memory of its own, so nobody waits
 * for a peer between claiming and filling. Whoever arrives from side s finds
 *   0      its partner has not come: it deposits, and sets s, unless meanwhile the partner has;
 *   s      its own side's vector of call k - depth, which the partner has yet to fetch: it waits;
 *   else   the partner's vector of this call: all ranks of side s have left call k - depth, so what was there of it is consumed.
 * A root has one box per class: when all others' vectors and its own are combined, it is in this call and has emptied it.
 *
 * Cost    no barrier; per rank about one copy and one combination. Pieces beyond the largest class.
 * Wins    where ranks come at different times, or run ahead of each other. */
#include "coll/coll.h"

extern const struct algorithm_code algorithm_arrival;

enum {
    line = 64,
    depth0 = 32, /* of powers of two: counters wrap */
    depth1 = 16,
    depth2 = 4,
    bytes0 = 16, /* one cache line per node and call */
    bytes1 = 512,
    bytes2 = 8 << 10,
    largest = arrival_classes - 1
};
static const struct class {
    size_t bytes;
    uint32_t depth;
} classes[arrival_classes] = {{bytes0, depth0}, {bytes1, depth1}, {bytes2, depth2}};
_Static_assert((depth0 + 1) * line + (depth1 + 1) * (line + 2 * bytes1) + (depth2 + 1) * (line + 2 * bytes2) <= arrival_room,
               "room for all entries");

struct entry {
    _Atomic uint32_t word, sleepers;
    uint64_t unused;
    char vectors[]; /* of the left, then of the right */
};

static inline size_t entry_bytes(const struct class *class) {
    return (sizeof(struct entry) + 2 * class->bytes + line - 1) / line * line;
}

/* Entry `slot` of a node; nodes 1 .. p - 1 are those of the tree, and slot `depth` of node r is the box of rank r. */
static struct entry *entry_at(const struct team *team, int class, int node, uint32_t slot) {
    char *at = team->arrival;
    for (int c = 0; c < class; c++) at += (size_t)team->p * (classes[c].depth + 1) * entry_bytes(&classes[c]);
    size_t index = (size_t)node * (classes[class].depth + 1) + slot;
    return (struct entry *)(void *)(at + index * entry_bytes(&classes[class]));
}

static inline char *vector_of(struct entry *entry, int class, uint32_t side) {
    return entry->vectors + (side - 1) * classes[class].bytes;
}

/* What a rank carries up the tree: first its own vector, then what it has combined in its scratch. */
struct load {
    const struct reduction *reduction;
    size_t count, bytes; /* of the piece */
    int class;
    const char *at;
    char *scratch;
};

/* False: the partner's vector is there, so mine is not needed. */
HOT static bool deposit(struct team *team, struct entry *entry, uint32_t side, const struct load *load) {
    uint32_t seen = atomic_load_explicit(&entry->word, memory_order_acquire);
    while (seen == side) {
        wait_change(team, &entry->word, side, &entry->sleepers);
        seen = atomic_load_explicit(&entry->word, memory_order_acquire);
    }
    if (seen != 0) return false;
    memcpy(vector_of(entry, load->class, side), load->at, load->bytes);
    return atomic_compare_exchange_strong_explicit(&entry->word, &seen, side, memory_order_acq_rel, memory_order_acquire);
}

static void set(struct entry *entry, uint32_t value) {
    /* seq_cst: the store must be seen before the count of sleepers is read, or a rank falling asleep is missed. */
    atomic_store_explicit(&entry->word, value, memory_order_seq_cst);
    wait_wake(&entry->word, &entry->sleepers);
}

HOT static void combine(struct load *load, char *theirs, bool left) {
    if (left) {
        load->reduction->combine(load->reduction, load->at, theirs, load->count);
        memcpy(load->scratch, theirs, load->bytes);
    } else {
        if (load->at != load->scratch) memcpy(load->scratch, load->at, load->bytes);
        load->reduction->combine(load->reduction, theirs, load->scratch, load->count);
    }
    load->at = load->scratch;
}

/* Do I carry the result? */
HOT static bool climb(struct team *team, struct load *load, uint32_t number) {
    uint32_t p = (uint32_t)team->p, slot = number % classes[load->class].depth;
    for (uint32_t level = 0; (1u << level) < p; level++) {
        uint32_t block = (uint32_t)team->me >> level, right = (block | 1)
                                                              << level; /* where the right half begins: names the node */
        if (right >= p) continue;                                       /* there is no right half */
        struct entry *entry = entry_at(team, load->class, (int)right, slot);
        uint32_t side = 1 + (block & 1);
        if (deposit(team, entry, side, load)) return false;
        combine(load, vector_of(entry, load->class, 3 - side), side == 1);
        set(entry, 0);
    }
    return true;
}

HOT static void reduce_piece(struct team *team, const struct call *call, struct load *load, char *result) {
    int root = call->root;
    bool top = climb(team, load, team->arrivals[load->class]++);
    if (!top && team->me != root) return;
    struct entry *box = entry_at(team, load->class, root, classes[load->class].depth);
    if (team->me != root) {
        memcpy(box->vectors, load->at, load->bytes);
        set(box, 1);
        return;
    }
    if (!top) wait_change(team, &box->word, 0, &box->sleepers);
    memcpy(result, top ? load->at : box->vectors, load->bytes);
    if (!top) atomic_store_explicit(&box->word, 0, memory_order_release);
}

HOT static enum outcome run(struct team *team, const struct call *call, const struct arguments *arguments) {
    (void)arguments;
    const struct reduction *reduction = call->reduction;
    _Alignas(line) char scratch[bytes2];
    size_t bytes = reduction->bytes, most = bytes2 / bytes;
    if (most == 0) return LEFT;
    for (size_t at = 0, now; at < reduction->count; at += now) {
        now = reduction->count - at < most ? reduction->count - at : most;
        struct load load = {reduction, now, now * bytes, 0, call->send + at * bytes, scratch};
        while (classes[load.class].bytes < load.bytes) load.class ++;
        reduce_piece(team, call, &load, call->recv + at * bytes);
    }
    return DONE;
}

/* Per rank one copy and one combination, and others' cache lines; ranks that run ahead wait when a ring is full. */
static double cost(const struct team *team, const struct shape *shape) {
    static const double visit_seconds = 100e-9;
    double pieces = (double)(shape->bytes / classes[largest].bytes + 1);
    uint32_t depth = classes[shape->bytes <= classes[0].bytes ? 0 : shape->bytes <= classes[1].bytes ? 1 : largest].depth;
    return crowding(team) * (pieces * visit_seconds + combine_seconds(shape->bytes) + copy_seconds(team, 2, shape->bytes)) +
           pieces / depth * team->sync_seconds;
}

const struct algorithm_code algorithm_arrival = {.loose = true, .copies_in = true, .cost = cost, .run = run};
