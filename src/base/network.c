/* SPDX-License-Identifier: BSD-3-Clause */
/* network - what the cost model assumes for a network that was not measured: one InfiniBand FDR
 * link per node, which carries 6.8 GB/s in each direction. Half a round trip takes 1.5 us,
 * including 0.25 us for the send and 0.25 us for the receive: public figures of osu_mbw_mr for one
 * pair on Omni-Path, 2.9 to 3.3 million messages per second, give 0.3 us per message. One rank
 * saturates the link with long messages, as adapters with DMA allow. A node sends 10 million
 * messages a second: a cautious guess, far below what vendors state. */
#include "base/base.h"

const struct network_facts network_usual = {
    .latency_seconds = 1.5e-6,
    .send_seconds = 0.25e-6,
    .receive_seconds = 0.25e-6,
    .message_seconds = 0.5e-6, /* a rank that sends and receives pays both */
    .node_message_seconds = 0.1e-6,
    .byte_seconds = 1 / 6.8e9,
    .node_byte_seconds = 1 / 6.8e9,
    .pairs = 0,
};
