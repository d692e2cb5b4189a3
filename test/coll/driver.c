/* SPDX-License-Identifier: BSD-3-Clause */
/* driver - draws random trials from a seed and runs them under forced plans; prints what the report must say in the end.
 * usage: mortar run driver --seed N --cases N [--only CASE] [--volume BYTES] [--auto] [--nodes] COLLECTIVE=PLAN... */
#define _GNU_SOURCE
#include "driver.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { most_plans = 128, most_ranks = 257, most_failures = 5, patience_seconds = 60 };

static const size_t sizes[] = {0, 1, 2, 3, 7, 8, 13, 64, 100, 511, 512, 4096, 5000, 65536 + 8, 300000};
enum { size_count = sizeof sizes / sizeof *sizes };

/* Why a call is expected to be native: 0 it is not, 1 one rank, 2 no bytes, 3 the plan asked for. Native calls are counted under
 * plan 0, as the report does not tell what they were forced to. */
static int expected[COLLECTIVES][most_plans][most_ranks][4];

static struct {
    uint64_t seed;
    size_t volume; /* bytes that all ranks receive in one trial, at most */
    int cases, only;
    bool automatic, nodes; /* nodes: several, so everything is native */
    const char *plans[COLLECTIVES][most_plans];
    int plan_count[COLLECTIVES];
} settings = {.seed = 1, .volume = 32 << 20, .cases = 100, .only = -1};

static void watchdog(int signal) {
    (void)signal;
    static const char head[] = "driver: STUCK: ";
    if (write(STDERR_FILENO, head, sizeof head - 1) < 0 || write(STDERR_FILENO, trial_text, strlen(trial_text)) < 0) _exit(4);
    if (write(STDERR_FILENO, "\n", 1) < 0) _exit(4);
    _exit(3);
}

static void usage(const char *word) {
    fprintf(stderr, "driver: what is %s? See the head of driver.c\n", word);
    exit(2);
}

static void read_plan(const char *word) {
    for (int c = 0; c < COLLECTIVES; c++) {
        size_t length = strlen(collective_names[c]);
        if (strncmp(word, collective_names[c], length) != 0 || word[length] != '=') continue;
        if (settings.plan_count[c] == most_plans) usage(word);
        settings.plans[c][settings.plan_count[c]++] = word + length + 1;
        return;
    }
    usage(word);
}

static void read_settings(int count, char **words) {
    for (int i = 1; i < count; i++) {
        bool more = i + 1 < count;
        if (strcmp(words[i], "--auto") == 0) settings.automatic = true;
        else if (strcmp(words[i], "--nodes") == 0) settings.nodes = true;
        else if (strcmp(words[i], "--seed") == 0 && more) settings.seed = strtoull(words[++i], NULL, 0);
        else if (strcmp(words[i], "--cases") == 0 && more) settings.cases = atoi(words[++i]);
        else if (strcmp(words[i], "--only") == 0 && more) settings.only = atoi(words[++i]);
        else if (strcmp(words[i], "--volume") == 0 && more) settings.volume = strtoull(words[++i], NULL, 0);
        else if (words[i][0] != '-') read_plan(words[i]);
        else usage(words[i]);
    }
}

static int why_native(const struct trial *t) {
    if (t->place->p == 1) return 1;
    if (t->bytes == 0) return 2;
    return t->plan && strcmp(t->plan, "native") == 0 ? 3 : 0;
}

static const struct layout *layout_of(struct random *random, int family, bool to_send, bool plain) {
    for (;;) {
        const struct layout *layout = &layouts[below(random, layout_count)];
        if (layout->family == family && (to_send || !layout->send_only) && (!plain || strncmp(layout->name, "MPI_", 4) == 0))
            return layout;
    }
}

/* Types and counts of both sides for about `wish` bytes. plain: predefined types without gaps. Native calls
 * need that (the hosts fail with others by themselves: MPICH 4.0 with an MPI_Alltoall of MPI_DOUBLE_INT in place, Open MPI 4.1
 * with different types on 12 ranks and more), and of mortar's it is the half that is not packed. */
