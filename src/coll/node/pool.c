/* SPDX-License-Identifier: BSD-3-Clause */
/* pool - arrival.c's other way to combine, where the order does not matter (option REDUCE=arrival): at most one vector per call
 * waits in the pool. A rank that finds one combines it with its own and looks again; a rank that finds none leaves what it has, and
 * goes, unless that is everybody's. So the last to arrive combines once or twice, not log p times (parsons2015 section III).
 *
 * The hub of a call is the word of node 0's entry: in its upper half the round, call / depth, in its lower half 1 + the rank whose
 * vector waits, or 0. Who holds everything begins the next round; until then ranks that are `depth` calls ahead wait, so a vector
 * is not written again before it was read. */
#include "coll/node/arrival.h"

HOT bool pool_combine(struct team *team, struct load *load, uint32_t number) {
    uint32_t depth = classes[load->class].depth, slot = number % depth, round = number / depth << 16;
    struct entry *hub = entry_at(team, load->class, 0, slot), *mine = entry_at(team, load->class, team->me, slot);
    uint32_t seen = flag_look(&hub->flag);
    while ((seen ^ round) >> 16 != 0) seen = flag_wait(team, &hub->flag, seen);
    uint64_t held = 1;
    while (held < (uint64_t)team->p) {
        uint32_t waits = seen & 0xffff, wanted = waits ? round : round | (uint32_t)(team->me + 1);
        if (!waits) {
            if (load->at != mine->vectors) memcpy(mine->vectors, load->at, load->bytes);
            mine->held = held;
        }
        if (!atomic_compare_exchange_strong_explicit(&hub->flag.word, &seen, wanted, memory_order_acq_rel, memory_order_acquire))
            continue;
        if (!waits) return false;
        struct entry *theirs = entry_at(team, load->class, (int)waits - 1, slot);
        load->reduction->combine(load->reduction, load->at, theirs->vectors, load->count);
        load->at = theirs->vectors;
        held += theirs->held;
        seen = flag_look(&hub->flag);
    }
    load_hold(load, hub, load->at, round + (1u << 16)); /* nobody writes there before the next round */
    return true;
}
