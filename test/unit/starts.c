/* SPDX-License-Identifier: BSD-3-Clause */
/* starts - the ranks of a communicator agree when mortar begins on it (src/reach/start.c), although
 * they differ in all that they look at: what their calls and earlier set-ups took (by factors of up
 * to a million), whether they kept a team of the same ranks, and which, whether they have memory,
 * and where they seem to run. The ranks are processes, since start.c keeps much for its process.
 * The MPI library and the building of teams are played here.
 * starts [SEED [COMMUNICATORS]] */
#include "reach/host.h"

#include "reach/birth.h"
#include "reach/reach.h"
#include "unit.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { most_ranks = 5, most_words = 16, most_calls = 4000 };

static struct common {
    pthread_barrier_t barrier;
    int64_t words[most_ranks][most_words];
    char held[most_ranks][160];
    uint64_t place[most_ranks];
    long looks, begun, taken_over;
} *common;
static int p, me;
static uint64_t alike, own; /* random: the same on all ranks, and a different one on each */

static uint64_t any_ticks(void) { return (uint64_t)1 << draw_below(&own, 28); }

/* All ranks have memory, nobody has made calls on such a communicator before, and a set-up takes
 * so long that start.c keeps to the time that it expects. */
static bool plain;

/* ---- what start.c calls ---- */

int PMPI_Comm_test_inter(MPI_Comm comm, int *inter) {
    (void)comm;
    *inter = 0;
    return MPI_SUCCESS;
}
int PMPI_Comm_size(MPI_Comm comm, int *size) {
    (void)comm;
    *size = p;
    return MPI_SUCCESS;
}
int PMPI_Comm_rank(MPI_Comm comm, int *rank) {
    (void)comm;
    *rank = me;
    return MPI_SUCCESS;
}
bool has_strangers(MPI_Comm comm) {
    (void)comm;
    return false;
}
const char *settings_agree(MPI_Comm comm, int ranks, int rank) {
    (void)comm, (void)ranks, (void)rank;
    return NULL;
}

static bool crowded;
bool settings_say_crowded(void) { return crowded; }

int host_combine(const void *mine, void *all, int words, MPI_Datatype type, MPI_Op op,
                 MPI_Comm comm) {
    int64_t *most = all;
    expect(words <= most_words && type == MPI_INT64_T && op == MPI_MAX, "not what is played here");
    (void)comm;
    memcpy(common->words[me], mine, (size_t)words * sizeof *most);
    pthread_barrier_wait(&common->barrier);
    memcpy(most, mine, (size_t)words * sizeof *most);
    for (int r = 0; r < p; r++)
        for (int w = 0; w < words; w++)
            if (common->words[r][w] > most[w]) most[w] = common->words[r][w];
    pthread_barrier_wait(&common->barrier);
    return MPI_SUCCESS;
}

struct card *birth_room(struct team *team) {
    (void)team;
    return plain || draw_below(&own, 40) ? malloc(1) : NULL;
}

void team_build(struct team *team, MPI_Comm comm, struct card *cards, bool one_node) {
    (void)comm;
    free(cards);
    team->setup_seconds = plain ? 1 : (double)any_ticks() * 1e-9;
    bool together = true;
    for (int r = 1; r < p; r++) together = together && common->place[r] == common->place[0];
    expect(one_node == together, "on one node: %d, and they are: %d", one_node, together);
}

/* Mostly all ranks kept the same team. */
static uint64_t birth;
int *spare_ranks(MPI_Comm comm, int ranks) {
    (void)comm;
    return calloc((size_t)ranks, sizeof(int));
}
uint64_t spare_group(const int *world, int ranks) { return world ? (uint64_t)ranks : 0; }
uint64_t spare_debt(uint64_t group) {
    return group && !plain && draw_below(&own, 2) ? any_ticks() : 0;
}
struct team *spare_take(const int *world, int ranks, int rank) {
    (void)world;
    struct team *team = birth ? calloc(1, sizeof *team) : NULL;
    if (!team || !draw_below(&own, 8)) return free(team), NULL;
    *team = (struct team){.p = ranks, .me = rank, .birth = birth + !draw_below(&own, 8)};
    return team;
}
void spare_back(struct team *team) { free(team); }

uint64_t __wrap_machine_place(void);
uint64_t __wrap_machine_place(void) {
    return common->place[me] = 4 + 4 * (uint64_t)draw_below(&own, 2);
}

/* ---- the ranks ---- */

static void hold_up(const char *text, int number) {
    snprintf(common->held[me], sizeof common->held[me], "%s", text);
    pthread_barrier_wait(&common->barrier);
    for (int r = 0; r < p; r++)
        expect(strcmp(common->held[r], text) == 0, "communicator %d: rank %d: %s; rank %d: %s",
               number, r, common->held[r], me, text);
    pthread_barrier_wait(&common->barrier);
}

/* What a look has led to; NULL: the communicator stays young. */
static struct team *look(struct young *young, int number) {
    char text[160];
    struct team *team = start_look(young, MPI_COMM_WORLD, draw_below(&alike, 50) == 0);
    const char *found = "no team";
    bool begun = team && !team->why_native, kept = begun && team->birth;
    if (begun) found = kept ? "a team that was kept" : "a new team";
    else if (team) found = team->why_native;
    snprintf(text, sizeof text, "%s%s, the next look at %u of %u, sums %d after %lu", found,
             young->left ? ", left" : "", young->next, young->weight, team && team->early.over,
             (unsigned long)young->early.weight);
    hold_up(text, number);
    if (me == 0) common->looks++, common->begun += begun, common->taken_over += kept;
    return team;
}

