/* SPDX-License-Identifier: BSD-3-Clause */
/* tune - `mortar tune`: for each collective, kind of buffers and block size: candidates,
 * verification, elimination, and the file written anew. Each size runs on a communicator of its
 * own, so that no team has to remember the plans of all. */
#include "bench/calls/contest.h"
#include "tune.h"

#include "tuning/tuning.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the file, on the first rank ---- */

static struct tuning_set found; /* here and now */
static char last_words[256];    /* for whoever interrupts; changed only while `saving` */
static volatile sig_atomic_t saving, interrupted;

static void leave(int signal) {
    ssize_t ignored = write(STDERR_FILENO, last_words, strlen(last_words));
    (void)ignored;
    _exit(128 + signal);
}

static void on_signal(int signal) {
    interrupted = signal;
    if (!saving) leave(signal);
}

static void say_at_interrupt(const char *output, int cells) {
    if (cells == 0)
        snprintf(last_words, sizeof last_words,
                 "\nmortar tune: interrupted before any size was settled\n");
    else
        snprintf(last_words, sizeof last_words,
                 "\nmortar tune: interrupted; %d settled cell%s saved in %.150s\n", cells,
                 cells == 1 ? " is" : "s are", output);
}

static int open_file(const struct world *world, const char *output) {
    struct tuning_file file = {0};
    char why[320];
    int error = tuning_writable(output);
    if (error)
        return fprintf(stderr, "mortar tune: %s cannot be written: %s\n", output, strerror(-error)),
               2;
    if (access(output, F_OK) == 0 && tuning_read(output, &file, why, sizeof why) != 0)
        return fprintf(stderr, "mortar tune: %s is there and is no tuning file: %s\n", output, why),
               2;
    tuning_free(&file);
    tuning_here(&found, world->mpi);
    say_at_interrupt(output, 0);
    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    return 0;
}

/* Sizes side by side with the same plan are one range, with the figures of the size that gains
 * least. */
static int note_entry(const struct tuning_entry *entry) {
    struct tuning_entry joined = *entry;
    for (int e = 0; e < found.count; e++) {
        const struct tuning_entry *old = &found.entries[e];
        if (old->to + 1 != entry->from || strcmp(old->plan, entry->plan) != 0 ||
            strcmp(old->collective, entry->collective) != 0 ||
            strcmp(old->buffers, entry->buffers) != 0)
            continue;
        if (old->gain < entry->gain) joined = *old;
        joined.from = old->from;
        joined.to = entry->to;
    }
    return tuning_add(&found, &joined);
}

static int save(const char *output, const struct tuning_entry *entry, int cells) {
    char why[320] = "out of memory";
    saving = 1;
    int error = note_entry(entry);
    struct tuning_file all = {&found, 1};
    if (!error) error = tuning_update(output, &all, why, sizeof why);
    if (!error) say_at_interrupt(output, cells);
    saving = 0;
    if (interrupted) leave(interrupted);
    if (error) fprintf(stderr, "mortar tune: %s cannot be written: %s\n", output, why);
    return error ? 1 : 0;
}

/* ---- a cell ---- */

/* Enters plans as contestants; those that give wrong bytes end everything, those that do not run
 * here are out. */
static bool enter(const struct world *world, const struct cell *cell, struct contestant *list,
                  char texts[][plan_size], int from, int count) {
    bool fine = true;
    for (int c = from; c < count && fine; c++) {
        list[c] = (struct contestant){.what = c == 0 ? NATIVE : MORTAR, .name = texts[c]};
        list[c].seconds = calloc(most_rounds, sizeof(double));
        fine = meet_max(!list[c].seconds) == 0 && verify(world, cell, &list[c]);
        if (c == 0 || !fine) continue;
        chosen(world, cell->kind, true, list[c].ran, sizeof list[c].ran);
        bool other = strncmp(list[c].ran, "native", 6) == 0 || !*list[c].ran;
        list[c].out = meet_first(other);
    }
    return fine;
}

/* With which order the other copy kernels are tried: the best plan's, else the one that seemed
 * fastest. -1: none. */
static int ordered(const struct cell *cell, const struct contestant *list, int count, int best) {
    char ignored[1][plan_size];
    int found_one = -1;
    for (int c = 0; c < count; c++) {
        if (list[c].call_seconds <= 0 ||
            candidates_kernels(list[c].name, cell->bytes, cell->p, ignored, 1) == 0)
            continue;
        if (c == best) return c;
        if (found_one < 0 || list[c].call_seconds < list[found_one].call_seconds) found_one = c;
    }
    return found_one;
}

