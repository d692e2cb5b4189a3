/* SPDX-License-Identifier: BSD-3-Clause */
/* progress - a rank needs the MPI library of peers that wait in collectives: one-sided epochs,
 * collective files, probes, long messages.
 * usage: progress lock | fence | post | file FOLDER | probe | send */
#include "faults.h"

enum { n = 1 << 12, rounds = 20 };

static long *memory; /* n numbers, which others reach by window */
static MPI_Win window;

static void open_window(void) {
    MPI_Win_allocate(n * sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory,
                     &window);
    memset(memory, 0, n * sizeof *memory);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* All but rank 0 wait in a barrier while rank 0 works on them. */
static long by_lock(void) {
    long one = 1, old, errors = 0;
    open_window();
    for (int round = 0; round < rounds; round++) {
        for (int r = 1; me == 0 && r < ranks; r++) {
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, r, 0, window);
            MPI_Fetch_and_op(&one, &old, MPI_LONG, r, 0, MPI_SUM, window);
            MPI_Win_unlock(r, window);
            errors += old != round;
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Win_lock(MPI_LOCK_SHARED, me, 0, window);
    errors += me > 0 && memory[0] != rounds;
    MPI_Win_unlock(me, window);
    MPI_Win_free(&window);
    return errors;
}

/* Epochs between which there are collectives, which ranks reach at different times. */
static long by_fence(void) {
    long errors = 0, *mine = malloc(n * sizeof *mine), sum;
    int next = (me + 1) % ranks, before = (me + ranks - 1) % ranks;
    open_window();
    for (long round = 1; round <= rounds; round++) {
        for (int i = 0; i < n; i++) mine[i] = round * 1000 + me;
        MPI_Win_fence(0, window);
        MPI_Put(mine, n, MPI_LONG, next, 0, n, MPI_LONG, window);
        if (round % 2) MPI_Allreduce(&round, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        else MPI_Bcast(&sum, 1, MPI_LONG, (int)round % ranks, MPI_COMM_WORLD);
        if (round % 2) errors += sum != round * ranks;
        MPI_Win_fence(0, window);
        for (int i = 0; i < n; i++) errors += memory[i] != round * 1000 + before;
    }
    MPI_Win_free(&window);
    free(mine);
    return errors;
}

static long by_post(void) {
    long errors = 0, *mine = malloc(n * sizeof *mine);
    int next = (me + 1) % ranks, before = (me + ranks - 1) % ranks;
    MPI_Group all, to, from;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &next, &to);
    MPI_Group_incl(all, 1, &before, &from);
    open_window();
    for (long round = 1; round <= rounds; round++) {
        for (int i = 0; i < n; i++) mine[i] = round * 1000 + me;
        MPI_Win_post(from, 0, window);
        if (me % 2) MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_start(to, 0, window);
        MPI_Put(mine, n, MPI_LONG, next, 0, n, MPI_LONG, window);
        MPI_Win_complete(window);
        if (!(me % 2)) MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_wait(window);
        for (int i = 0; i < n; i++) errors += memory[i] != round * 1000 + before;
    }
    MPI_Win_free(&window);
    MPI_Group_free(&all);
    MPI_Group_free(&to);
    MPI_Group_free(&from);
    free(mine);
    return errors;
}

static long by_file(const char *folder) {
    char path[4096];
    long errors = 0, *mine = malloc(n * sizeof *mine), all = 0, one = 1;
    MPI_File file;
    snprintf(path, sizeof path, "%s/data", folder);
    if (MPI_File_open(MPI_COMM_WORLD, path,
                      MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                      &file) != MPI_SUCCESS)
        return 1;
    for (long round = 0; round < rounds / 4; round++) {
        for (int i = 0; i < n; i++) mine[i] = round * 1000000 + me * 1000 + i % 1000;
        MPI_Offset block = n * (MPI_Offset)sizeof *mine;
        MPI_File_write_at_all(file, (round * ranks + me) * block, mine, n, MPI_LONG,
                              MPI_STATUS_IGNORE);
        if (me == ranks - 1) /* alone, while the others wait in a collective */
            MPI_File_write_at(file, (round * ranks + me) * block, mine, n, MPI_LONG,
                              MPI_STATUS_IGNORE);
        MPI_Allreduce(&one, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        MPI_File_sync(file);
        MPI_Barrier(MPI_COMM_WORLD);
        int other = (me + 1) % ranks;
        MPI_File_read_at_all(file, (round * ranks + other) * block, mine, n, MPI_LONG,
                             MPI_STATUS_IGNORE);
        for (int i = 0; i < n; i++) errors += mine[i] != round * 1000000 + other * 1000 + i % 1000;
        errors += all != ranks;
    }
    MPI_File_close(&file);
    free(mine);
    return errors;
}

/* Rank 0 looks for a message that its sender can only send when the others have come out of a
 * collective, for which they have to drive the library. long_message: the sender waits in MPI_Ssend
 * for a rank that is already in the collective, with its receive posted. */
static long by_message(int long_message) {
    enum { length = 1 << 20 };
    long errors = 0;
    unsigned char *buffer = malloc(length);
    MPI_Comm others;
    MPI_Comm_split(MPI_COMM_WORLD, me > 0, me, &others);
    for (int round = 0; round < rounds; round++) {
        MPI_Request request;
        if (!long_message && me == 0) {
            MPI_Status status;
            int count;
            MPI_Probe(MPI_ANY_SOURCE, round, MPI_COMM_WORLD, &status);
            MPI_Get_count(&status, MPI_BYTE, &count);
            errors += count != length || status.MPI_SOURCE != 1 + round % (ranks - 1);
            MPI_Recv(buffer, length, MPI_BYTE, status.MPI_SOURCE, round, MPI_COMM_WORLD, &status);
            errors += wrong(buffer, length, status.MPI_SOURCE, 0, round);
        } else if (!long_message) {
            for (int i = 0; i < 10; i++) MPI_Barrier(others);
            fill(buffer, length, me, 0, round);
            int mine = me == 1 + round % (ranks - 1);
            if (mine) MPI_Isend(buffer, length, MPI_BYTE, 0, round, MPI_COMM_WORLD, &request);
            MPI_Barrier(others); /* the message moves on in here */
            if (mine) MPI_Wait(&request, MPI_STATUS_IGNORE);
        } else if (me == 1) {
            MPI_Irecv(buffer, length, MPI_BYTE, 0, round, MPI_COMM_WORLD, &request);
            MPI_Barrier(MPI_COMM_WORLD);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            errors += wrong(buffer, length, 0, 1, round);
        } else {
            if (me == 0) {
                fill(buffer, length, 0, 1, round);
                MPI_Ssend(buffer, length, MPI_BYTE, 1, round, MPI_COMM_WORLD);
            }
            MPI_Barrier(MPI_COMM_WORLD);
        }
    }
    MPI_Comm_free(&others);
    free(buffer);
    return errors;
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    const char *what = argc > 1 ? argv[1] : "";
    long errors = 1;
    if (strcmp(what, "lock") == 0) errors = by_lock();
    if (strcmp(what, "fence") == 0) errors = by_fence();
    if (strcmp(what, "post") == 0) errors = by_post();
    if (strcmp(what, "file") == 0) errors = by_file(argc > 2 ? argv[2] : ".");
    if (strcmp(what, "probe") == 0) errors = by_message(0);
    if (strcmp(what, "send") == 0) errors = by_message(1);
    return end(errors, "");
}
