/* SPDX-License-Identifier: BSD-3-Clause */
/* tune_settings - the command line of `mortar tune`. */
#include "bench/common/bench.h"
#include "tune.h"

#include <stdio.h>
#include <string.h>

static const char *const usage =
    "usage: mpirun -n P mortar tune [COLLECTIVE...] [OPTION...]\n"
    "       mortar tune --merge OUT FILE...   one tuning file of several; later files win; OUT is new, or one of them\n"
    "  COLLECTIVE           any that mortar has plans for; by default alltoall and allgather. With a root: a barrier follows\n"
    "                       each call; neighbours: on a periodic grid of two dimensions; vectors: equal counts\n"
    "  --bytes 8:1M:x2      block sizes, as for mortar bench\n"
    "  --buffers heap|outside|both\n"
    "                       memory from malloc (default), memory that peers cannot reach, or both\n"
    "  --seconds S          of measuring, in all (default: 2 for each size, collective and kind of buffers)\n"
    "  --output FILE        default mortar-tuning.json. What it holds already about other cells and machines stays\n"
    "Every plan is verified first. Then all run in turns, the MPI library's own function among them; who is clearly slower than\n"
    "the best drops out, and a size is done when the ranking is settled or its share of the time is used up. The file is written\n"
    "anew after each size, so an interruption loses only the size in progress. To use it: MORTAR_TUNING=FILE.\n";

static int read_option(const char *option, const char *value, struct tune_settings *settings) {
    if (strcmp(option, "--bytes") == 0) {
        if (settings_sizes(value, &settings->sizes)) return -1;
        return settings_fail(
            "--bytes %s: expected FROM:TO:xN or a list of sizes from 1 to 2G-1, e.g. 8:1M:x8 or 8,64,4K",
            value);
    }
    if (strcmp(option, "--buffers") == 0) {
        settings->buffers[0] = strcmp(value, "heap") == 0 || strcmp(value, "both") == 0;
        settings->buffers[1] = strcmp(value, "outside") == 0 || strcmp(value, "both") == 0;
        if (settings->buffers[0] || settings->buffers[1]) return -1;
        return settings_fail("--buffers %s: expected heap, outside or both", value);
    }
    if (strcmp(option, "--seconds") == 0) {
        if (settings_number(value, 1e-3, 1e6, &settings->seconds)) return -1;
        return settings_fail("--seconds %s: expected 0.001 to 1000000", value);
    }
    if (strcmp(option, "--output") != 0) return settings_fail("unknown option %s", option);
    settings->output = value;
    return *value ? -1 : settings_fail("--output needs a file");
}

static int read_collective(const char *name, struct tune_settings *settings) {
    const struct kind *kind = kind_of(name);
    if (!kind) return settings_no_kind(name);
    if (kind->sends == NOBODY) return settings_fail("%s has no block sizes to tune", name);
    for (int i = 0; i < settings->kind_count; i++)
        if (settings->kinds[i] == kind) return -1;
    settings->kinds[settings->kind_count++] = kind; /* there are fewer collectives than places */
    return -1;
}

int tune_settings_read(int count, char **words, struct tune_settings *settings) {
    settings_command = "tune";
    *settings = (struct tune_settings){.buffers = {true, false}, .output = "mortar-tuning.json"};
    settings_sizes("8:1M:x2", &settings->sizes);
    int code = -1;
    if (settings_help(count, words, usage)) return 0;
    for (int i = 1; i < count && code < 0; i++) {
        if (strncmp(words[i], "--", 2) != 0) code = read_collective(words[i], settings);
        else if (i + 1 == count) code = read_option(words[i], "", settings);
        else code = read_option(words[i], words[i + 1], settings), i++;
    }
    if (settings->kind_count == 0) {
        settings->kinds[settings->kind_count++] = kind_of("alltoall");
        settings->kinds[settings->kind_count++] = kind_of("allgather");
    }
    for (int k = 0; k < settings->kind_count && code < 0; k++)
        for (int i = 0; i < settings->sizes.sizes && code < 0; i++)
            if (settings->kinds[k]->contents != BYTES &&
                settings->sizes.bytes[i] % sizeof(double) != 0)
                code = settings_fail("--bytes %zu: %s takes multiples of 8",
                                     settings->sizes.bytes[i], settings->kinds[k]->name);
    int cells = settings->sizes.sizes * settings->kind_count *
                (settings->buffers[0] + settings->buffers[1]);
    if (settings->seconds <= 0) settings->seconds = 2.0 * cells;
    return code;
}
