/* SPDX-License-Identifier: BSD-3-Clause */
/* transpose - an ordinary MPI program: transposes a matrix that is spread over the ranks in slabs
 * of rows, as a parallel Fourier transform does (MPI_Alltoall), and gives every rank all diagonal
 * blocks, as a block Jacobi solver does (MPI_Allgather).
 *
 * usage: transpose SECONDS BYTES...
 * For each block size, the bytes that one rank sends to another, it prints a checksum of everything
 * that was received and the microseconds per exchange, each kind measured for about SECONDS. */
#include <mpi.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The matrix has p m rows and p n columns. This rank has m rows of it, and n rows of the transposed
 * one; a block is n by m. */
struct slab {
    int p, me, m, n;
    double *rows, *transposed;      /* [m][p n], [n][p m] */
    double *send, *recv, *diagonal; /* [p] blocks each */
};

static void *get(size_t bytes) {
    void *memory = calloc(bytes, 1);
    if (!memory) {
        fprintf(stderr, "transpose: no memory\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return memory;
}

/* Blocks as square as the number of their elements allows. */
static struct slab slab_new(int elements) {
    struct slab s;
    MPI_Comm_size(MPI_COMM_WORLD, &s.p);
    MPI_Comm_rank(MPI_COMM_WORLD, &s.me);
    s.m = 1;
    for (int d = 1; d <= elements / d; d++)
        if (elements % d == 0) s.m = d;
    s.n = elements / s.m;
    size_t bytes = (size_t)s.p * (size_t)elements * sizeof(double);
    s.rows = get(bytes), s.transposed = get(bytes);
    s.send = get(bytes), s.recv = get(bytes), s.diagonal = get(bytes);
    return s;
}

static void slab_free(struct slab *s) {
    free(s->rows), free(s->transposed);
    free(s->send), free(s->recv), free(s->diagonal);
}

static double *block(const struct slab *s, double *blocks, int i) {
    return blocks + (size_t)i * (size_t)(s->m * s->n);
}

/* A field that differs in every step and every element. */
static void fill(struct slab *s, int step) {
    size_t columns = (size_t)s->p * (size_t)s->n;
    for (int i = 0; i < s->m; i++)
        for (size_t c = 0; c < columns; c++)
            s->rows[(size_t)i * columns + c] =
                (double)((size_t)(s->me * s->m + i) * columns + c) + 1.0 / (step + 2);
}

static void pack(struct slab *s) {
    size_t columns = (size_t)s->p * (size_t)s->n;
    for (int j = 0; j < s->p; j++)
        for (int c = 0; c < s->n; c++)
            for (int i = 0; i < s->m; i++)
                block(s, s->send, j)[c * s->m + i] =
                    s->rows[(size_t)i * columns + (size_t)(j * s->n + c)];
}

static void unpack(struct slab *s) {
    size_t columns = (size_t)s->p * (size_t)s->m;
    for (int i = 0; i < s->p; i++)
        for (int c = 0; c < s->n; c++)
            memcpy(s->transposed + (size_t)c * columns + (size_t)(i * s->m),
                   block(s, s->recv, i) + c * s->m, (size_t)s->m * sizeof(double));
}

static void exchange_blocks(struct slab *s) {
    MPI_Alltoall(s->send, s->m * s->n, MPI_DOUBLE, s->recv, s->m * s->n, MPI_DOUBLE,
                 MPI_COMM_WORLD);
}

static void gather_diagonal(struct slab *s) {
    MPI_Allgather(block(s, s->send, s->me), s->m * s->n, MPI_DOUBLE, s->diagonal, s->m * s->n,
                  MPI_DOUBLE, MPI_COMM_WORLD);
}

/* Fowler, Noll and Vo's hash, 64 bits, over words. */
static uint64_t hash(uint64_t h, const void *data, size_t bytes) {
    uint64_t word;
    for (size_t k = 0; k + sizeof word <= bytes; k += sizeof word) {
        memcpy(&word, (const char *)data + k, sizeof word);
        h = (h ^ word) * 0x100000001b3;
    }
    return h;
}

/* Transposes a few fields. The checksum, on rank 0, is one of the results of all ranks. */
static uint64_t work(struct slab *s) {
    uint64_t mine = 0xcbf29ce484222325, total = mine, *all = get((size_t)s->p * sizeof *all);
    size_t bytes = (size_t)s->p * (size_t)(s->m * s->n) * sizeof(double);
    for (int step = 0; step < 3; step++) {
        fill(s, step);
        pack(s);
        exchange_blocks(s);
        unpack(s);
        gather_diagonal(s);
        mine = hash(hash(mine, s->transposed, bytes), s->diagonal, bytes);
    }
    MPI_Gather(&mine, 1, MPI_UINT64_T, all, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    total = hash(total, all, (size_t)s->p * sizeof *all);
    free(all);
    return total;
}

/* Seconds per exchange of the slowest rank, back to back. */
static double time_of(void (*exchange)(struct slab *), struct slab *s, double seconds) {
    for (long repeats = 1;;) {
        MPI_Barrier(MPI_COMM_WORLD);
        double mine = -MPI_Wtime(), slowest;
        for (long i = 0; i < repeats; i++) exchange(s);
        mine += MPI_Wtime();
        MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        if (slowest >= seconds / 2) return slowest / (double)repeats;
        double more = 0.8 * seconds / (slowest + 1e-9);
        repeats = more > 10 ? 10 * repeats : 1 + (long)(more * (double)repeats);
    }
}

int main(int count, char **words) {
    MPI_Init(&count, &words);
    int p, me;
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    double seconds = count > 2 ? atof(words[1]) : 0;
    if (seconds <= 0 && me == 0) fprintf(stderr, "usage: transpose SECONDS BYTES...\n");
    for (int i = 2; i < count && seconds > 0; i++) {
        int bytes = atoi(words[i]);
        if (bytes <= 0 || bytes % (int)sizeof(double) != 0) {
            if (me == 0)
                fprintf(stderr, "transpose: a block of %s bytes? Expected a multiple of 8\n",
                        words[i]);
            continue;
        }
        struct slab s = slab_new(bytes / (int)sizeof(double));
        uint64_t checksum = work(&s);
        double alltoall = time_of(exchange_blocks, &s, seconds),
               allgather = time_of(gather_diagonal, &s, seconds);
        if (me == 0)
            printf("ranks=%d bytes=%d checksum=%016llx alltoall_us=%.2f allgather_us=%.2f\n", p,
                   bytes, (unsigned long long)checksum, 1e6 * alltoall, 1e6 * allgather);
        slab_free(&s);
    }
    MPI_Finalize();
    return seconds > 0 ? 0 : 2;
}
