/* SPDX-License-Identifier: BSD-3-Clause */
/* main.c - words, verdict and watchdog.
 * usage: field [--seed S] [--calls N] [--seconds T] [--first N] [--only KIND,...] [--largest POWER]
 * [--patience SECONDS] [--row N]
 *              [--threads N] [--blocking] [--no-messages] [--no-comms] [--no-nothing] [--trace]
 * --no-nothing: real buffers, counts and types even where they do not count
 * A failure names seed and call; play it again with --seed, then leave out as much as still fails:
 * --calls and --first, --only. The run ends with 0 only if every byte was right. */
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "field.h"

_Thread_local struct settings settings = {.calls = 1000,
                                          .patience = 60,
                                          .largest = 18,
                                          .row = -1,
                                          .threads = 1,
                                          .only = ~0u,
                                          .hows = ~0u,
                                          .messages = true,
                                          .comms = true,
                                          .nothing = true};
int world_rank, world_size;
_Thread_local struct tally tally;

static struct work { /* what this rank's threads are doing */
    uint64_t seed;
    long call;
    const char *name, *phase; /* phase NULL: nothing more */
    const struct comm *comm;
    const struct op *op;
} works[MOST_THREADS] = {{.name = "nothing yet", .phase = ""}};
static _Thread_local struct work *working = &works[0];

static int position(const struct work *work, char *text, size_t room) {
    const struct comm *comm = work->comm;
    return snprintf(
        text, room,
        "seed %llu, call %ld, rank %d: %s%s%s on communicator %d (%s, %d ranks, I am %d)",
        (unsigned long long)work->seed, work->call, world_rank, work->name,
        *work->phase ? ", " : "", work->phase, comm ? comm->number : 0,
        comm ? comm_names[comm->kind] : "world", comm ? comm->size : world_size,
        comm ? comm->me : world_rank);
}

void at_work(long call, const char *name, const struct comm *comm, const char *phase) {
    if (call >= 0) working->call = call;
    working->seed = settings.seed;
    working->name = name, working->comm = comm, working->phase = phase;
    alarm((unsigned)settings.patience);
}

static void say(const struct work *work, const char *why, const char *more) {
    char text[1500];
    int length = snprintf(text, sizeof text, "field: %s: ", why);
    length += position(work, text + length, 400);
    if (work->op) {
        length += snprintf(text + length, 3, "; ");
        length += op_text(work->op, text + length, 500);
    }
    length += snprintf(text + length, sizeof text - (size_t)length - 2, "%s%s\n", *more ? ": " : "",
                       more);
    if (write(2, text, (size_t)length) < 0) _exit(5);
}

void at_op(const struct op *op) {
    working->op = op;
    if (op && settings.trace) say(working, "doing", "");
}

void failed(const char *format, ...) {
    char more[500];
    va_list list;
    va_start(list, format);
    vsnprintf(more, sizeof more, format, list);
    va_end(list);
    alarm(0);
    say(working, "WRONG", more);
    for (int t = 0; t < MOST_THREADS; t++) works[t].phase = NULL;
    sleep(1); /* others may have something to say as well */
    MPI_Abort(MPI_COMM_WORLD, 1);
    _exit(1);
}

/* No progress: all ranks get here at about the same time, and each says where its threads are. */
static void stuck(int signal) {
    (void)signal;
    for (int t = 0; t < MOST_THREADS; t++)
        if (works[t].phase) say(&works[t], "STUCK", "");
    sleep(10);
    _exit(4);
}

static void crashed(int number) {
    say(working, "CRASHED", strsignal(number));
    signal(number, SIG_DFL);
    raise(number);
}

/* A library that ends the process by itself says neither where nor why. */
static void ended(void) {
    if (works[0].phase) say(&works[0], "ENDED", "");
}

static void refused(MPI_Comm *comm, int *code, ...) {
    char text[MPI_MAX_ERROR_STRING] = "";
    int length;
    (void)comm;
    MPI_Error_string(*code, text, &length);
    failed("MPI error %d: %s", *code, text);
}

