/* SPDX-License-Identifier: BSD-3-Clause */
/* facts - what mortar's cost model is told of the simulated machine: what the simulation charges,
 * where it would elsewhere be told what `mortar bench network` measured, and what cost.c knows of
 * copying. The linker puts these in the way (--wrap). What all nodes get at once no price tells: it
 * is measured, as that command does. If the price `facts` asks for it, the model goes by its own
 * constants instead, with or without a measured network. */
#include "bench/network/contention.h"
#include "coll/coll.h"
#include "tuning/tuning.h"

#include "sim.h"
#include "world.h"

#include <stdlib.h>

const struct network_facts *__real_tuning_network(const struct tuning_set *set);
const struct network_facts *__wrap_tuning_network(const struct tuning_set *set);
double __wrap_copy_seconds(const struct figures *f, double blocks, size_t bytes);
double __real_copy_seconds(const struct figures *f, double blocks, size_t bytes);

enum { TOLD, USUAL, MEASURED }; /* of the price `facts` */
static struct network_facts measured;
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
    if ((int)world_prices()->facts != MEASURED) return;
    bool fine = measure_network(each, me, &measured);
    if (world_meet(!fine, NULL) > 0) exit(1);
    measured.one_partner_ratio = one_partner;
    measured.many_partners_ratio = many_partners;
    if (me == 0)
        note(
            "measured: latency %.3f us, send %.3f, receive %.3f, message %.3f, of a node %.3f, byte %.4f ns, of a node %.4f",
            measured.latency_seconds * 1e6, measured.send_seconds * 1e6,
            measured.receive_seconds * 1e6, measured.message_seconds * 1e6,
            measured.node_message_seconds * 1e6, measured.byte_seconds * 1e9,
            measured.node_byte_seconds * 1e9);
}

/* On a platform that is not our own only its author knows. */
const struct network_facts *__wrap_tuning_network(const struct tuning_set *set) {
    static struct network_facts facts;
    const struct world_prices *prices = world_prices();
    if ((int)prices->facts == MEASURED) return &measured;
    if (prices->bandwidth <= 0 || (int)prices->facts == USUAL) return __real_tuning_network(set);
    double overhead = prices->overhead, byte = 1 / prices->bandwidth,
           rank_byte = prices->rank_byte > byte ? prices->rank_byte : byte;
    facts = (struct network_facts){.latency_seconds = prices->latency + 2 * overhead,
                                   .send_seconds = overhead,
                                   .receive_seconds = overhead,
                                   .message_seconds = 2 * overhead,
                                   .node_message_seconds = prices->gap,
                                   .byte_seconds = rank_byte,
                                   .node_byte_seconds = byte,
                                   .one_partner_ratio = one_partner,
                                   .many_partners_ratio = many_partners};
    return &facts;
}

double __wrap_copy_seconds(const struct figures *f, double blocks, size_t bytes) {
    if ((int)world_prices()->facts != TOLD) return __real_copy_seconds(f, blocks, bytes);
    return blocks * (world_prices()->piece + (double)bytes * world_prices()->byte);
}
