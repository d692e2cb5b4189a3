/* SPDX-License-Identifier: BSD-3-Clause */
/* draw - random trials. Everything here is the same on all ranks: what differs among them is drawn
 * when a call is laid out. */
#include "driver.h"

#include <stdio.h>
#include <string.h>

static const size_t sizes[] = {0,   1,   2,   3,    7,    8,         13,    64,
                               100, 511, 512, 4096, 5000, 65536 + 8, 300000};
enum { size_count = sizeof sizes / sizeof *sizes, short_sizes = 11 };

/* Half of the trials by collective, so that all come up; half by plan, so that those with many are
 * tried as often. */
static void draw_plan(struct random *random, const struct settings *settings, struct trial *t) {
    int all = 0, at = 0;
    for (int c = 0; c < COLLECTIVES; c++) all += settings->plan_count[c];
    if (below(random, 2) == 0) {
        t->collective = (enum collective)below(random, COLLECTIVES);
        at = below(random, settings->plan_count[t->collective]);
    } else {
        at = below(random, all);
        for (t->collective = 0; at >= settings->plan_count[t->collective]; t->collective++)
            at -= settings->plan_count[t->collective];
    }
    /* What runs natively says little. */
    if (at == 0 && below(random, 3)) at = settings->plan_count[t->collective] - 1;
    t->plan = settings->automatic ? NULL : settings->plans[t->collective][at];
}

static const struct place *draw_place(struct random *random, bool topology) {
    if (topology) return &places[plain_places + below(random, place_count - plain_places)];
    return &places[below(random, 8) ? below(random, plain_places) : below(random, place_count)];
}

/* Types and counts for blocks of about `wish` bytes. Native calls have predefined types without
 * gaps, and one everywhere (the hosts fail with others by themselves: MPICH 4.0 with an
 * MPI_Alltoall of MPI_DOUBLE_INT in place, Open MPI 4.1 with different types on 12 ranks and more),
 * and of mortar's it is the half that is not packed. In an allgatherv each rank of Open MPI 5
 * chooses by the size of its own type, so that ranks with different ones wait for each other for
 * ever. */
static void draw_blocks(struct random *random, struct trial *t, size_t wish, bool alike) {
    t->typing = t->native || below(random, 2) ? PLAIN : below(random, 2) ? ALIKE : MIXED;
    if (t->typing == MIXED && alike) t->typing = ALIKE;
    if (t->typing == MIXED && !t->plan && t->collective == COLL_allgatherv) t->typing = ALIKE;
    t->family =
        below(random, 3) ? below(random, 3) : below(random, t->typing == PLAIN ? 3 : families);
    t->layout = t->typing == PLAIN ? layout_basic(t->family) : layout_any(random, t->family, false);
    t->unit = t->typing == MIXED ? common : t->layout->elements;
    size_t each = (size_t)t->unit * (size_t)family_bytes[t->family];
    t->units = (int)((wish + each - 1) / each);
    t->by_host = t->native || (t->typing == PLAIN && below(random, 4) == 0);
    const struct traits *has = &traits[t->collective];
    bool counts = has->has & (SEND_COUNTS | RECV_COUNTS);
    t->shape = counts ? below(random, SHAPES) : EQUAL;
    /* Those of alltoallv and so on are not known to all; those of allgatherv are. */
    t->no_bytes = t->units == 0 && !counts && (has->pattern < EDGES || t->place->all_know);
    if (t->collective != COLL_allgatherv) return;
    t->no_bytes = true;
    for (int i = 0; i < t->place->p; i++)
        t->no_bytes = t->no_bytes && block_elements(t, i, 0, 0) == 0;
}

/* nodes: what does not commute may be left to the host MPI, where ranks of a node do not follow
 * each other. */
static void draw_reduction(struct random *random, struct trial *t, size_t wish, bool nodes) {
    /* Elements that begin before their address: `arrival` leaves them to the host MPI, and MPICH's
     * own reduce is wrong then; so is, over two ranks, MPICH 5's own allreduce, which may also end
     * the program. */
    bool by_mortar = !t->native && t->plan &&
                     (strcmp(t->plan, "combine") == 0 || strcmp(t->plan, "slices") == 0);
    bool host_may = t->collective == COLL_reduce && !by_mortar;
    if (t->collective == COLL_allreduce)
        host_may = t->native || !t->plan || strstr(t->plan, "native");
    bool left; /* to the host MPI, whose own is wrong with gaps here and there */
    do {
        t->combination = combination_draw(random, t->native);
        left = nodes && combination_ordered(t->combination);
    } while ((host_may && combination_below(t->combination)) ||
             (left && combination_gaps(t->combination)));
    size_t bytes = combination_bytes(t->combination);
    t->count = (int)((wish + bytes - 1) / bytes);
    t->shape = t->collective == COLL_reduce_scatter ? below(random, SHAPES) : EQUAL;
    t->by_host = t->native || left || (!combination_gaps(t->combination) && below(random, 4) == 0);
    t->no_bytes = true;
    for (int i = 0; i < t->place->p; i++) t->no_bytes = t->no_bytes && part_of(t, i) == 0;
}

