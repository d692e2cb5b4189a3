/* SPDX-License-Identifier: BSD-3-Clause */
/* domains - which memory domain each rank of a team sits in: on machines that are pretended, the
 * same map on all ranks; and from the processors that real ranks may use, by the functions inside,
 * which are included here. */
#include "crew.h"

void divide_inside(struct team *team, const struct seat *seats);
#define team_divide divide_inside
#include "reach/domains.c"
#undef team_divide

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

struct machine {
    const char *topology, *kind;
    int p;
    /* The job's ranks from the last to the first; nobody knows where they are. */
    bool reversed, unknown;
    const char *map; /* what is expected */
};
static const struct machine machines[] = {
    {"numa:2 core:3 pu:1", "auto", 6, false, false, "000111"},
    {"numa:2 core:3 pu:1", "auto", 5, false, false, "00011"},
    {"numa:2 core:3 pu:1", "auto", 5, true, false, "00111"},
    {"numa:2 core:3 pu:1", "auto", 3, false, false, "000"},
    {"numa:2 core:3 pu:1", "none", 6, false, false, "000000"},
    {"numa:2 core:3 pu:1", "auto", 6, false, true, "000000"},
    {"pack:3 core:2 pu:1", "auto", 9, false, false, "001122001"}, /* more ranks than processors */
    {"pack:3 core:2 pu:1", "numa", 6, false, false, "000000"},
    {"pack:2 core:2 pu:1(indexes=0,2,1,3)", "auto", 7, false, false, "0101010"},
    {"pack:2 l3:2 core:2 pu:1", "auto", 8, false, false, "00112233"},
    {"pack:2 l3:2 core:2 pu:1", "auto", 7, false, false, "0000111"}, /* less than two to an L3 */
    {"pack:2 l3:4 core:1 pu:1", "auto", 8, false, false, "00001111"},
    {"pack:2 l3:4 core:1 pu:1", "auto", 3, false, false, "000"},
    {"pack:2 numa:2 core:2 pu:1", "auto", 8, false, false, "00112233"},
    {"pack:2 l3:2 core:2 pu:1", "socket", 8, false, false, "00001111"},
    {"pack:2 l3:2 core:2 pu:1", "l3", 8, false, false, "00112233"},
    {"pack:1 l3:2 core:4 pu:1", "auto", 5, false, false, "00001"},
    {"core:4 pu:1", "auto", 4, false, false, "0000"},
};

static void divided(struct rank *rank) {
    const struct machine *machine = rank->crew->argument;
    struct team *team = &rank->team;
    struct seat seats[most_ranks] = {{{{0}}, 0}};
    for (int r = 0; r < team->p; r++) seats[r].rank = machine->reversed ? team->p - 1 - r : r;
    uint32_t domains = 1;
    free(team->domain_of);
    team->domain_of = NULL;
    team_divide(team, team->me == 0 && !machine->unknown ? seats : NULL);
    for (int r = 0; r < team->p; r++) {
        uint32_t wanted = (uint32_t)(machine->map[r] - '0'),
                 got = team->domain_of ? team->domain_of[r] : 0;
        if (wanted >= domains) domains = wanted + 1;
        expect(got == wanted,
               "%s by %s, p=%d: rank %d thinks that rank %d sits in domain %u, not %u",
               machine->topology, machine->kind, team->p, team->me, r, got, wanted);
    }
    expect(team->figures.domains == domains && (team->domain_of != NULL) == (domains > 1),
           "%s: rank %d counts %u domains instead of %u", machine->topology, team->me,
           team->figures.domains, domains);
}

/* A process asks about its machine once, so each machine needs a process. */
static void pretend(void *argument) {
    const struct machine *machine = argument;
    struct crew crew = {.p = machine->p,
                        .slot = 64 * most_ranks,
                        .room = 1 << 16,
                        .body = divided,
                        .argument = machine,
                        .seed = 7};
    setenv("MORTAR_TOPOLOGY", machine->topology, 1);
    setenv("MORTAR_DOMAINS", machine->kind, 1);
    if (machine_facts()->processors == 0) _exit(77); /* hwloc is not there */
    crew_run(&crew);
}

/* Caches and what there is of them for programs, in MiB. */
static const struct cached {
    const char *topology;
    size_t l3;
} cached[] = {{"pack:1 l3:1(size=503316480) core:2 pu:1", 32}, /* some of a socket's cores */
              {"pack:1 l3:1(size=503316480) core:120 pu:2", 480},
              {"pack:2 l3:8(size=100663296) core:8 pu:1", 1536},
              {"pack:1 l3:2(size=33554432) core:4 pu:1", 64},
              {"pack:1 core:2 pu:1", 0}};

