/* SPDX-License-Identifier: BSD-3-Clause */
/* table - the lines that src/mpi/report_write.c prints below a row of a report's table: ranks for
 * which the others waited, but not for less than a tenth of the row's seconds, and a plan that is
 * faster and may not run. Neither of them where there is nothing to say. The test plays what
 * gathers the report, and MPI. */
#define _GNU_SOURCE
#include "mpi/report.h"

#include "unit.h"

#include <stdlib.h>
#include <string.h>

static struct record rows[3];
enum { count_of_rows = sizeof rows / sizeof *rows };

int PMPI_Comm_rank(MPI_Comm comm, int *rank) {
    (void)comm;
    *rank = 0;
    return MPI_SUCCESS;
}
int PMPI_Get_library_version(char *version, int *length) {
    *length = (int)strlen(strcpy(version, "MPICH Version: 4"));
    return MPI_SUCCESS;
}
int report_gather(struct record **records, int *count, int *ranks) {
    *records = malloc(sizeof rows);
    if (!*records) return -1;
    memcpy(*records, rows, sizeof rows);
    *count = count_of_rows;
    *ranks = 4;
    return 0;
}
int report_join(struct record *records, int count) {
    (void)records;
    return count;
}
void report_moves(struct moves *moves) { (void)moves; }
void report_lateness(struct lateness_found *found) { (void)found; }
void lateness_json(FILE *out, const struct lateness_found *found) { (void)out, (void)found; }
void report_untaken(struct not_taken *all) { (void)all; }
bool verify_wanted(void) { return false; }

static void print(void *nothing) {
    (void)nothing;
    exit(report_write("-") != 0);
}

/* The next line of a text is this one, or only begins so. */
static void line_is(char **text, const char *expected, bool whole) {
    const char *line = strsep(text, "\n");
    bool fine = line && strncmp(line, expected, strlen(expected)) == 0;
    expect(fine && (!whole || strlen(line) == strlen(expected)), "%s instead of %s", line,
           expected);
}

int main(void) {
    for (int i = 0; i < count_of_rows; i++)
        rows[i] =
            (struct record){.plan = "cico", .ranks = 4, .nodes = 1, .calls = 10, .seconds = 1};
    strcpy(rows[0].collective, "alltoall");
    rows[0].late_count = most_late;
    rows[0].late[0] = (struct late_rank){.rank = 1, .times = 4, .seconds = 0.2, .share = 0.6};
    rows[0].late[1] = (struct late_rank){.rank = 3, .times = 1, .seconds = 0.11, .share = 0.3};
    rows[0].late[2] = (struct late_rank){.rank = 2, .times = 9, .seconds = 0.09, .share = 0.1};
    strcpy(rows[1].collective, "bcast");
    rows[1].late_count = 1;
    rows[1].late[0] = rows[0].late[2];
    strcpy(rows[2].collective, "allreduce");
    rows[2].evidence.better_seconds = 2.5e-6;
    strcpy(rows[2].evidence.better, "slices");
    struct heard heard;
    in_child(print, NULL, &heard);
    expect(heard.status == 0 && heard.writes == 1, "status %d, %d writes", heard.status,
           heard.writes);
    char *text = heard.text[0];
    line_is(&text, "mortar ", false);
    line_is(&text, "collective ", false);
    line_is(&text, "alltoall ", false);
    line_is(
        &text,
        "                     waited for rank 1: 4 times 50 ms (60 %), rank 3: once 110 ms (30 %)",
        true);
    line_is(&text, "bcast ", false);
    line_is(&text, "allreduce ", false);
    line_is(
        &text,
        "                     faster: slices, 2.5 us, but its sums may round differently (MORTAR_TUNE=online would take it)",
        true);
    expect(!*text, "more: %s", text);
    return 0;
}
