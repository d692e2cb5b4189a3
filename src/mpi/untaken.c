/* SPDX-License-Identifier: BSD-3-Clause */
/* untaken - the calls that mortar does not take, of all ranks. libmortar-count.so counts them in
 * each process, where it is preloaded. */
#define _GNU_SOURCE
#include "mpi/report.h"

#include <dlfcn.h>

/* Fills in this rank's counts; returns how many functions are counted. */
static int own_counts(struct untaken *rows) {
    int (*row_of)(int, struct untaken *) =
        (int (*)(int, struct untaken *))dlsym(RTLD_DEFAULT, "mortar_untaken");
    int count = 0;
    while (row_of && count < most_untaken && row_of(count, &rows[count])) count++;
    return count;
}

void report_untaken(struct not_taken *all) {
    struct untaken own[most_untaken] = {{0}};
    uint64_t calls[most_untaken] = {0}, most[most_untaken] = {0}, sums[most_untaken] = {0};
    double seconds[most_untaken] = {0}, longest[most_untaken] = {0};
    MPI_Comm comm;
    int counted = own_counts(own);
    *all = (struct not_taken){.known = counted > 0};
    if (comm_private(MPI_COMM_WORLD, &comm) != 0) return;
    for (int i = 0; i < counted; i++) calls[i] = own[i].calls, seconds[i] = own[i].seconds;
    host.reduce(calls, most, most_untaken, MPI_UINT64_T, MPI_MAX, 0, comm);
    host.reduce(calls, sums, most_untaken, MPI_UINT64_T, MPI_SUM, 0, comm);
    host.reduce(seconds, longest, most_untaken, MPI_DOUBLE, MPI_MAX, 0, comm);
    for (int i = 0; i < counted; i++) {
        if (sums[i] == 0) continue;
        own[i].calls = most[i], own[i].seconds = longest[i];
        all->sums[all->count] = sums[i];
        all->rows[all->count++] = own[i];
    }
    host.comm_free(&comm);
}
