/* SPDX-License-Identifier: BSD-3-Clause */
/* young - counts, for the report, young communicators and their calls. They come by thousands, and
 * to make a record takes longer than all else that is done for one: so records are made of the
 * counts, when there are many kinds or a report is due. */
#include "mpi/report.h"

#include <pthread.h>

enum { most_kinds = 256, NO_CALL = COLLECTIVES };
static struct kind {
    int p, collective, size_class; /* NO_CALL: the communicators themselves */
    const char *why;
    uint64_t count, bytes;
    double seconds;
} kinds[most_kinds];
static int kind_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct record record_of(const struct kind *kind) {
    struct figures figures = figures_of_node(kind->p);
    struct record record = record_on(&figures);
    record.size_class = kind->size_class;
    record.calls = kind->count;
    record.bytes = kind->bytes;
    record.seconds = kind->seconds;
    snprintf(record.reason, sizeof record.reason, "%s", kind->why);
    if (kind->collective == NO_CALL) return record;
    record.members = 1;
    record.most_calls = kind->count;
    record.late_seconds = record.inside_seconds = -1;
    snprintf(record.collective, sizeof record.collective, "%s", collective_names[kind->collective]);
    snprintf(record.plan, sizeof record.plan, "native");
    return record;
}

static void flush(void) {
    for (int i = 0; i < kind_count; i++) {
        struct record record = record_of(&kinds[i]);
        report_keep(&record);
    }
    kind_count = 0;
}

static bool is_kind(const struct kind *a, const struct kind *b) {
    return a->p == b->p && a->collective == b->collective && a->size_class == b->size_class &&
           a->why == b->why;
}

static void count(struct kind one) {
    pthread_mutex_lock(&lock);
    int i = 0;
    while (i < kind_count && !is_kind(&kinds[i], &one)) i++;
    if (i == most_kinds) {
        flush();
        i = 0;
    }
    if (i == kind_count) kinds[kind_count++] = (struct kind){0};
    one.count += kinds[i].count;
    one.bytes += kinds[i].bytes;
    one.seconds += kinds[i].seconds;
    kinds[i] = one;
    pthread_mutex_unlock(&lock);
}

/* Counted by its rank 0. */
static struct kind itself(const struct young *young) {
    return (struct kind){
        .p = young->p, .collective = NO_CALL, .why = young_why, .count = young->me == 0};
}

void young_called(const struct shape *shape, int p, const char *why, double seconds) {
    count((struct kind){.p = p,
                        .collective = (int)shape->collective,
                        .size_class = class_of(shape->bytes),
                        .why = why,
                        .count = 1,
                        .bytes = shape->bytes,
                        .seconds = seconds});
}

void young_goes(const struct young *young) { count(itself(young)); }

struct record young_record(const struct young *young) {
    struct kind kind = itself(young);
    return record_of(&kind);
}

void young_settle(void) {
    pthread_mutex_lock(&lock);
    flush();
    pthread_mutex_unlock(&lock);
}
