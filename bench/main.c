/* SPDX-License-Identifier: BSD-3-Clause */
/* main - `mortar bench`: settings, then for each block size: buffers, contestants, verification,
 * timing, output. */
#include "bench/calls/contest.h"
#include "bench/card/card.h"
#include "bench/common/bench.h"
#include "bench/communicators/communicators.h"
#include "bench/doctor/doctor.h"
#include "bench/network/network.h"
#include "bench/replay/replay.h"
#include "bench/tune/tune.h"

#include "base/base.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

int bench_main(int count, char **words); /* for open.c */

enum { most_contestants = most_plans + 5 };

/* Are the plans plans? Before the first collective it does no harm that one rank alone asks; mortar
 * says what is wrong. */
static int check_plans(const struct world *world, const struct settings *settings) {
    int wrong = 0;
    if (world->me == 0 && !world->loaded &&
        (settings->plan_count > 1 || strcmp(settings->plans[0], "auto") != 0))
        fprintf(stderr, "mortar bench: --plan is ignored, for mortar is not at work here\n");
    for (int i = 0; world->me == 0 && world->loaded && i < settings->plan_count; i++)
        wrong |= strcmp(settings->plans[i], "auto") != 0 && world->plan(settings->plans[i]) != 0;
    if (world->me == 0 && world->loaded) world->plan(NULL);
    return meet_first(wrong) ? 2 : 0;
}

static int enter_contestants(const struct world *world, const struct settings *settings, bool limit,
                             struct contestant *list) {
    int count = 0;
    list[count++] = (struct contestant){.what = NATIVE, .name = "native"};
    for (int i = 0; world->loaded && i < settings->plan_count; i++)
        list[count++] = (struct contestant){.what = MORTAR, .name = settings->plans[i]};
    if (!world->loaded) list[count++] = (struct contestant){.what = MORTAR, .name = "native-again"};
    if (kind_grid(settings->kind))
        list[count++] = (struct contestant){.what = PACKED, .name = "packed"};
    if (settings->use) list[count++] = (struct contestant){.what = USE, .name = "use"};
    if (limit) list[count++] = (struct contestant){.what = LIMIT_ROWS, .name = "limit"};
    if (limit) list[count++] = (struct contestant){.what = LIMIT_LAST, .name = "limit"};
    if (limit && kind_stream(settings->kind))
        list[count++] = (struct contestant){.what = LIMIT_STREAM, .name = "stream"};
    return count;
}

/* Has mortar run the plan that it was told to run, in the calls that were verified? Where a plan is
 * for other collectives mortar chooses another one, whose times would pass for those of this. */
static bool has_run(const struct world *world, const struct cell *cell,
                    struct contestant *contestant) {
    bool tells = chosen(world, cell->kind, true, contestant->ran, sizeof contestant->ran);
    if (!meet_first(tells && !*contestant->ran)) return true;
    if (world->me == 0)
        fprintf(stderr,
                "mortar bench: %s does not run %s of %zu bytes here, and is left out (mortar info --plans %s)\n",
                contestant->name, cell->kind->name, cell->bytes, cell->kind->name);
    return false;
}

/* Returns an exit code. */
static int measure(const struct world *world, const struct settings *settings,
                   const struct cell *cell) {
    struct contestant contestants[most_contestants];
    bool limit = settings->limit && limit_open(world, cell);
    if (settings->limit && !limit && world->me == 0)
        fprintf(stderr, "mortar bench: no limit: the ranks cannot share a mapping\n");
    int count = enter_contestants(world, settings, limit, contestants), wrong = 0;
    /* From here on. */
    chosen(world, cell->kind, false, contestants[0].ran, sizeof contestants[0].ran);
    for (int c = 0; c < count && !wrong; c++) {
        if (contestants[c].what == USE) continue;
        wrong = !verify(world, cell, &contestants[c]);
        bool forced = strcmp(contestants[c].name, "auto") != 0;
        if (wrong || contestants[c].what != MORTAR || !world->loaded || !forced) continue;
        if (has_run(world, cell, &contestants[c])) continue;
        count--;
        memmove(&contestants[c], &contestants[c + 1], (size_t)(count - c) * sizeof *contestants);
        c--;
    }
    int repetitions = 0;
    if (!wrong && cell->imbalance >= 0)
        repetitions = imbalance_run(world, settings, cell, contestants, count);
    else if (!wrong) repetitions = timing_run(world, settings, cell, contestants, count);
    /* What runs when nobody says so may change on the way: what ran most. */
    for (int c = 0; c < count && repetitions; c++)
        if (contestants[c].what == MORTAR && world->loaded &&
            strcmp(contestants[c].name, "auto") == 0)
            chosen(world, cell->kind, false, contestants[c].ran, sizeof contestants[c].ran);
    if (repetitions && world->me == 0)
        output_cell(world, settings, cell, contestants, count, repetitions);
    timing_free(contestants, count);
    if (limit) limit_close();
    return wrong;
}

