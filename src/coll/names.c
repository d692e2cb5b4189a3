/* SPDX-License-Identifier: BSD-3-Clause */
/* names - the collectives' names, and lists of them. */
#include "coll/coll.h"

#include <stdio.h>
#include <string.h>

const char *const collective_names[COLLECTIVES] = {
#define COLLECTIVE(name, ...) #name,
#include "coll/collectives.h"
#undef COLLECTIVE
};

_Static_assert(COLLECTIVES < 32, "a bit for each");

uint32_t collectives_in(const char *list, char wrong[32]) {
    uint32_t bits = 0;
    *wrong = 0;
    while (*list) {
        char name[32];
        list += strspn(list, " ");
        size_t length = strcspn(list, ",");
        snprintf(name, sizeof name, "%.*s", (int)length, list); /* too long: it names none */
        list += length + (list[length] == ',');
        bool all = strcmp(name, "all") == 0, known = all || !*name;
        for (int c = 0; c < COLLECTIVES; c++) {
            if (!all && strcmp(name, collective_names[c]) != 0) continue;
            bits |= 1u << c;
            known = true;
        }
        if (!known && !*wrong) memcpy(wrong, name, sizeof name);
    }
    return bits;
}

const char *collective_like(const char *wrong) {
    const char *nearest = "all";
    for (int c = 0; c < COLLECTIVES; c++)
        if (word_distance(wrong, collective_names[c]) < word_distance(wrong, nearest))
            nearest = collective_names[c];
    return word_distance(wrong, nearest) <= likely_distance(wrong) ? nearest : NULL;
}
