/* SPDX-License-Identifier: BSD-3-Clause */
/* doctor - `mortar doctor`: does mortar have here what it needs, on every rank, and if not, what is
 * to be done? What a process sees alone is in info/health.c. */
#define _GNU_SOURCE
#include "doctor.h"

#include <stdlib.h>
#include <string.h>

static const char *const usage =
    "usage: mortar doctor [--json] [PROGRAM]                what this machine gives to mortar\n"
    "       mpirun -n P mortar doctor [--json] [PROGRAM]    the same on every rank, and between the ranks\n"
    "green: as good as it gets; yellow: mortar works, and something is lost; red: it does not work. What to do is below, behind ->.\n"
    "What all ranks find is said once, other findings with the ranks that have them. With --json all of it is one object.\n"
    "PROGRAM is looked at, not started: can its calls be taken? The exit code is 1 if something is red.\n";

struct doctor_words {
    bool json;
    const char *program; /* NULL: none */
};

/* -1: go on, else the exit code. */
static int read_words(int count, char **words, struct doctor_words *read) {
    settings_command = "doctor";
    *read = (struct doctor_words){0};
    if (settings_help(count, words, usage)) return 0;
    for (int i = 1; i < count; i++) {
        if (strcmp(words[i], "--json") == 0) read->json = true;
        else if (*words[i] == '-') return settings_fail("unknown option %s", words[i]);
        else if (read->program) return settings_fail("one program at a time");
        else read->program = words[i];
    }
    return -1;
}

/* The launcher's ranks do not meet. Each is a world of its own; the first one speaks. */
static int alone(struct findings *all, const struct doctor_words *words) {
    if (launcher_rank() > 0) return 0;
    found(all, RED, "launcher",
          "start it with the launcher of the program's MPI, or name its library: MORTAR_MPI=FILE",
          "it has started %d ranks, but each sees itself alone: it belongs to another MPI",
          launcher_ranks());
    return health_print(stdout, all, 1, "mortar doctor", words->json) == RED;
}

struct findings *doctor_gather(const struct world *world, const struct findings *mine, bool *fine) {
    struct findings *of_rank = world->me == 0 ? calloc((size_t)world->p, sizeof *of_rank) : NULL;
    *fine = meet_first(of_rank != NULL);
    if (*fine)
        library.gather(mine, (int)sizeof *mine, MPI_BYTE, of_rank, (int)sizeof *mine, MPI_BYTE, 0,
                       world->comm);
    return of_rank;
}

static int report(const struct world *world, const struct findings *mine, bool json) {
    char title[256];
    int worst = GREEN;
    bool fine;
    struct findings *of_rank = doctor_gather(world, mine, &fine);
    if (!fine) return 1;
    snprintf(title, sizeof title, "mortar doctor: %d rank%s on %d node%s, %s", world->p,
             plural(world->p), world->nodes, plural(world->nodes), world->machine);
    if (world->me == 0) {
        worst = (int)health_print(stdout, of_rank, world->p, title, json);
        fflush(stdout);
    }
    free(of_rank);
    return meet_first(worst) == RED;
}

static void append(struct findings *all, const struct findings *more) {
    for (int i = 0; i < more->count && all->count < most_findings; i++)
        all->list[all->count++] = more->list[i];
}

int doctor(int count, char **words) {
    struct doctor_words read;
    struct findings alone_here = {0}, batch = {0}, all = {0};
    struct world world;
    int code = read_words(count, words, &read), ranks;
    if (code >= 0) return code;
    health_look(&alone_here);
    if (read.program) health_program(&alone_here, read.program);
    health_left(&alone_here);
    if (launcher_rank() <= 0) health_batch(&batch);
    MPI_Init(&count, &words);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks == 1 && launcher_ranks() > 1) {
        code = alone(&alone_here, &read);
    } else if ((code = world_look(&world)) == 0) {
        doctor_library(&world, &all);
        doctor_peers(&world, &all);
        library.bcast(&batch, (int)sizeof batch, MPI_BYTE, 0, world.comm);
        append(&all, &alone_here);
        append(&all, &batch);
        code = report(&world, &all, read.json);
    }
    MPI_Finalize();
    return code;
}
