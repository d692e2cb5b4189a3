/* SPDX-License-Identifier: BSD-3-Clause */
/* match - whether a set fits this machine, which entry fits a call, and merging of sets. */
#define _GNU_SOURCE
#include "tuning/fields.h"

#include "include/mortar.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

void tuning_mpi(const char *version, char name[96]) {
    char number[32];
    int length = (int)strcspn(version, ",\n");
    if (sscanf(version, "MPICH Version: %31s", number) == 1) snprintf(name, 96, "MPICH %s", number);
    else snprintf(name, 96, "%.*s", length < 95 ? length : 95, version);
}

void tuning_here(struct tuning_set *here, const char *mpi) {
    struct utsname name;
    struct tm now;
    time_t seconds = time(NULL);
    *here = (struct tuning_set){.machine = *machine_facts()};
    snprintf(here->mpi, sizeof here->mpi, "%s", mpi);
    snprintf(here->mortar, sizeof here->mortar, "%s", MORTAR_VERSION);
    if (uname(&name) == 0)
        snprintf(here->kernel, sizeof here->kernel, "%.40s %.50s", name.sysname, name.release);
    if (gmtime_r(&seconds, &now))
        strftime(here->date, sizeof here->date, "%Y-%m-%dT%H:%M:%SZ", &now);
}

/* The number of facts that differ; why[size]: the first one. */
static int differences(const struct tuning_set *set, const struct tuning_set *here, char *why,
                       size_t size) {
    int count = 0;
    if (strcmp(set->mpi, here->mpi) != 0 && count++ == 0)
        snprintf(why, size, "its MPI library is \"%s\", here it is \"%s\"", set->mpi, here->mpi);
    for (const struct field *field = machine_fields; field->name; field++) {
        const char *there = (const char *)&set->machine + field->place;
        const char *mine = (const char *)&here->machine + field->place;
        bool same = field->kind == FIELD_TEXT ? strcmp(there, mine) == 0
                                              : memcmp(there, mine, field->size) == 0;
        if (same || count++ > 0) continue;
        if (field->kind == FIELD_TEXT)
            snprintf(why, size, "its %s is \"%s\", here it is \"%s\"", field->name, there, mine);
        else if (field->kind == FIELD_COUNT)
            snprintf(why, size, "its %s is %d, here it is %d", field->name,
                     *(const int *)(const void *)there, *(const int *)(const void *)mine);
        else
            snprintf(why, size, "its %s is %zu, here it is %zu", field->name,
                     *(const size_t *)(const void *)there, *(const size_t *)(const void *)mine);
    }
    return count;
}

bool tuning_fits(const struct tuning_set *set, const struct tuning_set *here, char *why,
                 size_t size) {
    return differences(set, here, why, size) == 0;
}

const struct tuning_set *tuning_choose(const struct tuning_file *file,
                                       const struct tuning_set *here, char *why, size_t size) {
    int least = -1;
    char text[320] = "";
    snprintf(why, size, "it has no set");
    for (int s = 0; s < file->count; s++) {
        int count = differences(&file->sets[s], here, text, sizeof text);
        if (count == 0) return &file->sets[s];
        if (least >= 0 && count >= least) continue;
        least = count;
        snprintf(why, size, "%s", text);
    }
    return NULL;
}

/* Over several nodes it does not matter where buffers lie, because no rank reaches all of them. */
static bool same_cell(const struct tuning_entry *a, const struct tuning_entry *b) {
    return a->ranks == b->ranks && a->nodes == b->nodes && a->domains == b->domains &&
           strcmp(a->collective, b->collective) == 0 &&
           (a->nodes > 1 ? a->fullest == b->fullest : strcmp(a->buffers, b->buffers) == 0);
}

/* True: the entry is for such a call. An entry without `fullest` fits any spread of the ranks over
 * the nodes. */
static bool meant(const struct tuning_entry *entry, const struct tuning_entry *like) {
    struct tuning_entry spread = *like;
    if (entry->fullest == 0) spread.fullest = 0;
    return same_cell(entry, &spread);
}

const struct tuning_entry *tuning_find(const struct tuning_set *set,
                                       const struct tuning_entry *like, size_t bytes) {
    for (int e = set->count - 1; e >= 0; e--) {
        const struct tuning_entry *entry = &set->entries[e];
        if (meant(entry, like) && entry->from <= bytes && bytes <= entry->to) return entry;
    }
    return NULL;
}

/* Older entries keep only the sizes below or above the new entry's range. */
int tuning_add(struct tuning_set *set, const struct tuning_entry *entry) {
    struct tuning_entry *entries = calloc((size_t)set->count * 2 + 1, sizeof *entries);
    int count = 0;
    if (!entries) return -ENOMEM;
    for (int e = 0; e < set->count; e++) {
        const struct tuning_entry *old = &set->entries[e];
        if (!same_cell(old, entry) || old->to < entry->from || old->from > entry->to) {
            entries[count++] = *old;
            continue;
        }
        if (old->from < entry->from) {
            entries[count] = *old;
            entries[count++].to = entry->from - 1;
        }
        if (old->to > entry->to) {
            entries[count] = *old;
            entries[count++].from = entry->to + 1;
        }
    }
    entries[count++] = *entry;
    free(set->entries);
    set->entries = entries;
    set->count = count;
    return 0;
}

static struct tuning_set *set_like(struct tuning_file *file, const struct tuning_set *set) {
    for (int s = 0; s < file->count; s++)
        if (tuning_fits(&file->sets[s], set, NULL, 0)) return &file->sets[s];
    struct tuning_set *sets = realloc(file->sets, ((size_t)file->count + 1) * sizeof *sets);
    if (!sets) return NULL;
    file->sets = sets;
    sets[file->count] = *set;
    sets[file->count].entries = NULL;
    sets[file->count].count = 0;
    return &sets[file->count++];
}

const struct network_facts *tuning_network(const struct tuning_set *set) {
    return set && set->network.pairs > 0 ? &set->network : &network_usual;
}

int tuning_merge(struct tuning_file *into, const struct tuning_file *from) {
    for (int s = 0; s < from->count; s++) {
        struct tuning_set *set = set_like(into, &from->sets[s]);
        if (!set) return -ENOMEM;
        memcpy(set->kernel, from->sets[s].kernel, sizeof set->kernel);
        memcpy(set->mortar, from->sets[s].mortar, sizeof set->mortar);
        memcpy(set->date, from->sets[s].date, sizeof set->date);
        if (from->sets[s].network.pairs > 0) set->network = from->sets[s].network;
        for (int e = 0; e < from->sets[s].count; e++)
            if (tuning_add(set, &from->sets[s].entries[e]) != 0) return -ENOMEM;
    }
    return 0;
}
