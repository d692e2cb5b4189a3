/* SPDX-License-Identifier: BSD-3-Clause */
/* machine - what a description says of a machine's caches. */
#include "cachesim.h"

#include "base/base.h"
#include "described.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct machine defaults = {.cores = 1,
                                        .domains = 1,
                                        .line_bytes = 64,
                                        .page_bytes = 4096,
                                        .busy = 1,
                                        .cycles = {4, 12, 50, 250}};

static bool parse_count(const char *text, uint32_t *value) {
    uint64_t number;
    if (parse_bytes(text, &number) != 0 || number > UINT32_MAX) return false;
    *value = (uint32_t)number;
    return true;
}

static bool parse_bool(const char *text, bool *value) {
    *value = strcmp(text, "on") == 0;
    return *value || strcmp(text, "off") == 0;
}

static bool parse_share(const char *text, double *value) {
    char *end;
    *value = strtod(text, &end);
    return end != text && *end == 0 && *value >= 0 && *value <= 1;
}

/* "32K 8 lru", "45M 20 age scattered" */
static bool parse_shape(char *text, struct cache_shape *shape) {
    char *bytes = strtok(text, " "), *ways = strtok(NULL, " "), *policy = strtok(NULL, " "),
         *scattered = strtok(NULL, " ");
    if (!policy || parse_bytes(bytes, &shape->bytes) != 0 || !parse_count(ways, &shape->ways))
        return false;
    shape->scattered = scattered && strcmp(scattered, "scattered") == 0;
    for (int i = 0; i < POLICIES; i++) {
        shape->policy = (enum policy)i;
        if (strcmp(policy, policy_names[i]) == 0) return !scattered || shape->scattered;
    }
    return false;
}

/* "4 12 60 300" */
static bool parse_cycles(char *text, uint32_t cycles[4]) {
    char *word = strtok(text, " ");
    for (int i = 0; i < 4; i++, word = strtok(NULL, " "))
        if (!word || !parse_count(word, &cycles[i])) return false;
    return word == NULL;
}

static bool set(void *machine, const char *key, char *value) {
    struct machine *m = machine;
    const struct {
        const char *key;
        uint32_t *value;
    } counts[] = {{"cores", &m->cores},           {"domains", &m->domains},
                  {"line", &m->line_bytes},       {"page", &m->page_bytes},
                  {"tlb", &m->tlb_entries},       {"tlb_ways", &m->tlb_ways},
                  {"copy_ahead", &m->copy_ahead}, {"copy_large", &m->copy_large}};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (strcmp(key, counts[i].key) == 0) return parse_count(value, counts[i].value);
    if (strcmp(key, "about") == 0) return snprintf(m->about, sizeof m->about, "%s", value) > 0;
    if (strcmp(key, "l1") == 0) return parse_shape(value, &m->l1);
    if (strcmp(key, "l2") == 0) return parse_shape(value, &m->l2);
    if (strcmp(key, "l3") == 0) return parse_shape(value, &m->l3);
    if (strcmp(key, "cycles") == 0) return parse_cycles(value, m->cycles);
    if (strcmp(key, "inclusive") == 0) return parse_bool(value, &m->inclusive);
    if (strcmp(key, "next_line") == 0) return parse_bool(value, &m->next_line);
    if (strcmp(key, "stream") == 0) return parse_bool(value, &m->stream);
    if (strcmp(key, "stream_l2") == 0) return parse_share(value, &m->stream_l2);
    if (strcmp(key, "stream_l3") == 0) return parse_share(value, &m->stream_l3);
    if (strcmp(key, "busy") == 0) return parse_share(value, &m->busy);
    return false;
}

/* NULL, or what is wrong; it may lie in `text`. */
static const char *nonsense(const struct machine *m, char text[96]) {
    const struct cache_shape tlb = {.bytes = (uint64_t)m->tlb_entries * m->line_bytes,
                                    .ways = m->tlb_ways};
    const struct {
        const char *key;
        const struct cache_shape *shape;
    } shapes[] = {{"l1", &m->l1}, {"l2", &m->l2}, {"l3", &m->l3}, {"tlb", &tlb}};
    if (m->cores == 0 || m->cores > most_cores) return "cores: 1 to 128";
    if (m->domains == 0 || m->domains > most_domains || m->cores % m->domains != 0)
        return "domains: 1 to 32, all of one size";
    if (m->line_bytes < 16 || m->line_bytes > m->page_bytes) return "line: 16 bytes to a page";
    if (m->l1.bytes == 0) return "l1: missing";
    if (m->stream && m->l2.bytes == 0)
        return "stream: it follows what l2 asks for, which is missing";
    if (m->stream && m->stream_l3 > 0 && m->l3.bytes == 0) return "stream_l3: l3 is missing";
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct cache cache;
        const char *wrong = cache_shaped(&cache, shapes[i].shape, m->line_bytes);
        if (shapes[i].shape->bytes == 0 || !wrong) continue;
        snprintf(text, 96, "%s: %s", shapes[i].key, wrong);
        return text;
    }
    return NULL;
}

int machine_read(struct machine *machine, const char *path, char why[256]) {
    *machine = defaults;
    int error = described_read(path, machine->name, set, machine, why);
    char text[96];
    const char *wrong = error ? NULL : nonsense(machine, text);
    if (!wrong) return error;
    snprintf(why, 256, "%.80s: %s", path, wrong);
    return -EINVAL;
}

static struct cache_shape guess(size_t bytes, uint32_t ways, uint32_t line_bytes) {
    while (ways > 1 && bytes / line_bytes % ways != 0) ways--;
    return (struct cache_shape){.bytes = bytes,
                                .ways = ways,
                                .policy = ways > 8 ? POLICY_age : POLICY_lru,
                                .scattered = true};
}

static uint32_t at_least_1(int number) { return number > 1 ? (uint32_t)number : 1; }

/* hwloc tells sizes; the ways are what most x86 processors have. Of a large machine as many domains
 * as there is room for. */
void machine_this(struct machine *machine) {
    const struct machine_facts *facts = machine_facts();
    *machine = defaults;
    snprintf(machine->name, sizeof machine->name, "this");
    snprintf(machine->about, sizeof machine->about, "%s", facts->cpu);
    uint32_t all = at_least_1(facts->processors), domains = at_least_1(facts->l3s),
             each = (all + domains - 1) / domains;
    if (each > most_cores) each = most_cores;
    if (domains > most_domains) domains = most_domains;
    if (domains > most_cores / each) domains = most_cores / each;
    machine->domains = domains;
    machine->cores = domains * each;
    machine->l1 = guess(facts->l1d ? facts->l1d : 32768, 8, 64);
    machine->l2 = guess(facts->l2, 8, 64);
    machine->l3 = guess(facts->l3, 16, 64);
}

struct machine machine_ideal(uint32_t cores, uint64_t bytes) {
    struct machine machine = defaults;
    snprintf(machine.name, sizeof machine.name, "ideal");
    machine.cores = cores;
    machine.l1 = (struct cache_shape){.bytes = bytes};
    return machine;
}
