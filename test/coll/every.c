/* SPDX-License-Identifier: BSD-3-Clause */
/* every - sends blocks of every length from 0 to 4200 bytes, and of both ends of every size class
 * above, by every collective on one communicator: rising, falling, in random order. What a plan can
 * was decided when its class was first met; here it meets all the others. Contents are a function
 * of call, source and destination, so a byte of another call, rank or place is seen. usage: every
 * [--most BYTES] [--seed S] [--plan PLAN] COLLECTIVE...   without a plan: mortar's own choice
 * Exit: 0 when all bytes were right. */
#include <mpi.h>

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { dense = 4200, most_ranks = 64, pool_bytes = 64 << 10, guard = 64 };
static const unsigned char guard_byte = 0xa5;

static int p, me;
static MPI_Comm comm; /* a ring, so that there are neighbours */
static unsigned char *pool, *send, *recv;
static uint64_t call; /* counts on */
static size_t n;      /* bytes of a block */
static int root, told, counts[most_ranks], displs[most_ranks], byte_displs[most_ranks];
static MPI_Aint far_displs[most_ranks];
static MPI_Datatype types[most_ranks];

static uint64_t mix(uint64_t x) {
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdULL;
    x ^= x >> 33;
    x *= 0xc4ceb9fe1a85ec53ULL;
    return x ^ x >> 33;
}

/* The block that goes from source to dest in this call; dest -1: the same to all. */
static const unsigned char *block(int source, int dest) {
    return pool + mix(call * 1000003 + (uint64_t)(source * 131 + dest)) % pool_bytes;
}

static int left(void) { return (me + p - 1) % p; }
static int right(void) { return (me + 1) % p; }

static void give(int at, int source, int dest) {
    memcpy(send + (size_t)at * n, block(source, dest), n);
}
static int got(int at, int source, int dest) {
    return memcmp(recv + (size_t)at * n, block(source, dest), n) == 0;
}

/* ---- the collectives: fill, call, look. Returns whether all bytes are right ---- */

static int exchanged(int spread) {
    int fine = 1;
    for (int i = 0; i < p; i++) fine = got(i, i, spread ? -1 : me) && fine;
    return fine;
}
static void give_all(void) {
    for (int j = 0; j < p; j++) give(j, me, j);
}

static int try_alltoall(void) {
    give_all();
    MPI_Alltoall(send, (int)n, MPI_BYTE, recv, (int)n, MPI_BYTE, comm);
    return exchanged(0);
}
static int try_alltoallv(void) {
    give_all();
    MPI_Alltoallv(send, counts, displs, MPI_BYTE, recv, counts, displs, MPI_BYTE, comm);
    return exchanged(0);
}
static int try_alltoallw(void) {
    give_all();
    MPI_Alltoallw(send, counts, byte_displs, types, recv, counts, byte_displs, types, comm);
    return exchanged(0);
}
static int try_allgather(void) {
    give(0, me, -1);
    MPI_Allgather(send, (int)n, MPI_BYTE, recv, (int)n, MPI_BYTE, comm);
    return exchanged(1);
}
static int try_allgatherv(void) {
    give(0, me, -1);
    MPI_Allgatherv(send, (int)n, MPI_BYTE, recv, counts, displs, MPI_BYTE, comm);
    return exchanged(1);
}
static int try_bcast(void) {
    if (me == root) memcpy(recv, block(root, -1), n);
    MPI_Bcast(recv, (int)n, MPI_BYTE, root, comm);
    return got(0, root, -1);
}
static int try_gather(void) {
    give(0, me, -1);
    MPI_Gather(send, (int)n, MPI_BYTE, recv, (int)n, MPI_BYTE, root, comm);
    return me != root || exchanged(1);
}
static int try_gatherv(void) {
    give(0, me, -1);
    MPI_Gatherv(send, (int)n, MPI_BYTE, recv, counts, displs, MPI_BYTE, root, comm);
    return me != root || exchanged(1);
}
static int try_scatter(void) {
    if (me == root) give_all();
    MPI_Scatter(send, (int)n, MPI_BYTE, recv, (int)n, MPI_BYTE, root, comm);
    return got(0, root, me);
}
static int try_scatterv(void) {
    if (me == root) give_all();
    MPI_Scatterv(send, counts, displs, MPI_BYTE, recv, (int)n, MPI_BYTE, root, comm);
    return got(0, root, me);
}

