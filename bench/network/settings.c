/* SPDX-License-Identifier: BSD-3-Clause */
/* network_settings - the command line of `mortar bench network`. */
#include "bench/common/bench.h"
#include "network.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const usage =
    "usage: mpirun -n P mortar bench network [OPTION...]\n"
    "  --bytes 1:1M:x4      message sizes, as for mortar bench; at most 16M\n"
    "  --pairs 1,2,4,all    how many pairs of ranks send at once (default 1, 2, 4, 8 and so on, and all that there are)\n"
    "  --nodes 0,1          between which two nodes; they are counted in the order of their lowest ranks\n"
    "  --csv FILE           write every round; rows are added when the file exists\n"
    "  --draw FILE          draw bandwidth and message rate (.png, .svg or .pdf; needs matplotlib)\n"
    "  --save FILE          put the figures into this tuning file (docs/tuning.md), for the cost model\n"
    "  --seconds S          measure each size for about that long (default 0.5)\n"
    "  --rounds N           take turns so often (default 20), or 5 times where that lasts too long\n"
    "Latency of one pair, what a send and a receive cost their processor, and the bandwidth and message rate of 1 to all\n"
    "pairs, each rank sending and receiving at once: number i of one node with number i of the other; and, from three nodes on,\n"
    "what is left of a node's bandwidth when all nodes send at once. Every byte is verified.\n"
    "What runs in turns is judged by ratios within a round. On one machine, MORTAR_NODES=2 pretends two nodes: the figures\n"
    "are then those of shared memory.\n";

static const size_t longest = 16 << 20;

/* "1,2,all" */
static bool read_pairs(const char *text, struct network_settings *settings) {
    double number;
    char *copy = strdup(text), *rest = copy, *item;
    bool fine = copy && *copy;
    settings->columns = 0, settings->all = false, settings->listed = true;
    while (fine && (item = strsep(&rest, ",")) != NULL) {
        if (strcmp(item, "all") == 0) {
            settings->all = true;
            continue;
        }
        fine = settings_number(item, 1, 1e6, &number) && number == (int)number &&
               settings->columns < most_columns - 2;
        if (fine) settings->pairs[settings->columns++] = (int)number;
    }
    free(copy);
    return fine;
}

static bool read_nodes(const char *text, int nodes[2]) {
    double number[2];
    char *copy = strdup(text), *second = copy ? strchr(copy, ',') : NULL;
    if (second) *second++ = 0;
    bool fine = second && settings_number(copy, 0, 1e6, &number[0]) &&
                settings_number(second, 0, 1e6, &number[1]);
    for (int i = 0; i < 2 && fine; i++) nodes[i] = (int)number[i], fine = number[i] == nodes[i];
    free(copy);
    return fine && nodes[0] != nodes[1];
}

static int read_option(const char *option, const char *value, void *state) {
    struct network_settings *settings = state;
    double number;
    if (strcmp(option, "--bytes") == 0) {
        bool fine = settings_sizes(value, &settings->sizes);
        for (int i = 0; i < settings->sizes.sizes; i++)
            fine = fine && settings->sizes.bytes[i] <= longest;
        if (fine) return -1;
        return settings_fail(
            "--bytes %s: expected FROM:TO:xN or a list of sizes from 1 to 16M, e.g. 1:1M:x4 or 8,64K",
            value);
    }
    if (strcmp(option, "--pairs") == 0)
        return read_pairs(value, settings)
                   ? -1
                   : settings_fail("--pairs %s: expected a list of numbers, e.g. 1,2,all", value);
    if (strcmp(option, "--nodes") == 0)
        return read_nodes(value, settings->nodes)
                   ? -1
                   : settings_fail("--nodes %s: expected two nodes, e.g. 0,1", value);
    if (strcmp(option, "--seconds") == 0)
        return settings_number(value, 1e-3, 1e6, &settings->seconds)
                   ? -1
                   : settings_fail("--seconds %s: expected 0.001 to 1000000", value);
    if (strcmp(option, "--rounds") == 0) {
        if (!settings_number(value, 3, 100, &number) || number != (int)number)
            return settings_fail("--rounds %s: expected a whole number from 3 to 100", value);
        settings->rounds = (int)number;
        return -1;
    }
    if (strcmp(option, "--draw") == 0)
        return settings_fail(
            "--draw: only the command `mortar` draws; start it as `mortar bench network`");
    bool csv = strcmp(option, "--csv") == 0;
    if (!csv && strcmp(option, "--save") != 0) return settings_fail("unknown option %s", option);
    if (!*value) return settings_fail("%s needs a file", option);
    *(csv ? &settings->csv : &settings->save) = value;
    return -1;
}

static int ascending(const void *a, const void *b) {
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

/* Sizes in order, each once. What is saved for the model needs short messages and long ones. */
static int check(struct network_settings *settings) {
    struct settings *sizes = &settings->sizes;
    int kept = 0;
    qsort(sizes->bytes, (size_t)sizes->sizes, sizeof *sizes->bytes, ascending);
    for (int i = 0; i < sizes->sizes; i++)
        if (kept == 0 || sizes->bytes[i] != sizes->bytes[kept - 1])
            sizes->bytes[kept++] = sizes->bytes[i];
    sizes->sizes = kept;
    if (settings->save && (sizes->bytes[0] > 64 || sizes->bytes[kept - 1] < 64 << 10))
        return settings_fail(
            "--save needs --bytes from at most 64 to at least 64K: the cost model asks for short and long messages");
    return -1;
}

int network_settings_read(int count, char **words, struct network_settings *settings) {
    settings_command = "bench network";
    *settings =
        (struct network_settings){.all = true, .nodes = {0, 1}, .seconds = 0.5, .rounds = 20};
    settings_sizes("1:1M:x4", &settings->sizes);
    if (settings_help(count, words, usage)) return 0;
    for (int k = 1; k < 1 << 12; k *= 2) settings->pairs[settings->columns++] = k;
    int code = settings_options(count, words, read_option, settings);
    return code < 0 ? check(settings) : code;
}
