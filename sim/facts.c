/* SPDX-License-Identifier: BSD-3-Clause */
/* facts - what mortar's cost model is told of the simulated machine: what the simulation charges,
 * where it would elsewhere be told what `mortar bench network` measured, and what cost.c knows of
 * copying. The linker puts these in the way (--wrap). What all nodes get at once no price tells: it
 * is measured, as that command does. */
#include "bench/network/contention.h"
#include "coll/coll.h"
#include "tuning/tuning.h"

#include "sim.h"
#include "world.h"

const struct network_facts *__real_tuning_network(const struct tuning_set *set);
const struct network_facts *__wrap_tuning_network(const struct tuning_set *set);
double __wrap_copy_seconds(const struct figures *f, double blocks, size_t bytes);

static double one_partner, many_partners; /* ratios; 0: not measured */

void facts_measure(int ranks, int me) {
    enum { bytes = 128 << 10 };
    const int windows[] = {1, contention_window};
    int nodes = (int)world_prices()->nodes, each = nodes > 0 ? ranks / nodes : 0;
    if (nodes < 3 || each * nodes != ranks) return;
    struct contention c = {MPI_COMM_WORLD,
                           each,
                           nodes,
                           me / each,
                           world_common(2, bytes),
                           world_common(3, (size_t)contention_messages * bytes),
                           bytes};
    double ratios[2], seconds[2];
    for (int w = 0; w < 2; w++) {
        for (int alone = 0; alone < 2; alone++) {
            double start = world_meet(world_clock(), NULL);
            if (me % each == 0) contention_exchange(&c, windows[w], alone);
            seconds[alone] = world_meet(world_clock(), NULL) - start;
        }
        ratios[w] = seconds[0] / seconds[1];
    }
    one_partner = contention_told(ratios[0]);
    many_partners = contention_told(contention_limit(ratios[0], ratios[1]));
}

/* On a platform that is not our own only its author knows. */
const struct network_facts *__wrap_tuning_network(const struct tuning_set *set) {
    static struct network_facts facts;
    const struct world_prices *prices = world_prices();
    if (prices->bandwidth <= 0) return __real_tuning_network(set);
    double overhead = prices->overhead, byte = 1 / prices->bandwidth;
    facts = (struct network_facts){.latency_seconds = prices->latency + 2 * overhead,
                                   .send_seconds = overhead,
                                   .receive_seconds = overhead,
                                   .message_seconds = 2 * overhead,
                                   .byte_seconds = byte,
                                   .node_byte_seconds = byte,
                                   .one_partner_ratio = one_partner,
                                   .many_partners_ratio = many_partners};
    return &facts;
}

double __wrap_copy_seconds(const struct figures *f, double blocks, size_t bytes) {
    (void)f;
    return blocks * (world_prices()->piece + (double)bytes * world_prices()->byte);
}
