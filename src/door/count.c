/* SPDX-License-Identifier: BSD-3-Clause */
/* count - libmortar-count.so, which `mortar run` preloads when a report is wanted, and only then:
 * counts the calls that mortar does not take, and their seconds, and passes them on unchanged.
 * The time of a call with a request is that of the call and of the waits for it.
 *
 * As in the door, tools that come later get MPI_X first, and count when they call PMPI_X. Calls by
 * mortar and by the MPI library itself are not the program's, and do not count. */
#define _GNU_SOURCE
#include "door/count.h"

#include "base/base.h"
#include "door/forward.h"
#include "door/library.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define LARGE(name, words, kind, last)                                                             \
    UNTAKEN(name, words, kind, last)                                                               \
    UNTAKEN(name##_c, words, kind, last)

enum {
#define UNTAKEN(name, words, kind, last) ROW_##name,
#define WATCHED(name, words, number, list, what)
#include "door/untaken.h"
#undef UNTAKEN
#undef WATCHED
    UNTAKENS
};
enum {
    last_untaken = UNTAKENS - 1,
#define UNTAKEN(name, words, kind, last)
#define WATCHED(name, words, number, list, what) ROW_##name,
#include "door/untaken.h"
#undef UNTAKEN
#undef WATCHED
    ROWS
};

static const char *const names[ROWS] = {
#define UNTAKEN(name, words, kind, last) "PMPI_" #name,
#define WATCHED(name, words, number, list, what) "PMPI_" #name,
#include "door/untaken.h"
#undef UNTAKEN
#undef WATCHED
};

enum { nonblocking, persistent, one_sided };
static const char *const kind_names[] = {"nonblocking", "persistent", "one-sided"};
static const int kinds[UNTAKENS] = {
#define UNTAKEN(name, words, kind, last) kind,
#define WATCHED(name, words, number, list, what)
#include "door/untaken.h"
#undef UNTAKEN
#undef WATCHED
};

static struct {
    _Atomic uint64_t calls, ticks;
} counts[UNTAKENS];

/* Where calls go on to: tools for MPI_X, the MPI library. tools[i] NULL: none. */
static entry tools[ROWS], library[ROWS];
/* The addresses of the MPI library and of mortar's engine. */
static struct range {
    uintptr_t start, end;
} own[2];
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* path: of the MPI library; it and the engine are marked. */
static int mark_own(struct dl_phdr_info *object, size_t size, void *path) {
    (void)size;
    const char *slash = strrchr(object->dlpi_name, '/');
    bool mpi = strcmp(object->dlpi_name, path) == 0;
    if (!mpi && (!slash || !is_engine(slash + 1))) return 0;
    struct range range = {UINTPTR_MAX, 0};
    for (int i = 0; i < object->dlpi_phnum; i++) {
        if (object->dlpi_phdr[i].p_type != PT_LOAD) continue;
        uintptr_t start = object->dlpi_addr + object->dlpi_phdr[i].p_vaddr;
        if (start < range.start) range.start = start;
        if (start + object->dlpi_phdr[i].p_memsz > range.end)
            range.end = start + object->dlpi_phdr[i].p_memsz;
    }
    own[mpi ? 0 : 1] = range;
    return 0;
}

/* The first counted call comes after MPI_Init, when the engine is there. */
static void open_all(void) {
    struct mpi_found found = mpi_find();
    void *mpi = found.abi ? dlopen(found.path, RTLD_NOW | RTLD_NOLOAD) : NULL;
    if (found.abi) dl_iterate_phdr(mark_own, (void *)(uintptr_t)found.path);
    if (found.abi && strcmp(found.abi->name, "mpich") == 0) request_bytes = sizeof(int);
    for (int i = 0; i < ROWS; i++) {
        library[i] = (entry)dlsym(mpi ? mpi : RTLD_NEXT, names[i]);
        tools[i] = mpi ? (entry)tool_of(names[i] + 1, mpi) : NULL;
    }
}

struct visit {
    entry to;
    bool counts;
};

/* plain: the call is of MPI_X, not PMPI_X. from: where it comes from. */
static struct visit enter(int row, bool plain, const void *from) {
    pthread_once(&once, open_all);
    if (plain && tools[row]) return (struct visit){tools[row], false};
    uintptr_t at = (uintptr_t)from;
    bool ours = (at >= own[0].start && at < own[0].end) || (at >= own[1].start && at < own[1].end);
    if (library[row]) return (struct visit){library[row], !ours};
    entry found = (entry)found_by(from, names[row] + plain);
    if (found) return (struct visit){found, false};
    fprintf(stderr, "mortar: the program calls %s, which its MPI library does not have\n",
            names[row] + plain);
    abort(); /* as the dynamic linker would end the program */
}

static void add(int row, uint64_t calls, uint64_t ticks) {
    atomic_fetch_add_explicit(&counts[row].calls, calls, memory_order_relaxed);
    atomic_fetch_add_explicit(&counts[row].ticks, ticks, memory_order_relaxed);
}

/* request: 0, or the address of one that was made. Persistent calls count when they are started. */
static void left(int row, word error, uint64_t since, word request) {
    add(row, kinds[row] != persistent, clock_ticks() - since);
    if (request && (int)error == 0) request_made((const void *)request, row);
}

/* A wait for several requests is the first one's. Each that is started is a call. */
static void watched(struct seen *seen, uint64_t since, bool starts) {
    uint64_t ticks = clock_ticks() - since;
    for (int i = 0; i < seen->count; i++) add(seen->all[i].row, starts, i == 0 ? ticks : 0);
    requests_check(seen);
}

#define BOTH(name, words, BODY, ...)                                                               \
    word MPI_##name PARAMETERS_##words;                                                            \
    word PMPI_##name PARAMETERS_##words;                                                           \
    word MPI_##name PARAMETERS_##words BODY(name, words, true, __VA_ARGS__)                        \
    word PMPI_##name PARAMETERS_##words BODY(name, words, false, __VA_ARGS__)

#define REQUEST(words) LAST_##words
#define NONE(words) 0
#define COUNT(name, words, plain, last)                                                            \
    {                                                                                              \
        struct visit visit = enter(ROW_##name, plain, __builtin_return_address(0));                \
        uint64_t since = clock_ticks();                                                            \
        word error = visit.to ARGUMENTS_##words;                                                   \
        if (visit.counts) left(ROW_##name, error, since, last(words));                             \
        return error;                                                                              \
    }

enum { ENDS, STARTS };
#define WATCH(name, words, plain, number, list, what)                                              \
    {                                                                                              \
        struct visit visit = enter(ROW_##name, plain, __builtin_return_address(0));                \
        struct seen seen;                                                                          \
        requests_see((const void *)list, visit.counts ? (int)number : 0, &seen);                   \
        uint64_t since = seen.count ? clock_ticks() : 0;                                           \
        word error = visit.to ARGUMENTS_##words;                                                   \
        if (seen.count) watched(&seen, since, what == STARTS);                                     \
        return error;                                                                              \
    }

#define UNTAKEN(name, words, kind, last) BOTH(name, words, COUNT, last)
#define WATCHED(name, words, number, list, what) BOTH(name, words, WATCH, number, list, what)
#include "door/untaken.h"
#undef UNTAKEN
#undef WATCHED

/* ---- for the report ---- */

int mortar_untaken(int i, struct untaken *row);

int mortar_untaken(int i, struct untaken *row) {
    if (i < 0 || i >= UNTAKENS) return 0;
    *row = (struct untaken){.function = names[i] + 1,
                            .kind = kind_names[kinds[i]],
                            .calls = atomic_load(&counts[i].calls),
                            .seconds =
                                (double)atomic_load(&counts[i].ticks) / clock_ticks_per_second()};
    return 1;
}
