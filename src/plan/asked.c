/* SPDX-License-Identifier: BSD-3-Clause */
/* asked - what the user asks of all teams: the collectives that are left to the MPI library
 * (MORTAR_OFF), and the plan that is forced (MORTAR_PLAN, mortar_plan). */
#include "plan/plan.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct plan forced; /* algorithm NULL: automatic */
_Atomic uint32_t plan_generation;

int plan_force(const char *text) {
    struct plan plan = {0};
    char why[192];
    int error = text && *text ? plan_parse(text, &plan, why, sizeof why) : 0;
    if (error) {
        warn("%s", why);
        return error;
    }
    pthread_mutex_lock(&lock);
    forced = plan;
    atomic_fetch_add(&plan_generation, 1);
    pthread_mutex_unlock(&lock);
    return 0;
}

struct plan plan_asked(void) {
    pthread_mutex_lock(&lock);
    struct plan plan = forced;
    pthread_mutex_unlock(&lock);
    return plan;
}

/* Bit set of the collectives named in MORTAR_OFF, and a bit that says that it was read. */
static _Atomic uint32_t off;
static const uint32_t off_read = 1u << 31;
_Static_assert(COLLECTIVES < 31, "a bit for each");

const char plan_off_why[] = "switched off by MORTAR_OFF";

HOT bool plan_off(enum collective collective) {
    uint32_t bits = atomic_load_explicit(&off, memory_order_relaxed);
    char wrong[32];
    if (bits == 0)
        atomic_store(&off, bits = off_read | collectives_in(option_text(OPTION_OFF), wrong));
    return bits >> collective & 1;
}

void plan_settings_changed(void) { atomic_store(&off, 0); }

bool plan_off_wrong(char name[32]) {
    collectives_in(option_text(OPTION_OFF), name);
    return *name;
}
