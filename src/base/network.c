/* SPDX-License-Identifier: BSD-3-Clause */
/* network - what the cost model takes for a network that nobody has measured: one InfiniBand or Omni-Path link of 2014 to 2018 per
 * node. Half a round trip of 1.5 us, of which 0.25 us for each call of a send and a receive, and 6.8 GB/s in each direction are the
 * parameters of the simulations (docs/network.md); public figures of osu_mbw_mr on Omni-Path, 2.9 to 3.3 million messages per second
 * from one pair, give 0.3 us per message. One rank fills the link with long messages, as adapters with DMA allow, and the gap
 * between the messages of all ranks is a guess below what vendors claim (100 to 200 million per second). */
#include "base/base.h"

const struct network_facts network_usual = {
    .latency_seconds = 1.5e-6,
    .send_seconds = 0.25e-6,
    .receive_seconds = 0.25e-6,
    .message_seconds = 0.5e-6, /* a rank that sends and receives pays both */
    .node_message_seconds = 20e-9,
    .byte_seconds = 1 / 6.8e9,
    .node_byte_seconds = 1 / 6.8e9,
    .pairs = 0,
};
