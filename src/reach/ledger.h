/* SPDX-License-Identifier: BSD-3-Clause */
/* ledger.h - a part of reach.h: what the ranks of a node tell each other about their calls, for one
 * that waits long. All local. */
#ifndef MORTAR_LEDGER_H
#define MORTAR_LEDGER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct team;

/* One call as a rank writes it down for the others of its node; see ledger.c. */
struct ledger_entry {
    uint64_t number : 24, collective : 5, size_class : 7;
    uint64_t root : 20; /* 0 where there is none */
    uint64_t plan : 8;  /* 0: not known yet */
};
enum { ledger_entries = 64, ledger_room = 576, entry_numbers = (1 << 24) - 1 };
struct ledger {
    /* The latest calls, by their number; number 0: none. */
    _Alignas(64) _Atomic uint64_t entries[ledger_entries];
    _Alignas(64) _Atomic int32_t pid; /* 0: not known */
    /* This rank takes part in nothing any more. */
    _Atomic bool given_up;
    _Atomic bool told; /* rank 0's: the user has been told */
    /* Whose numbers that is one of; 0: not known. */
    uint64_t pids;
};
/* Why a rank waits in vain. */
struct doubt {
    enum { DOUBT_NONE, DOUBT_DIFFERS, DOUBT_GIVEN_UP, DOUBT_DEAD, DOUBT_REVOKED } what;
    int rank;                         /* of the node, whose fault that is */
    struct ledger_entry mine, theirs; /* the first calls that differ */
};

/* The call of this number is such a call. */
static inline void ledger_write(struct ledger *mine, uint32_t number, struct ledger_entry entry) {
    uint64_t word;
    if (!mine) return;
    entry.number = number & entry_numbers;
    memcpy(&word, &entry, sizeof word);
    atomic_store_explicit(&mine->entries[number % ledger_entries], word, memory_order_release);
}
/* This process is that rank. */
void ledger_sign(const struct team *node);
/* I take part in nothing any more. Am I the first to find out? */
bool ledger_give_up(const struct team *node);
/* Do I, whose latest call has this number, wait in vain? */
struct doubt ledger_doubt(const struct team *node, uint32_t calls);

#endif
