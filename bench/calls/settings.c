/* SPDX-License-Identifier: BSD-3-Clause */
/* settings - the command line of `mortar bench`. */
#include "bench/common/bench.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const usage =
    "usage: mpirun -n P mortar bench COLLECTIVE [OPTION...]\n"
    "       mpirun -n P mortar bench network [OPTION...]    what the network between two nodes does; network --help\n"
    "       mpirun -n P mortar bench communicators [OPTION...]    what short-lived communicators cost; communicators --help\n"
    "%s"
    "  --bytes 8:1M:x8      block sizes: from 8 bytes to 1 MiB, each 8 times the one before, the end always included;\n"
    "                       or a list: 8,64,4K. A block is what one rank has for another one, for all, or for the root; of\n"
    "                       bcast, reduce, allreduce, scan and exscan the whole vector, of reduce_scatter(_block) a result.\n"
    "                       Sums are of MPI_DOUBLE, and take multiples of 8\n"
    "  --grid 64,128,256    redistribution: edges of the grid; of double complex, in slabs (default 64,128,256)\n"
    "  --axes 0,1           redistribution: distributed along axis 0 before and along axis 1 after (default 0,1)\n"
    "  --plan PLAN...       what mortar shall run, once for each plan; `auto`, the default, is what it would choose itself\n"
    "                       (mortar info --plans COLLECTIVE lists them)\n"
    "  --buffers heap|stack|mapped|outside\n"
    "                       memory from malloc (default), the stack of the first thread, or from mmap, which peers can reach\n"
    "                       when mortar's heap is on (not malloc's of 897 bytes to 16 KiB); or memory that they cannot reach: a\n"
    "                       mapping for a stack (MAP_STACK)\n"
    "  --irregular          v and w collectives, reduce_scatter: blocks of drawn lengths, from 0 to twice the size, its mean\n"
    "  --root R             of those that have one (default 0)\n"
    "  --topology 2d|3d|nd  neighbours: a periodic grid (default 2d), or a graph with +-1, 3, 7 and 12\n"
    "  --then-barrier       a barrier after each call, in its time, mortar's after mortar's: else ranks that only send run ahead\n"
    "  --imbalance [LIST]   ranks come late by 0 to so many milliseconds, drawn evenly; a time is then the mean over ranks of\n"
    "                       what they spend inside of a call, one call at a time (default 0,1,2,5,10ms)\n"
    "  --limit              alltoall, allgather, allreduce, and bcast with --then-barrier: also time the same by the same\n"
    "                       ranks over one shared mapping, with nothing but memcpy, additions and barriers: no communicator,\n"
    "                       datatype or plan. The faster of row order between two barriers (long sums: a slice by each rank\n"
    "                       for all), and one barrier in which the last rank to arrive does everything. And, for alltoall and\n"
    "                       allgather, stream: as many ranks as there are processors copy all of it with non-temporal stores,\n"
    "                       while the others sleep\n"
    "  --use                between calls, in the time of each contestant, each rank reads all that it has received and writes all\n"
    "                       that it sends anew, as a program does; and the time of that alone: use. With --limit also mortar\n"
    "                       / limit after use has been taken off both\n"
    "  --cold [sweep]       before each timed call, of which there is one at a time: empty the caches, then each rank reads its\n"
    "                       send buffer and its receive buffer. By clflush(opt) of these buffers where the processor has it;\n"
    "                       else, or with `sweep`, by a sweep through memory twice as large as the last cache\n"
    "  --counters           also count per call, the mean over ranks, in batches of their own: cache misses (what PAPI calls\n"
    "                       L1_DCM, L2_DCM, L3_TCM) and cycles of stall (MEM_WCY for writes, STL_ICY without an instruction),\n"
    "                       as far as PAPI and the machine have them\n"
    "  --csv FILE           write every repetition; rows are added when the file exists\n"
    "  --seconds S          measure each block size for about that long (default 1; at least 5 repetitions)\n"
    "  --repetitions N      so many repetitions instead\n"
    "Results are verified first, every byte. Then the MPI library's own function and each plan run in turns, about 20 ms of\n"
    "calls back to back each time, on the same buffers (warm, without --cold). Where ranks may run ahead of each other (root,\n"
    "scan, neighbours) the time per call depends on the calls in a row, and all have the same number: `in a row`. A time is\n"
    "that of the slowest rank per call, the median over repetitions; the ratio is native / mortar, so above 1 mortar is faster; spread is half the\n"
    "interquartile range of the ratio. When this program is started by itself, without mortar, both columns are the\n"
    "library's own.\n";

const char *settings_command = "bench";

