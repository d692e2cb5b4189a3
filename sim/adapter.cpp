/* SPDX-License-Identifier: BSD-3-Clause */
/* adapter - network cards with limits of their own: the time from one message of a node to its
 * next, whichever ranks send them, and a rank's own time for each byte that it sends, as cards have
 * whose processor copies the data (kumar2008 section 3). A rank that sends waits until the card
 * takes its message. SimGrid takes such costs from C++ only. */
#include <simgrid/s4u/Host.hpp>
#include <smpi/smpi.h>

#include <unordered_map>

extern "C" {
double world_clock(void);
void world_adapter(double overhead, double gap, double rank_byte);
}

static double send_seconds(double overhead, double gap, double rank_byte, std::size_t bytes,
                           const simgrid::s4u::Host *from, const simgrid::s4u::Host *to) {
    static std::unordered_map<const simgrid::s4u::Host *, double> free_at;
    if (from == to) return overhead;
    double now = world_clock(), ready = now + overhead + static_cast<double>(bytes) * rank_byte;
    double &next = free_at[from], leaves = ready > next ? ready : next;
    next = leaves + gap;
    return leaves - now;
}

void world_adapter(double overhead, double gap, double rank_byte) {
    using simgrid::s4u::Host;
    auto send = [=](std::size_t bytes, Host *from, Host *to) {
        return send_seconds(overhead, gap, rank_byte, bytes, from, to);
    };
    smpi_register_op_cost_callback(SmpiOperation::SEND, send);
    smpi_register_op_cost_callback(SmpiOperation::ISEND, send);
}
