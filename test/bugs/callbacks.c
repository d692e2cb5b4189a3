/* SPDX-License-Identifier: BSD-3-Clause */
/* callbacks - attribute callbacks that make collective calls: when MPI_Finalize deletes the
 * attributes of MPI_COMM_SELF, on all ranks or (`one`) on rank 0 while the others make the same
 * calls before; when a communicator that still is in use in them is freed, with the program's
 * attributes older than mortar's on some ranks only; when a callback frees another communicator,
 * whose callback uses the first; when a callback refuses, and the error handler jumps away (Open
 * MPI; MPICH calls the handler of MPI_COMM_WORLD or MPI_COMM_SELF).
 * Callbacks of the program run for the program's own duplicates, and for no others. */
#include <mpi.h>

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int errors, copies, ended, one, p, me;

static void wrong(int found, const char *what) {
    if (!found) return;
    errors++;
    printf("rank %d: %s\n", me, what);
}

static void use(MPI_Comm comm) {
    int rank, ranks, sum = -1, bytes[4];
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    int *recv = malloc(2 * sizeof *recv * (size_t)ranks),
        *send = malloc(2 * sizeof *send * (size_t)ranks), mine = rank + 1;
    MPI_Datatype gaps;
    MPI_Type_vector(2, 1, 3, MPI_INT, &gaps);
    MPI_Type_commit(&gaps);
    wrong(MPI_Barrier(comm) != MPI_SUCCESS, "barrier");
    wrong(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm) != MPI_SUCCESS ||
              sum != ranks * (ranks + 1) / 2,
          "allreduce");
    for (int i = 0; i < 4; i++) bytes[i] = rank ? -1 : i;
    wrong(MPI_Bcast(bytes, 1, gaps, 0, comm) != MPI_SUCCESS || bytes[0] != 0 || bytes[3] != 3,
          "bcast");
    for (int j = 0; j < ranks; j++) send[j] = rank * 100 + j;
    wrong(MPI_Alltoall(send, 1, MPI_INT, recv, 1, MPI_INT, comm) != MPI_SUCCESS, "alltoall");
    for (int i = 0; i < ranks; i++) wrong(recv[i] != i * 100 + rank, "alltoall's blocks");
    bytes[0] = rank, bytes[3] = -rank;
    wrong(MPI_Gather(bytes, 1, gaps, recv, 2, MPI_INT, 0, comm) != MPI_SUCCESS, "gather");
    for (int i = 0; i < ranks && rank == 0; i++)
        wrong(recv[2 * i] != i || recv[2 * i + 1] != -i, "gather's blocks");
    MPI_Type_free(&gaps);
    free(recv);
    free(send);
}

static int copy(MPI_Comm comm, int key, void *state, void *in, void *out, int *flag) {
    (void)comm, (void)key, (void)state;
    copies++;
    *(void **)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}

/* What: 'w': collectives on the world; 'c': on the communicator itself. */
static int end(MPI_Comm comm, int key, void *what, void *state) {
    (void)key, (void)state;
    ended++;
    use(*(char *)what == 'w' ? MPI_COMM_WORLD : comm);
    return MPI_SUCCESS;
}

static char on_world[] = "w", on_itself[] = "c";

/* Whose attribute is older, mortar's or the program's? Mortar's comes with the first collective. */
static void free_used(int key, int round, int (*how)(MPI_Comm *)) {
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, 0, round % 3 ? me : -me, &comm);
    int first = (me + round) % 2;
    if (first) MPI_Comm_set_attr(comm, key, on_itself);
    if (round % 4) use(comm);
    if (!first) MPI_Comm_set_attr(comm, key, on_itself);
    /* For some ranks it is no longer the communicator of the latest call. */
    if (round % 5 && (me + round) % 3 == 0) MPI_Barrier(MPI_COMM_SELF);
    int before = ended;
    how(&comm);
    wrong(ended != before + 1, "the callback did not run once");
}

