/* SPDX-License-Identifier: BSD-3-Clause */
/* counted - datatypes made by MPI 4's constructors with large counts. MPI_Type_get_envelope refuses
 * them, and so its error handler ended the program in an alltoallw that came again, or in a sum
 * that the MPI library alone should refuse.
 * usage: counted ROUNDS */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kinds = 5, each = 12, room = 64, most = 64 };

static int p, me, errors;
static MPI_Datatype types[kinds];
static const int ints_of[kinds] = {3, 3, 4, 2, 4}; /* in one element */

static void make_types(void) {
    const MPI_Count lengths[] = {1, 2, 1}, places[] = {5, 0, 3}, far[] = {4, 20}, ones[] = {1, 1};
    const MPI_Count sizes[] = {3, 4}, parts[] = {2, 2}, starts[] = {1, 1};
    MPI_Datatype two, mixed[] = {MPI_INT, MPI_DATATYPE_NULL};
    MPI_Type_contiguous_c(2, MPI_INT, &two);
    mixed[1] = two;
    MPI_Type_vector_c(3, 1, 2, MPI_INT, &types[0]);
    MPI_Type_create_struct_c(2, ones, far, mixed, &types[1]);
    MPI_Type_indexed_c(3, lengths, places, MPI_INT, &types[2]);
    MPI_Type_create_resized_c(two, 0, 16, &types[3]);
    MPI_Type_create_subarray_c(2, sizes, parts, starts, MPI_ORDER_C, MPI_INT, &types[4]);
    MPI_Type_free(&two);
    for (int k = 0; k < kinds; k++) MPI_Type_commit(&types[k]);
}

/* Rank i sends the ints 100 * i + j * each .. to rank j, from one type to another. */
static void exchange(int from, int to) {
    static int send[most][room], recv[most][room];
    int send_counts[most], recv_counts[most], places[most], sent[each], got[each];
    MPI_Datatype send_types[most], recv_types[most];
    for (int r = 0; r < p; r++) {
        int position = 0;
        for (int i = 0; i < each; i++) sent[i] = 100 * me + r * each + i;
        send_counts[r] = each / ints_of[from], recv_counts[r] = each / ints_of[to];
        places[r] = r * (int)sizeof *send;
        send_types[r] = types[from], recv_types[r] = types[to];
        MPI_Unpack(sent, sizeof sent, &position, send[r], send_counts[r], types[from],
                   MPI_COMM_WORLD);
    }
    memset(recv, -1, sizeof recv);
    MPI_Alltoallw(send, send_counts, places, send_types, recv, recv_counts, places, recv_types,
                  MPI_COMM_WORLD);
    for (int r = 0; r < p; r++) {
        int position = 0;
        MPI_Pack(recv[r], recv_counts[r], types[to], got, sizeof got, &position, MPI_COMM_WORLD);
        for (int i = 0; i < each; i++) errors += got[i] != 100 * r + me * each + i;
    }
}

/* No operation of MPI's takes such a type: the library says so, if it looks. */
static void add(MPI_Comm comm) {
    int in[room] = {0}, out[room], error, class = MPI_SUCCESS;
    error = MPI_Allreduce(in, out, 1, types[0], MPI_SUM, comm);
    if (error != MPI_SUCCESS) MPI_Error_class(error, &class);
    errors += class != MPI_ERR_OP && class != MPI_ERR_TYPE;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    int rounds = argc > 1 ? atoi(argv[1]) : 40;
    MPI_Comm forgiving;
    MPI_Comm_dup(MPI_COMM_WORLD, &forgiving);
    MPI_Comm_set_errhandler(forgiving, MPI_ERRORS_RETURN);
    make_types();
    for (int from = 0; from < kinds; from++)
        for (int round = 0; round < rounds; round++) exchange(from, round / 8 % kinds);
    add(forgiving);
    for (int k = 0; k < kinds; k++) MPI_Type_free(&types[k]);
    MPI_Comm_free(&forgiving);
    MPI_Allreduce(MPI_IN_PLACE, &errors, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0) printf("%d ranks, %d errors\n", p, errors);
    MPI_Finalize();
    return errors > 0;
}
