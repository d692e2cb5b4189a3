/* SPDX-License-Identifier: BSD-3-Clause */
/* forks - a rank forks between collectives: the child's memory is its own, the parent's is
 * untouched by what the child does, and the collectives go on while the child lives. Also system
 * and popen. */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { n = 4096 };
static int p, me, errors;
static char *send, *recv;

static void use(int value) {
    memset(send, value + me, (size_t)p * n);
    memset(recv, 0, (size_t)p * n);
    MPI_Alltoall(send, n, MPI_BYTE, recv, n, MPI_BYTE, MPI_COMM_WORLD);
    for (int i = 0; i < p * n; i++) errors += recv[i] != value + i / n;
}

/* The child sees the memory as it was, whatever the parents do, and writes all over it. */
static int child(int value, int go) {
    char letter;
    if (read(go, &letter, 1) != 1) return 1; /* the parents have made more collectives by now */
    for (int i = 0; i < p * n; i++)
        if (send[i] != value + me || recv[i] != value + i / n) return 2;
    memset(send, 99, (size_t)p * n);
    memset(recv, 99, (size_t)p * n);
    char *more = malloc(1 << 20);
    if (!more) return 3;
    memset(more, 98, 1 << 20);
    free(more);
    return 0;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    send = malloc((size_t)p * n), recv = malloc((size_t)p * n);
    for (int round = 0; round < 3; round++) {
        int pipes[2], status = -1;
        use(round);
        if (pipe(pipes) != 0) return 1;
        pid_t pid = fork();
        if (pid == 0) _exit(child(round, pipes[0]));
        use(round + 10);
        use(round + 20);
        errors += write(pipes[1], "g", 1) != 1;
        errors += waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status) != 0;
        for (int i = 0; i < p * n; i++)
            errors += send[i] != round + 20 + me || recv[i] != round + 20 + i / n;
        close(pipes[0]), close(pipes[1]);
        errors += system("exit 3") >> 8 != 3;
        char word[16] = "";
        FILE *pipe_in = popen("echo hello", "r");
        errors += !pipe_in || !fgets(word, sizeof word, pipe_in) || strcmp(word, "hello\n") != 0;
        if (pipe_in) pclose(pipe_in);
        use(round + 30);
    }
    MPI_Allreduce(MPI_IN_PLACE, &errors, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0) printf("%d ranks, %d errors\n", p, errors);
    free(send);
    free(recv);
    MPI_Finalize();
    return errors > 0;
}
