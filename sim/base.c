/* SPDX-License-Identifier: BSD-3-Clause */
/* base - in place of src/base/clock.c, machine.c and topology.c: simulated time, and a node with a
 * processor for each rank. */
#include "base/base.h"

#include "world.h"

double clock_seconds(void) { return world_clock(); }
uint64_t clock_ticks(void) { return (uint64_t)(world_clock() * 1e9); }
double clock_ticks_per_second(void) { return 1e9; }

struct processors machine_processors(void) {
    struct processors set = {{0}};
    int count = world_processors(), most = 8 * (int)sizeof set;
    for (int i = 0; i < count && i < most; i++) set.bits[i / 64] |= UINT64_C(1) << i % 64;
    return set;
}

/* Address space is what is scarce: all ranks of all nodes map their node's memory into one
 * process. */
size_t machine_memory(void) { return (size_t)1 << 30; }

uint64_t machine_name_space(void) { return 0; }

uint64_t machine_node(void) { return hash_text(HASH_START, world_host()); }

uint64_t machine_place(void) { return machine_node(); }

void machine_leave_processor(void) {}

void machine_short_slices(uint64_t microseconds) { (void)microseconds; }

const struct machine_facts *machine_facts(void) {
    static struct machine_facts facts = {.cpu = "simulated",
                                         .l1d = 48 << 10,
                                         .l2 = 1 << 20,
                                         .l3 = 64 << 20,
                                         .numa = 1,
                                         .sockets = 1,
                                         .l3s = 1};
    facts.processors = world_processors();
    return &facts;
}
size_t machine_l3_bytes(void) { return machine_facts()->l3; }

const uint32_t *machine_domains(enum domain_kind kind) { return (void)kind, NULL; }
int machine_domain_kinds(enum domain_kind kinds[DOMAIN_KINDS]) { return (void)kinds, 0; }
size_t machine_tell(void *place, size_t room) { return (void)place, (void)room, 0; }
void machine_hear(const void *place, size_t bytes) { (void)place, (void)bytes; }
