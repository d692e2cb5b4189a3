/* SPDX-License-Identifier: BSD-3-Clause */
/* driver - draws random trials from a seed and runs them under forced plans; prints what the report
 * must say in the end. usage: mortar run driver --seed N --cases N [--only CASE] [--volume BYTES]
 * [--auto] [--nodes] [--plain]
 *        [--file PATH] COLLECTIVE=PLAN... */
#define _GNU_SOURCE
#include "driver.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { most_plans = 128, most_ranks = 257, most_failures = 5, patience_seconds = 60 };

/* Why a call is expected to be native: 0 it is not, 1 one rank, 2 no bytes, 3 the plan asked for.
 * Native calls are counted under plan 0, as the report does not tell what they were forced to. */
static int expected[COLLECTIVES][most_plans][most_ranks][4];

static const char *plans[COLLECTIVES][most_plans];
static struct settings settings = {.seed = 1, .volume = 32 << 20, .cases = 100, .only = -1};

static void watchdog(int signal) {
    (void)signal;
    static const char head[] = "driver: STUCK: ";
    if (write(STDERR_FILENO, head, sizeof head - 1) < 0 ||
        write(STDERR_FILENO, trial_text, strlen(trial_text)) < 0)
        _exit(4);
    if (write(STDERR_FILENO, "\n", 1) < 0) _exit(4);
    _exit(3);
}

static void usage(const char *word) {
    fprintf(stderr, "driver: what is %s? See the head of driver.c\n", word);
    exit(2);
}

static void read_plan(const char *word) {
    for (int c = 0; c < COLLECTIVES; c++) {
        size_t length = strlen(traits[c].name);
        if (strncmp(word, traits[c].name, length) != 0 || word[length] != '=') continue;
        if (settings.plan_count[c] == most_plans) usage(word);
        plans[c][settings.plan_count[c]++] = word + length + 1;
        return;
    }
    usage(word);
}

static void read_settings(int count, char **words) {
    for (int i = 1; i < count; i++) {
        bool more = i + 1 < count;
        if (strcmp(words[i], "--auto") == 0) settings.automatic = true;
        else if (strcmp(words[i], "--nodes") == 0) settings.nodes = true;
        else if (strcmp(words[i], "--plain") == 0) settings.plain = true;
        else if (strcmp(words[i], "--alike") == 0) settings.alike = true;
        else if (strcmp(words[i], "--seed") == 0 && more)
            settings.seed = strtoull(words[++i], NULL, 0);
        else if (strcmp(words[i], "--cases") == 0 && more) settings.cases = atoi(words[++i]);
        else if (strcmp(words[i], "--only") == 0 && more) settings.only = atoi(words[++i]);
        else if (strcmp(words[i], "--volume") == 0 && more)
            settings.volume = strtoull(words[++i], NULL, 0);
        else if (strcmp(words[i], "--file") == 0 && more) settings.file = words[++i];
        else if (words[i][0] != '-') read_plan(words[i]);
        else usage(words[i]);
    }
    for (int c = 0; c < COLLECTIVES; c++) {
        settings.plans[c] = plans[c];
        if (settings.plan_count[c] == 0) usage(traits[c].name);
    }
}

static int why_native(const struct trial *t) {
    if (t->place->p == 1) return 1;
    if (t->no_bytes) return 2;
    return t->plan && strcmp(t->plan, "native") == 0 ? 3 : 0;
}

static void expect(const struct trial *t) {
    int plan = 0, why = why_native(t);
    while (t->plan && settings.plans[t->collective][plan] != t->plan) plan++;
    expected[t->collective][why ? 0 : plan][t->place->p][why]++;
}

static void print_expectations(void) {
    static const char *const words[] = {"taken", "one rank", "no bytes", "asked for"};
    host.allreduce(MPI_IN_PLACE, expected, sizeof expected / sizeof(int), MPI_INT, MPI_MAX,
                   MPI_COMM_WORLD);
    for (int c = 0; c < COLLECTIVES && places[0].me == 0; c++)
        for (int plan = 0; plan < most_plans; plan++)
            for (int p = 1; p < most_ranks; p++)
                for (int why = 0; why < 4; why++)
                    if (expected[c][plan][p][why])
                        printf("expect\t%s\t%d\t%s\t%s\t%d\n", traits[c].name, p,
                               settings.automatic ? "auto" : settings.plans[c][plan], words[why],
                               expected[c][plan][p][why]);
}

static int run_all(int (*force)(const char *)) {
    struct trial trials[group];
    int failures = 0;
    for (int number = 0; number < settings.cases && failures < most_failures; number++) {
        if (settings.only >= 0 && number != settings.only) continue;
        int count = draw_group(&settings, number, trials);
        memcpy(trial_text, trials[0].text, sizeof trial_text);
        for (int i = 0; i < count && settings.only >= 0 && places[0].me == 0; i++)
            fprintf(stderr, "driver: %s\n", trials[i].text);
        alarm(patience_seconds);
        int wrong = trials_run(trials, count, force);
        if (wrong < 0) {
            fprintf(stderr, "driver: a plan is refused: %s\n", trial_text);
            return 1;
        }
        host.allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        failures += wrong > 0;
        for (int i = 0; i < count; i++) expect(&trials[i]);
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
    hosts_find();
    places_open();
    beside_open(settings.file);
    layouts_make();
    combinations_make();
    int failures = run_all(force);
    alarm(patience_seconds);
    print_expectations();
    combinations_free();
    layouts_free();
    beside_close();
    places_close();
    if (places[0].me == 0) printf("driver: %d cases, %d failures\n", settings.cases, failures);
    MPI_Finalize();
    return failures > 0;
}
