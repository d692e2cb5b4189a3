/* SPDX-License-Identifier: BSD-3-Clause */
/* settings - the command line of `mortar bench`. */
#include "bench.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct kind kinds[] = {
    {"alltoall", "PMPI_Alltoall", false, MPI_Alltoall},
    {"allgather", "PMPI_Allgather", true, MPI_Allgather},
};
enum { count_of_kinds = sizeof kinds / sizeof *kinds };

static const char *const usage =
    "usage: mpirun -n P mortar bench alltoall|allgather [OPTION...]\n"
    "  --bytes 8:1M:x8      block sizes: from 8 bytes to 1 MiB, each 8 times the one before, the end always included;\n"
    "                       or a list: 8,64,4K\n"
    "  --plan PLAN...       what mortar shall run, once for each plan; `auto`, the default, is what it would choose itself\n"
    "                       (mortar info --plans COLLECTIVE lists them)\n"
    "  --buffers heap|stack heap: memory from malloc, which peers can reach when mortar's heap is on (default);\n"
    "                       stack: memory that they cannot reach. A private anonymous mapping stands for it\n"
    "  --limit              also time the same exchange by the same ranks over one shared mapping, with nothing but memcpy and\n"
    "                       barriers: no communicator, datatype or plan. The faster of row order between two barriers, and\n"
    "                       one barrier in which the last rank to arrive copies everything. And stream: as many ranks as\n"
    "                       there are processors copy all of it with non-temporal stores, while the others sleep\n"
    "  --cold [sweep]       before each timed call, of which there is one at a time: empty the caches, then each rank reads its\n"
    "                       send buffer and its receive buffer. By clflush(opt) of these buffers where the processor has it;\n"
    "                       else, or with `sweep`, by a sweep through memory twice as large as the last cache\n"
    "  --counters           also count cache misses per call, the mean over ranks, in batches of their own: what PAPI calls\n"
    "                       L1_DCM, L2_DCM and L3_TCM, as far as PAPI and the machine have them\n"
    "  --csv FILE           write every repetition; rows are added when the file exists\n"
    "  --seconds S          measure each block size for about that long (default 1; at least 5 repetitions)\n"
    "  --repetitions N      so many repetitions instead\n"
    "Results are verified first, every byte. Then the MPI library's own function and each plan run in turns, about 20 ms of\n"
    "calls back to back each time, on the same buffers (warm, without --cold). A time is that of the slowest rank per call,\n"
    "the median over repetitions; the ratio is native / mortar, so above 1 mortar is faster; spread is half the\n"
    "interquartile range of the ratio. When this program is started by itself, without mortar, both columns are the\n"
    "library's own.\n";

const char *settings_command = "bench";

int settings_fail(const char *format, ...) {
    if (launcher_rank() > 0) return 0;
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "mortar %s: ", settings_command);
    vfprintf(stderr, format, arguments);
    fprintf(stderr, " (mortar %s --help)\n", settings_command);
    va_end(arguments);
    return 2;
}

static bool add_size(struct settings *settings, uint64_t bytes) {
    if (settings->sizes == most_sizes || bytes == 0 || bytes > INT_MAX) return false;
    settings->bytes[settings->sizes++] = (size_t)bytes;
    return true;
}

/* FROM:TO:xN, or one size. */
static bool read_range(char *text, struct settings *settings) {
    char *to = strchr(text, ':'), *factor = to ? strchr(to + 1, ':') : NULL;
    uint64_t first, last, times;
    if (to) *to++ = 0;
    if (factor) *factor++ = 0;
    if (parse_bytes(text, &first) != 0) return false;
    if (!to) return add_size(settings, first);
    if (!factor || *factor != 'x' || parse_bytes(factor + 1, &times) != 0 || times < 2) return false;
    if (parse_bytes(to, &last) != 0 || last < first || last > INT_MAX || first == 0 || times > INT_MAX) return false;
    for (uint64_t bytes = first; bytes < last; bytes *= times)
        if (!add_size(settings, bytes)) return false;
    return add_size(settings, last);
}

bool settings_sizes(const char *text, struct settings *settings) {
    settings->sizes = 0;
    char *copy = strdup(text), *rest = copy, *item;
    bool fine = copy && *copy;
    while (fine && (item = strsep(&rest, ",")) != NULL) fine = read_range(item, settings);
    free(copy);
    return fine;
}

