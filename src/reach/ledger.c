/* SPDX-License-Identifier: BSD-3-Clause */
/* ledger - how a rank that waits long finds out whether it waits in vain. Every rank of a node
 * writes down its latest calls: collective, size class, root and plan. The MPI standard requires
 * the arguments to match on all ranks, and mortar relies on it: ranks that run different plans wait
 * for ever. So a rank that has waited for a second compares the ledgers, and checks that the other
 * processes are alive.
 *
 * Writing a call costs one store to a cache line of this rank's own. If the plans are equal, a
 * difference in sizes alone is no mismatch: the algorithm handles it. */
#define _GNU_SOURCE
#include "reach/reach.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

_Static_assert(sizeof(struct ledger_entry) == sizeof(uint64_t) &&
                   sizeof(struct ledger) == ledger_room,
               "node.c makes room for ledgers");

static struct ledger_entry ledger_at(const struct ledger *ledger, uint32_t number) {
    uint64_t word =
        atomic_load_explicit(&ledger->entries[number % ledger_entries], memory_order_acquire);
    struct ledger_entry entry;
    memcpy(&entry, &word, sizeof entry);
    return entry;
}

struct process process_of_this(void) {
    return (struct process){.ids = machine_name_space(), .id = getpid()};
}

void ledger_sign(const struct team *node, int rank, struct process process) {
    struct ledger *ledger = &node->ledgers[rank];
    atomic_store_explicit(&ledger->pids, process.ids, memory_order_relaxed);
    atomic_store_explicit(&ledger->pid, process.id, memory_order_release);
}

void ledger_leave(const struct team *node) {
    atomic_store_explicit(&node->ledgers[node->me].pid, 0, memory_order_release);
}

bool ledger_give_up(const struct team *node) {
    atomic_store_explicit(&node->ledgers[node->me].given_up, true, memory_order_release);
    return !atomic_exchange(&node->ledgers[0].told, true);
}

static bool differ(struct ledger_entry a, struct ledger_entry b) {
    if (a.collective != b.collective || a.root != b.root) return true;
    if (a.plan && b.plan) return a.plan != b.plan;
    return a.size_class != b.size_class;
}

/* A dead process keeps its process id until its parent has waited for it. One whose first thread
 * has ended by pthread_exit looks the same, but has threads. */
static bool is_zombie(pid_t pid) {
    char path[32], line[512], state = 0;
    int threads = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "re");
    char *name_end = file && fgets(line, sizeof line, file) ? strrchr(line, ')') : NULL;
    if (file) fclose(file);
    /* Fields 3 and 20, see proc(5). */
    static const char form[] =
        ") %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %d";
    bool found = name_end && sscanf(name_end, form, &state, &threads) == 2;
    return found && (state == 'Z' || state == 'X') && threads <= 1;
}

static bool is_dead(const struct team *node, int rank) {
    const struct ledger *mine = &node->ledgers[node->me], *theirs = &node->ledgers[rank];
    pid_t pid = atomic_load_explicit(&theirs->pid, memory_order_acquire);
    uint64_t ids = atomic_load_explicit(&mine->pids, memory_order_relaxed);
    if (pid <= 0 || !ids || ids != atomic_load_explicit(&theirs->pids, memory_order_relaxed))
        return false;
    return kill(pid, 0) < 0 ? errno == ESRCH : is_zombie(pid);
}

struct doubt ledger_doubt(const struct team *node, uint32_t calls) {
    const struct ledger *ledgers = node->ledgers;
    uint32_t left = calls < ledger_entries ? calls : ledger_entries;
    for (uint32_t number = calls - left + 1; left > 0; number++, left--) {
        struct ledger_entry mine = ledger_at(&ledgers[node->me], number);
        for (int r = 0; r < node->p; r++) {
            struct ledger_entry theirs = ledger_at(&ledgers[r], number);
            bool both = mine.number == (number & entry_numbers) && theirs.number == mine.number;
            if (both && differ(mine, theirs)) return (struct doubt){DOUBT_DIFFERS, r, mine, theirs};
        }
    }
    for (int r = 0; r < node->p; r++) {
        if (atomic_load_explicit(&ledgers[r].given_up, memory_order_acquire))
            return (struct doubt){.what = DOUBT_GIVEN_UP, .rank = r};
        if (is_dead(node, r)) return (struct doubt){.what = DOUBT_DEAD, .rank = r};
    }
    return (struct doubt){.what = DOUBT_NONE};
}
