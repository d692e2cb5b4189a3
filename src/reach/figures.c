/* SPDX-License-Identifier: BSD-3-Clause */
/* figures - the figures of the three kinds of teams; see figures.h. */
#include "reach/figures.h"

#include "base/base.h"
#include "reach/messages.h"

static double figures_longer(double ratio) { return ratio > 1 ? ratio - 1 : 0; }

struct network network_of(const struct network_facts *facts) {
    double overhead = (facts->send_seconds + facts->receive_seconds) / 2;
    double latency = facts->latency_seconds - 2 * overhead;
    return (struct network){.latency = latency > 0 ? latency : 0,
                            .overhead = overhead,
                            .byte = facts->byte_seconds,
                            .node_byte = facts->node_byte_seconds,
                            .gap = facts->node_message_seconds,
                            .one = figures_longer(facts->one_partner_ratio),
                            .many = figures_longer(facts->many_partners_ratio),
                            .measured = facts->pairs > 0};
}

double gates_usual(int p, int processors) {
    static const double gates_seconds = 0.2e-6; /* simulated */
    return few(p, processors) ? gates_seconds : 0;
}

/* With a processor for each rank: as measured with up to 8, less what beacons save, and with more
 * as simulated for each level of gates (docs/cores.md). Oversubscribed: one context switch for each
 * rank of a processor; 70 us for 64 ranks on 2 cores of an EPYC virtual machine, 2026-11, `mortar
 * bench barrier`. */
double sync_usual(int p, int processors) {
    static const double base_seconds = 0.5e-6, rank_seconds = 50e-9, spread_seconds = 0.2e-6,
                        level_seconds = 0.5e-6, switch_seconds = 2.2e-6;
    enum { fan = 4 };
    if (processors > 0 && p > processors) return switch_seconds * p / processors;
    if (!spreads(p, processors))
        return base_seconds + rank_seconds * p - gates_usual(p, processors);
    int levels = 0;
    for (int met = 1; met < p; met *= fan) levels++;
    return spread_seconds + level_seconds * levels;
}

struct figures figures_of_node(int p) {
    return (struct figures){.where = ON_NODE,
                            .p = p,
                            .nodes = 1,
                            .most = p,
                            .fewest = p,
                            .in_order = true,
                            .domains = 1};
}

struct figures figures_over(const struct places *places, const struct figures *fullest) {
    struct figures figures = *fullest;
    figures.where = OVER_NODES;
    figures.p = places->first[places->nodes];
    figures.nodes = places->nodes;
    figures.most = figures.fewest = places->most;
    for (int n = 0; n < places->nodes; n++)
        if (ranks_on(places, n) < figures.fewest) figures.fewest = ranks_on(places, n);
    figures.in_order = places->in_order;
    figures.network = network_of(&network_usual);
    figures.node = fullest;
    return figures;
}

struct figures figures_of_lane(const struct figures *figures) {
    return (struct figures){.where = BY_MESSAGES,
                            .p = figures->nodes,
                            .nodes = figures->nodes,
                            .most = 1,
                            .fewest = 1,
                            .in_order = true,
                            .domains = 1,
                            .l2_bytes = figures->l2_bytes,
                            .l3_bytes = figures->l3_bytes,
                            .network = figures->network};
}