/* The library says what is worth it, the first rank's to all. -1: that was no list of plans. */
static int given_plans(const struct world *world, const struct cell *cell,
                       char texts[][plan_size]) {
    static char lines[256 * plan_size];
    int given = world->plans(cell->kind->name, cell->bytes, cell->buffers != BUFFERS_HEAP, lines,
                             sizeof lines);
    const char *wrong = given < 0 ? strerror(-given) : NULL;
    library.bcast(lines, (int)sizeof lines, MPI_CHAR, 0, MPI_COMM_WORLD);
    int count =
        candidates_given(lines, texts, world->seen.nodes > 1 ? most_asked : most_candidates);
    if (!wrong && count < 0) wrong = "a text that is too long, or none";
    for (int c = 1; c < count && !wrong; c++)
        if (world->plan(texts[c]) != 0) wrong = texts[c];
    int speaker = world->p - (int)meet_max(wrong ? world->p - world->me : 0); /* p: nobody */
    if (world->me == speaker)
        fprintf(
            stderr,
            "mortar tune: asked which plans of %s to compare, libmortar.so gave no list of plans (%.80s): is it of another version "
            "than this command?\n",
            cell->kind->name, wrong);
    return speaker == world->p ? count : -1;
}

static void forget(struct contestant *list, int count) {
    for (int c = 0; c < count; c++) free(list[c].seconds);
    memset(list, 0, most_candidates * sizeof *list);
}

/* The best plan so far, in `plan`, against itself with other copy kernels; `base` is the text in
 * whose order they are tried. */
static bool find_kernel(const struct world *world, const struct cell *cell, const char *base,
                        double seconds, struct settled *settled, char plan[plan_size]) {
    static char texts[most_candidates][plan_size];
    static struct contestant list[most_candidates];
    strcpy(texts[0], "native");
    strcpy(texts[1], plan);
    int count = 2 + candidates_kernels(base, cell->bytes, cell->p, texts + 2, most_candidates - 2);
    if (count == 2) return true;
    bool fine = enter(world, cell, list, texts, 0, count);
    if (settled->best == 0) list[1].out = true; /* native, once */
    struct settled orders = *settled;
    if (fine) settle(world, cell, list, count, seconds, settled);
    int in = settled->tried - settled->slower;
    /* Native and the best order ran before. */
    settled->tried += orders.tried - (orders.best == 0 ? 1 : 2);
    settled->slower = settled->tried - in;
    settled->clear = settled->clear && orders.clear;
    strcpy(plan, texts[fine ? settled->best : 0]);
    forget(list, count);
    return fine;
}

/* On one node orders first, then kernels. Returns an exit code; the winner's text is in plan. */
static int find_best(const struct world *world, const struct cell *cell, double seconds,
                     struct settled *settled, char plan[plan_size]) {
    static char texts[most_candidates][plan_size];
    static struct contestant list[most_candidates];
    double start = clock_seconds();
    bool near = world->seen.nodes == 1;
    int count = given_plans(world, cell, texts);
    if (count < 0) return 1;
    chosen(world, cell->kind, true, list[0].ran, sizeof list[0].ran); /* from here on */
    bool fine = enter(world, cell, list, texts, 0, count);
    if (fine) settle(world, cell, list, count, near ? seconds / 2 : seconds, settled);
    strcpy(plan, texts[fine ? settled->best : 0]);
    int base = fine && near ? ordered(cell, list, count, settled->best) : -1;
    forget(list, count);
    if (base < 0) return fine ? 0 : 1;
    double rest = seconds - meet_max(clock_seconds() - start), least = seconds / 4;
    return find_kernel(world, cell, texts[base], rest > least ? rest : least, settled, plan) ? 0
                                                                                             : 1;
}

/* The library decides once for all sizes between two powers of two, by the first one that it
 * meets. */
static size_t class_start(size_t bytes) { return (size_t)1 << (63 - __builtin_clzll(bytes)); }

static int tell_and_save(const struct world *world, const struct tune_settings *settings,
                         const struct cell *cell, const struct settled *settled, const char *plan,
                         size_t to, int cells) {
    char line[256];
    snprintf(line, sizeof line, "%s, %.4g us, native %.4g us, gain %.2f (%.2f-%.2f)%s", plan,
             settled->seconds * 1e6, settled->native_seconds * 1e6, settled->gain.median,
             settled->gain.low, settled->gain.high,
             settled->clear ? "" : ", not settled in its time");
    progress_done(world, cell, line);
    struct tuning_entry entry = {.ranks = world->p,
                                 .nodes = world->seen.nodes,
                                 .domains = world->seen.domains,
                                 .fullest = world->seen.fullest,
                                 .from = class_start(cell->bytes),
                                 .to = to,
                                 .seconds = settled->seconds,
                                 .interval = {settled->interval[0], settled->interval[1]},
                                 .native_seconds = settled->native_seconds,
                                 .gain = settled->gain.median,
                                 .gain_interval = {settled->gain.low, settled->gain.high},
                                 .repetitions = settled->rounds};
    snprintf(entry.collective, sizeof entry.collective, "%s", cell->kind->name);
    snprintf(entry.buffers, sizeof entry.buffers, "%s", buffers_names[cell->buffers]);
    snprintf(entry.plan, sizeof entry.plan, "%s", plan);
    if (world->me == 0) table_add(&entry, cell->bytes, settled);
    return meet_first(world->me == 0 ? save(settings->output, &entry, cells) : 0);
}

