/* SPDX-License-Identifier: BSD-3-Clause */
/* handles.h - a hash table of what belongs to handles. It owns nothing and has no lock. */
#ifndef MORTAR_HANDLES_H
#define MORTAR_HANDLES_H

#include <stddef.h>
#include <stdint.h>

/* A part of what is in a table. */
struct handle {
    uintptr_t key; /* the handle */
    struct handle *next;
};

enum { few_chains = 64 };
/* All zero: empty. */
struct handles {
    struct handle *few[few_chains];
    struct handle **many; /* the chains once they are more; NULL: few */
    size_t chains;        /* how many of these, a power of two */
    size_t count;
};

/* NULL: there is none. */
struct handle *handles_find(struct handles *table, uintptr_t key);
/* The table must not have its key. It always succeeds: without memory chains become long. */
void handles_add(struct handles *table, struct handle *one);
/* Does nothing if it is not in the table. */
void handles_remove(struct handles *table, struct handle *one);
/* Empties the table. Returns what was in it, linked by `next`; NULL: nothing. */
struct handle *handles_clear(struct handles *table);

#endif
