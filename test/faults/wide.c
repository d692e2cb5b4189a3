/* SPDX-License-Identifier: BSD-3-Clause */
/* wide - calls of more than 2^31 bytes, with little memory: a buffer is one piece of 1 MiB, mapped
 * again and again, but for pieces of its own at its beginning, around 2^31 bytes, and at its end.
 * usage: wide bcast | block | far | elements */
#define _GNU_SOURCE
#include "faults.h"

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

enum { piece = 1 << 20 };
static const size_t limit = (size_t)1 << 31;

/* A piece number whose memory is its own. */
static int is_own(size_t number, size_t pieces) {
    size_t middle = limit / piece;
    return number == 0 || number + 1 == pieces || number == middle || number + 1 == middle;
}

static unsigned char *map(size_t pieces) {
    int file = memfd_create("wide", MFD_CLOEXEC);
    size_t own = 1; /* pieces of the file that are taken; the first is the one that all share */
    unsigned char *base = mmap(NULL, pieces * piece, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (file < 0 || ftruncate(file, 8 * piece) != 0 || base == MAP_FAILED) abort();
    for (size_t i = 0; i < pieces; i++) {
        off_t at = is_own(i, pieces) ? (off_t)(own++ * piece) : 0;
        if (mmap(base + i * piece, piece, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file,
                 at) == MAP_FAILED)
            abort();
    }
    close(file);
    return base;
}

/* What rank `from` puts into piece number `i`: pieces that share memory hold the same. */
static int round_of(size_t i, size_t pieces) { return is_own(i, pieces) ? (int)i : 1; }

static void fill_pieces(unsigned char *base, size_t pieces, int from) {
    for (size_t i = 0; i < pieces; i++)
        if (is_own(i, pieces) || i == 1)
            fill(base + i * piece, piece, from, 0, round_of(i, pieces));
}

static long wrong_pieces(const unsigned char *base, size_t pieces, int from) {
    long errors = 0;
    for (size_t i = 0; i < pieces; i++)
        if (is_own(i, pieces) || i == 1)
            errors += wrong(base + i * piece, piece, from, 0, round_of(i, pieces));
    return errors;
}

/* Rank 1 sends to all. long_type: 2^28 elements of 8 bytes; else more than 2^31 bytes, where MPI
 * has a function with such a count. */
static long bcast(int long_type) {
    size_t pieces = limit / piece + 3;
    unsigned char *buffer = map(pieces);
    if (me == 1) fill_pieces(buffer, pieces, me);
    if (long_type) MPI_Bcast(buffer, (int)(pieces * piece / 8), MPI_LONG_LONG, 1, MPI_COMM_WORLD);
#if MPI_VERSION >= 4
    else MPI_Bcast_c(buffer, (MPI_Count)(pieces * piece), MPI_BYTE, 1, MPI_COMM_WORLD);
#else
    else return -1;
#endif
    long errors = wrong_pieces(buffer, pieces, 1);
    munmap(buffer, pieces * piece);
    return errors;
}

/* One block of more than 2^31 bytes is sent, by rank 0; the others' have a byte each. */
static long block(void) {
    size_t pieces = limit / piece + 3;
    unsigned char *buffer = map(pieces), mine = (unsigned char)me,
                  *small = calloc(1, (size_t)ranks);
    int *counts = calloc((size_t)ranks, sizeof *counts),
        *places = calloc((size_t)ranks, sizeof *places);
    MPI_Datatype whole;
    long errors = 0;
    MPI_Type_contiguous(piece, MPI_BYTE, &whole);
    MPI_Type_commit(&whole);
    if (me == 0) fill_pieces(buffer, pieces, 0);
    for (int r = 0; r < ranks; r++) counts[r] = r == 0 ? (int)pieces : 0;
    MPI_Allgatherv(me == 0 ? MPI_IN_PLACE : &mine, 0, whole, buffer, counts, places, whole,
                   MPI_COMM_WORLD);
    errors += wrong_pieces(buffer, pieces, 0);
    MPI_Allgather(&mine, 1, MPI_BYTE, small, 1, MPI_BYTE, MPI_COMM_WORLD);
    for (int r = 0; r < ranks; r++) errors += small[r] != (unsigned char)r;
    MPI_Type_free(&whole);
    munmap(buffer, pieces * piece);
    free(small);
    free(counts);
    free(places);
    return errors;
}

/* Short blocks, some of them more than 2^31 bytes from the beginning of the buffer. */
static long far_apart(void) {
    enum { n = 5000 };
    size_t pieces = limit / piece + 3, middle = limit / piece;
    unsigned char *from = map(pieces), *to = map(pieces);
    int *counts = calloc((size_t)ranks, sizeof *counts),
        *places = calloc((size_t)ranks, sizeof *places);
    long errors = 0;
    for (int r = 0; r < ranks; r++) {
        size_t at = (r % 2 ? middle : pieces - 1) * piece + (size_t)r * 8 * n;
        counts[r] = n;
        places[r] = (int)(at / 8);
        fill(from + at, 8 * n, me, r, 5);
    }
    MPI_Alltoallv(from, counts, places, MPI_LONG_LONG, to, counts, places, MPI_LONG_LONG,
                  MPI_COMM_WORLD);
    for (int r = 0; r < ranks; r++) errors += wrong(to + (size_t)places[r] * 8, 8 * n, r, me, 5);
    munmap(from, pieces * piece);
    munmap(to, pieces * piece);
    free(counts);
    free(places);
    return errors;
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    const char *what = argc > 1 ? argv[1] : "bcast";
    long errors = strcmp(what, "far") == 0        ? far_apart()
                  : strcmp(what, "block") == 0    ? block()
                  : strcmp(what, "elements") == 0 ? bcast(0)
                                                  : bcast(1);
    if (errors < 0) { /* this MPI has no such function */
        if (me == 0) printf("not in this MPI\n");
        MPI_Finalize();
        return 77;
    }
    return end(errors, "");
}
