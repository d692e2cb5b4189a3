/* SPDX-License-Identifier: BSD-3-Clause */
/* model.h - what the parts of mortar-model share. */
#ifndef MORTAR_MODEL_H
#define MORTAR_MODEL_H

#include "cachesim.h"

#include "order/order.h"

enum { most_jobs = 512, most_bytes = 1 << 30 };
struct job {
    char walk[64];
    struct exchange exchange;
    struct result result;
};
struct jobs {
    struct job all[most_jobs];
    size_t count;
};

struct settings {
    const char *machine_name, *collective, *bytes, *orders, *line;
    const char *grid;     /* NULL: exchanges among all ranks */
    struct around around; /* what `grid` says */
    struct machine machine;
    uint32_t ranks, sample;
    uint64_t nontemporal, most; /* most: larger blocks of a table are left out */
    uint64_t packing;           /* nodes; 0: no packing */
    int table;
    bool csv, sensitivity;
};

/* Fills walk, order and inner from a text like morton or numa(morton); false: there is none. */
bool parse_walk(const char *text, struct job *job);
/* Does the job's order walk a neighbourhood? */
bool job_walks_edges(const struct job *job);
/* Fills the results. False: one could not be had; it said why. */
bool run_jobs(const struct machine *machine, struct job *jobs, size_t count);
void print_jobs(const struct settings *settings, const struct jobs *jobs);
int print_table(const struct settings *settings);
/* sensitivity.c: the settings' machine and ranks, with assumptions taken back. An exit code. */
int print_sensitivity(const struct settings *settings);
/* packing.c: the settings' machine, ranks, sizes. An exit code. */
int print_packing(const struct settings *settings);

/* main.c. Of how many lines one is simulated, with blocks of so many bytes. Ends the program where
 * --sample leaves nothing. */
uint32_t sample_or_fail(const struct settings *settings, bool alltoall, uint64_t bytes);
/* The number that the option gives, at most most_bytes, or the end of the program. */
uint64_t bytes_or_fail(const char *option, const char *text);
/* Takes the next word of the option's list A,B(C),D; false at its end. Ends the program at an empty
 * one. */
bool next_word(const char *option, const char **list, char word[64]);

#endif