/* Some ranks free a communicator in whose callback the world meets; the others meet them by calls
 * of their own. */
static void free_some(int key) {
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, me % 2, me, &comm);
    use(comm);
    if (me % 2) MPI_Comm_set_attr(comm, key, on_world);
    else use(MPI_COMM_WORLD);
    MPI_Comm_free(&comm);
}

static MPI_Comm first, second;
static int refuses, jumps;
static jmp_buf back;

static int end_first(MPI_Comm comm, int key, void *what, void *state) {
    (void)comm, (void)key, (void)what, (void)state;
    return refuses ? MPI_ERR_OTHER : MPI_Comm_free(&second);
}

static int end_second(MPI_Comm comm, int key, void *what, void *state) {
    (void)key, (void)what, (void)state;
    use(comm);
    use(first);
    return MPI_SUCCESS;
}

static void jump(MPI_Comm *comm, int *error, ...) {
    (void)comm, (void)error;
    longjmp(back, 1);
}

/* Both are freed, and their handles come again, as other communicators'. Rank 0 gets them before
 * the others. */
static void free_both(int round, int keys[2]) {
    MPI_Errhandler handler;
    MPI_Comm few[4], many[8], again;
    MPI_Comm_split(MPI_COMM_WORLD, 0, me, &first);
    MPI_Comm_split(MPI_COMM_WORLD, 0, me, &second);
    MPI_Comm_set_attr(first, keys[0], NULL);
    MPI_Comm_set_attr(second, keys[1], NULL);
    if (round % 3) use(first);
    if (round % 2) use(second);
    MPI_Comm_create_errhandler(jump, &handler);
    MPI_Comm_set_errhandler(first, handler);
    MPI_Errhandler_free(&handler);
    again = first, refuses = jumps && round % 4 == 1;
    if (refuses && setjmp(back) == 0) {
        MPI_Comm_free(&first);
        wrong(1, "what is refused is no error");
    }
    if (refuses) first = again, use(first);
    refuses = 0;
    MPI_Comm_free(&first);
    for (int i = 0; i < 4 && me > 0; i++) MPI_Comm_split(MPI_COMM_SELF, 0, 0, &few[i]);
    for (int i = 0; i < 8; i++) {
        MPI_Comm_split(MPI_COMM_WORLD, 0, -me, &many[i]);
        use(many[i]);
    }
    for (int i = 0; i < 8; i++) MPI_Comm_free(&many[i]);
    for (int i = 0; i < 4 && me > 0; i++) MPI_Comm_free(&few[i]);
}

int main(int argc, char **argv) {
    int key, keys[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    one = argc > 1 && strcmp(argv[1], "one") == 0;
    MPI_Comm_create_keyval(copy, end, &key, NULL);
    if (!one || me == 0) MPI_Comm_set_attr(MPI_COMM_SELF, key, on_world);
    MPI_Comm_set_attr(MPI_COMM_WORLD, key, on_world);
    use(MPI_COMM_WORLD);
    for (int round = 0; round < 12; round++)
        free_used(key, round, round % 2 ? MPI_Comm_free : MPI_Comm_disconnect);
    free_some(key);
#ifdef OPEN_MPI
    jumps = 1;
#endif
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end_first, &keys[0], NULL);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end_second, &keys[1], NULL);
    for (int round = 0; round < 12; round++) free_both(round, keys);
    wrong(copies != 0, "the program's attributes were copied");
    MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
    MPI_Comm forgotten;
    MPI_Comm_dup(MPI_COMM_WORLD, &forgotten);
    use(forgotten);
    int before = ended;
    MPI_Allreduce(MPI_IN_PLACE, &errors, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (one && me != 0) use(MPI_COMM_WORLD);
    MPI_Finalize();
    wrong(ended != before + (!one || me == 0), "the callback of MPI_Finalize did not run once");
    wrong(copies != 0, "the program's attributes were copied at the end");
    if (me == 0) printf("%d ranks, %d errors\n", p, errors);
    return errors > 0;
}