static void caches(void *argument) {
    const struct cached *machine = argument;
    setenv("MORTAR_TOPOLOGY", machine->topology, 1);
    if (machine_facts()->processors == 0) _exit(77);
    expect(machine_l3_bytes() == machine->l3 << 20, "%s: %zu bytes of L3", machine->topology,
           machine_l3_bytes());
}

static struct processors set_of(uint32_t first, uint32_t count) {
    struct processors set = {{0}};
    for (uint32_t i = first; i < first + count; i++) set.bits[i / 64] |= (uint64_t)1 << i % 64;
    return set;
}

/* Where a rank sits, from the processors that it may use. */
static void bound_ranks(void) {
    static const uint32_t domains[100] = {[40] = 1, 1, 1, 1, [90] = 2, 2, 2, 2, 2, 2, 2, 2, 2, 2};
    static const struct {
        uint32_t first, count, domain;
    } sets[] = {{0, 1, 0},   {5, 20, 0},  {39, 2, unbound}, {40, 4, 1},      {43, 2, unbound},
                {60, 10, 0}, {90, 10, 2}, {95, 6, unbound}, {0, 0, unbound}, {2000, 1, unbound}};
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        struct processors set = set_of(sets[i].first, sets[i].count);
        uint32_t got = domain_of_set(&set, domains, 100);
        expect(got == sets[i].domain, "processors %u + %u: domain %u", sets[i].first, sets[i].count,
               got);
    }
    struct seat seats[3] = {{set_of(0, 70), 0}, {set_of(0, 5), 1}, {set_of(65, 5), 2}};
    expect(roams(seats, 3), "rank 0 may run wherever the others may");
    seats[0].processors = set_of(0, 66);
    expect(!roams(seats, 3), "nobody may run everywhere");
    uint32_t map[6] = {7, 3, 7, 9, 3, 3}, numbers[6], wanted[6] = {0, 1, 0, 2, 1, 1};
    expect(renumber(6, map, numbers) == 3 && memcmp(numbers, wanted, sizeof wanted) == 0,
           "domains are numbered as they come");
}

/* False: hwloc is not there. */
static bool in_process(void (*body)(void *), const void *argument) {
    struct heard heard;
    in_child(body, (void *)(uintptr_t)argument, &heard);
    if (WIFEXITED(heard.status) && WEXITSTATUS(heard.status) == 77) return false;
    expect(WIFEXITED(heard.status) && WEXITSTATUS(heard.status) == 0, "%s", heard.text[0]);
    return true;
}

/* What one process knows another is told, and it does not ask: it believes what cannot be. */
enum { knows_most = 1 << 16, wrong_cache = 12345 };

static void knows(void *place) {
    size_t *bytes = place;
    expect(machine_tell(bytes + 1, knows_most) == 0, "told what was not known yet");
    if (machine_facts()->processors == 0) _exit(77);
    *bytes = machine_tell(bytes + 1, knows_most);
    expect(*bytes > 0 && machine_tell(bytes + 1, *bytes - 1) == 0, "told %zu bytes", *bytes);
    machine_tell(bytes + 1, *bytes);
    ((struct machine_facts *)(void *)(bytes + 1))->l2 = wrong_cache;
    machine_hear(bytes + 1, *bytes);
    expect(machine_facts()->l2 != wrong_cache, "heard what it knew");
}

static void hears(void *place) {
    const size_t *bytes = place;
    static size_t again[knows_most / sizeof(size_t)];
    machine_hear(bytes + 1, *bytes);
    const struct machine_facts *facts = machine_facts();
    expect(facts->l2 == wrong_cache && facts->processors > 0, "asked, instead of hearing");
    expect(machine_tell(again, sizeof again) == *bytes && !memcmp(again, bytes + 1, *bytes),
           "does not know what it has heard");
}

static void pretends(void *place) {
    const size_t *bytes = place;
    size_t room[64];
    setenv("MORTAR_TOPOLOGY", "pack:1 core:3 pu:1", 1);
    machine_hear(bytes + 1, *bytes);
    expect(machine_facts()->processors == 3, "pretends %d processors", machine_facts()->processors);
    expect(machine_tell(room, sizeof room) == 0, "told what it pretends");
}

/* False: hwloc is not there. */
static bool processes_tell(void) {
    static void (*const processes[])(void *) = {knows, hears, pretends};
    void *place =
        mmap(NULL, 2 * knows_most, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < 3; i++)
        if (!in_process(processes[i], place)) return false;
    return true;
}

int main(void) {
    int count = sizeof machines / sizeof *machines, caching = sizeof cached / sizeof *cached;
    bound_ranks();
    if (!processes_tell()) return 77;
    for (int i = 0; i < count; i++)
        if (!in_process(pretend, &machines[i])) return 77;
    for (int i = 0; i < caching; i++)
        if (!in_process(caches, &cached[i])) return 77;
    printf("%d machines\n", count + caching);
    return 0;
}