/* Sums without a carry of what ranks first .. last have for dest, all dests of them one behind the
 * other. */
static int combined(int first, int last, int dest) {
    for (size_t k = 0; k < n; k++) {
        unsigned char sum = 0;
        for (int i = first; i <= last; i++) sum ^= block(i, dest)[k];
        if (recv[k] != sum) return 0;
    }
    return 1;
}
static int try_reduce(void) {
    give(0, me, -1);
    MPI_Reduce(send, recv, (int)n, MPI_BYTE, MPI_BXOR, root, comm);
    return me != root || combined(0, p - 1, -1);
}
static int try_allreduce(void) {
    give(0, me, -1);
    MPI_Allreduce(send, recv, (int)n, MPI_BYTE, MPI_BXOR, comm);
    return combined(0, p - 1, -1);
}
static int try_reduce_scatter(void) {
    give_all();
    MPI_Reduce_scatter(send, recv, counts, MPI_BYTE, MPI_BXOR, comm);
    return combined(0, p - 1, me);
}
static int try_reduce_scatter_block(void) {
    give_all();
    MPI_Reduce_scatter_block(send, recv, (int)n, MPI_BYTE, MPI_BXOR, comm);
    return combined(0, p - 1, me);
}
static int try_scan(void) {
    give(0, me, -1);
    MPI_Scan(send, recv, (int)n, MPI_BYTE, MPI_BXOR, comm);
    return combined(0, me, -1);
}
static int try_exscan(void) {
    give(0, me, -1);
    MPI_Exscan(send, recv, (int)n, MPI_BYTE, MPI_BXOR, comm);
    return me == 0 || combined(0, me - 1, -1);
}
static int try_barrier(void) {
    MPI_Barrier(comm);
    return 1;
}

static void give_neighbours(void) { give(0, me, left()), give(1, me, right()); }
static int from_neighbours(int spread) {
    return got(0, left(), spread ? -1 : me) && got(1, right(), spread ? -1 : me);
}

static int try_neighbor_alltoall(void) {
    give_neighbours();
    MPI_Neighbor_alltoall(send, (int)n, MPI_BYTE, recv, (int)n, MPI_BYTE, comm);
    return from_neighbours(0);
}
static int try_neighbor_alltoallv(void) {
    give_neighbours();
    MPI_Neighbor_alltoallv(send, counts, displs, MPI_BYTE, recv, counts, displs, MPI_BYTE, comm);
    return from_neighbours(0);
}
static int try_neighbor_alltoallw(void) {
    give_neighbours();
    MPI_Neighbor_alltoallw(send, counts, far_displs, types, recv, counts, far_displs, types, comm);
    return from_neighbours(0);
}
static int try_neighbor_allgather(void) {
    give(0, me, -1);
    MPI_Neighbor_allgather(send, (int)n, MPI_BYTE, recv, (int)n, MPI_BYTE, comm);
    return from_neighbours(1);
}
static int try_neighbor_allgatherv(void) {
    give(0, me, -1);
    MPI_Neighbor_allgatherv(send, (int)n, MPI_BYTE, recv, counts, displs, MPI_BYTE, comm);
    return from_neighbours(1);
}

static const struct row {
    const char *name;
    int (*try)(void);
} rows[] = {
#define COLLECTIVE(name, ...) {#name, try_##name},
#include "coll/collectives.h"
#undef COLLECTIVE
};

/* ---- the lengths ---- */

