/* SPDX-License-Identifier: BSD-3-Clause */
/* young - what src/mpi/young.c counts for the report comes out again, kind by kind, however many
 * kinds there are and whenever records are made of them. young [SEED [CALLS]] */
#include "mpi/report.h"

#include "unit.h"

#include <stdlib.h>
#include <string.h>

const char young_why[] = "young";
static const char off[] = "off";

enum { most_ranks = 12, sizes = 20 };
/* By collective, the last one being the communicators themselves; ranks; size class; reason. */
static struct sum {
    uint64_t count, bytes;
    double seconds;
} told[COLLECTIVES + 1][most_ranks][sizes][2], kept[COLLECTIVES + 1][most_ranks][sizes][2];
static int records;

static int collective_of(const char *name) {
    int c = 0;
    while (c < COLLECTIVES && strcmp(collective_names[c], name) != 0) c++;
    return c;
}

void report_keep(const struct record *record) {
    int c = collective_of(record->collective), why = strcmp(record->reason, off) == 0;
    struct sum *sum = &kept[c][record->ranks][record->size_class][why];
    expect(!*record->collective == !*record->plan, "%s by %s", record->collective, record->plan);
    expect(record->members == (c < COLLECTIVES), "%d members", (int)record->members);
    sum->count += record->calls;
    sum->bytes += record->bytes;
    sum->seconds += record->seconds;
    records++;
}

static void tell(uint64_t *random) {
    int c = (int)draw_below(random, COLLECTIVES + 1), p = (int)draw_below(random, most_ranks);
    if (c == COLLECTIVES) {
        struct young young = {.p = p, .me = (int)draw_below(random, 2)};
        uint64_t count = young.me == 0; /* else another rank counts it */
        struct record record = young_record(&young);
        told[c][p][0][0].count += count;
        expect(record.calls == count && record.ranks == p, "one of them");
        young_goes(&young);
        return;
    }
    struct shape shape = {.collective = (enum collective)c, .bytes = draw_bytes(random, 1 << 10)};
    bool is_off = draw_below(random, 2);
    struct sum *sum = &told[c][p][class_of(shape.bytes)][is_off];
    sum->count++;
    sum->bytes += shape.bytes;
    sum->seconds += 2;
    young_called(&shape, p, is_off ? off : young_why, 2);
}

int main(int count, char **words) {
    uint64_t random = seed_from(count, words);
    int calls = count > 2 ? atoi(words[2]) : 100000;
    for (int i = 0; i < calls; i++) {
        tell(&random);
        if (draw_below(&random, 5000) == 0) young_settle();
    }
    young_settle();
    expect(memcmp(told, kept, sizeof told) == 0, "what was kept differs from what was told");
    int before = records;
    young_settle();
    expect(records == before, "told twice");
    printf("%d calls, %d records\n", calls, records);
    return 0;
}
