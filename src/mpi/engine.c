/* SPDX-License-Identifier: BSD-3-Clause */
/* engine - what the door (src/door) calls: the opening of an engine, and the public interface of
 * include/mortar.h. */
#include "mpi/calls.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Called once, before any MPI call arrives. library: the dlopen handle of the MPI library. folder:
 * where the process began; NULL: not known. 0 or -errno. */
int mortar_engine_open(void *library, const char *folder);
int mortar_engine_plan(const char *text);
int mortar_engine_report(const char *path);
int mortar_engine_plans(const char *collective, size_t bytes, int outside, char *texts,
                        size_t size);
void mortar_engine_verified(uint64_t *calls, uint64_t *differences);
void mortar_engine_examined(uint64_t *calls);

/* With a forced plan mortar begins at once on every communicator. */
static int force(const char *text) {
    int error = plan_force(text);
    if (!error) teams_begin_at_once(text && *text);
    return error;
}

static void force_asked(const char *text) {
    struct plan plan;
    char why[192];
    if (!*text || plan_parse(text, &plan, why, sizeof why) == 0) force(text);
    else warn_job("MORTAR_PLAN is ignored, mortar chooses: %s", why);
}

static _Atomic bool planned; /* the program has chosen a plan; if one rank does, all must */

static void on_settings(void) {
    plan_settings_changed();
    verify_settings_changed();
    if (!planned) force_asked(option_text(OPTION_PLAN));
    atomic_fetch_add(&changes.calls, 1);
}

int mortar_engine_open(void *library, const char *folder) {
    char wrong[32];
    if (!host_open(library)) return -ENOSYS;
    if (options_take(folder) != 0) return -ENOMEM;
    launcher_listen();
    if (launcher_rank() <= 0) options_check();
    force_asked(option_text(OPTION_PLAN));
    if (plan_off_wrong(wrong)) {
        const char *meant = collective_like(wrong);
        warn_job("MORTAR_OFF: %s is ignored: it is no collective%s%s%s (mortar info lists them)",
                 wrong, meant ? "; did you mean " : "", meant ? meant : "", meant ? "?" : "");
    }
    settings_changed = on_settings;
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    PMPI_Get_library_version(version, &length);
    plan_tuning(version);
    report_start();
    nested_start();
    doubts_start();
    return 0;
}

int mortar_engine_plan(const char *text) {
    planned = true;
    int error = force(text);
    atomic_fetch_add(&changes.calls, 1);
    return error;
}

int mortar_engine_report(const char *path) { return report_write(path); }

void mortar_engine_verified(uint64_t *calls, uint64_t *differences) {
    verify_count(calls, differences);
}

/* Writes one plan per line, as many whole lines as fit. Returns how many. */
static int write_lines(char plans[][64], int count, char *texts, size_t size) {
    size_t used = 0;
    *texts = 0;
    for (int i = 0; i < count; i++) {
        int length = snprintf(texts + used, size - used, "%s\n", plans[i]);
        if ((size_t)length >= size - used) {
            texts[used] = 0;
            return i;
        }
        used += (size_t)length;
    }
    return count;
}

int mortar_engine_plans(const char *collective, size_t bytes, int outside, char *texts,
                        size_t size) {
    char plans[most_candidates][64];
    int c = 0, count = -ENOMEM;
    while (collective && c < COLLECTIVES && strcmp(collective_names[c], collective) != 0) c++;
    if (!collective || c == COLLECTIVES || !texts || size == 0) return -EINVAL;
    /* team_of makes communicators, for which MPI libraries may call collectives. */
    struct inside here;
    bool already = inside_now() != NULL;
    if (!already) inside_begin(&here);
    struct team *team = team_of(MPI_COMM_WORLD);
    /* The shape that the calls themselves will have; in neighbourhoods as if all knew the sizes. */
    struct shape shape = {.collective = (enum collective)c,
                          .bytes = bytes,
                          .unsized = among((enum collective)c, UNSIZED)};
    if (team) count = plan_worth(team, &shape, !outside, plans, most_candidates);
    if (!already) inside_end(&here);
    return count < 0 ? count : write_lines(plans, count, texts, size);
}

void mortar_engine_examined(uint64_t *calls) { *calls = known_examined(); }
