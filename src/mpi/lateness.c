/* SPDX-License-Identifier: BSD-3-Clause */
/* lateness - when the ranks were late: seconds that this rank waited for each rank of the world,
 * over the time since MPI_Init, which all ranks leave at about the same time. Rank 0 adds up those
 * of all ranks for the report. */
#include "mpi/report.h"

#include <pthread.h>
#include <stdlib.h>

static struct timeline waited; /* a row for each rank of the world; not open without a report */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void lateness_start(void) {
    int ranks = 0;
    if (!report_wanted() || waited.seconds) return;
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (timeline_open(&waited, ranks, clock_seconds()) != 0)
        note("no memory to count when ranks are late");
}

HOT void lateness_add(const struct team *near) {
    const struct waits *waits = &near->waits;
    if (!waits->on || waits->late_count == 0 || !waited.seconds) return;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < waits->late_count; i++) {
        int rank = near->world[waits->late[i].rank];
        /* A rank that was spawned belongs to another world. */
        if (rank < waited.rows) timeline_add(&waited, rank, waits->entered, waits->late[i].seconds);
    }
    pthread_mutex_unlock(&lock);
}

/* ---- for the report ---- */

/* The largest of a row; its sum. */
static double peak_of(const double row[timeline_slices]) {
    double peak = 0;
    for (int s = 0; s < timeline_slices; s++)
        if (row[s] > peak) peak = row[s];
    return peak;
}
static double sum_of(const double row[timeline_slices]) {
    double sum = 0;
    for (int s = 0; s < timeline_slices; s++) sum += row[s];
    return sum;
}

/* Names the ranks with a tenth of all waiting, and those with a tenth of the worst rank's worst
 * slice in one slice: most seconds first. Empties their rows. */
static void name(struct lateness_found *found, double (*rows)[timeline_slices], int ranks) {
    double peak = 0, all = 0, others = ranks > 1 ? ranks - 1 : 1;
    for (int r = 0; r < ranks; r++) {
        all += sum_of(rows[r]);
        if (peak_of(rows[r]) > peak) peak = peak_of(rows[r]);
    }
    while (found->count < most_timed) {
        int worst = -1;
        for (int r = 0; r < ranks; r++) {
            bool stands_out = peak_of(rows[r]) > 0.1 * peak || sum_of(rows[r]) > 0.1 * all;
            if (stands_out && (worst < 0 || sum_of(rows[r]) > sum_of(rows[worst]))) worst = r;
        }
        if (worst < 0) break;
        found->rank[found->count] = worst;
        for (int s = 0; s < timeline_slices; s++) {
            found->seconds[found->count][s] = rows[worst][s] / others;
            rows[worst][s] = 0;
        }
        found->count++;
    }
    for (int r = 0; r < ranks; r++)
        for (int s = 0; s < timeline_slices; s++) found->rest[s] += rows[r][s] / others;
}

void report_lateness(struct lateness_found *found) {
    int ranks = 0, me = 0, fine, all_fine = 0;
    MPI_Comm comm;
    *found = (struct lateness_found){0};
    if (comm_private(MPI_COMM_WORLD, &comm) != 0) return;
    PMPI_Comm_size(comm, &ranks);
    PMPI_Comm_rank(comm, &me);
    double(*sums)[timeline_slices] = me == 0 ? calloc((size_t)ranks, sizeof *sums) : NULL;
    pthread_mutex_lock(&lock);
    double now = clock_seconds() - waited.begin;
    /* The run's last slice has been reached even if nobody was late in it. */
    if (waited.seconds) timeline_widen(&waited, now / timeline_slices);
    fine = waited.seconds && (me != 0 || sums);
    host.allreduce(&fine, &all_fine, 1, MPI_INT, MPI_MIN, comm);
    if (all_fine) {
        host.allreduce(&waited.slice, &found->slice, 1, MPI_DOUBLE, MPI_MAX, comm);
        timeline_widen(&waited, found->slice);
        host.reduce(waited.seconds, sums, ranks * timeline_slices, MPI_DOUBLE, MPI_SUM, 0, comm);
    }
    pthread_mutex_unlock(&lock);
    if (all_fine && me == 0) {
        found->slices = 1 + (int)(now / found->slice);
        if (found->slices > timeline_slices) found->slices = timeline_slices;
        name(found, sums, ranks);
    }
    free(sums);
    host.comm_free(&comm);
}

static void json_row(FILE *out, const double *row, int slices) {
    for (int s = 0; s < slices; s++) fprintf(out, "%s%.3g", s ? ", " : "[", row[s]);
    fputc(']', out);
}

void lateness_json(FILE *out, const struct lateness_found *found) {
    fputs(",\n \"late_over_time\": ", out);
    if (found->slices == 0) {
        fputs("null", out);
        return;
    }
    fprintf(out, "{\"slice_seconds\": %g, \"by_rank\": [", found->slice);
    for (int i = 0; i < found->count; i++) {
        fprintf(out, "%s\n  {\"rank\": %d, \"seconds\": ", i ? "," : "", found->rank[i]);
        json_row(out, found->seconds[i], found->slices);
        fputc('}', out);
    }
    fputs("],\n  \"rest\": ", out);
    json_row(out, found->rest, found->slices);
    fputc('}', out);
}
