/* SPDX-License-Identifier: BSD-3-Clause */
/* domains - which ranks share a memory domain (a NUMA node, a socket, an L3 cache). Only rank 0
 * asks hwloc, which takes milliseconds. All ranks use its answer, and hear all that it knows of the
 * machine: each may be rank 0 of the next team. No MPI. */
#include "reach/reach.h"

#include <stdlib.h>
#include <string.h>

static const uint32_t unbound = UINT32_MAX;

static bool within(const struct processors *part, const struct processors *whole) {
    for (size_t i = 0; i < sizeof part->bits / sizeof *part->bits; i++)
        if (part->bits[i] & ~whole->bits[i]) return false;
    return true;
}

/* True: one rank may run on every processor that any rank may use. Then that rank is unbound, or
 * all ranks are in one domain. */
static bool roams(const struct seat *seats, int p) {
    struct processors all = {{0}};
    for (int r = 0; r < p; r++)
        for (size_t i = 0; i < sizeof all.bits / sizeof *all.bits; i++)
            all.bits[i] |= seats[r].processors.bits[i];
    for (int r = 0; r < p; r++)
        if (within(&all, &seats[r].processors)) return true;
    return false;
}

/* The domain that all processors of a set belong to; unbound: there are several. */
static uint32_t domain_of_set(const struct processors *set, const uint32_t *domains,
                              uint32_t processors) {
    uint32_t found = unbound;
    for (uint32_t i = 0; i < 64 * sizeof set->bits / sizeof *set->bits; i++) {
        if (!(set->bits[i / 64] >> i % 64 & 1)) continue;
        if (i >= processors || (found != unbound && domains[i] != found)) return unbound;
        found = domains[i];
    }
    return found;
}

/* Fills domain_of by the domains of one kind. False: some rank has none. */
static bool sit(const struct seat *seats, uint32_t p, enum domain_kind kind, bool pretended,
                uint32_t *domain_of) {
    const uint32_t *domains = machine_domains(kind);
    uint32_t processors = (uint32_t)machine_facts()->processors;
    if (!domains || processors == 0) return false;
    for (uint32_t r = 0; r < p; r++) {
        domain_of[r] = pretended ? domains[(uint32_t)seats[r].rank % processors]
                                 : domain_of_set(&seats[r].processors, domains, processors);
        if (domain_of[r] == unbound) return false;
    }
    return true;
}

/* Numbers the domains from 0 in the order of their first ranks, and returns their count. numbers:
 * [p], must not overlap domain_of. */
static uint32_t renumber(uint32_t p, const uint32_t *domain_of, uint32_t *numbers) {
    uint32_t count = 0;
    for (uint32_t r = 0; r < p; r++) {
        uint32_t first = 0;
        while (domain_of[first] != domain_of[r]) first++;
        numbers[r] = first == r ? count++ : numbers[first];
    }
    return count;
}

/* Fills map, and returns how many domains; 1: all ranks are in one, or nobody knows. The smallest
 * domains count that two ranks share on average: what those pass on stays within an L3 cache, where
 * a socket has several. Simulated on 2 x 48 cores, 8 to an L3 cache, allreduce of 256 KiB: 90 us by
 * L3 caches, 237 by sockets (docs/cores.md). scratch: [p]. */
static uint32_t ask(const struct seat *seats, uint32_t p, uint32_t *map, uint32_t *scratch) {
    enum domain_kind kinds[DOMAIN_KINDS];
    bool pretended = *option_text(OPTION_TOPOLOGY) != 0;
    if (!seats || (!pretended && roams(seats, (int)p))) return 1;
    uint32_t found = 1;
    int count = machine_domain_kinds(kinds);
    for (int k = 0; k < count && (found == 1 || 2 * found > p); k++)
        if (sit(seats, p, kinds[k], pretended, scratch)) found = renumber(p, scratch, map);
    return found;
}

/* What rank 0 says, at the begin of its slot of the stage. */
struct division {
    size_t told;    /* bytes that follow, of machine_tell */
    uint32_t count; /* of domains */
    uint32_t map[]; /* [2][p], the second half scratch */
};

void team_divide(struct team *team, const struct seat *seats) {
    uint32_t p = (uint32_t)team->p;
    size_t bytes = p * sizeof(uint32_t);
    char *place = stage_of(team, team->epoch & 1, 0, team->figures.slot);
    struct division *said = (struct division *)(void *)place;
    /* A slot has at least 64 bytes for each rank, and p > 1. */
    size_t before = (sizeof *said + 2 * bytes + 63) / 64 * 64;
    if (team->me == 0) {
        said->count = ask(seats, p, said->map, said->map + p);
        said->told = machine_tell(place + before, team->figures.slot - before);
    }
    sync_all(team, 0);
    if (team->me != 0) machine_hear(place + before, said->told);
    team->figures.domains = said->count;
    if (team->figures.domains == 1) return;
    team->domain_of = malloc(bytes);
    if (team->domain_of) memcpy(team->domain_of, said->map, bytes);
    if (team_agree(team, team->domain_of != NULL)) return;
    free(team->domain_of);
    team->domain_of = NULL;
    team->figures.domains = 1;
}