static void draw_sides(struct random *random, struct trial *t, size_t wish, bool plain) {
    int family = below(random, 3) ? below(random, 3) : below(random, plain ? 3 : families);
    const struct layout *recv = layout_of(random, family, false, plain);
    const struct layout *send = t->in_place || below(random, 2) ? recv : layout_of(random, family, true, plain);
    int unit = send->elements * recv->elements; /* a common multiple */
    size_t elements = (wish + (size_t)family_bytes[family] - 1) / (size_t)family_bytes[family];
    int units = (int)((elements + (size_t)unit - 1) / (size_t)unit);
    t->send = (struct side){send, send->type, units * recv->elements};
    t->recv = (struct side){recv, recv->type, units * send->elements};
    t->bytes = (size_t)units * (size_t)unit * (size_t)family_bytes[family];
    if (wish == 0 && !t->in_place && !plain && below(random, 3) == 0) t->send.type = empty_type, t->send.count = 5;
}

static struct trial draw_trial(int number) {
    struct random random = {settings.seed * 1000003 + (uint64_t)number};
    struct trial t = {.seed = draw(&random), .number = number};
    t.collective = (enum collective)below(&random, COLLECTIVES);
    t.plan = settings.automatic ? NULL : settings.plans[t.collective][number / 2 % settings.plan_count[t.collective]];
    t.place = &places[below(&random, place_count)];
    t.in_place = below(&random, 4) == 0;
    int p = places[0].p, fit = 1; /* of the world: the same on all ranks */
    while (fit < size_count && sizes[fit] * (size_t)p * (size_t)p <= settings.volume) fit++;
    size_t wish = below(&random, 4) ? sizes[below(&random, fit)] : (size_t)below(&random, (int)sizes[fit - 1] + 1);
    bool ours = !settings.nodes && (!t.plan || strcmp(t.plan, "native") != 0);
    draw_sides(&random, &t, wish, !ours || below(&random, 2));
    t.large = below(&random, 4) == 0;
    t.buffers = below(&random, 3);
    t.disturb = below(&random, 8);
    t.native = settings.nodes || why_native(&t) != 0;
    snprintf(trial_text, sizeof trial_text,
             "%s plan %s, %s (%d ranks), %zu bytes a block, send %d x %s, receive %d x %s, family %d%s, buffers %d, disturb %d; "
             "again: --seed %llu --cases %d --only %d",
             collective_names[t.collective], t.plan ? t.plan : "auto", t.place->name, t.place->p, t.bytes, t.send.count,
             t.send.layout->name, t.recv.count, t.recv.layout->name, t.recv.layout->family, t.in_place ? ", in place" : "",
             t.buffers, t.disturb, (unsigned long long)settings.seed, settings.cases, number);
    return t;
}

static void expect(const struct trial *t) {
    int plan = 0, why = why_native(t);
    while (t->plan && settings.plans[t->collective][plan] != t->plan) plan++;
    expected[t->collective][why ? 0 : plan][t->place->p][why]++;
}

static void print_expectations(void) {
    static const char *const words[] = {"taken", "one rank", "no bytes", "asked for"};
    MPI_Allreduce(MPI_IN_PLACE, expected, sizeof expected / sizeof(int), MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    for (int c = 0; c < COLLECTIVES && places[0].me == 0; c++)
        for (int plan = 0; plan < most_plans; plan++)
            for (int p = 1; p < most_ranks; p++)
                for (int why = 0; why < 4; why++)
                    if (expected[c][plan][p][why])
                        printf("expect\t%s\t%d\t%s\t%s\t%d\n", collective_names[c], p,
                               settings.automatic ? "auto" : settings.plans[c][plan], words[why], expected[c][plan][p][why]);
}

static int run_all(int (*force)(const char *)) {
    int failures = 0;
    for (int number = 0; number < settings.cases && failures < most_failures; number++) {
        if (settings.only >= 0 && number != settings.only) continue;
        struct trial t = draw_trial(number);
        alarm(patience_seconds);
        if (force(t.plan) != 0) {
            fprintf(stderr, "driver: the plan %s is refused\n", t.plan);
            return 1;
        }
        int wrong = !trial_run(&t);
        MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        failures += wrong > 0;
        expect(&t);
    }
    return failures;
}

int main(int count, char **words) {
    char stack[2 << 18];
    read_settings(count, words);
    MPI_Init(&count, &words);
    signal(SIGALRM, watchdog);
    int (*force)(const char *) = (int (*)(const char *))dlsym(RTLD_DEFAULT, "mortar_plan");
    if (!force) {
        fprintf(stderr, "driver: mortar is not loaded\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    arenas(stack, sizeof stack);
    host_find();
    places_make();
    layouts_make();
    int failures = run_all(force);
    alarm(patience_seconds);
    print_expectations();
    layouts_free();
    places_free();
    if (places[0].me == 0) printf("driver: %d cases, %d failures\n", settings.cases, failures);
    MPI_Finalize();
    return failures > 0;
}