/* ---- all cells ---- */

static int one_cell(struct world *world, const struct tune_settings *settings, struct cell *cell,
                    size_t to, double seconds, int *cells) {
    struct settled settled;
    char plan[plan_size], why[96], line[128];
    MPI_Comm whole = world->comm;
    if (!cell_open(world, cell, 1, why, sizeof why)) {
        snprintf(line, sizeof line, "left out: %s", why);
        progress_done(world, cell, line);
        return 0;
    }
    MPI_Comm_dup(whole, &world->comm);
    int code = find_best(world, cell, seconds, &settled, plan);
    if (code == 0) code = tell_and_save(world, settings, cell, &settled, plan, to, ++*cells);
    MPI_Comm_free(&world->comm);
    world->comm = whole;
    cell_close(cell);
    return code;
}

static int ascending(const void *a, const void *b) {
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

/* In order and one of each class, the smallest, for the ranges reach from one to the next. */
static void sort_sizes(struct settings *sizes) {
    int kept = 0;
    qsort(sizes->bytes, (size_t)sizes->sizes, sizeof *sizes->bytes, ascending);
    for (int i = 0; i < sizes->sizes; i++)
        if (kept == 0 || class_start(sizes->bytes[i]) != class_start(sizes->bytes[kept - 1]))
            sizes->bytes[kept++] = sizes->bytes[i];
    sizes->sizes = kept;
}

static int all_cells(struct world *world, const struct tune_settings *settings) {
    const struct settings *sizes = &settings->sizes;
    int buffers = settings->buffers[0] + settings->buffers[1],
        cells = sizes->sizes * buffers * settings->kind_count, begun = 0;
    int saved = 0, code = 0;
    double start = clock_seconds();
    progress_start(world, cells, settings->seconds);
    for (int k = 0; k < settings->kind_count && code == 0; k++) {
        const struct kind *kind = settings->kinds[k];
        topology_open(world, kind, 0);
        for (int b = 0; b < 2; b++)
            for (int i = 0; settings->buffers[b] && i < sizes->sizes && code == 0; i++) {
                struct cell cell = {.kind = kind,
                                    .bytes = sizes->bytes[i],
                                    .buffers = b == 1 ? BUFFERS_OUTSIDE : BUFFERS_HEAP,
                                    .imbalance = -1};
                /* Else some ranks run ahead. */
                cell.then_barrier = kind_rooted(kind);
                /* What others did not need is shared. */
                double rest = settings->seconds - meet_max(clock_seconds() - start);
                size_t to = (i + 1 < sizes->sizes ? class_start(sizes->bytes[i + 1])
                                                  : 2 * class_start(cell.bytes)) -
                            1;
                code = one_cell(world, settings, &cell, to, rest > 0 ? rest / (cells - begun) : 0,
                                &saved);
                begun++;
            }
        topology_close(world);
    }
    if (world->me == 0) table_print();
    if (world->me == 0 && code == 0)
        fprintf(stderr, "mortar tune: written to %s\n", settings->output);
    return code;
}

/* Why there is nothing to tune; NULL: there is. Over several nodes messages carry what lies
 * anywhere. */
static const char *obstacle(const struct world *world, const struct tune_settings *settings) {
    if (!world->loaded || !world->plans) return "mortar is not at work here";
    if (world->p < 2) return "one rank has nothing to exchange: mpirun -n P mortar tune";
    if (world->seen.nodes < 1) return "mortar does not say how many nodes there are";
    if (*world->seen.why) return world->seen.why;
    return settings->buffers[0] && world->seen.nodes == 1 ? world->heap : NULL;
}

/* Has mortar look at the ranks, and asks what it sees. */
static void look_through_mortar(struct world *world) {
    char ignored[plan_size];
    if (!world->loaded || !world->plans) return;
    world->plans("barrier", 0, 0, ignored, sizeof ignored);
    world->seen = chosen_seats(world);
}

static int tune_all(struct tune_settings *settings) {
    struct world world;
    if (world_look(&world) != 0) return 1;
    look_through_mortar(&world);
    const char *why = obstacle(&world, settings);
    if (why) {
        if (world.me == 0) fprintf(stderr, "mortar tune: nothing to tune: %s\n", why);
        return 1;
    }
    if (world.seen.nodes > 1 && settings->buffers[1]) {
        if (world.me == 0)
            fprintf(
                stderr,
                "mortar tune: over several nodes mortar does not tell kinds of buffers apart: heap\n");
        settings->buffers[0] = true, settings->buffers[1] = false;
    }
    world_warn(&world);
    meet_open(&world);
    sort_sizes(&settings->sizes);
    int code = meet_first(world.me == 0 ? open_file(&world, settings->output) : 0);
    return code ? code : all_cells(&world, settings);
}

int tune(int count, char **words) {
    static struct tune_settings settings;
    int code = tune_settings_read(count, words, &settings);
    if (code >= 0) return code;
    MPI_Init(&count, &words);
    code = tune_all(&settings);
    MPI_Finalize();
    return code;
}
