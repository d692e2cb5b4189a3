/* SPDX-License-Identifier: BSD-3-Clause */
/* divided - how a new team learns which ranks share a domain of memory (src/reach/domains.c), and
 * what rank 0 knows of the machine, gets its gates by that, and begins to use the stage. Numbers:
 * domains that rank 0 finds; the rank, from 1, that has no memory for them; ranks at a gate. */
#include "../crew.h"

#include <string.h>

enum { processors = 4, line = 64 };
static uint32_t machine[processors];
static struct machine_facts facts = {.processors = processors};

const char *option_text(enum option option) { return option == OPTION_TOPOLOGY ? "pretended" : ""; }
int machine_domain_kinds(enum domain_kind kinds[DOMAIN_KINDS]) { return *kinds = DOMAIN_NUMA, 1; }
const uint32_t *machine_domains(enum domain_kind kind) { return (void)kind, machine; }
const struct machine_facts *machine_facts(void) { return &facts; }

size_t machine_tell(void *place, size_t room) {
    if (room < sizeof facts.processors) return 0;
    memcpy(place, &facts.processors, sizeof facts.processors);
    return sizeof facts.processors;
}
void machine_hear(const void *place, size_t bytes) {
    expect(bytes == sizeof facts.processors && memcmp(place, &facts.processors, bytes) == 0,
           "not what rank 0 knows");
}

void *scarce_memory(size_t bytes);
void *scarce_memory(size_t bytes) {
    static uint32_t memory[most_threads][most_threads];
    int me = thread_now();
    return bytes > sizeof *memory || me + 1 == scene_number(1) ? NULL : memory[me];
}

static void begin(void) {
    for (uint32_t i = 0; i < processors; i++) machine[i] = 10 + i % (uint32_t)scene_number(0);
    crew_begin(line * (size_t)scene_threads());
}

static void divides(int me) {
    struct team *team = crew_team();
    struct seat seats[most_threads] = {0};
    for (int r = 0; r < team->p; r++) seats[r].rank = r;
    crew_enter();
    team_divide(team, me == 0 ? seats : NULL);
    bool known = scene_number(0) > 1 && scene_number(1) == 0;
    expect(team->figures.domains == (known ? (uint32_t)scene_number(0) : 1), "wrong domains");
    expect(known == (team->domain_of != NULL), "a map that not all ranks have");
    for (int r = 0; known && r < team->p; r++)
        expect(team->domain_of[r] == (uint32_t)(r % scene_number(0)), "a wrong domain");
    if (scene_number(2)) sync_shape(team, (uint32_t)scene_number(2));
    for (uint32_t k = 0; k < 2; k++) { /* the first calls use the stage */
        uint32_t half = team->epoch & 1;
        memset(stage_of(team, half, me, line), 'a' + (int)k, line);
        sync_all(team, 0);
        expect(*stage_of(team, half, 0, line) == 'a' + (int)k, "a wrong block");
    }
}

const struct scene scenes[] = {{"divides", begin, divides, NULL}};
const int scene_count = sizeof scenes / sizeof scenes[0];
