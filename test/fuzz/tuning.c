/* SPDX-License-Identifier: BSD-3-Clause */
/* tuning - any bytes as a tuning file: it is refused with a reason, or all its figures are in their
 * ranges, and it is the same file when it has been written and read again. What is found in it is
 * found, too, when its sets have been merged. */
#include "fuzz.h"

#include "tuning/fields.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void near(double a, double b) {
    must(isfinite(a) && a >= 0 && fabs(a - b) <= 1e-8 * fabs(b), "%g is read as %g", b, a);
}

/* a: read from what was written of b. */
static void same_members(const struct field *fields, const void *a, const void *b) {
    for (const struct field *field = fields; field->name; field++) {
        const char *one = (const char *)a + field->place, *other = (const char *)b + field->place;
        const double *x = (const void *)one, *y = (const void *)other;
        switch (field->kind) {
        case FIELD_TEXT:
            must(memchr(other, 0, field->size) && strcmp(one, other) == 0, "%s", field->name);
            break;
        case FIELD_PAIR: near(x[1], y[1]); must(y[0] <= y[1], "%s", field->name); /* fallthrough */
        case FIELD_SECONDS:
        case FIELD_RATIO: near(x[0], y[0]); break;
        default: must(memcmp(one, other, field->size) == 0, "%s", field->name);
        }
    }
}

static void same_file(const struct tuning_file *a, const struct tuning_file *b) {
    must(a->count == b->count, "%d sets, not %d", a->count, b->count);
    for (int s = 0; s < a->count; s++) {
        const struct tuning_set *one = &a->sets[s], *other = &b->sets[s];
        same_members(machine_fields, &one->machine, &other->machine);
        same_members(set_fields, one, other);
        same_members(network_fields, &one->network, &other->network);
        must(one->count == other->count, "%d entries, not %d", one->count, other->count);
        for (int e = 0; e < one->count; e++)
            same_members(entry_fields, &one->entries[e], &other->entries[e]);
    }
}

static void check_ranges(const struct tuning_file *file) {
    for (int s = 0; s < file->count; s++) {
        const char *network = (const char *)&file->sets[s].network;
        for (const struct field *field = network_fields; field->name; field++) {
            if (field->kind != FIELD_SECONDS && field->kind != FIELD_RATIO) continue;
            double value = *(const double *)(const void *)(network + field->place);
            if (field->kind == FIELD_SECONDS && file->sets[s].network.pairs > 0)
                must(value > 0 && value <= 1e6, "%s is %g", field->name, value);
            if (field->kind == FIELD_RATIO)
                must(value == 0 || (value >= 1 && value <= 1e6), "%s is %g", field->name, value);
        }
        for (int e = 0; e < file->sets[s].count; e++) {
            const struct tuning_entry *entry = &file->sets[s].entries[e];
            must(entry->from >= 1 && entry->from <= entry->to, "no range of sizes");
            must(entry->ranks >= 2 && entry->nodes >= 1 && entry->domains >= 1 && *entry->plan &&
                     *entry->collective,
                 "an entry that means no team");
        }
    }
}

static void check_written(const struct tuning_file *file) {
    char path[64], why[320];
    struct tuning_file again;
    const char *memory = "/dev/shm"; /* where a file costs no access to a disk */
    snprintf(path, sizeof path, "%s/mortar-fuzz.%d", access(memory, W_OK) == 0 ? memory : "/tmp",
             (int)getpid());
    must(tuning_write(path, file->sets, file->count) == 0, "not written");
    int error = tuning_read(path, &again, why, sizeof why);
    unlink(path);
    must(error == 0, "what was written is refused: %s", why);
    same_file(&again, file);
    tuning_free(&again);
}

/* What is found for such a call in all sets that fit, the latest first. */
static const struct tuning_entry *found_in(const struct tuning_file *file,
                                           const struct tuning_set *here,
                                           const struct tuning_entry *like, size_t bytes) {
    char why[320];
    const struct tuning_entry *found = NULL;
    for (int s = file->count; s-- > 0 && !found;)
        if (tuning_fits(&file->sets[s], here, why, sizeof why))
            found = tuning_find(&file->sets[s], like, bytes);
    return found;
}

static void check_found(const struct tuning_file *file, const struct tuning_file *merged,
                        const struct tuning_set *set, const struct tuning_entry *entry) {
    char why[320];
    const struct tuning_set *there = tuning_choose(merged, set, why, sizeof why);
    must(there != NULL, "a set is lost: %s", why);
    size_t sizes[] = {entry->from, entry->to, entry->from - 1, entry->to + 1};
    for (int i = 0; i < 4; i++) {
        const struct tuning_entry *a = found_in(file, set, entry, sizes[i]);
        const struct tuning_entry *b = tuning_find(there, entry, sizes[i]);
        must(!a == !b && (!a || (strcmp(a->plan, b->plan) == 0 && a->seconds == b->seconds)),
             "%zu bytes: %s, and merged %s", sizes[i], a ? a->plan : "none", b ? b->plan : "none");
    }
}

static void check_merged(const struct tuning_file *file) {
    struct tuning_file merged = {0};
    must(tuning_merge(&merged, file) == 0, "no memory");
    for (int s = 0; s < file->count; s++)
        for (int e = 0; e < file->sets[s].count; e++)
            check_found(file, &merged, &file->sets[s], &file->sets[s].entries[e]);
    tuning_free(&merged);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct tuning_file file;
    char why[320] = "";
    int error = tuning_parse((const char *)data, size, &file, why, sizeof why);
    must((error == 0) == (*why == 0), "error %d and \"%s\"", error, why);
    must(error == 0 || (file.sets == NULL && file.count == 0), "a file that was refused is there");
    must(error != 0 || !memchr(data, 0, size), "a file with zeros is accepted");
    if (error == 0) {
        check_ranges(&file);
        check_written(&file);
        check_merged(&file);
        tuning_free(&file);
    }
    return 0;
}
