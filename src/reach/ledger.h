/* SPDX-License-Identifier: BSD-3-Clause */
/* ledger.h - a part of reach.h: what each rank of a node writes down about its calls, so that a
 * rank that waits long can compare. All local. */
#ifndef MORTAR_LEDGER_H
#define MORTAR_LEDGER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct team;

/* One call; see ledger.c. */
struct ledger_entry {
    uint64_t number : 24; /* of the call, from 1; wraps. 0: no entry */
    uint64_t collective : 5, size_class : 7;
    uint64_t root : 20; /* 0 if there is none */
    uint64_t plan : 8;  /* 0: not known yet */
};
enum { ledger_entries = 64, ledger_room = 576, entry_numbers = (1 << 24) - 1 };
struct ledger {
    /* The latest calls, each at number % ledger_entries. */
    _Alignas(64) _Atomic uint64_t entries[ledger_entries];
    _Alignas(64) _Atomic int32_t pid; /* 0: not known, or done */
    /* This rank takes no part in calls any more. */
    _Atomic bool given_up;
    _Atomic bool told;     /* rank 0's: the user has been told */
    _Atomic uint64_t pids; /* the PID namespace of `pid`; 0: not known */
};
/* Why a rank waits in vain. */
struct doubt {
    enum { DOUBT_NONE, DOUBT_DIFFERS, DOUBT_GIVEN_UP, DOUBT_DEAD, DOUBT_REVOKED } what;
    int rank;                         /* of the node: the rank that differs, gave up or died */
    struct ledger_entry mine, theirs; /* DOUBT_DIFFERS: the first calls that differ */
};

/* Writes call `number` into my ledger; mine == NULL: does nothing. */
static inline void ledger_write(struct ledger *mine, uint32_t number, struct ledger_entry entry) {
    uint64_t word;
    if (!mine) return;
    entry.number = number & entry_numbers;
    memcpy(&word, &entry, sizeof word);
    atomic_store_explicit(&mine->entries[number % ledger_entries], word, memory_order_release);
}
/* Where a rank can be looked for. */
struct process {
    uint64_t ids; /* the PID namespace of `id`; 0: not known */
    int32_t id;   /* 0: not known */
};
struct process process_of_this(void);
/* Writes the process of a rank of the node into its ledger; the same from every rank. */
void ledger_sign(const struct team *node, int rank, struct process process);
/* Says that I have done all my calls. Others may still wait for each other when this process is
 * gone. */
void ledger_leave(const struct team *node);
/* Says that I take no part in calls any more. True: no rank of the node has told the user yet. */
bool ledger_give_up(const struct team *node);
/* Whether I wait in vain; calls: the number of my latest call. */
struct doubt ledger_doubt(const struct team *node, uint32_t calls);

#endif
