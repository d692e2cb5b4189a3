/* SPDX-License-Identifier: BSD-3-Clause */
/* health.h - what a system gives to mortar, as findings: `mortar info` shows those of its own
 * process, `mortar doctor` those of all ranks of a job. */
#ifndef MORTAR_HEALTH_H
#define MORTAR_HEALTH_H

#include <stdbool.h>
#include <stdio.h>

/* green: as good as it gets. yellow: mortar works and something is lost. red: it does not work. */
enum colour { GREEN, YELLOW, RED };

struct finding {
    enum colour colour;
    char name[24], text[256];
    char cure[256]; /* what to do; empty: nothing */
};
enum { most_findings = 40 };
struct findings {
    int count;
    struct finding list[most_findings];
};

/* Adds a finding, if there is room. cure: NULL or a text. */
void found(struct findings *all, enum colour colour, const char *name, const char *cure,
           const char *format, ...) __attribute__((format(printf, 5, 6)));

/* What this process sees alone: the system's refusals and limits. */
void health_look(struct findings *all);

/* What killed jobs of this user have left on this node. */
void health_left(struct findings *all);

/* How the batch system counts memory: the same for the whole job, and it starts a program, so one
 * rank asks, before MPI_Init. */
void health_batch(struct findings *all);

/* Does this process read its own memory by CMA? Might XPMEM work? 0 or -errno. */
int health_cma(void);
int health_xpmem(void);

/* The file that a program is: its kind. */
void health_program(struct findings *all, const char *path);

/* Prints the findings of all ranks, each once with the ranks that have it; as JSON or in lines,
 * with colours on a terminal. title: first line. Returns the worst colour. */
enum colour health_print(FILE *out, const struct findings *of_rank, int ranks, const char *title,
                         bool json);

#endif
