/* SPDX-License-Identifier: BSD-3-Clause */
/* ways - into and out of groups, from socket to socket, to memory. Each serves one line after the
 * other, for its bytes over the bandwidth. A line waits until the last of its ways is free; how
 * long it takes without others is said elsewhere. It takes its places in the queues when its core
 * asks for it, even if it comes later because somebody else has it for so long, or because it waits
 * for another way: requests are made in the order of time, lines are not, and a place that is
 * taken far ahead would keep a way free for nobody. */
#include "cores.h"

#include <string.h>

/* When each is free again. */
static struct {
    double in[most_cores], out[most_cores], memory[most_sockets], link[most_sockets][most_sockets];
} ways;

void ways_reset(void) { memset(&ways, 0, sizeof ways); }

static double pass(double *way, double bandwidth) {
    double now = rank_time(), begin = later(now, *way);
    if (bandwidth == 0) return 0;
    *way = begin + line_bytes / bandwidth;
    return begin - now;
}

static double pass_in(uint32_t core) {
    return pass(&ways.in[group_of(core)], machine.group_bandwidth[0]);
}
static double pass_out(uint32_t group) {
    return pass(&ways.out[group], machine.group_bandwidth[1]);
}
static double cross(uint32_t from, uint32_t to) {
    return from == to ? 0 : pass(&ways.link[from][to], machine.link_bandwidth);
}
static double pass_memory(uint32_t socket) {
    return pass(&ways.memory[socket], machine.memory_bandwidth);
}

static uint32_t socket_with(uint32_t group) { return group * machine.group / machine.socket; }

double way_is_free(uint32_t group) { return ways.out[group]; }

double way_from_group(uint32_t group, uint32_t to) {
    if (group == group_of(to)) return 0;
    return later(pass_out(group), later(cross(socket_with(group), socket_of(to)), pass_in(to)));
}

double way_from_memory(uint32_t socket, uint32_t to) {
    return later(pass_memory(socket), later(cross(socket, socket_of(to)), pass_in(to)));
}

/* Nobody waits for it. */
void way_to_memory(uint32_t group, uint32_t socket) {
    pass_out(group);
    cross(socket_with(group), socket);
    pass_memory(socket);
}