bool settings_number(const char *text, double least, double most, double *number) {
    char *end;
    *number = strtod(text, &end);
    return end != text && *end == 0 && *number >= least && *number <= most;
}

static int read_value(const char *option, const char *value, struct settings *settings) {
    double number;
    if (strcmp(option, "--bytes") == 0) {
        if (!settings_sizes(value, settings))
            return settings_fail("--bytes %s: expected FROM:TO:xN or a list of sizes from 1 to 2G-1, e.g. 8:1M:x8 or 8,64,4K",
                                 value);
    } else if (strcmp(option, "--buffers") == 0) {
        settings->stack = strcmp(value, "stack") == 0;
        if (!settings->stack && strcmp(value, "heap") != 0) return settings_fail("--buffers %s: expected heap or stack", value);
    } else if (strcmp(option, "--csv") == 0) {
        settings->csv = value;
    } else if (strcmp(option, "--seconds") == 0) {
        if (!settings_number(value, 1e-3, 1e5, &settings->seconds))
            return settings_fail("--seconds %s: expected a number above 0", value);
    } else if (strcmp(option, "--repetitions") == 0) {
        if (!settings_number(value, 1, 1e6, &number) || number != (int)number)
            return settings_fail("--repetitions %s: expected a whole number from 1 to 1000000", value);
        settings->repetitions = (int)number;
    } else {
        return settings_fail("unknown option %s", option);
    }
    return -1;
}

const struct kind *settings_kind(const char *name) {
    for (int i = 0; i < count_of_kinds; i++)
        if (strcmp(kinds[i].name, name) == 0) return &kinds[i];
    return NULL;
}

static int read_kind(const char *name, struct settings *settings) {
    settings->kind = settings_kind(name);
    if (settings->kind) return -1;
    return settings_fail("\"%s\": expected a collective, alltoall or allgather", name);
}

static int read_cold(int count, char **words, int *i, struct settings *settings) {
    settings->cold = true;
    if (*i == count || strncmp(words[*i], "--", 2) == 0) return -1;
    const char *how = words[(*i)++];
    settings->sweep = strcmp(how, "sweep") == 0;
    return settings->sweep ? -1 : settings_fail("--cold %s: expected sweep, or nothing", how);
}

/* Reads option i and what belongs to it, and moves i behind. */
static int read_option(int count, char **words, int *i, struct settings *settings) {
    const char *option = words[(*i)++];
    if (strcmp(option, "--limit") == 0) return settings->limit = true, -1;
    if (strcmp(option, "--counters") == 0) return settings->counters = true, -1;
    bool plan = strcmp(option, "--plan") == 0;
    if (strcmp(option, "--cold") == 0) return read_cold(count, words, i, settings);
    if (*i == count || strncmp(words[*i], "--", 2) == 0) {
        if (plan) return settings_fail("--plan needs a plan, e.g. auto, cico or 'pull(morton)'");
        return read_value(option, "", settings);
    }
    if (!plan) return read_value(option, words[(*i)++], settings);
    for (; *i < count && strncmp(words[*i], "--", 2) != 0; (*i)++) {
        if (settings->plan_count == most_plans) return settings_fail("--plan: more than %d plans", most_plans);
        settings->plans[settings->plan_count++] = words[*i];
    }
    return -1;
}

int settings_read(int count, char **words, struct settings *settings) {
    *settings = (struct settings){.seconds = 1};
    settings_sizes("8:1M:x8", settings);
    for (int i = 1; i < count; i++) {
        if (strcmp(words[i], "--help") != 0 && strcmp(words[i], "-h") != 0) continue;
        if (launcher_rank() <= 0) fputs(usage, stdout);
        return 0;
    }
    if (count < 2) return settings_fail("which collective? Expected alltoall or allgather");
    int code = read_kind(words[1], settings);
    for (int i = 2; i < count && code < 0;) {
        if (strncmp(words[i], "--", 2) != 0) return settings_fail("\"%s\": expected an option", words[i]);
        code = read_option(count, words, &i, settings);
    }
    if (settings->plan_count == 0) settings->plans[settings->plan_count++] = "auto";
    return code;
}
