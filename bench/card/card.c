/* SPDX-License-Identifier: BSD-3-Clause */
/* card - `mortar site-card`: a machine and what mortar gains on it, for sites to send. Measures on
 * the first 2, 4, 8 ... ranks of those that were started; the others sleep meanwhile. */
#define _GNU_SOURCE
#include "card.h"

#include "bench/doctor/doctor.h"

#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- what is said meanwhile ---- */

static void say_cell(const struct card *card, int done) {
    const struct card_cell *cell = &card->cells[done - 1];
    char size[32], line[256], text[64];
    size_text(cell->bytes, size, sizeof size);
    if (!cell->measured) snprintf(line, sizeof line, "%s", cell->why);
    else if (!cell->mortar.known)
        snprintf(line, sizeof line, "native %.4g us", cell->native.seconds * 1e6);
    else {
        *text = 0;
        if (cell->limit.known)
            snprintf(text, sizeof text, ", limit %.4g", cell->limit.seconds * 1e6);
        snprintf(line, sizeof line, "native %.4g us, mortar %.4g%s: %.2f times as fast",
                 cell->native.seconds * 1e6, cell->mortar.seconds * 1e6, text, cell->gain.seconds);
    }
    fprintf(stderr, "[%d/%d, %.0f s] %s of %s, %d ranks: %s\n", done, card->count, card->took,
            cell->kind->name, size, card->parts[cell->part].p, line);
}

/* ---- measuring ---- */

/* The cells of a card, each on its ranks, while the others sleep. Returns an exit code. */
static int measure_all(struct card *card, struct card_cell *cells, struct world *parts) {
    const struct world *world = card->world;
    double start = clock_seconds();
    int code = 0, error = 0;
    for (int c = 0; c < card->count && error == 0; c++) {
        struct card_cell *cell = &cells[c];
        struct world *part = &parts[cell->part];
        if (world->me < part->p) {
            meet_open(part);
            double left = card->settings->seconds - (clock_seconds() - start);
            left = meet_max(world->me == 0 ? left : -1e9); /* as the first rank sees it */
            double share = left > 0 ? left / (card->count - c) : 0;
            if (!cells_measure(part, cell, share, left)) code = 1;
            meet_close();
        }
        meet_asleep();
        chosen(part, cell->kind, false, cell->plan, sizeof cell->plan);
        card->took = clock_seconds() - start;
        card->finished = c + 1 == card->count;
        if (world->me == 0) error = card_write(card);
        if (world->me == 0) say_cell(card, c + 1);
        library.bcast(&error, 1, MPI_INT, 0, world->all);
    }
    if (error && world->me == 0)
        fprintf(stderr, "mortar site-card: %s.json cannot be written: %s\n", card->settings->output,
                file_why(error));
    library.allreduce(MPI_IN_PLACE, &code, 1, MPI_INT, MPI_MAX, world->all);
    return error ? 1 : code;
}

/* What the doctor finds, without the paths of files. */
static struct findings *examine(const struct world *world, bool *fine) {
    struct findings mine = {0};
    doctor_peers(world, &mine);
    health_look(&mine);
    if (world->me == 0) health_batch(&mine);
    return doctor_gather(world, &mine, fine);
}

static int make_card(struct world *world, struct card_settings *settings) {
    struct world parts[most_parts];
    bool fine;
    struct card card = {.settings = settings, .world = world, .parts = parts, .load = -1};
    getloadavg(&card.load, 1);
    if (!card_parts(settings, world->p)) return 2;
    world_warn(world);
    if (world->me == 0 && !world->loaded)
        fprintf(
            stderr,
            "mortar site-card: mortar is not at work here: only the MPI library and the limit are measured\n");
    for (int i = 0; i < settings->parts; i++) parts[i] = world_part(world, settings->ranks[i]);
    struct findings *of_rank = examine(world, &fine);
    struct card_cell *cells = cells_make(settings, &card.count);
    if (meet_max(!cells || !fine) != 0) return free(of_rank), free(cells), 1;
    card.of_rank = of_rank, card.cells = cells;
    if (world->me == 0)
        fprintf(stderr, "mortar site-card: %d cell%s on up to %d ranks in about %.3g minutes\n",
                card.count, plural(card.count), world->p, settings->seconds / 60);
    int error = world->me == 0 ? card_write(&card) : 0; /* can it be written at all? */
    if (error)
        fprintf(stderr, "mortar site-card: %s.json cannot be written: %s\n", settings->output,
                file_why(error));
    int code = meet_first(error != 0) ? 2 : measure_all(&card, cells, parts);
    for (int i = 0; i < settings->parts; i++) world_part_free(&parts[i]);
    free(of_rank), free(cells);
    return code;
}

/* ---- the picture ---- */

/* By the command, beside this program: the MPI library is done, and mortar does not go with it. */
static void picture_card(const struct card_settings *settings) {
    char tools[PATH_MAX], json[sizeof settings->output + 8], picture[sizeof json];
    ssize_t length = readlink("/proc/self/exe", tools, sizeof tools - 32);
    char *name = length > 0 ? memrchr(tools, '/', (size_t)length) : NULL;
    if (!name) return;
    snprintf(name + 1, 32, "mortar-tools");
    snprintf(json, sizeof json, "%s.json", settings->output);
    snprintf(picture, sizeof picture, "%s.png", settings->output);
    char *words[] = {tools, tools, "site-card", "--draw", json, "-o", picture, NULL};
    int status = 1;
    pid_t child;
    unsetenv("LD_PRELOAD");
    bool ran = posix_spawn(&child, tools, NULL, NULL, words, environ) == 0 &&
               waitpid(child, &status, 0) == child && status == 0;
    if (ran) fprintf(stderr, "mortar site-card: written to %s and %s\n", json, picture);
    else
        fprintf(
            stderr,
            "mortar site-card: written to %s, without a picture. Later, or elsewhere: mortar site-card --draw %s\n",
            json, json);
}

int site_card(int count, char **words) {
    static struct card_settings settings;
    struct world world;
    int code = card_settings_read(count, words, &settings);
    if (code >= 0) return code;
    MPI_Init(&count, &words);
    code = world_look(&world);
    bool first = code == 0 && world.me == 0, there = code == 0;
    if (code == 0 && world.p < 2) {
        fprintf(
            stderr,
            "mortar site-card: one rank has nothing to exchange: mpirun -n P mortar site-card\n");
        code = 2;
    } else if (code == 0) {
        code = make_card(&world, &settings);
    }
    MPI_Finalize();
    if (first && code <= 1) picture_card(&settings);
    return first || !there ? code : 0; /* a launcher ends the others at the first failure */
}
