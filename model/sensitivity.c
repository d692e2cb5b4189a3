/* SPDX-License-Identifier: BSD-3-Clause */
/* sensitivity - what of the simulated gain of SH-CO over SH-Naive is left when an assumption of the
 * model is taken back, one or more at a time. */
#include "model.h"

#include "paper.h"

enum { rows, morton, walks, sizes = 2, most_cells = 2 * sizes * walks };
static const int size_index[sizes] = {2, 3}; /* of paper_bytes: 512 and 4096 */

static const struct variant {
    const char *name;
    bool kept, no_prefetcher, no_ahead, lru;
} variants[] = {
    {.name = "as in the tables"},
    {.name = "own buffers stay in L1 and L2", .kept = true},
    {.name = "no hardware prefetcher", .no_prefetcher = true},
    {.name = "memcpy does not prefetch", .no_ahead = true},
    {.name = "nothing is prefetched", .no_prefetcher = true, .no_ahead = true},
    {.name = "LRU at all levels", .lru = true},
    {.name = "buffers stay, nothing is prefetched",
     .kept = true,
     .no_prefetcher = true,
     .no_ahead = true},
    {.name = "buffers stay, LRU", .kept = true, .lru = true},
};

static struct machine changed(const struct machine *machine, const struct variant *variant) {
    struct machine m = *machine;
    if (variant->no_prefetcher) m.next_line = m.stream = false;
    if (variant->no_ahead) m.copy_ahead = 0;
    if (variant->lru) m.l1.policy = m.l2.policy = m.l3.policy = POLICY_lru;
    return m;
}

static void print_gains(const char *name, const double misses[most_cells][2]) {
    printf("| %s |", name);
    for (int cell = 0; cell < most_cells; cell += walks)
        for (int level = 0; level < 2; level++)
            printf(" %+.0f %% |",
                   100 * (misses[cell + morton][level] / misses[cell + rows][level] - 1));
    putchar('\n');
}

int print_sensitivity(const struct settings *s) {
    double misses[most_cells][2];
    printf("| misses of SH-CO against SH-Naive | allgather 512 B, L1 | L2 | 4 KiB, L1 | L2 | "
           "alltoall 512 B, L1 | L2 | 4 KiB, L1 | L2 |\n"
           "|---|---:|---:|---:|---:|---:|---:|---:|---:|\n");
    for (int c = 0; c < most_cells; c++)
        for (int level = 0; level < 2; level++)
            misses[c][level] =
                paper_misses[c / (sizes * walks)][size_index[c / walks % sizes]][level][c % walks];
    print_gains("counted (li2018, tables 1 and 2)", misses);
    for (size_t v = 0; v < sizeof variants / sizeof *variants; v++) {
        struct machine machine = changed(&s->machine, &variants[v]);
        struct job jobs[most_cells];
        for (int c = 0; c < most_cells; c++) {
            uint64_t bytes = paper_bytes[size_index[c / walks % sizes]];
            jobs[c] = (struct job){.exchange = {.alltoall = c / (sizes * walks) == 1,
                                                .ranks = s->ranks,
                                                .bytes = bytes,
                                                .kept = variants[v].kept,
                                                .sample = 1}};
            if (!parse_walk(paper_walks[c % walks], &jobs[c])) return 2;
        }
        if (!run_jobs(&machine, jobs, most_cells)) return 2;
        for (int c = 0; c < most_cells; c++)
            misses[c][0] = jobs[c].result.l1, misses[c][1] = jobs[c].result.l2;
        print_gains(variants[v].name, misses);
        fflush(stdout);
    }
    return 0;
}
