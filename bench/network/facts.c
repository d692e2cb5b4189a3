/* SPDX-License-Identifier: BSD-3-Clause */
/* network_facts - what the cost model takes from the figures of the pairs. The simulations measure
 * and take alike. */
#include "bench/common/bench.h"
#include "network.h"

#include <stdio.h>

double network_middle(const struct figures *figures, int row, int column) {
    return median_seconds(figure(figures, row, column), figures->done[row]);
}

void network_facts_of(const struct network_settings *settings, const struct pairs *pairs,
                      const struct figures *figures, struct network_facts *facts) {
    int sizes = settings->sizes.sizes, all = settings->columns;
    double longest = (double)settings->sizes.bytes[sizes - 1];
    *facts = (struct network_facts){
        .latency_seconds = network_middle(figures, 0, 0),
        .send_seconds = network_middle(figures, sizes, 0),
        .receive_seconds = network_middle(figures, sizes, 1),
        .message_seconds = network_middle(figures, 0, 1),
        .node_message_seconds = network_middle(figures, 0, all),
        .byte_seconds = network_middle(figures, sizes - 1, 1) / longest,
        .node_byte_seconds = network_middle(figures, sizes - 1, all) / longest,
        .pairs = settings->pairs[all - 1],
    };
    snprintf(facts->between, sizeof facts->between, "%s", pairs->between);
}
