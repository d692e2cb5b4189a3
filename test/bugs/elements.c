/* SPDX-License-Identifier: BSD-3-Clause */
/* elements - a broadcast of one element of more than 2 GiB, of a type with too many irregular
 * pieces for a layout, on the root, on the others, or on all.
 * usage: elements */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { pieces = 70000, least = 7800, step = 1000 };

int main(int argc, char **argv) {
    int me, errors = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    static int at[pieces], length[pieces];
    int end = 0, all = 0;
    unsigned random = 1;
    for (int i = 0; i < pieces; i++) {
        random = random * 1103515245u + 12345u;
        at[i] = end;
        length[i] = least + (int)(random >> 16) % 64;
        all += length[i];
        end += length[i] + 1 + (int)(random >> 20) % 16;
    }
    MPI_Datatype in_pieces, in_one;
    MPI_Type_indexed(pieces, length, at, MPI_INT, &in_pieces);
    MPI_Type_contiguous(all, MPI_INT, &in_one);
    MPI_Type_commit(&in_pieces);
    MPI_Type_commit(&in_one);
    int *memory = malloc((size_t)end * sizeof *memory);
    if (!memory) MPI_Abort(MPI_COMM_WORLD, 1);
    memset(memory, 0, (size_t)end * sizeof *memory);
    for (int which = 1; which < 4; which++) {
        int mine = which >> (me != 0) & 1, base = which * 1000003;
        const int *piece_at = at;
        for (int i = 0, k = 0; me == 0 && i < pieces; i++)
            for (int j = 0; j < length[i]; j++, k++)
                memory[mine ? piece_at[i] + j : k] = base + k;
        MPI_Bcast(memory, 1, mine ? in_pieces : in_one, 0, MPI_COMM_WORLD);
        for (int i = 0, k = 0; i < pieces; k += length[i++])
            errors += memory[mine ? piece_at[i] : k] != base + k;
    }
    MPI_Allreduce(MPI_IN_PLACE, &errors, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0) printf("%d errors in %.1f GiB\n", errors, (double)all * 4 / (1 << 30));
    free(memory);
    MPI_Type_free(&in_pieces);
    MPI_Type_free(&in_one);
    MPI_Finalize();
    return errors != 0;
}
