/* SPDX-License-Identifier: BSD-3-Clause */
/* machine - what a description says of the ways between cores. */
#include "cores.h"

#include "model/described.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct machine usual = {
    .memory = 100, .touch = 1, .locked = 5, .reading = 0.25, .overlap = 10};

static bool parse_count(const char *text, uint32_t *value) {
    char *end;
    unsigned long number = strtoul(text, &end, 10);
    *value = (uint32_t)number;
    return end != text && *end == 0 && number > 0 && number <= UINT16_MAX;
}

/* Numbers that are not negative, with blanks between. */
static bool parse_numbers(const char *text, double *values, int count) {
    for (int i = 0; i < count; i++) {
        char *end;
        values[i] = strtod(text, &end);
        if (end == text || !(values[i] >= 0 && values[i] < 1e9)) return false;
        text = end + strspn(end, " ");
    }
    return *text == 0;
}

static bool set(void *described, const char *key, char *value) {
    struct machine *m = described;
    struct {
        const char *key;
        uint32_t *value;
    } counts[] = {{"cores", &m->cores},
                  {"group", &m->group},
                  {"socket", &m->socket},
                  {"overlap", &m->overlap}};
    struct {
        const char *key;
        double *values;
        int count;
    } numbers[] = {{"hand_over", m->hand_over, distances},
                   {"memory", &m->memory, 1},
                   {"touch", &m->touch, 1},
                   {"locked", &m->locked, 1},
                   {"reading", &m->reading, 1}};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (strcmp(key, counts[i].key) == 0) return parse_count(value, counts[i].value);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (strcmp(key, numbers[i].key) == 0)
            return parse_numbers(value, numbers[i].values, numbers[i].count);
    if (strcmp(key, "about") != 0) return false;
    return snprintf(m->about, sizeof m->about, "%s", value) > 0;
}

static const char *nonsense(const struct machine *m) {
    if (m->cores == 0 || m->cores > most_cores) return "cores: 1 to 256";
    if (m->group == 0 || m->socket % m->group != 0) return "group: a divisor of `socket`";
    if (m->socket == 0 || m->cores % m->socket != 0) return "socket: a divisor of `cores`";
    if (m->hand_over[0] == 0) return "hand_over: three times, in nanoseconds";
    if (m->reading > 1) return "reading: a share, 0 to 1";
    return NULL;
}

int machine_read(struct machine *m, const char *path, char why[256]) {
    *m = usual;
    int error = described_read(path, m->name, set, m, why);
    if (error || !nonsense(m)) return error;
    snprintf(why, 256, "%.80s: %s", path, nonsense(m));
    return -EINVAL;
}

void machine_print(const struct machine *m, FILE *file) {
    fprintf(file, "about %s\ncores %u\ngroup %u\nsocket %u\nhand_over %.0f %.0f %.0f\n", m->about,
            m->cores, m->group, m->socket, m->hand_over[0], m->hand_over[1], m->hand_over[2]);
}
