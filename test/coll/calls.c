/* SPDX-License-Identifier: BSD-3-Clause */
/* calls - making a call that was laid out, by mortar or by the host MPI. Each collective of
 * mortar's table needs a row in calls.h, or this does not compile. */
#define _GNU_SOURCE
#include "driver.h"

#include <dlfcn.h>
#include <stdio.h>

enum {
    has_barrier, /* it has no row: no sides, no large form */
#define CALL(name, pattern, has, arguments) has_##name,
#include "calls.h"
#undef CALL
#define COLLECTIVE(name, ...) covered_##name = has_##name,
#include "coll/collectives.h"
#undef COLLECTIVE
};

const struct traits traits[COLLECTIVES] = {
    [COLL_barrier] = {"barrier", NOTHING, 0},
#define CALL(name, pattern, has, arguments) [COLL_##name] = {#name, pattern, has},
#include "calls.h"
#undef CALL
};

struct host mortar = {
#define COLLECTIVE(name, symbol, ...) .name = MPI_##symbol,
#include "coll/collectives.h"
#undef COLLECTIVE
#if MPI_VERSION >= 4
#define COLLECTIVE(name, symbol, sent, received, ...)                                              \
    COUNTED(received, .name##_c = MPI_##symbol##_c, )
#include "coll/collectives.h"
#undef COLLECTIVE
#endif
};

void hosts_find(void) {
    Dl_info where;
    void *library = NULL;
    if (dladdr((void *)(uintptr_t)PMPI_Comm_rank, &where))
        library = dlopen(where.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (library && host_open(library)) return;
    fprintf(stderr, "driver: the MPI library's own functions are not found\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void call_small(const struct host *who, const struct ready *c) {
    const struct side *s = &c->send, *r = &c->recv, *b = s->used ? s : r;
    switch (c->trial->collective) {
    case COLL_barrier: who->barrier(c->comm); break;
#define N int
#define D int
#define CALL(name, pattern, has, arguments)                                                        \
    case COLL_##name:                                                                              \
        who->name arguments;                                                                       \
        break;
#include "calls.h"
#undef CALL
#undef N
#undef D
    case COLLECTIVES: break;
    }
}

#if MPI_VERSION >= 4
static void call_large(const struct host *who, const struct ready *c) {
    const struct side *s = &c->send, *r = &c->recv, *b = s->used ? s : r;
    switch (c->trial->collective) {
#define N MPI_Count
#define D MPI_Aint
#define CALL(name, pattern, has, arguments)                                                        \
    case COLL_##name:                                                                              \
        who->name##_c arguments;                                                                   \
        break;
#include "calls.h"
#undef CALL
#undef N
#undef D
    default: break;
    }
}
#endif

void call(const struct host *who, const struct ready *ready) {
#if MPI_VERSION >= 4
    if (ready->trial->large && ready->trial->collective != COLL_barrier) {
        call_large(who, ready);
        return;
    }
#endif
    call_small(who, ready);
}