static void communicator(int number) {
    struct young young;
    crowded = draw_below(&alike, 2);
    struct team *team = NULL;
    expect(!start_meet(MPI_COMM_WORLD, &young), "not young");
    for (int call = 0; call < most_calls && !team && !young.left; call++) {
        birth = draw_below(&alike, 8) ? 0 : 1 + draw_below(&alike, 1000);
        bool sum = draw_below(&alike, 4) == 0;
        if (sum) start_sums(&young.early, draw_bytes(&alike, 1 << 20));
        young.weight += draw_below(&alike, 2) ? 4 : 1;
        start_took(&young, any_ticks());
        if (start_due(&young)) team = look(&young, number);
    }
    free(team);
}

/* How many calls of so many nanoseconds on this rank a communicator stays young. */
static int calls_of(double first, double others) {
    struct young young;
    struct team *team = NULL;
    int calls = 0;
    expect(!start_meet(MPI_COMM_WORLD, &young), "not young");
    for (birth = 0; !team && calls < most_calls; calls++) {
        young.weight++;
        double nanoseconds = calls == 0 ? first : others;
        start_took(&young, (uint64_t)(1e-9 * nanoseconds * clock_ticks_per_second()));
        if (start_due(&young)) team = start_look(&young, MPI_COMM_WORLD, false);
    }
    free(team);
    return calls;
}

/* A set-up is expected to take 250 us for each rank, and a beginning 4 calls more. */
static void paid(void) {
    double setup = 250e3 * p;
    plain = true;
    int calls = calls_of(setup / 50, setup / 50);
    expect(calls > 2 * (50 + 4) && calls <= 4 * (50 + 4), "short calls pay after %d", calls);
    calls = calls_of(200 * setup, setup / 50); /* the library makes its connections */
    expect(calls > 2 * (50 + 4) && calls <= 4 * (50 + 4), "after a long one pay %d", calls);
    calls = calls_of(100 * setup, 100 * setup);
    expect(calls > 2 * 4 && calls <= 4 * 4, "long calls pay after %d", calls);
    /* One rank waits in each call, or all but one; the others' calls take no time. */
    calls = calls_of(0, me == 0 ? setup : setup / 1000);
    expect(calls > 50 && calls <= 4 * 50, "one rank waits, and calls pay after %d", calls);
    calls = calls_of(0, me == 0 ? setup / 1000 : setup);
    expect(calls > 50 && calls <= 4 * 50, "all but one wait, and calls pay after %d", calls);
    plain = false;
}

/* How many sums of so many bytes are the MPI library's, asked either way. */
static int sums_of(size_t bytes, bool again) {
    struct early early = {0};
    int sums = 0;
    while (again ? start_leaves(&early, bytes) : !start_sums(&early, bytes)) sums++;
    expect(!start_leaves(&early, bytes) && start_sums(&early, bytes), "the next sum is not ours");
    return sums;
}

/* Where many ranks share a processor they are fewer, and the way in which ranks ask may differ. */
static void early(void) {
    for (int most = 1024; most >= 256; most /= 4, crowded = true)
        for (int again = 0; again < 2; again++) {
            expect(sums_of(8, again) == most, "not the first %d sums", most);
            expect(sums_of(3 * 2048, again) == most / 4, "not a quarter of long ones of %d", most);
        }
    crowded = false;
}

static int rank_main(int rank, uint64_t seed, int communicators) {
    me = rank;
    alike = seed, own = seed + 1 + (uint64_t)rank;
    early();
    if (p != 3) paid(); /* 3 ranks have another MORTAR_START */
    for (int k = 0; k < communicators; k++) communicator(k);
    return 0;
}

int main(int count, char **words) {
    uint64_t random = seed_from(count, words);
    int communicators = count > 2 ? atoi(words[2]) : 300;
    common = mmap(NULL, sizeof *common, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    expect(common != MAP_FAILED, "mmap");
    for (p = 2; p <= most_ranks; p++) {
        pthread_barrierattr_t between;
        pthread_barrierattr_init(&between);
        pthread_barrierattr_setpshared(&between, PTHREAD_PROCESS_SHARED);
        pthread_barrier_init(&common->barrier, &between, (unsigned)p);
        setenv("MORTAR_START", p == 3 ? "early" : "paid", 1);
        uint64_t seed = draw(&random);
        pid_t ranks[most_ranks];
        fflush(NULL);
        for (int r = 0; r < p; r++)
            if ((ranks[r] = fork()) == 0) _exit(rank_main(r, seed, communicators));
        bool fine = true;
        for (int r = 0, status; r < p; r++) {
            expect(wait(&status) > 0, "wait");
            /* The others would wait for it. */
            for (int other = 0; other < p && status && fine; other++) kill(ranks[other], SIGKILL);
            fine = fine && !status;
        }
        expect(fine, "a rank of %d failed", p);
    }
    printf("%ld looks, %ld communicators begun, %ld with a team that was kept\n", common->looks,
           common->begun, common->taken_over);
    expect(common->begun > 0 && common->taken_over > 0 && common->begun < common->looks,
           "too few kinds of decisions");
    return 0;
}
