/* SPDX-License-Identifier: BSD-3-Clause */
/* verified - collectives of every kind, with blocks of 1000 bytes that begin with 0x5a, so that
 * libwrong.c finds them: verified NAME CALLS. Ends with the number of calls whose results were
 * wrong, of which there must be none: option VERIFY gives the program the MPI library's. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { bytes = 1000, gap = 24 };

static int p, me;
static char *send, *recv;

/* Byte i of the block that rank `from` has for rank `to` in a call. */
static char byte_of(int from, int to, int call, int i) {
    return (char)(i == 0 ? 0x5a : from * 7 + to * 13 + call * 3 + i);
}

static void put(char *at, int from, int to, int call) {
    for (int i = 0; i < bytes; i++) at[i] = byte_of(from, to, call, i);
}

static int differs(const char *at, int from, int to, int call) {
    for (int i = 0; i < bytes; i++)
        if (at[i] != byte_of(from, to, call, i)) return 1;
    return 0;
}

static int alltoall(int call) {
    int wrong = 0;
    for (int r = 0; r < p; r++) put(send + r * bytes, me, r, call);
    MPI_Alltoall(send, bytes, MPI_BYTE, recv, bytes, MPI_BYTE, MPI_COMM_WORLD);
    for (int r = 0; r < p; r++) wrong |= differs(recv + r * bytes, r, me, call);
    return wrong;
}

static int in_place(int call) {
    int wrong = 0;
    put(recv + me * bytes, me, 0, call);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, recv, bytes, MPI_BYTE, MPI_COMM_WORLD);
    for (int r = 0; r < p; r++) wrong |= differs(recv + r * bytes, r, 0, call);
    return wrong;
}

/* Blocks in two halves with a gap between them, at places given in bytes. */
static int gaps(int call) {
    int wrong = 0, *counts = malloc(3 * (size_t)p * sizeof *counts), *places = counts + p;
    MPI_Datatype halves, *types = malloc((size_t)p * sizeof(MPI_Datatype));
    MPI_Type_vector(2, bytes / 2, bytes / 2 + gap, MPI_BYTE, &halves);
    MPI_Type_commit(&halves);
    for (int r = 0; r < p; r++) {
        char block[bytes];
        counts[r] = 1, places[r] = (p - 1 - r) * (bytes + 2 * gap), types[r] = halves;
        put(block, me, r, call);
        memcpy(send + places[r], block, bytes / 2);
        memcpy(send + places[r] + bytes / 2 + gap, block + bytes / 2, bytes / 2);
        memset(recv + places[r], 0x77, bytes + gap);
    }
    MPI_Alltoallw(send, counts, places, types, recv, counts, places, types, MPI_COMM_WORLD);
    for (int r = 0; r < p; r++) {
        char block[bytes];
        memcpy(block, recv + places[r], bytes / 2);
        memcpy(block + bytes / 2, recv + places[r] + bytes / 2 + gap, bytes / 2);
        wrong |= differs(block, r, me, call);
        for (int i = 0; i < gap; i++) wrong |= recv[places[r] + bytes / 2 + i] != 0x77;
    }
    MPI_Type_free(&halves);
    free(counts);
    free(types);
    return wrong;
}

static int bcast(int call) {
    if (me == 1 % p) put(recv, me, 0, call);
    MPI_Bcast(recv, bytes, MPI_BYTE, 1 % p, MPI_COMM_WORLD);
    return differs(recv, 1 % p, 0, call);
}

static int neighbours(int call) {
    static MPI_Comm ring = MPI_COMM_NULL;
    int around = 1, wrong = 0, left = (me + p - 1) % p, right = (me + 1) % p;
    if (ring == MPI_COMM_NULL) MPI_Cart_create(MPI_COMM_WORLD, 1, &p, &around, 0, &ring);
    for (int b = 0; b < 2; b++) put(send + b * bytes, me, 0, call);
    MPI_Neighbor_alltoall(send, bytes, MPI_BYTE, recv, bytes, MPI_BYTE, ring);
    wrong |= differs(recv, left, 0, call) | differs(recv + bytes, right, 0, call);
    return wrong;
}

/* Numbers whose sum depends on the association, and integers. */
static int sums(int call) {
    double mine[125], all[125];
    long count = me, counted = 0;
    for (int i = 0; i < 125; i++) mine[i] = (me % 2 ? -1 : 1) * (0.1 * (i + me + call) + 1e6 * me);
    *(unsigned char *)mine = 0x5a;
    MPI_Allreduce(mine, all, 125, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&count, &counted, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, mine, 125, MPI_DOUBLE, MPI_PROD, MPI_COMM_WORLD);
    return counted != (long)p * (p - 1) / 2;
}

/* An operation that never gives the same result again: what runs first and what is compared with
 * it differ. */
static void count_calls(void *in, void *inout, int *count, MPI_Datatype *type) {
    static int calls;
    (void)type;
    calls++;
    for (int i = 0; i < *count; i++) ((int *)inout)[i] += ((int *)in)[i] + (calls << 4 * me);
}

static int users(int call) {
    static MPI_Op op = MPI_OP_NULL;
    int mine = call, all;
    if (op == MPI_OP_NULL) MPI_Op_create(count_calls, 1, &op);
    MPI_Allreduce(&mine, &all, 1, MPI_INT, op, MPI_COMM_WORLD);
    return 0;
}

int main(int count, char **words) {
    static const struct {
        const char *name;
        int (*call)(int);
    } kinds[] = {{"alltoall", alltoall}, {"allgather", in_place},           {"alltoallw", gaps},
                 {"bcast", bcast},       {"neighbor_alltoall", neighbours}, {"allreduce", sums},
                 {"users", users}};
    int wrong = 0, all = 0;
    MPI_Init(&count, &words);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    send = malloc((size_t)(p + 1) * (bytes + 2 * gap));
    recv = malloc((size_t)(p + 1) * (bytes + 2 * gap));
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (int call = 0; count == 3 && strcmp(kinds[k].name, words[1]) == 0; call++) {
            if (call == atoi(words[2])) break;
            wrong += kinds[k].call(call);
        }
    MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (me == 0) printf("%d wrong calls\n", all);
    MPI_Finalize();
    free(send);
    free(recv);
    return 0;
}
