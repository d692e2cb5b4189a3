/* SPDX-License-Identifier: BSD-3-Clause */
/* ends - rank 1 ends in one phase of the program, the others go on; they end when the launcher ends
 * them, or when the MPI library tells them of it (ULFM), which each then says.
 * usage: ends PHASE HOW [MICROSECONDS]
 * PHASE  init      before MPI_Init           calls     in the calls, so long after the first
 *        begin     before the first call     comms     while communicators come and go
 *        first     so long after entering    free      before a communicator is freed
 *                  the first call            finalize  before MPI_Finalize
 *        between   between two calls         late      so long after entering MPI_Finalize
 *        yield     when it waits inside mortar and yields for the MICROSECONDS-th time, which it
 *                  does in a set-up first
 * HOW    kill segv abort term exit0 exit7 _exit9 mpi42 stop (for two seconds: nothing ends) */
#define _GNU_SOURCE
#include <mpi.h>

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int me, ranks, error;
static const char *how;
static long delay;
static int yields_count, yields;

static void go(void) {
    if (strcmp(how, "kill") == 0) kill(getpid(), SIGKILL);
    if (strcmp(how, "segv") == 0) raise(SIGSEGV);
    if (strcmp(how, "abort") == 0) abort();
    if (strcmp(how, "term") == 0) kill(getpid(), SIGTERM);
    if (strcmp(how, "exit0") == 0) exit(0);
    if (strcmp(how, "exit7") == 0) exit(7);
    if (strcmp(how, "_exit9") == 0) _exit(9);
    if (strcmp(how, "mpi42") == 0) MPI_Abort(MPI_COMM_WORLD, 42);
    if (strcmp(how, "stop") == 0) {
        if (fork() == 0) { /* somebody has to wake it */
            sleep(2);
            kill(getppid(), SIGCONT);
            _exit(0);
        }
        raise(SIGSTOP);
    }
}

/* In the program, so that it comes before libc's. */
int sched_yield(void) {
    Dl_info who;
    if (yields_count && dladdr(__builtin_return_address(0), &who) &&
        strstr(who.dli_fname, "libmortar-") && ++yields == delay)
        go();
    return (int)syscall(SYS_sched_yield);
}

static void *after_delay(void *none) {
    struct timespec time = {.tv_sec = delay / 1000000, .tv_nsec = delay % 1000000 * 1000};
    nanosleep(&time, NULL);
    go();
    return none;
}

static void go_soon(void) {
    pthread_t thread;
    if (me == 1) pthread_create(&thread, NULL, after_delay, NULL);
}

static void heard(int result) {
    if (error == MPI_SUCCESS) error = result;
}

static void call(MPI_Comm comm, int number) {
    static char sent[64 << 10], got[64 << 10];
    int sum = 0, n = number % 2 ? 8 : (int)sizeof sent / ranks;
    if (number % 4 == 0) heard(MPI_Alltoall(sent, n, MPI_BYTE, got, n, MPI_BYTE, comm));
    if (number % 4 == 1) heard(MPI_Allreduce(&number, &sum, 1, MPI_INT, MPI_SUM, comm));
    if (number % 4 == 2) heard(MPI_Bcast(sent, n, MPI_BYTE, number / 4 % ranks, comm));
    if (number % 4 == 3) heard(MPI_Barrier(comm));
}

static void comms(void) {
    for (int number = 0; error == MPI_SUCCESS; number++) {
        MPI_Comm comm = MPI_COMM_NULL;
        heard(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
        for (int i = 0; i < 12 && error == MPI_SUCCESS; i++) call(comm, i + number);
        if (error == MPI_SUCCESS) heard(MPI_Comm_free(&comm));
    }
}

int main(int argc, char **argv) {
    const char *phase = argc > 1 ? argv[1] : "between", *slot = getenv("PMI_RANK");
    int stopped = argc > 2 && strcmp(argv[2], "stop") == 0;
    if (!slot) slot = getenv("OMPI_COMM_WORLD_RANK");
    how = argc > 2 ? argv[2] : "kill";
    delay = argc > 3 ? atol(argv[3]) : 1000;
    if (strcmp(phase, "init") == 0 && slot && strcmp(slot, "1") == 0) go();
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (me == 0) puts("running"), fflush(stdout);
    MPI_Comm extra = MPI_COMM_NULL;
    if (strcmp(phase, "free") == 0) MPI_Comm_dup(MPI_COMM_WORLD, &extra);
    if (strcmp(phase, "begin") == 0 && me == 1) go();
    if (strcmp(phase, "first") == 0) go_soon();
    yields_count = strcmp(phase, "yield") == 0 && me == 1;
    int last =
        strcmp(phase, "finalize") == 0 || strcmp(phase, "late") == 0 || extra != MPI_COMM_NULL;
    for (int i = 0; error == MPI_SUCCESS && i < (stopped ? 4000 : last ? 2000 : 1 << 30); i++) {
        if (i == 1000 && strcmp(phase, "comms") == 0) go_soon(), comms();
        if (i == 1000 && strcmp(phase, "calls") == 0) go_soon();
        if (i == 1001 && strcmp(phase, "between") == 0 && me == 1) go();
        if (error == MPI_SUCCESS) call(extra != MPI_COMM_NULL && i % 2 ? extra : MPI_COMM_WORLD, i);
    }
    if (extra != MPI_COMM_NULL) {
        if (me == 1) go();
        MPI_Comm_free(&extra);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (strcmp(phase, "finalize") == 0 && me == 1) go();
    if (strcmp(phase, "late") == 0) go_soon();
    if (error != MPI_SUCCESS) {
        char text[MPI_MAX_ERROR_STRING] = "";
        int length;
        MPI_Error_string(error, text, &length);
        printf("rank %d of %d heard: %s\n", me, ranks, text);
        fflush(stdout);
        _exit(0);
    }
    MPI_Finalize();
    if (stopped) printf("rank %d of %d went on\n", me, ranks);
    return 0;
}