static uint32_t kinds_in(const char *names) {
    uint32_t kinds = 0;
    for (int k = 0; k < COLLECTIVES; k++) {
        size_t length = strlen(kind_names[k] + 4);
        for (const char *at = names; at && *at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
            if (strcspn(at, ",") == length && !strncasecmp(at, kind_names[k] + 4, length))
                kinds |= 1u << k;
    }
    return kinds;
}

static void unknown(const char *word) {
    fprintf(stderr, "field: unknown word %s\n", word);
    exit(2);
}

static void read_words(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i], *value = i + 1 < argc ? argv[i + 1] : "";
        if (!strcmp(word, "--blocking")) {
            settings.hows = 1u << BLOCKING;
            continue;
        }
        if (!strcmp(word, "--trace")) {
            settings.trace = true;
            continue;
        }
        if (!strncmp(word, "--no-", 5)) {
            bool *what = !strcmp(word + 5, "messages") ? &settings.messages
                         : !strcmp(word + 5, "comms")  ? &settings.comms
                                                       : NULL;
            what = !strcmp(word + 5, "nothing") ? &settings.nothing : what;
            if (!what) unknown(word);
            *what = false;
            continue;
        }
        i++;
        if (!strcmp(word, "--seed")) settings.seed = strtoull(value, NULL, 10);
        else if (!strcmp(word, "--calls")) settings.calls = atol(value);
        else if (!strcmp(word, "--seconds"))
            settings.seconds = atoi(value), settings.calls = 1L << 40;
        else if (!strcmp(word, "--first")) settings.first = atol(value);
        else if (!strcmp(word, "--only")) settings.only = kinds_in(value);
        else if (!strcmp(word, "--largest")) settings.largest = atoi(value);
        else if (!strcmp(word, "--row")) settings.row = atoi(value);
        else if (!strcmp(word, "--patience")) settings.patience = atoi(value);
        else if (!strcmp(word, "--threads")) settings.threads = atoi(value);
        else unknown(word);
    }
    if (settings.threads < 1 || settings.threads > MOST_THREADS) unknown("--threads");
}

static void start(void) {
    if (!settings.seed) {
        struct timespec time;
        clock_gettime(CLOCK_REALTIME, &time);
        settings.seed = mix((uint64_t)time.tv_nsec, (uint64_t)time.tv_sec) % 1000000000;
    }
    MPI_Bcast(&settings.seed, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    if (!world_rank) {
        printf("field: seed %llu, %d ranks\n", (unsigned long long)settings.seed, world_size);
        fflush(stdout);
    }
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) signal(signals[i], crashed);
    signal(SIGALRM, stuck);
    atexit(ended);
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(refused, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler); /* others inherit it */
    MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
    MPI_Errhandler_free(&handler);
    quirks_start();
    reductions_start();
}

/* Each thread has all that it needs: a seed, a communicator of all ranks, some of its stack. */
struct player {
    int thread;
    struct settings settings;
    struct tally tally;
    MPI_Comm world, private;
    pthread_t id;
};

static void *play_alone(void *which) {
    enum { STACK_BYTES = 2 << 20 };
    char stack[STACK_BYTES];
    struct player *player = which;
    settings = player->settings;
    settings.seed += (uint64_t)player->thread;
    if (player->thread > 0 && quirk(Barrier, TOGETHER)) settings.comms = false;
    working = &works[player->thread];
    memory_start(player->thread, stack, sizeof stack);
    comms_start(player->world);
    play(player->private);
    at_work(-1, "the end", &comms[0], "");
    MPI_Barrier(player->world);
    working->phase = NULL;
    player->tally = tally;
    return NULL;
}

static void play_together(struct player players[MOST_THREADS]) {
    for (int t = 0; t < settings.threads; t++) {
        players[t] = (struct player){.thread = t, .settings = settings, .world = MPI_COMM_WORLD};
        if (t > 0) MPI_Comm_dup(MPI_COMM_WORLD, &players[t].world);
        MPI_Comm_dup(MPI_COMM_WORLD, &players[t].private);
    }
    for (int t = 1; t < settings.threads; t++)
        if (pthread_create(&players[t].id, NULL, play_alone, &players[t]) != 0)
            failed("there is no thread to be had");
    play_alone(&players[0]);
    MPI_Comm_free(&players[0].private);
    for (int t = 1; t < settings.threads; t++) {
        struct tally *sum = &players[0].tally, *more = &players[t].tally;
        pthread_join(players[t].id, NULL);
        MPI_Comm_free(&players[t].world);
        MPI_Comm_free(&players[t].private);
        sum->calls += more->calls, sum->started += more->started;
        sum->messages += more->messages, sum->communicators += more->communicators;
        sum->refused += more->refused;
    }
}

int main(int argc, char **argv) {
    int provided = MPI_THREAD_SINGLE;
    read_words(argc, argv);
    if (settings.threads < 2) MPI_Init(&argc, &argv);
    else MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    double began = now();
    start();
    struct player players[MOST_THREADS];
    if (provided < MPI_THREAD_MULTIPLE) settings.threads = 1;
    play_together(players);
    reductions_end();
    const struct tally *all = &players[0].tally;
    if (!world_rank)
        printf(
            "field: fine, seed %llu, %d ranks, %d threads: %ld blocking calls of rank 0, %ld started, %ld messages, "
            "%ld communicators, %ld types refused, %.1f s\n",
            (unsigned long long)settings.seed, world_size, settings.threads, all->calls,
            all->started, all->messages, all->communicators, all->refused, now() - began);
    MPI_Finalize();
    return 0;
}
