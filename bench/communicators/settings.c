/* SPDX-License-Identifier: BSD-3-Clause */
/* communicators_settings - the command line of `mortar bench communicators`. */
#include "communicators.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const usage =
    "usage: mpirun -n P mortar bench communicators [OPTION...]\n"
    "  --calls 1,2,10       collective calls on each communicator: a list, or 1:1000:x10 (default 1,2,10,100,1000)\n"
    "  --groups 2,8         MPI_Comm_split into groups of so many ranks, the last one with what is left; without it MPI_Comm_dup\n"
    "  --bytes 8            bytes of a vector, and of a block (default 8; a multiple of 8, at most 1M)\n"
    "  --csv FILE           write every repetition; rows are added when the file exists\n"
    "  --seconds S          measure each row for about that long (default 1; at least 5 repetitions)\n"
    "  --repetitions N      so many repetitions instead\n"
    "A communicator is made, used for an allreduce and an alltoall in turns, and freed. The MPI library's own functions and those\n"
    "of mortar run in turns, a batch of communicators each time, beginning with the other one each time. The native side goes past\n"
    "mortar: nothing is looked up, built or freed there. Times are ms for each communicator, from making it to its end, of the\n"
    "slowest rank, medians over repetitions. The ratio is native / mortar, so above 1 mortar is faster; spread is half its\n"
    "interquartile range, and the last columns are the least and the greatest ratio. Results are verified. The very first\n"
    "communicator of a process is not timed: measure/programs.py shows what starting costs a whole program.\n";

static int read_option(const char *option, const char *value, void *state) {
    struct communicators_settings *settings = state;
    double number;
    uint64_t bytes;
    if (strcmp(option, "--calls") == 0)
        return settings_sizes(value, &settings->calls)
                   ? -1
                   : settings_fail(
                         "--calls %s: expected a list of numbers, e.g. 1,2,10, or FROM:TO:xN",
                         value);
    if (strcmp(option, "--groups") == 0)
        return settings_sizes(value, &settings->groups)
                   ? -1
                   : settings_fail("--groups %s: expected a list of ranks in a group, e.g. 2,8",
                                   value);
    if (strcmp(option, "--bytes") == 0) {
        if (parse_bytes(value, &bytes) != 0 || bytes == 0 || bytes % 8 || bytes > 1 << 20)
            return settings_fail("--bytes %s: expected one multiple of 8, from 8 to 1M", value);
        settings->bytes = (size_t)bytes;
        return -1;
    }
    if (strcmp(option, "--seconds") == 0)
        return settings_number(value, 1e-3, 1e6, &settings->seconds)
                   ? -1
                   : settings_fail("--seconds %s: expected 0.001 to 1000000", value);
    if (strcmp(option, "--repetitions") == 0) {
        if (!settings_number(value, 1, 1e6, &number) || number != (int)number)
            return settings_fail("--repetitions %s: expected a whole number from 1 to 1000000",
                                 value);
        settings->repetitions = (int)number;
        return -1;
    }
    if (strcmp(option, "--csv") != 0) return settings_fail("unknown option %s", option);
    if (!*value) return settings_fail("--csv needs a file");
    settings->csv = value;
    return -1;
}

int communicators_settings_read(int count, char **words, struct communicators_settings *settings) {
    settings_command = "bench communicators";
    *settings = (struct communicators_settings){.bytes = 8, .seconds = 1};
    settings_sizes("1,2,10,100,1000", &settings->calls);
    if (settings_help(count, words, usage)) return 0;
    return settings_options(count, words, read_option, settings);
}
