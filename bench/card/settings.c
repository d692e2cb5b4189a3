/* SPDX-License-Identifier: BSD-3-Clause */
/* card_settings - the command line of `mortar site-card`. */
#include "card.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const usage =
    "usage: mpirun -n P mortar site-card [OPTION...]    what this machine is, and what mortar gains on it: CARD.json and CARD.png\n"
    "       mortar site-card --draw CARD.json [-o PICTURE]    the picture again, or where there was no matplotlib (.png, .svg, .pdf)\n"
    "  -o, --output CARD    where it goes (default mortar-card)\n"
    "  --minutes M          of measuring, in all (default 5)\n"
    "  --ranks 2,8,64       numbers of ranks: the first ones of those that were started (default: 2, 4, 8 and so on, and all)\n"
    "  --bytes 8:1M:x8      block sizes, as for mortar bench (default 8,512,4K,32K,256K)\n"
    "  --draw CARD.json     draw a card\n"
    "alltoall, allgather, allreduce, and bcast with a barrier behind it, in the time: the MPI library's own, mortar's, and the limit\n"
    "of the machine, nothing but memcpy, additions and barriers (on one node). They take turns, and each result is verified. Short\n"
    "calls come first. What the minutes do not suffice for is in the card, with the reason. The card has no host names, user names\n"
    "or paths. It is written anew after each size, so an interruption loses only the size in progress.\n";

static bool read_ranks(const char *text, struct card_settings *settings) {
    char *copy = strdup(text), *rest = copy, *item;
    bool fine = copy && *copy;
    settings->parts = 0;
    while (fine && (item = strsep(&rest, ",")) != NULL) {
        double number;
        fine = settings->parts < most_parts && settings_number(item, 2, 1e6, &number) &&
               number == (int)number;
        if (fine) settings->ranks[settings->parts++] = (int)number;
    }
    free(copy);
    return fine;
}

/* CARD, also where somebody writes CARD.json. */
static bool read_output(const char *value, struct card_settings *settings) {
    size_t length = strlen(value);
    if (length > 5 && strcmp(value + length - 5, ".json") == 0) length -= 5;
    if (length == 0 || length + 16 > sizeof settings->output) return false;
    snprintf(settings->output, sizeof settings->output, "%.*s", (int)length, value);
    return settings->output[length - 1] != '/';
}

static int read_option(const char *option, const char *value, struct card_settings *settings) {
    if (strcmp(option, "-o") == 0 || strcmp(option, "--output") == 0)
        return read_output(value, settings) ? -1 : settings_fail("%s needs a file", option);
    if (strcmp(option, "--minutes") == 0) {
        if (!settings_number(value, 1e-3, 1e4, &settings->seconds))
            return settings_fail("--minutes %s: expected 0.001 to 10000", value);
        settings->seconds *= 60;
        return -1;
    }
    if (strcmp(option, "--ranks") == 0) {
        if (read_ranks(value, settings)) return -1;
        return settings_fail("--ranks %s: expected at most %d whole numbers from 2 on, e.g. 2,8,64",
                             value, most_parts);
    }
    if (strcmp(option, "--bytes") != 0) return settings_fail("unknown option %s", option);
    if (!settings_sizes(value, &settings->sizes))
        return settings_fail("--bytes %s: expected FROM:TO:xN or a list of sizes, e.g. 8,512,4K",
                             value);
    for (int i = 0; i < settings->sizes.sizes; i++)
        if (settings->sizes.bytes[i] % sizeof(double) != 0)
            return settings_fail("--bytes %zu: allreduce takes multiples of 8",
                                 settings->sizes.bytes[i]);
    return -1;
}

int card_settings_read(int count, char **words, struct card_settings *settings) {
    settings_command = "site-card";
    *settings = (struct card_settings){.seconds = 300, .output = "mortar-card"};
    settings_sizes("8,512,4K,32K,256K", &settings->sizes);
    if (settings_help(count, words, usage)) return 0;
    int code = -1;
    for (int i = 1; i < count && code < 0; i += 2) {
        if (*words[i] != '-') return settings_fail("\"%s\": expected an option", words[i]);
        code = read_option(words[i], i + 1 < count ? words[i + 1] : "", settings);
    }
    return code;
}

static int ascending(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

bool card_parts(struct card_settings *settings, int ranks) {
    int kept = 0;
    if (settings->parts == 0) {
        for (int p = 2; p < ranks && settings->parts < most_parts - 1; p *= 2)
            settings->ranks[settings->parts++] = p;
        settings->ranks[settings->parts++] = ranks;
    }
    qsort(settings->ranks, (size_t)settings->parts, sizeof *settings->ranks, ascending);
    for (int i = 0; i < settings->parts; i++)
        if (kept == 0 || settings->ranks[i] != settings->ranks[kept - 1])
            settings->ranks[kept++] = settings->ranks[i];
    settings->parts = kept;
    if (settings->ranks[kept - 1] <= ranks) return true;
    settings_fail("--ranks %d: only %d were started", settings->ranks[kept - 1], ranks);
    return false;
}