static int lengths(size_t most, size_t *list) {
    int count = 0;
    for (size_t length = 0; length <= dense && length <= most; length++) list[count++] = length;
    for (size_t end = 1; end <= most; end *= 2) {
        if (end - 1 > dense) list[count++] = end - 1;
        if (end > dense) list[count++] = end;
    }
    return count;
}

static void shuffle(size_t *list, int count, uint64_t seed) {
    for (int i = count - 1; i > 0; i--) {
        int j = (int)(mix(seed + (uint64_t)i) % (uint64_t)(i + 1));
        size_t other = list[i];
        list[i] = list[j], list[j] = other;
    }
}

/* One call. How many ranks saw a wrong byte is added up in the end: a collective between two calls
 * would change their order. */
static int one(const struct row *row, size_t bytes) {
    call++;
    n = bytes;
    root = (int)(call % (uint64_t)p);
    for (int i = 0; i < p; i++) {
        counts[i] = (int)n;
        far_displs[i] = displs[i] = byte_displs[i] = i * (int)n;
        types[i] = MPI_BYTE;
    }
    memset(recv, 0, (size_t)p * n);
    memset(recv + (size_t)p * n, guard_byte, guard);
    int fine = row->try();
    for (int k = 0; k < guard; k++) fine = fine && recv[(size_t)p * n + (size_t)k] == guard_byte;
    if (!fine && told++ < 3)
        fprintf(stderr, "rank %d: %s of %zu bytes, root %d, call %llu: wrong\n", me, row->name, n,
                root, (unsigned long long)call);
    return !fine;
}

static int walk(const struct row *row, const char *order, const size_t *list, int count) {
    int wrong = 0, all = 0, dims[1] = {p}, wraps[1] = {1};
    MPI_Cart_create(MPI_COMM_WORLD, 1, dims, wraps, 0, &comm);
    for (int i = 0; i < count; i++)
        wrong += one(row, list[strcmp(order, "falling") == 0 ? count - 1 - i : i]);
    MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Comm_free(&comm);
    if (all && me == 0) printf("%s, %s: %d wrong\n", row->name, order, all);
    return all;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    size_t most = 1 << 20, list[dense + 128];
    uint64_t seed = 1;
    int wrong = 0, done = 0, a = 1;
    int (*force)(const char *) = (int (*)(const char *))dlsym(RTLD_DEFAULT, "mortar_plan");
    for (; a + 1 < argc && argv[a][0] == '-'; a += 2) {
        if (strcmp(argv[a], "--most") == 0) most = strtoull(argv[a + 1], NULL, 10);
        if (strcmp(argv[a], "--seed") == 0) seed = strtoull(argv[a + 1], NULL, 10);
        if (strcmp(argv[a], "--plan") == 0 && (!force || force(argv[a + 1]) != 0))
            return fprintf(stderr, "no such plan\n"), 2;
    }
    if (p < 3 || p > most_ranks)
        return fprintf(stderr, "3 to %d ranks, for a ring without a neighbour named twice\n",
                       most_ranks),
               2;
    pool = malloc(pool_bytes + most);
    send = malloc((size_t)p * most + 1);
    recv = malloc((size_t)p * most + guard);
    /* Never what recv begins with. */
    for (size_t i = 0; i < pool_bytes + most; i++) pool[i] = (unsigned char)(mix(i) | 1);
    for (; a < argc; a++)
        for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
            if (strcmp(argv[a], rows[r].name) != 0) continue;
            int count = lengths(most, list);
            wrong += walk(&rows[r], "rising", list, count);
            wrong += walk(&rows[r], "falling", list, count);
            shuffle(list, count, seed + call); /* the same on all ranks: so are the calls */
            wrong += walk(&rows[r], "shuffled", list, count);
            done++;
        }
    if (me == 0)
        printf("%d collectives, %llu calls, %d wrong\n", done, (unsigned long long)call, wrong);
    MPI_Finalize();
    return wrong != 0;
}
