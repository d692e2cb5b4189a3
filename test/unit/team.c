/* SPDX-License-Identifier: BSD-3-Clause */
/* team - the barrier, agreement, waiting and the memory of a team, with threads as ranks, and the
 * futex between processes. team [SEED [ROUNDS]] */
#define _GNU_SOURCE
#include "crew.h"

#include "heap/heap.h"

#include <errno.h>
#include <math.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int rounds = 400;

/* ---- barriers ---- */

static atomic_int entered, last_ones;

/* Nobody leaves before all have entered; one rank is the last; everybody hears everybody's trouble,
 * and none of another barrier. */
static void many_barriers(struct rank *rank) {
    struct team *team = &rank->team;
    for (int round = 0; round < rounds; round++) {
        if (round % 32 == 31 && !crew_goes_on(rank)) return;
        uint32_t mine = 0, all = 0;
        for (int r = 0; r < team->p; r++) {
            uint32_t trouble = draw_below(&rank->common, 3) ? 0 : draw_below(&rank->common, 16);
            all |= trouble;
            if (r == team->me) mine = trouble;
        }
        dawdle(&rank->own);
        uint32_t heard, epoch = team->epoch, opened = team->opened;
        atomic_fetch_add(&entered, 1);
        if (draw_below(&rank->common, 2)) {
            heard = sync_all(team, mine);
        } else if (crew_arrives(team, &mine)) {
            atomic_fetch_add(&last_ones, 1);
            expect(mine == all, "p=%d round %d: the last one hears %u, not %u", team->p, round,
                   mine, all);
            const struct gate *gate = team->rungs[team->rung_count - 1].gate;
            expect(atomic_load(&gate->opened.word) == opened,
                   "p=%d round %d: released before the last one said so", team->p, round);
            dawdle(&rank->own);
            heard = sync_release(team);
        } else {
            atomic_fetch_add(&last_ones, 0x10000);
            heard = sync_wait(team);
        }
        expect(atomic_load(&entered) >= (round + 1) * team->p,
               "p=%d round %d: rank %d left before all entered", team->p, round, team->me);
        expect(heard == all, "p=%d round %d: rank %d heard trouble %u, not %u", team->p, round,
               team->me, heard, all);
        expect(team->epoch == epoch + 1, "p=%d: epoch %u follows %u", team->p, team->epoch, epoch);
    }
}

static void many_votes(struct rank *rank) {
    for (int round = 0; round < rounds; round++) {
        if (round % 32 == 31 && !crew_goes_on(rank)) return;
        bool mine = true, all = true;
        int against = draw_below(&rank->common, 2)
                          ? (int)draw_below(&rank->common, (uint32_t)rank->team.p)
                          : -1;
        bool several = draw_below(&rank->common, 4) == 0;
        if (against >= 0)
            all = false, mine = rank->team.me != against && !(several && rank->team.me > against);
        dawdle(&rank->own);
        bool agreed = team_agree(&rank->team, mine);
        expect(agreed == all, "p=%d round %d: rank %d was told %d", rank->team.p, round,
               rank->team.me, agreed);
    }
}

static void barriers(uint64_t *random) {
    static const int sizes[] = {1, 2, 3, 5, 8, 16};
    static struct crew crew;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int wrap = 0; wrap < 2; wrap++) {
            int p = sizes[i];
            crew = (struct crew){.p = p,
                                 .slot = 64,
                                 .room = 8192,
                                 .seed = draw(random),
                                 .spinning = p <= 4 && p <= processors_here()};
            if (wrap) crew.epoch = UINT32_MAX - (uint32_t)rounds / 2;
            atomic_store(&entered, 0);
            atomic_store(&last_ones, 0);
            crew.body = many_barriers;
            crew_run(&crew);
            int last = atomic_load(&last_ones) & 0xffff, others = atomic_load(&last_ones) >> 16;
            expect(others == last * (p - 1), "p=%d: %d were last and %d were not", p, last, others);
            crew.body = many_votes;
            crew_run(&crew);
        }
}

/* ---- waiting ---- */

static atomic_int polled;

static void poll_once(struct team *team) {
    (void)team;
    atomic_fetch_add(&polled, 1);
}

/* What MPI needs: rank 0 comes only when the MPI library of every waiting rank has been driven
 * again and again. */
static void late_rank(struct rank *rank) {
    struct team *team = &rank->team;
    team->patience.mode = *(const unsigned *)rank->crew->argument;
    team->progress = poll_once;
    for (int round = 1; round <= 3; round++) {
        struct timespec pause = {.tv_nsec = 1000000};
        for (int i = 0; team->me == 0 && atomic_load(&polled) < round * 20 * (team->p - 1); i++) {
            expect(i < 20000, "waiting mode %u: the MPI library was driven %d times",
                   team->patience.mode, atomic_load(&polled));
            nanosleep(&pause, NULL);
        }
        sync_all(team, 0);
    }
}

