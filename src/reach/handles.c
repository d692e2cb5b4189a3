/* SPDX-License-Identifier: BSD-3-Clause */
/* handles - chains of handles. There are twice as many chains whenever there are more handles. */
#include "reach/handles.h"

#include "base/base.h"

#include <stdlib.h>

static size_t chains_of(const struct handles *table) {
    return table->many ? table->chains : few_chains;
}

static struct handle **first_of(struct handles *table) {
    return table->many ? table->many : table->few;
}

/* Handles are addresses of structs, or numbers that differ in their low bits. */
static size_t place_of(uintptr_t key, size_t chains) {
    return (size_t)(hashed(key) >> 32) & (chains - 1);
}

/* Where the pointer to the handle with this key is, or the NULL at the end of its chain. */
static struct handle **link_to(struct handles *table, uintptr_t key) {
    struct handle **link = &first_of(table)[place_of(key, chains_of(table))];
    while (*link && (*link)->key != key) link = &(*link)->next;
    return link;
}

static void push(struct handle **chain, struct handle *one) {
    one->next = *chain;
    *chain = one;
}

static void grow(struct handles *table) {
    size_t chains = chains_of(table), twice = 2 * chains;
    struct handle **now = first_of(table), **many = calloc(twice, sizeof *many);
    if (!many) return;
    for (size_t i = 0; i < chains; i++)
        for (struct handle *one = now[i], *next; one; one = next) {
            next = one->next;
            push(&many[place_of(one->key, twice)], one);
        }
    free(table->many);
    table->many = many;
    table->chains = twice;
}

struct handle *handles_find(struct handles *table, uintptr_t key) {
    return *link_to(table, key);
}

void handles_add(struct handles *table, struct handle *one) {
    if (++table->count > chains_of(table)) grow(table);
    push(&first_of(table)[place_of(one->key, chains_of(table))], one);
}

void handles_remove(struct handles *table, struct handle *one) {
    struct handle **link = link_to(table, one->key);
    if (*link != one) return;
    *link = one->next;
    table->count--;
}

struct handle *handles_clear(struct handles *table) {
    struct handle **chains = first_of(table), *all = NULL;
    for (size_t i = 0; i < chains_of(table); i++)
        for (struct handle *one = chains[i], *next; one; one = next) {
            next = one->next;
            push(&all, one);
        }
    free(table->many);
    *table = (struct handles){0};
    return all;
}
