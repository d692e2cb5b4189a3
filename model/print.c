/* SPDX-License-Identifier: BSD-3-Clause */
/* print - the results of mortar-model as a table, as CSV, and beside the paper's tables. */
#include "model.h"

#include "paper.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *size_text(uint64_t bytes, char text[24]) {
    if (bytes >= 1 << 20 && bytes % (1 << 20) == 0)
        snprintf(text, 24, "%lluM", (unsigned long long)(bytes >> 20));
    else if (bytes >= 1 << 10 && bytes % (1 << 10) == 0)
        snprintf(text, 24, "%lluK", (unsigned long long)(bytes >> 10));
    else snprintf(text, 24, "%llu", (unsigned long long)bytes);
    return text;
}

/* The equations for one line of results, with one L for blocks and one for long walks, at L1 and at
 * L2. */
static void print_equations(const struct settings *s, const struct job *job) {
    if (strcmp(job->walk, "columns") == 0) return; /* the paper has no equation for it */
    bool curve = strcmp(job->walk, "rows") != 0;
    char *end;
    double p = s->ranks, block = (double)job->exchange.bytes, line = strtod(s->line, &end),
           along = *end == ',' ? strtod(end + 1, NULL) : line;
    double caches[] = {(double)s->machine.l1.bytes, (double)s->machine.l2.bytes};
    for (int level = 0; level < 2; level++) {
        if (caches[level] <= 0) continue;
        int number = equation_for(job->exchange.alltoall, curve, p, block, caches[level]);
        double l = level == 0 ? s->machine.line_bytes : line,
               walk = level == 0 ? s->machine.line_bytes : along;
        printf("  (%d) %10.0f", number, equation(number, p, block, l, walk, caches[level]));
    }
}

/* Lines of the blocks that a process copies, read and written; of a short one, one. */
static double copied(const struct settings *s, const struct job *job) {
    const struct around *around = job->exchange.around;
    double blocks = around ? (double)around->count / s->ranks : s->ranks;
    return blocks * fmax(1, 2 * (double)job->exchange.bytes / s->machine.line_bytes);
}

void print_jobs(const struct settings *s, const struct jobs *jobs) {
    char size[24];
    if (s->csv)
        puts(
            "machine,collective,ranks,bytes,order,l1,l2,l3,remote,memory,neighbour,ownership,back_invalidated,nontemporal,walks,copied");
    else
        printf(
            "simulated on %s (%s), %u ranks: lines per process that miss; equations of li2018 s.2.3 for L1 and L2\n%-18s %6s "
            "%-16s %10s %10s %10s %10s %10s %16s\n",
            s->machine.name, s->machine.about, s->ranks, "collective", "bytes", "order", "L1", "L2",
            "L3", "remote", "ownership", "equations");
    for (size_t i = 0; i < jobs->count; i++) {
        const struct job *job = &jobs->all[i];
        const struct result *r = &job->result;
        const char *collective =
            job->exchange.around
                ? (job->exchange.alltoall ? "neighbor_alltoall" : "neighbor_allgather")
                : (job->exchange.alltoall ? "alltoall" : "allgather");
        if (s->csv) {
            printf("%s,%s,%u,%llu,%s,%.1f,%.1f,%.1f,%.1f,%.1f,%.1f,%.1f,%.1f,%.1f,%.1f,%.1f\n",
                   s->machine.name, collective, s->ranks, (unsigned long long)job->exchange.bytes,
                   job->walk, r->l1, r->l2, r->l3, r->remote, r->memory, r->neighbour, r->ownership,
                   r->back_invalidated, r->nontemporal, r->walks, copied(s, job));
            continue;
        }
        printf("%-18s %6s %-16s %10.0f %10.0f %10.0f %10.0f %10.0f", collective,
               size_text(job->exchange.bytes, size), job->walk, r->l1, r->l2, r->l3, r->remote,
               r->ownership);
        if (!job->exchange.around) print_equations(s, job);
        putchar('\n');
    }
}

/* ---- tables 1 and 2 ---- */

static double level_of(const struct result *result, int level) {
    return level == 0 ? result->l1 : level == 1 ? result->l2 : result->l3;
}

/* Markdown: one line per block size and level, simulated / counted, deviation in per cent. */
int print_table(const struct settings *s) {
    static const char *const levels[paper_levels] = {"L1", "L2", "L3"};
    struct job jobs[paper_sizes][paper_orders];
    bool alltoall = s->table == 2;
    int sizes = 0;
    for (int i = 0; i < paper_sizes && paper_bytes[i] <= s->most; i++, sizes++)
        for (int k = 0; k < paper_orders; k++) {
            uint32_t sample = sample_or_fail(s, alltoall, paper_bytes[i]);
            jobs[i][k] = (struct job){.exchange = {.alltoall = alltoall,
                                                   .ranks = s->ranks,
                                                   .bytes = paper_bytes[i],
                                                   .sample = sample}};
            if (!parse_walk(paper_walks[k], &jobs[i][k])) return 2;
        }
    if (!run_jobs(&s->machine, jobs[0], (size_t)sizes * paper_orders)) return 2;
    puts(s->csv ? "table,bytes,level,order,simulated,counted"
                : "| level | block |  | SH-Naive |  |  | SH-CO |  |  | SH-NUMA-CO |  |\n"
                  "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|");
    for (int level = 0; level < paper_levels; level++)
        for (int i = 0; i < sizes; i++) {
            char size[24];
            size_text(paper_bytes[i], size);
            if (!s->csv) printf("| %s | %s |", levels[level], size);
            for (int k = 0; k < paper_orders; k++) {
                double ours = level_of(&jobs[i][k].result, level),
                       theirs = paper_misses[alltoall][i][level][k];
                if (s->csv)
                    printf("%d,%llu,%s,%s,%.1f,%.0f\n", s->table,
                           (unsigned long long)paper_bytes[i], levels[level], paper_names[k], ours,
                           theirs);
                else printf(" %.0f | %.0f | %+.0f %% |", ours, theirs, 100 * (ours / theirs - 1));
            }
            if (!s->csv) putchar('\n');
        }
    return 0;
}