int settings_fail(const char *format, ...) {
    char text[1024];
    if (launcher_rank() > 0) return 0;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fprintf(stderr, "mortar %s: ", settings_command);
    /* "--seconds : expected ...": an option's value that is not there */
    size_t option = strcspn(text, " ");
    if (strncmp(text, "--", 2) == 0 && strncmp(text + option, " : ", 3) == 0)
        fprintf(stderr, "%.*s needs a value: %s", (int)option, text, text + option + 3);
    else fputs(text, stderr);
    fprintf(stderr, " (mortar %s --help)\n", settings_command);
    return 2;
}

int settings_no_kind(const char *name) {
    const char *near = kinds[0].name;
    for (int i = 1; i < count_of_kinds; i++)
        if (word_distance(name, kinds[i].name) < word_distance(name, near)) near = kinds[i].name;
    if (word_distance(name, near) > likely_distance(name))
        return settings_fail("no collective \"%s\"", name);
    return settings_fail("no collective \"%s\": did you mean %s?", name, near);
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
    if (!factor || *factor != 'x' || parse_bytes(factor + 1, &times) != 0 || times < 2)
        return false;
    if (parse_bytes(to, &last) != 0 || last < first || last > INT_MAX || first == 0 ||
        times > INT_MAX)
        return false;
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

static bool read_edges(const char *text, struct settings *settings) {
    bool fine = settings_sizes(text, settings);
    for (int i = 0; i < settings->sizes; i++) fine = fine && settings->bytes[i] <= grid_longest;
    return fine;
}

bool settings_number(const char *text, double least, double most, double *number) {
    char *end;
    *number = strtod(text, &end);
    return end != text && *end == 0 && *number >= least && *number <= most;
}

/* "0,50,100ms": each of them in milliseconds. */
static bool read_imbalances(const char *text, struct settings *settings) {
    double number;
    settings->imbalance_count = 0;
    char *copy = strdup(text), *rest = copy, *item;
    bool fine = copy && *copy;
    while (fine && (item = strsep(&rest, ",")) != NULL) {
        char *unit = strstr(item, "ms");
        if (unit && unit[2] == 0) *unit = 0;
        fine =
            settings_number(item, 0, 1e6, &number) && settings->imbalance_count < most_imbalances;
        if (fine) settings->imbalances[settings->imbalance_count++] = number / 1000;
    }
    free(copy);
    return fine;
}

/* ---- the options, one at a time ---- */

static int read_value(const char *option, const char *value, struct settings *settings) {
    double number;
    if (strcmp(option, "--bytes") == 0) {
        if (!settings_sizes(value, settings))
            return settings_fail(
                "--bytes %s: expected FROM:TO:xN or a list of sizes from 1 to 2G-1, e.g. 8:1M:x8 or 8,64,4K",
                value);
    } else if (strcmp(option, "--grid") == 0) {
        if (!read_edges(value, settings))
            return settings_fail("--grid %s: expected edges from 1 to %d", value, grid_longest);
    } else if (strcmp(option, "--axes") == 0) {
        bool fine = strlen(value) == 3 && value[1] == ',';
        settings->before = value[0] - '0', settings->after = fine ? value[2] - '0' : -1;
        if (!fine || settings->before < 0 || settings->before >= grid_axes || settings->after < 0 ||
            settings->after >= grid_axes || settings->before == settings->after)
            return settings_fail("--axes %s: expected two of 0, 1 and 2, e.g. 0,1", value);
    } else if (strcmp(option, "--buffers") == 0) {
        int i = 0;
        while (i < BUFFERS && strcmp(value, buffers_names[i]) != 0) i++;
        if (i == BUFFERS)
            return settings_fail("--buffers %s: expected heap, stack, mapped or outside", value);
        settings->buffers = (enum buffers)i;
    } else if (strcmp(option, "--csv") == 0) {
        if (!*value) return settings_fail("--csv needs a file");
        settings->csv = value;
    } else if (strcmp(option, "--seconds") == 0) {
        if (!settings_number(value, 1e-3, 1e5, &settings->seconds))
            return settings_fail("--seconds %s: expected 0.001 to 100000", value);
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
    if (read_imbalances(list, settings)) return -1;
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

static int read_option(int count, char **words, int *i, struct settings *settings) {
    const char *option = words[(*i)++];
    struct {
        const char *name;
        bool *set;
    } switches[] = {{"--limit", &settings->limit},
                    {"--counters", &settings->counters},
                    {"--use", &settings->use},
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

/* ---- the whole command line ---- */

static void list_kinds(char *text, size_t size, int indent) {
    size_t length = 0, line = 0;
    *text = 0;
    for (int i = 0; i < count_of_kinds && length < size; i++) {
        bool wraps = line > 0 && line + strlen(kinds[i].name) > 100;
        if (wraps) line = 0;
        const char *before = wraps ? "\n" : "";
        int blanks = line == 0 ? indent : 1;
        int written =
            snprintf(text + length, size - length, "%s%*s%s", before, blanks, "", kinds[i].name);
        length += (size_t)written, line += (size_t)written;
    }
}

static int read_kind(const char *name, struct settings *settings) {
    if (!*name) return settings_fail("which collective? e.g. mortar bench alltoall");
    settings->kind = kind_of(name);
    return settings->kind ? -1 : settings_no_kind(name);
}

/* Options that do not go together; -1: none. */
static int check(struct settings *settings) {
    const struct kind *kind = settings->kind;
    if (kind->sends == NOBODY) settings->sizes = 1, settings->bytes[0] = 0;
    for (int i = 0; i < settings->sizes; i++)
        if (kind->contents != BYTES && settings->bytes[i] % sizeof(double) != 0)
            return settings_fail("--bytes %zu: %s sums up MPI_DOUBLE, and takes multiples of 8",
                                 settings->bytes[i], kind->name);
    if (settings->irregular && !kind->vector)
        return settings_fail("--irregular: the blocks of %s are equal", kind->name);
    if (settings->root > 0 && !kind_rooted(kind))
        return settings_fail("--root: %s has none", kind->name);
    if (settings->topology >= 0 && !kind_neighbours(kind))
        return settings_fail("--topology: %s knows no neighbours", kind->name);
    if (settings->limit && !kind_limit(kind))
        return settings_fail("--limit: only alltoall, allgather, allreduce and bcast have it");
    if (settings->limit && kind_rooted(kind) != settings->then_barrier)
        return settings_fail(kind_rooted(kind)
                                 ? "--limit: with %s it needs --then-barrier, for it has barriers"
                                 : "--limit: with %s it does not go with --then-barrier",
                             kind->name);
    if (settings->then_barrier && settings->cold)
        return settings_fail("--then-barrier does not go with --cold");
    if (settings->use && kind->sends == NOBODY)
        return settings_fail("--use: %s has no data", kind->name);
    if (settings->use && (settings->cold || settings->counters || settings->imbalance_count > 0))
        return settings_fail("--use does not go with --cold, --counters or --imbalance");
    if (settings->imbalance_count > 0 &&
        (settings->then_barrier || settings->limit || settings->cold || settings->counters))
        return settings_fail(
            "--imbalance does not go with --then-barrier, --limit, --cold or --counters");
    if (settings->topology < 0) settings->topology = 0;
    return -1;
}

/* The sizes that are measured when nobody says which; -1, or the exit code when the kind has no
 * such sizes as are asked for. */
static int sizes(int count, char **words, struct settings *settings) {
    const struct kind *kind = settings->kind;
    bool grid = kind_grid(kind);
    settings_sizes(grid ? "64,128,256" : "8:1M:x8", settings);
    settings->before = 0, settings->after = 1;
    for (int i = 2; i < count; i++) {
        bool bytes = strcmp(words[i], "--bytes") == 0;
        bool cut = strcmp(words[i], "--grid") == 0 || strcmp(words[i], "--axes") == 0;
        if ((bytes && (grid || kind->sends == NOBODY)) || (cut && !grid))
            return settings_fail("%s: %s has none", words[i], kind->name);
    }
    return -1;
}

static int help(void) {
    char names[512];
    list_kinds(names, sizeof names, 2);
    strncat(names, "\n", sizeof names - strlen(names) - 1);
    if (launcher_rank() <= 0) printf(usage, names);
    return 0;
}

bool settings_help(int count, char **words, const char *text) {
    bool asked = false;
    for (int i = 1; i < count; i++)
        asked = asked || strcmp(words[i], "--help") == 0 || strcmp(words[i], "-h") == 0;
    if (asked && launcher_rank() <= 0) fputs(text, stdout);
    return asked;
}

int settings_options(int count, char **words,
                     int (*read)(const char *option, const char *value, void *settings),
                     void *settings) {
    int code = -1;
    for (int i = 1; i < count && code < 0; i += 2) {
        if (strncmp(words[i], "--", 2) != 0)
            return settings_fail("\"%s\": expected an option", words[i]);
        bool there = i + 1 < count && strncmp(words[i + 1], "--", 2) != 0;
        code = read(words[i], there ? words[i + 1] : "", settings);
    }
    return code;
}

int settings_read(int count, char **words, struct settings *settings) {
    *settings = (struct settings){.seconds = 1, .topology = -1};
    for (int i = 1; i < count; i++)
        if (strcmp(words[i], "--help") == 0 || strcmp(words[i], "-h") == 0) return help();
    int code = read_kind(count < 2 ? "" : words[1], settings);
    if (code < 0) code = sizes(count, words, settings);
    for (int i = 2; i < count && code < 0;) {
        if (strncmp(words[i], "--", 2) != 0)
            return settings_fail("\"%s\": expected an option", words[i]);
        code = read_option(count, words, &i, settings);
    }
    if (settings->plan_count == 0) settings->plans[settings->plan_count++] = "auto";
    return code < 0 ? check(settings) : code;
}