/* One size: with each imbalance, where that is asked for. arena: room for buffers on the stack. */
static int one_size(const struct world *world, const struct settings *settings, size_t bytes,
                    char *arena, size_t arena_bytes) {
    char why[96];
    struct cell cell = {.kind = settings->kind,
                        .bytes = bytes,
                        .root = settings->root,
                        .buffers = settings->buffers,
                        .arena = arena,
                        .arena_bytes = arena_bytes};
    if (kind_grid(cell.kind)) {
        cell.grid =
            (struct grid){.edge = (int)bytes, .before = settings->before, .after = settings->after};
        cell.bytes = bytes * bytes * bytes * grid_element / (size_t)world->p;
    }
    cell.irregular = settings->irregular, cell.then_barrier = settings->then_barrier;
    if (!cell_open(world, &cell, settings->limit || kind_grid(cell.kind) ? 2 : 1, why,
                   sizeof why)) {
        if (world->me == 0) output_skip(&cell, why);
        return 0;
    }
    int code = 0, count = settings->imbalance_count;
    for (int i = 0; i < (count ? count : 1) && code == 0; i++) {
        cell.imbalance = count ? settings->imbalances[i] : -1;
        code = measure(world, settings, &cell);
    }
    cell_close(&cell);
    return code;
}

/* How much of the stack buffers may take: functions need the rest. */
static size_t stack_room(void) {
    enum { functions = 2 << 20, most = 1 << 30 };
    struct rlimit limit;
    if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur > most) return most;
    return limit.rlim_cur > functions ? limit.rlim_cur - functions : 1;
}

static int all_sizes(const struct world *world, const struct settings *settings) {
    size_t room = settings->buffers == BUFFERS_STACK ? stack_room() : 1;
    char arena[room];
    int code = 0;
    for (int i = 0; i < settings->sizes && code == 0; i++)
        code = one_size(world, settings, settings->bytes[i], arena, room);
    return code;
}

/* What stands before all sizes. 0 or an exit code. */
static int open_all(struct world *world, struct settings *settings) {
    if (settings->root >= world->p) {
        if (world->me == 0)
            fprintf(stderr, "mortar bench: --root %d: there are %d ranks\n", settings->root,
                    world->p);
        return 2;
    }
    world_warn(world);
    if (check_plans(world, settings) != 0) return 2;
    meet_open(world);
    topology_open(world, settings->kind, settings->topology);
    if (settings->counters && !counters_open(world)) {
        if (world->me == 0)
            fprintf(stderr, "mortar bench: --counters: none here, going on without: %s\n",
                    counters_lack(0));
        settings->counters = false;
    }
    if (settings->cold && !cold_open(world, settings->sweep)) {
        if (world->me == 0) fprintf(stderr, "mortar bench: --cold: no memory to sweep through\n");
        return 1;
    }
    return meet_first(world->me == 0 ? output_open(world, settings) : 0);
}

static int bench(struct settings *settings) {
    struct world world;
    if (world_look(&world) != 0) return 1;
    int code = open_all(&world, settings);
    if (code == 0) code = all_sizes(&world, settings);
    if (settings->cold) cold_close();
    topology_close(&world);
    if (world.me == 0 && output_close() != 0) code = 1;
    return code;
}

static int one_of_all(int count, char **words) {
    struct settings settings;
    if (count > 1 && strcmp(words[1], "tune") == 0) return tune(count - 1, words + 1);
    if (count > 1 && strcmp(words[1], "network") == 0) return network(count - 1, words + 1);
    if (count > 1 && strcmp(words[1], "communicators") == 0)
        return communicators(count - 1, words + 1);
    if (count > 1 && strcmp(words[1], "doctor") == 0) return doctor(count - 1, words + 1);
    if (count > 1 && strcmp(words[1], "site-card") == 0) return site_card(count - 1, words + 1);
    if (count > 1 && strcmp(words[1], "replay") == 0) return replay(count - 1, words + 1);
    int code = settings_read(count, words, &settings);
    if (code >= 0) return code;
    MPI_Init(&count, &words);
    code = bench(&settings);
    MPI_Finalize();
    return code;
}

int bench_main(int count, char **words) {
    int code = one_of_all(count, words);
    return output_end("mortar bench", code);
}
