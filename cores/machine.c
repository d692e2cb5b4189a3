/* SPDX-License-Identifier: BSD-3-Clause */
/* machine - what a description says of the ways between cores. */
#include "cores.h"

#include "base/base.h"
#include "model/described.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct machine usual = {
    .memory = {100, 100}, .touch = 1, .locked = 5, .reading = 0.25, .overlap = 10};

static bool parse_count(const char *text, uint32_t *value) {
    char *end;
    unsigned long number = strtoul(text, &end, 10);
    *value = (uint32_t)number;
    return end != text && *end == 0 && number > 0 && number <= UINT16_MAX;
}

/* Numbers that are not negative, with blanks between; if only one of two is there, for both. */
static bool parse_numbers(const char *text, double *values, int count) {
    for (int i = 0; i < count; i++) {
        char *end;
        if (i == 1 && count == 2 && *text == 0) {
            values[1] = values[0];
            break;
        }
        values[i] = strtod(text, &end);
        if (end == text || !(values[i] >= 0 && values[i] < 1e9)) return false;
        text = end + strspn(end, " ");
    }
    return *text == 0;
}

/* "512K 8": bytes and ways. */
static bool parse_shape(char *text, struct cache_shape *shape) {
    char *bytes = strtok(text, " "), *ways = strtok(NULL, " ");
    if (!ways || strtok(NULL, " ") || parse_bytes(bytes, &shape->bytes) != 0) return false;
    return parse_count(ways, &shape->ways) && shape->bytes >= (uint64_t)line_bytes * shape->ways &&
           shape->bytes <= (uint64_t)1 << 34;
}

static bool set(void *described, const char *key, char *value) {
    struct machine *m = described;
    struct {
        const char *key;
        uint32_t *value;
    } counts[] = {{"cores", &m->cores},
                  {"group", &m->group},
                  {"socket", &m->socket},
                  {"overlap", &m->overlap},
                  {"ahead", &m->ahead}};
    struct {
        const char *key;
        struct cache_shape *shape;
    } shapes[] = {{"l2", &m->l2}, {"l3", &m->l3}};
    struct {
        const char *key;
        double *values;
        int count;
    } numbers[] = {{"hand_over", m->hand_over, distances},
                   {"l3_time", &m->l3_time, 1},
                   {"memory", m->memory, 2},
                   {"memory_bandwidth", &m->memory_bandwidth, 1},
                   {"link_bandwidth", &m->link_bandwidth, 1},
                   {"group_bandwidth", m->group_bandwidth, 2},
                   {"touch", &m->touch, 1},
                   {"locked", &m->locked, 1},
                   {"reading", &m->reading, 1}};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (strcmp(key, counts[i].key) == 0) return parse_count(value, counts[i].value);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (strcmp(key, numbers[i].key) == 0)
            return parse_numbers(value, numbers[i].values, numbers[i].count);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        if (strcmp(key, shapes[i].key) == 0) return parse_shape(value, shapes[i].shape);
    if (strcmp(key, "inclusive") == 0) {
        m->inclusive = strcmp(value, "on") == 0;
        return m->inclusive || strcmp(value, "off") == 0;
    }
    if (strcmp(key, "about") != 0) return false;
    return snprintf(m->about, sizeof m->about, "%s", value) > 0;
}

static const char *nonsense(const struct machine *m) {
    if (m->cores == 0 || m->cores > most_cores) return "cores: 1 to 256";
    if (m->group == 0 || m->socket % m->group != 0) return "group: a divisor of `socket`";
    if (m->socket == 0 || m->cores % m->socket != 0) return "socket: a divisor of `cores`";
    if (m->hand_over[0] == 0) return "hand_over: three times, in nanoseconds";
    if (m->reading > 1) return "reading: a share, 0 to 1";
    if (m->cores / m->socket > most_sockets) return "socket: a 16th of `cores` at least";
    if (m->l3.bytes && !m->l2.bytes) return "l3: needs l2";
    if (m->l3.bytes && m->l3_time == 0) return "l3: needs l3_time";
    if (m->inclusive && !m->l3.bytes) return "inclusive: needs l3";
    if (m->l3.bytes && m->cores / m->group > most_groups) return "l3: for 64 groups at most";
    return NULL;
}

int machine_read(struct machine *m, const char *path, char why[256]) {
    *m = usual;
    int error = described_read(path, m->name, set, m, why);
    if (error || !nonsense(m)) return error;
    snprintf(why, 256, "%.80s: %s", path, nonsense(m));
    return -EINVAL;
}

static void print_shape(const char *key, const struct cache_shape *shape, FILE *file) {
    if (shape->bytes)
        fprintf(file, "%s %lluK %u\n", key, (unsigned long long)(shape->bytes >> 10), shape->ways);
}

void machine_print(const struct machine *m, FILE *file) {
    fprintf(file, "about %s\ncores %u\ngroup %u\nsocket %u\nhand_over %.0f %.0f %.0f\n", m->about,
            m->cores, m->group, m->socket, m->hand_over[0], m->hand_over[1], m->hand_over[2]);
    print_shape("l2", &m->l2, file);
    print_shape("l3", &m->l3, file);
    if (m->l3.bytes) fprintf(file, "l3_time %.0f\n", m->l3_time);
    fprintf(file,
            "# as near as from this socket, as no other was asked; what these cores read together\n"
            "memory %.0f\nmemory_bandwidth %.0f\n# assumed\nahead %u\n",
            m->memory[0], m->memory_bandwidth, m->ahead);
}
