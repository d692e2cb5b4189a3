/* SPDX-License-Identifier: BSD-3-Clause */
/* use - `mortar bench --use`: is every byte read, and every byte written anew? Does that stand
 * between all calls of a batch, whoever makes them, in the buffers that they use, and nowhere
 * without the option? Calls that the test makes up look for it. */
#include "bench/calls/contest.h"

#include <stdio.h>
#include <string.h>

enum { size = 75, around = 64, calls = 7, untimed = 3 };
static const char untouched = 0x5a;
static char send[2][around + size + around], recv[2][size]; /* the second ones are the limit's */
static int made, used; /* calls, and those that found new data */

static int fail(const char *what, const char *name) {
    fprintf(stderr, "use: %s: %s\n", name, what);
    return 1;
}

static bool is_untouched(const char *memory, size_t bytes) {
    for (size_t k = 0; k < bytes; k++)
        if (memory[k] != untouched) return false;
    return true;
}

/* Has every word been written, and nothing beside them? */
static bool is_new(const char *memory) {
    for (size_t k = 0; k + sizeof(double) <= size; k += sizeof(double))
        if (is_untouched(memory + around + k, sizeof(double))) return false;
    for (size_t k = size / sizeof(double) * sizeof(double); k < size; k++)
        if (memory[around + k] == untouched) return false;
    return is_untouched(memory, around) && is_untouched(memory + around + size, around);
}

static void take(int which) {
    made++;
    used += is_new(send[which]);
    memset(send[which], untouched, sizeof send[which]);
}

/* What timing.c asks of the others. */
void limit_rows(void) { take(1); }
void limit_last(void) { take(1); }
void limit_stream(void) { take(1); }
char *limit_send(void) { return send[1] + around; }
char *limit_recv(void) { return recv[1]; }
void grid_packed(const struct cell *cell, const struct functions *side, MPI_Comm comm) {
    (void)cell, (void)side, (void)comm;
    take(0);
}
void cold_make(char *s, size_t s_bytes, char *r, size_t r_bytes) {
    (void)s, (void)s_bytes, (void)r, (void)r_bytes;
}
bool counters_has(int event) { return event < 0; }
void counters_start(void) {}
void counters_stop(double counts[count_of_events]) { counts[0] = 0; }
double meet_max(double value) { return value; }
void meet(void) {}
void output_progress(const struct world *world, const struct cell *cell, const char *what) {
    (void)world, (void)cell, (void)what;
}
void batches_plan(const struct world *world, const struct settings *settings,
                  const struct cell *cell, struct contestant *contestants, int count) {
    (void)world, (void)settings, (void)cell, (void)contestants, (void)count;
}

long batches_untimed(const struct settings *settings, const struct contestant *contestant) {
    (void)settings, (void)contestant;
    return untimed;
}

static int call(const struct functions *side, const struct cell *cell, MPI_Comm comm) {
    (void)side, (void)cell, (void)comm;
    take(0);
    return 0;
}

/* A batch is `untimed` calls, and `calls` that are timed. */
static int batch(int what, const char *name, bool use) {
    static const struct kind kind = {.name = "test", .call = call};
    static const struct world world;
    struct settings settings = {.kind = &kind, .use = use};
    struct cell cell = {.kind = &kind, .send = send[0] + around, .recv = recv[0]};
    struct contestant contestant = {.name = name, .calls = calls};
    int others = what >= LIMIT_ROWS;
    contestant.what = what;
    cell.out.bytes = cell.in.bytes = size;
    memset(send, untouched, sizeof send);
    made = used = 0;
    timing_batch(&world, &settings, &cell, &contestant);
    bool written = is_new(send[others]);
    if (!is_untouched(send[!others], sizeof send[0])) return fail("the wrong buffers", name);
    if (what == USE) return made == 0 && written == use ? 0 : fail("not the use alone", name);
    if (made != untimed + calls) return fail("not so many calls", name);
    if (used != (use ? untimed + calls - 1 : 0)) return fail("not used between all calls", name);
    return written == use ? 0 : fail("the last call's data", name);
}

/* A byte that is not read does not count. */
static int reads(void) {
    for (size_t bytes = 0; bytes <= size; bytes++)
        for (size_t k = 0; k < size; k++) {
            memset(recv[0], 1, size);
            uint64_t before = use_data(send[0] + around, size, recv[0], bytes);
            recv[0][k]++;
            bool seen = use_data(send[0] + around, size, recv[0], bytes) != before;
            if (seen != (k < bytes)) return fail("a byte was not read", "use_data");
        }
    return 0;
}

int main(void) {
    static const char *const names[] = {"native",     "packed",     "mortar",      "use",
                                        "limit, rows", "limit, last", "stream"};
    int failed = reads();
    for (int what = NATIVE; what <= LIMIT_STREAM; what++)
        for (int use = 0; use < 2; use++) failed |= batch(what, names[what], use);
    if (!failed) puts("fine");
    return failed;
}
