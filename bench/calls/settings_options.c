/* SPDX-License-Identifier: BSD-3-Clause */
/* settings_options - the options of `mortar bench`, one at a time. */
#include "bench/common/bench.h"

#include <string.h>

static int read_value(const char *option, const char *value, struct settings *settings) {
    double number;
    if (strcmp(option, "--bytes") == 0) {
        if (!settings_sizes(value, settings))
            return settings_fail(
                "--bytes %s: expected FROM:TO:xN or a list of sizes from 1 to 2G-1, e.g. 8:1M:x8 or 8,64,4K",
                value);
    } else if (strcmp(option, "--grid") == 0) {
        if (!settings_edges(value, settings))
            return settings_fail("--grid %s: expected edges from 1 to %d", value, grid_longest);
    } else if (strcmp(option, "--axes") == 0) {
        bool fine = strlen(value) == 3 && value[1] == ',';
        settings->before = value[0] - '0', settings->after = fine ? value[2] - '0' : -1;
        if (!fine || settings->before < 0 || settings->before >= grid_axes || settings->after < 0 ||
            settings->after >= grid_axes || settings->before == settings->after)
            return settings_fail("--axes %s: expected two of 0, 1 and 2, e.g. 0,1", value);
    } else if (strcmp(option, "--buffers") == 0) {
        settings->stack = strcmp(value, "stack") == 0;
        if (!settings->stack && strcmp(value, "heap") != 0)
            return settings_fail("--buffers %s: expected heap or stack", value);
    } else if (strcmp(option, "--csv") == 0) {
        settings->csv = value;
    } else if (strcmp(option, "--seconds") == 0) {
        if (!settings_number(value, 1e-3, 1e5, &settings->seconds))
            return settings_fail("--seconds %s: expected a number above 0", value);
    } else if (strcmp(option, "--repetitions") == 0) {
        if (!settings_number(value, 1, 1e6, &number) || number != (int)number)
            return settings_fail("--repetitions %s: expected a whole number from 1 to 1000000",
                                 value);
        settings->repetitions = (int)number;
    } else if (strcmp(option, "--root") == 0) {
        if (!settings_number(value, 0, 1e9, &number) || number != (int)number)
            return settings_fail("--root %s: expected a rank", value);
        settings->root = (int)number;
    } else if (strcmp(option, "--topology") == 0) {
        settings->topology = topology_find(value);
        if (settings->topology < 0)
            return settings_fail("--topology %s: expected 2d, 3d or nd", value);
    } else {
        return settings_fail("unknown option %s", option);
    }
    return -1;
}

static int read_cold(int count, char **words, int *i, struct settings *settings) {
    settings->cold = true;
    if (*i == count || strncmp(words[*i], "--", 2) == 0) return -1;
    const char *how = words[(*i)++];
    settings->sweep = strcmp(how, "sweep") == 0;
    return settings->sweep ? -1 : settings_fail("--cold %s: expected sweep, or nothing", how);
}

static int read_imbalance(int count, char **words, int *i, struct settings *settings) {
    bool listed = *i < count && strncmp(words[*i], "--", 2) != 0;
    const char *list = listed ? words[(*i)++] : "0,1,2,5,10ms";
    if (settings_imbalances(list, settings)) return -1;
    return settings_fail("--imbalance %s: expected milliseconds, e.g. 0,1,2,5,10ms", list);
}

static int read_plans(int count, char **words, int *i, struct settings *settings) {
    if (*i == count || strncmp(words[*i], "--", 2) == 0)
        return settings_fail("--plan needs a plan, e.g. auto, cico or 'pull(morton)'");
    for (; *i < count && strncmp(words[*i], "--", 2) != 0; (*i)++) {
        if (settings->plan_count == most_plans)
            return settings_fail("--plan: more than %d plans", most_plans);
        settings->plans[settings->plan_count++] = words[*i];
    }
    return -1;
}

int settings_option(int count, char **words, int *i, struct settings *settings) {
    const char *option = words[(*i)++];
    struct {
        const char *name;
        bool *set;
    } switches[] = {{"--limit", &settings->limit},
                    {"--counters", &settings->counters},
                    {"--irregular", &settings->irregular},
                    {"--then-barrier", &settings->then_barrier}};
    for (size_t s = 0; s < sizeof switches / sizeof *switches; s++)
        if (strcmp(option, switches[s].name) == 0) return *switches[s].set = true, -1;
    if (strcmp(option, "--cold") == 0) return read_cold(count, words, i, settings);
    if (strcmp(option, "--imbalance") == 0) return read_imbalance(count, words, i, settings);
    if (strcmp(option, "--plan") == 0) return read_plans(count, words, i, settings);
    if (*i == count || strncmp(words[*i], "--", 2) == 0) return read_value(option, "", settings);
    return read_value(option, words[(*i)++], settings);
}
