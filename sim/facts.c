/* SPDX-License-Identifier: BSD-3-Clause */
/* facts - what mortar's cost model is told of the simulated machine: what the simulation charges, where it would elsewhere be told
 * what `mortar tune` measured of the network, and what cost.c knows of copying. The linker puts these in the way (--wrap). */
#include "coll/coll.h"
#include "tuning/tuning.h"

#include "world.h"

const struct network_facts *__real_tuning_network(const struct tuning_set *set);
const struct network_facts *__wrap_tuning_network(const struct tuning_set *set);
double __wrap_copy_seconds(const struct team *team, double blocks, size_t bytes);

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
                                   .node_byte_seconds = byte};
    return &facts;
}

double __wrap_copy_seconds(const struct team *team, double blocks, size_t bytes) {
    (void)team;
    return blocks * (world_prices()->piece + (double)bytes * world_prices()->byte);
}
