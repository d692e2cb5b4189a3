/* SPDX-License-Identifier: BSD-3-Clause */
/* beside - what else goes on while a collective runs: operations of the host MPI under way in the
 * same communicator; ranks that come or leave late; late ranks that sit in a call of the host on
 * another communicator: in MPI_Recv or MPI_Probe for a message that needs its sender's help, who
 * waits in the collective; in MPI_Win_fence or MPI_File_write_at_all with other late ranks. */
#define _GNU_SOURCE
#include "driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { long_bytes = 70000 }; /* no library sends so much before it is asked for it */

const char *const beside_names[BESIDES] = {
    "nothing",
    "late ranks",
    "ranks that leave late",
    "messages",
    "MPI_Ibarrier",
    "MPI_Ibcast and others",
    "late in MPI_Recv",
    "late in MPI_Probe",
    "late in MPI_Win_fence",
    "late in MPI_File_write_at_all",
};

/* Of all ranks; of those that are late where ranks sit in a call. */
static MPI_Comm others, odd = MPI_COMM_NULL;
static MPI_Win window = MPI_WIN_NULL;
static MPI_File file = MPI_FILE_NULL;
static char *exposed;

void beside_open(const char *path) {
    int me = places[0].me;
    MPI_Comm_dup(MPI_COMM_WORLD, &others);
    MPI_Comm_split(MPI_COMM_WORLD, me % 2 ? 0 : MPI_UNDEFINED, me, &odd);
    if (odd == MPI_COMM_NULL || !path) return;
    MPI_Win_allocate(long_bytes, 1, MPI_INFO_NULL, odd, &exposed, &window);
    MPI_File_open(odd, path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                  MPI_INFO_NULL, &file);
}

void beside_close(void) {
    if (file != MPI_FILE_NULL) MPI_File_close(&file);
    if (window != MPI_WIN_NULL) MPI_Win_free(&window);
    if (odd != MPI_COMM_NULL) MPI_Comm_free(&odd);
    MPI_Comm_free(&others);
}

static void fill_as(const struct trial *t, int rank, char *memory) {
    fill(memory, long_bytes, t->seed + (uint64_t)rank);
}

static bool late(void) { return odd != MPI_COMM_NULL; }

/* A message to the left, one from the right. */
static void exchange(struct beside *b, const struct trial *t, MPI_Comm comm) {
    int p, me, right;
    MPI_Comm_size(comm, &p);
    MPI_Comm_rank(comm, &me);
    b->from = right = (me + 1) % p;
    fill_as(t, me, b->out);
    MPI_Isend(b->out, long_bytes, MPI_BYTE, (me + p - 1) % p, 5, comm, &b->requests[b->count++]);
    if (t->beside == IN_PROBE && late()) MPI_Probe(right, 5, comm, MPI_STATUS_IGNORE);
    if (t->beside != MESSAGES && late())
        MPI_Recv(b->in, long_bytes, MPI_BYTE, right, 5, comm, MPI_STATUS_IGNORE);
    else MPI_Irecv(b->in, long_bytes, MPI_BYTE, right, 5, comm, &b->requests[b->count++]);
}

static void collectives(struct beside *b, const struct trial *t) {
    MPI_Comm comm = t->place->comm;
    b->from = t->root;
    if (t->place->me == t->root) fill_as(t, t->root, b->in);
    b->mine = t->place->me + 1;
    MPI_Iallreduce(&b->mine, &b->sum, 1, MPI_INT, MPI_SUM, comm, &b->requests[b->count++]);
    MPI_Ibcast(b->in, long_bytes, MPI_BYTE, t->root, comm, &b->requests[b->count++]);
    MPI_Ibarrier(comm, &b->requests[b->count++]);
}

static void fence(struct beside *b, const struct trial *t) {
    int p, me;
    MPI_Comm_size(odd, &p);
    MPI_Comm_rank(odd, &me);
    fill_as(t, me, b->out);
    b->from = (me + 1) % p;
    MPI_Win_fence(0, window);
    MPI_Put(b->out, long_bytes, MPI_BYTE, (me + p - 1) % p, 0, long_bytes, MPI_BYTE, window);
    MPI_Win_fence(0, window);
    memcpy(b->in, exposed, long_bytes);
}

static void write_file(struct beside *b, const struct trial *t) {
    MPI_Comm_rank(odd, &b->from);
    fill_as(t, b->from, b->out);
    MPI_Offset at = (MPI_Offset)b->from * long_bytes;
    MPI_File_write_at_all(file, at, b->out, long_bytes, MPI_BYTE, MPI_STATUS_IGNORE);
    /* Together again: alone, Open MPI 4.1 reads what another rank has yet to write for this one. */
    MPI_File_read_at_all(file, at, b->in, long_bytes, MPI_BYTE, MPI_STATUS_IGNORE);
}

void beside_begin(struct beside *b, const struct trial *t) {
    *b = (struct beside){.from = -1};
    struct random random = {t->seed ^ (uint64_t)t->place->me << 32};
    b->out = malloc(2 * (size_t)long_bytes);
    b->in = b->out + long_bytes;
    switch (t->beside) {
    case LATE:
        if (below(&random, 2)) usleep((useconds_t)below(&random, 3000));
        break;
    case MESSAGES: exchange(b, t, t->place->comm); break;
    case HOST_BARRIER: MPI_Ibarrier(t->place->comm, &b->requests[b->count++]); break;
    case HOST_COLLECTIVES: collectives(b, t); break;
    case IN_RECV:
    case IN_PROBE: exchange(b, t, others); break;
    case IN_FENCE:
        if (window != MPI_WIN_NULL) fence(b, t);
        break;
    case IN_FILE:
        if (file != MPI_FILE_NULL) write_file(b, t);
        break;
    default: break;
    }
}

bool beside_end(struct beside *b, const struct trial *t) {
    int p = t->place->p;
    MPI_Status statuses[most_requests];
    MPI_Waitall(b->count, b->requests, statuses);
    bool fine = b->mine == 0 || b->sum == p * (p + 1) / 2;
    if (b->from >= 0) {
        fill_as(t, b->from, b->out);
        fine = fine && memcmp(b->in, b->out, long_bytes) == 0;
    }
    if (!fine)
        fprintf(stderr, "FAILED rank %d: what goes on beside the collective is wrong: %s\n",
                t->place->me, t->text);
    free(b->out);
    return fine;
}
