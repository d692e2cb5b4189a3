/* SPDX-License-Identifier: BSD-3-Clause */
/* kept - the records of src/mpi/report.c: each that was kept comes out once, however many kinds of
 * calls two ranks make, with the calls of the rank that spent more seconds and the trials of the
 * one that has more pairs. A team's set-up, which has no plan, took the fewer seconds. The test
 * plays the second rank, and MPI. */
#include "mpi/report.h"

#include "unit.h"

#include <stdlib.h>
#include <string.h>

enum { kinds = 10000, both = kinds / 2 }; /* of each rank, and how many of them are the same */
enum { set_up = kinds - 1 };              /* is one of these */
static struct record theirs[kinds];
static int messages; /* that the second rank has sent: its records, then who was late: nobody */

void (*team_farewell)(struct met met);
void teams_visit(void (*visit)(struct met met)) { (void)visit; }
void young_goes(const struct young *young) { (void)young; }
struct record young_record(const struct young *young) {
    (void)young;
    return (struct record){0};
}
void young_settle(void) {}

static int comm_free(MPI_Comm *comm) {
    *comm = MPI_COMM_NULL;
    return MPI_SUCCESS;
}
struct host host = {.comm_free = comm_free};
int comm_private(MPI_Comm comm, MPI_Comm *own) {
    *own = comm;
    return 0;
}
int PMPI_Comm_size(MPI_Comm comm, int *size) {
    (void)comm;
    *size = 2;
    return MPI_SUCCESS;
}
int PMPI_Comm_rank(MPI_Comm comm, int *rank) {
    (void)comm;
    *rank = 0;
    return MPI_SUCCESS;
}
int PMPI_Send(const void *buffer, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {
    (void)buffer, (void)count, (void)type, (void)dest, (void)tag, (void)comm;
    return MPI_ERR_OTHER;
}
int PMPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status *status) {
    (void)source, (void)tag, (void)comm, (void)status;
    return MPI_SUCCESS;
}
int PMPI_Get_count(const MPI_Status *status, MPI_Datatype type, int *count) {
    (void)status, (void)type;
    *count = messages == 0 ? (int)sizeof theirs : 0;
    return MPI_SUCCESS;
}
int PMPI_Recv(void *buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
              MPI_Status *status) {
    (void)type, (void)source, (void)tag, (void)comm, (void)status;
    if (messages++ == 0) memcpy(buffer, theirs, (size_t)count);
    return MPI_SUCCESS;
}

static struct record record_of(int kind, uint64_t calls, double seconds, int pairs) {
    struct record record = {.collective = "bcast"};
    if (kind != set_up) strcpy(record.plan, "native");
    record.evidence.native_seconds = 1;
    record.evidence.pairs = pairs;
    record.ranks = kind;
    record.calls = calls;
    record.seconds = seconds;
    return record;
}

int main(void) {
    struct record *records = NULL;
    int count = 0, ranks = 0;
    report_start();
    for (int i = 0; i < 2 * kinds; i++) {
        struct record record = record_of(i % kinds, 1, i % 3, 1);
        report_keep(&record);
    }
    for (int i = 0; i < kinds; i++) theirs[i] = record_of(i + kinds - both, 5, 2.5, 3);
    theirs[set_up - kinds + both].seconds = 0.5;
    expect(report_gather(&records, &count, &ranks) == 0, "an error");
    expect(count == 2 * kinds - both, "%d records", count);
    for (int i = 0; i < count; i++) {
        double mine = i < kinds ? i % 3 + (i + kinds) % 3 : 0;
        bool is_mine = i < kinds && (i < kinds - both || mine > 2.5);
        uint64_t calls = i == set_up ? 2 + 5 : is_mine ? 2 : 5;
        expect(records[i].ranks == i && records[i].calls == calls, "record %d", i);
        expect(records[i].evidence.pairs == (i < kinds - both ? 1 : 3), "trials of record %d", i);
        expect(i != set_up || records[i].seconds == 0.5, "seconds of the set-up");
    }
    free(records);
    return 0;
}