static void describe(const struct settings *settings, struct trial *t, int call) {
    static const char *const typings[] = {"", " everywhere", " and others"};
    const struct traits *has = &traits[t->collective];
    char what[160] = "", later[32];
    snprintf(later, sizeof later, ", call %d", call + 1);
    if (has->pattern == REDUCTION) {
        snprintf(what, sizeof what, "%d x %s", t->count, combination_name(t->combination));
    } else if (has->pattern != NOTHING) {
        snprintf(what, sizeof what, "%d x %d %s of family %d%s", t->units, t->unit, t->layout->name,
                 t->family, typings[t->typing]);
    }
    snprintf(t->text, sizeof t->text,
             "%s%s plan %s, %s (%d ranks, root %d), %s, shape %d%s, buffers %d, beside %s, by %s; "
             "again: --seed %llu --cases %d --only %d%s",
             has->name, t->large ? "_c" : "", t->plan ? t->plan : "auto", t->place->name,
             t->place->p, t->root, what, (int)t->shape, t->in_place ? ", in place" : "", t->buffers,
             beside_names[t->beside], t->by_host ? "host" : "definition",
             (unsigned long long)settings->seed, settings->cases, t->number, call ? later : "");
}

static bool on_topology(const struct trial *t) {
    enum pattern pattern = traits[t->collective].pattern;
    return pattern == EDGES || pattern == EDGES_SPREAD;
}

/* Nodes want several, and as many leaders as a plan names. */
static bool refused(const struct trial *t) {
    int leaders = 1;
    return t->plan && (!t->place->apart ||
                       (sscanf(t->plan, "leader(%d", &leaders) == 1 && leaders > t->place->most));
}

/* A size of the class, its ends more often than others. */
static size_t draw_of_class(struct random *random, int class) {
    size_t low = (size_t)1 << class;
    switch (below(random, 4)) {
    case 0: return low;
    case 1: return 2 * low - 1;
    default: return low + (size_t)below(random, (int)low);
    }
}

/* The largest class that fits. */
static int most_class(const struct settings *settings, int most) {
    size_t p = (size_t)places[0].p;
    while (most > 0 && ((size_t)2 << most) * p * p > settings->volume) most--;
    return most;
}

/* first: of the calls before, or NULL. From here on ranks of different communicators may draw
 * different numbers. */
static void draw_call(const struct settings *settings, struct trial *t, const struct trial *first,
                      bool alone) {
    struct random random = {t->seed};
    const struct place *place = first ? first->place : NULL;
    draw_plan(&random, settings, t);
    if (first && t->class >= 0) t->collective = first->collective, t->plan = first->plan;
    if (place && on_topology(t) && !place->topology) { /* another instead */
        t->collective = COLL_barrier;
        t->plan = settings->automatic ? NULL : settings->plans[COLL_barrier][0];
    }
    const struct place *drawn = draw_place(&random, on_topology(t));
    t->place = place ? place : drawn;
    t->native = t->place->p == 1 || (t->plan && strcmp(t->plan, "native") == 0);
    t->native = t->native || settings->plain || (settings->nodes && refused(t));
    /* MPICH 4.0's own writes anywhere with more neighbours than ranks; over several nodes it may be
     * what runs. */
    bool hosts = t->native || t->place->apart || settings->alike;
    if (hosts && t->collective == COLL_neighbor_alltoallw) {
        t->collective = COLL_neighbor_alltoallv;
        t->plan = settings->automatic ? NULL : settings->plans[COLL_neighbor_alltoallv][0];
    }
    /* MPICH 4.0's own knows no displacements on one rank. */
    if (t->place->p == 1 && t->collective == COLL_allgatherv) {
        t->collective = COLL_allgather;
        t->plan = settings->automatic ? NULL : settings->plans[COLL_allgather][0];
    }
    const struct traits *has = &traits[t->collective];
    int p = places[0].p, fit = 1, most = alone ? (int)size_count : (int)short_sizes;
    while (fit < most && sizes[fit] * (size_t)p * (size_t)p <= settings->volume) fit++;
    size_t wish = below(&random, 4) ? sizes[below(&random, fit)]
                                    : (size_t)below(&random, (int)sizes[fit - 1] + 1);
    if (t->class >= 0) wish = draw_of_class(&random, t->class);
    t->in_place = below(&random, 4) == 0 && has->has & IN_PLACE;
    t->large = below(&random, 4) == 0;
    t->buffers = below(&random, 3);
    t->beside =
        below(&random, 2)
            ? (enum beside_kind)below(&random, alone ? (int)BESIDES : (int)HOST_COLLECTIVES + 1)
            : ALONE;
    t->root = below(&random, t->place->p);
    /* MPICH 4.0's own reduce ends with a segmentation fault where the second of two ranks has more
     * than 2 KiB in place; in a long reduce_scatter in place MPICH copies a rank's part onto a
     * place that overlaps it, and MPICH 5 ends the program for that. */
    bool doubtful =
        (t->collective == COLL_reduce && t->place->p == 2) || t->collective == COLL_reduce_scatter;
    if (doubtful && (t->native || t->place->apart || !t->plan)) t->in_place = false;
    t->shape = EQUAL;
    if (has->pattern == REDUCTION) draw_reduction(&random, t, wish, settings->nodes);
    else if (has->pattern != NOTHING) draw_blocks(&random, t, wish, settings->alike);
    t->native = t->native || t->no_bytes;
    t->by_host = (t->by_host || (t->native && t->typing == PLAIN)) &&
                 t->collective != COLL_neighbor_alltoallw;
    if (doubtful && t->in_place) t->by_host = false;
}

int draw_group(const struct settings *settings, int number, struct trial *trials) {
    struct random random = {mix(settings->seed, (uint64_t)number, 0, 0)};
    int count = below(&random, 6) ? 1 : group;
    int class = count > 1 && below(&random, 3)
                    ? below(&random, most_class(settings, below(&random, 2) ? 12 : 16) + 1)
                    : -1;
    for (int i = 0; i < count; i++) {
        trials[i] = (struct trial){.seed = draw(&random), .number = number, .class = class};
        draw_call(settings, &trials[i], i > 0 ? &trials[0] : NULL, count == 1);
        describe(settings, &trials[i], i);
    }
    return count;
}