static void progress(uint64_t *random) {
    static struct crew crew;
    for (unsigned mode = WAIT_AUTO; mode <= WAIT_FUTEX; mode++) {
        crew = (struct crew){.p = 3,
                             .slot = 64,
                             .room = 8192,
                             .seed = draw(random),
                             .body = late_rank,
                             .argument = &mode};
        atomic_store(&polled, 0);
        crew_run(&crew);
        struct patience *patience = &crew.ranks[1].team.patience;
        expect(mode == WAIT_FUTEX || mode == WAIT_AUTO || patience->sleeps == 0,
               "waiting mode %u slept", mode);
        expect(mode == WAIT_YIELD || mode == WAIT_AUTO || patience->yields == 0,
               "waiting mode %u yielded", mode);
        expect(mode != WAIT_FUTEX || patience->sleeps > 0, "waiting on the futex never slept");
        expect(mode != WAIT_YIELD || patience->yields > 0, "waiting by yielding never yielded");
    }
}

struct bell {
    struct flag flag;
    struct team team;
};

/* The futex works between processes: a sleeper hears flag_wake, and a raw wake reaches who sleeps
 * in flag_wait. */
static void futex(void) {
    struct bell *bell =
        mmap(NULL, sizeof *bell, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    expect(bell != MAP_FAILED, "mmap");
    pid_t child = fork();
    if (child == 0) {
        struct timespec limit = {.tv_sec = 20};
        atomic_fetch_add(&bell->flag.sleepers, 1);
        long got = syscall(SYS_futex, &bell->flag.word, FUTEX_WAIT, 0, &limit, NULL, 0);
        _exit(got == 0 || errno == EAGAIN ? 0 : 1);
    }
    while (atomic_load(&bell->flag.sleepers) == 0) sched_yield();
    usleep(20000);
    atomic_store(&bell->flag.word, 1);
    flag_wake(&bell->flag);
    int status;
    expect(waitpid(child, &status, 0) == child && status == 0,
           "flag_wake does not wake another process");

    atomic_store(&bell->flag.sleepers, 0);
    child = fork();
    if (child == 0) {
        bell->team.patience.mode = WAIT_FUTEX;
        flag_wait(&bell->team, &bell->flag, 1);
        _exit(atomic_load(&bell->flag.word) == 2 && atomic_load(&bell->flag.sleepers) == 0 ? 0 : 1);
    }
    long woken = 0;
    for (int i = 0; i < 20000 && woken == 0; i++) {
        woken = syscall(SYS_futex, &bell->flag.word, FUTEX_WAKE, 1, NULL, NULL, 0);
        usleep(100);
    }
    atomic_store(&bell->flag.word, 2);
    flag_wake(&bell->flag);
    expect(waitpid(child, &status, 0) == child && status == 0,
           "flag_wait returned early, or left itself among the sleepers");
    expect(woken == 1, "a rank that sleeps cannot be woken by another process");
    munmap(bell, sizeof *bell);
}

/* ---- memory ---- */

static void bounds(void) {
    static char memory[256];
    struct team team = {.region = memory + 64, .region_bytes = 128};
    static const struct {
        size_t at, bytes;
        bool inside;
    } cases[] = {{64, 1, true},       {64, 128, true},        {64, 129, false},
                 {63, 1, false},      {63, 200, false},       {191, 1, true},
                 {191, 2, false},     {192, 0, false},        {192, 1, false},
                 {100, 92, true},     {100, 93, false},       {0, 64, false},
                 {64, 0, true},       {100, SIZE_MAX, false}, {100, SIZE_MAX - 90, false},
                 {0, SIZE_MAX, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t offset;
        bool inside = team_shows(&team, memory + cases[i].at, cases[i].bytes, SHOW_TO_READERS,
                                 &offset) == SHOWN;
        expect(inside == cases[i].inside && (!inside || offset == cases[i].at - 64),
               "%zu bytes at %zu of [64, 192): %d, offset %llu", cases[i].bytes, cases[i].at,
               inside, (unsigned long long)offset);
    }
    team = (struct team){.region = NULL, .region_bytes = 0};
    uint64_t offset;
    expect(team_shows(&team, memory, 1, SHOW_TO_READERS, &offset) != SHOWN &&
               team_shows(&team, NULL, 0, SHOW_TO_READERS, &offset) != SHOWN,
           "a rank without a region reaches");
}

/* Beacons of all ranks and both halves lie between the seats and the ledgers, in pairs of lines. */
static void layout_of_beacons(struct team *team) {
    char *end = (char *)(team->seats + team->p);
    expect((team->unlit != NULL) == (team->p <= few_ranks), "p=%d: beacons", team->p);
    if (!team->unlit) return;
    sync_watch(team);
    for (uint32_t half = 0; half < 2; half++)
        for (int r = 0; r < team->p; r++) {
            char *beacon = (char *)beacon_of(team, half, r);
            expect(beacon >= end && (uintptr_t)beacon % 128 == 0, "p=%d: beacon %u of rank %d",
                   team->p, half, r);
            end = beacon + sizeof(struct beacon);
            expect(stage_of(team, half, r, BEACON_INSIDE) + BEACON_INSIDE <= beacon + 64,
                   "what is staged beside a beacon has no room in its line");
        }
    expect(end <= (char *)team->ledgers, "p=%d: beacons and ledgers overlap", team->p);
}

/* Posts and slots of all ranks and both halves lie apart, within the size that was asked for, in
 * cache lines of their own. */
static void layout(void) {
    for (int p = 1; p <= 70; p += p < few_ranks ? 7 : 31)
        for (size_t slot = 64; slot <= 64 * 1024; slot *= 8) {
            size_t bytes = control_size(p, slot, 0);
            char *memory = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096), *end = memory;
            expect(memory != NULL, "aligned_alloc");
            struct team team = {.p = p};
            team_attach(&team, memory, slot, 0);
            expect(team.control_bytes == bytes && team.figures.slot == slot &&
                       (char *)team.control == memory,
                   "team_attach");
            end = (char *)team.control->posts;
            for (uint32_t half = 0; half < 2; half++)
                for (int r = 0; r < p; r++) {
                    char *post = (char *)post_of(&team, half, r);
                    expect(post >= end && (uintptr_t)post % 64 == 0, "p=%d: post %u of rank %d", p,
                           half, r);
                    end = post + sizeof(struct post);
                }
            for (uint32_t half = 0; half < 2; half++)
                for (int r = 0; r < p; r++) {
                    char *stage = stage_of(&team, half, r, team.figures.slot);
                    expect(stage >= end && (uintptr_t)stage % 64 == 0,
                           "p=%d slot %zu: stage %u of rank %d", p, slot, half, r);
                    end = stage + slot;
                }
            expect(end <= memory + bytes, "p=%d slot %zu: %zu bytes are not enough", p, slot,
                   bytes);
            layout_of_beacons(&team);
            free(memory);
        }
    uint64_t line = offsetof(struct gate, opened) - offsetof(struct gate, arrived);
    expect(line >= 64, "arrivals and the word that all wait on share a cache line");
}

/* One rank cannot map one peer: all ranks are told, every time, and no mapping stays behind. */
static void refused_mapping(struct rank *rank) {
    struct team *team = &rank->team;
    if (team->me == 1) team->names[2].inode += 1 << 20; /* not the next region's */
    for (int round = 0; round < 2; round++) {
        expect(team_map(team, false) == -EACCES, "rank %d maps what rank 1 cannot", team->me);
        expect(team_map(team, true) == -EACCES, "rank %d maps what rank 1 cannot", team->me);
    }
    expect(!team->peers[0] && !team->peers[1], "rank %d keeps mappings that nobody may use",
           team->me);
    sync_all(team, 0);
    expect(mappings_named("unit-region") == team->p, "mappings of peers stay behind: %d",
           mappings_named("unit-region"));
    sync_all(team, 0);
}

/* Ranks must choose alike: the barrier's cost is one figure for all. */
static void measured(struct rank *rank) {
    static double seconds[most_ranks];
    int me = rank->team.me;
    sync_measure(&rank->team, me == 0 ? 5e-6 : me);
    expect(fabs(rank->team.figures.sync_seconds - 5e-6) < 2e-9, "rank %d: %g s, as rank 0 knew", me,
           rank->team.figures.sync_seconds);
    sync_all(&rank->team, 0);
    sync_measure(&rank->team, 0);
    seconds[rank->team.me] = rank->team.figures.sync_seconds;
    sync_all(&rank->team, 0);
    expect(seconds[0] > 0 && seconds[0] <= 1 && seconds[rank->team.me] == seconds[0],
           "rank %d measured %g s, rank 0 %g s", rank->team.me, seconds[rank->team.me], seconds[0]);
}

static void orders_of_team(struct rank *rank) {
    for (int o = 0; o < ORDERS; o++) {
        struct cell wanted[most_ranks];
        struct walk walk = {.order = (enum order_id)o};
        struct matrix matrix = {.p = (uint32_t)rank->team.p, .domain_of = rank->team.domain_of};
        if (orders[o].nests) walk.inner = ORDER_hilbert, matrix.inner = &orders[ORDER_hilbert];
        orders[o].fill(&matrix, (uint32_t)rank->team.me, wanted);
        const struct cell *cells = team_cells(&rank->team, walk);
        expect(cells && memcmp(cells, wanted, (size_t)rank->team.p * sizeof *cells) == 0,
               "rank %d: %s", rank->team.me, orders[o].name);
        expect(team_cells(&rank->team, walk) == cells, "%s is filled again", orders[o].name);
    }
}

static void memory(uint64_t *random) {
    static struct crew crew;
    crew = (struct crew){.p = 5,
                         .reach = REACH_MAPPED,
                         .slot = 64,
                         .room = 8192,
                         .seed = draw(random),
                         .all_have_regions = true};
    crew.body = refused_mapping;
    crew_run(&crew);
    crew.body = orders_of_team;
    crew_run(&crew);
    crew.body = measured;
    crew_run(&crew);
}

int main(int count, char **words) {
    uint64_t random = seed_from(count, words);
    if (count > 2) rounds = atoi(words[2]);
    bounds();
    layout();
    futex();
    barriers(&random);
    progress(&random);
    memory(&random);
    printf("at most %d barriers and votes per team\n", rounds);
    return 0;
}
