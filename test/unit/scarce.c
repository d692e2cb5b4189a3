/* SPDX-License-Identifier: BSD-3-Clause */
/* scarce - memory that one rank does not get; see crew.h. The linker sends what allocates here
 * (--wrap). */
#include "crew.h"

#include <stdlib.h>

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *memory, size_t bytes);
void *__real_aligned_alloc(size_t alignment, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *memory, size_t bytes);
void *__wrap_aligned_alloc(size_t alignment, size_t bytes);

/* Allocations until the one that this thread does not get; negative: it gets all. */
static _Thread_local long left = -1;
static _Atomic int hits, leavers;

static bool gets_it(void) {
    if (left < 0 || left-- > 0) return true;
    atomic_fetch_add(&hits, 1);
    return false;
}

void *__wrap_malloc(size_t bytes) { return gets_it() ? __real_malloc(bytes) : NULL; }
void *__wrap_calloc(size_t count, size_t bytes) {
    return gets_it() ? __real_calloc(count, bytes) : NULL;
}
void *__wrap_realloc(void *memory, size_t bytes) {
    return gets_it() ? __real_realloc(memory, bytes) : NULL;
}
void *__wrap_aligned_alloc(size_t alignment, size_t bytes) {
    return gets_it() ? __real_aligned_alloc(alignment, bytes) : NULL;
}

uint32_t scarce_begin(struct rank *rank, bool may_lack_data) {
    enum { most = 6 };
    bool lacks_data = draw_below(&rank->common, 3) == 0 && may_lack_data;
    uint32_t victim = draw_below(&rank->common, (uint32_t)rank->team.p),
             after = draw_below(&rank->common, most);
    sync_all(&rank->team, 0);
    atomic_store(&hits, 0);
    atomic_store(&leavers, 0);
    sync_all(&rank->team, 0);
    if ((int)victim != rank->team.me) return 0;
    if (!lacks_data) return left = after, 0;
    atomic_fetch_add(&hits, 1);
    return NO_MEMORY;
}

bool scarce_end(struct rank *rank, enum outcome outcome) {
    left = -1;
    if (outcome == LEFT) atomic_fetch_add(&leavers, 1);
    sync_all(&rank->team, 0);
    int without = atomic_load(&hits), gone = atomic_load(&leavers);
    expect(gone == 0 || gone == rank->team.p, "%d of %d ranks leave a call to the host MPI", gone,
           rank->team.p);
    expect(outcome == DONE || without > 0, "outcome %d, though all ranks got their memory",
           (int)outcome);
    return outcome == DONE;
}

long scarce_pause(void) {
    long before = left;
    left = -1;
    return before;
}

void scarce_resume(long before) { left = before; }
