/* SPDX-License-Identifier: BSD-3-Clause */
/* call - calls the collective of a case, by the table of collectives. */
#include "replay.h"

#include "coll/forms.h"

#include <stdint.h>
#include <string.h>

/* The arguments as the table's columns want them. */
struct half {
    void *buffer;
    int count;
    MPI_Datatype type;
    const int *counts;
    const void *displs;
    const MPI_Datatype *types;
};
struct call {
    struct half send, recv;
    MPI_Op op;
    int root;
    MPI_Comm comm;
};

#define COLLECTIVE(name, symbol, sent, received, more, family, about)                              \
    static int call_##name(const struct call *r) {                                                 \
        return MPI_##symbol GIVE(sent, received, more, int);                                       \
    }
#include "coll/collectives.h"
#undef COLLECTIVE

static const struct {
    const char *name;
    int (*call)(const struct call *);
} calls[] = {
#define COLLECTIVE(name, symbol, sent, received, more, family, about) {#name, call_##name},
#include "coll/collectives.h"
#undef COLLECTIVE
};

static struct half half_of(const struct replay_side *side, int far) {
    return (struct half){.buffer = side->buffer,
                         .count = side->count,
                         .type = side->type,
                         .counts = side->counts,
                         .displs = far ? (const void *)side->far_displs : side->displs,
                         .types = side->types};
}

int case_call(const struct replay_case *c) {
    int far = strcmp(c->collective, "neighbor_alltoallw") == 0;
    struct call call = {.send = half_of(&c->send, far),
                        .recv = half_of(&c->recv, far),
                        .op = c->op,
                        .root = c->root,
                        .comm = c->comm};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (strcmp(calls[i].name, c->collective) == 0) return calls[i].call(&call);
    return -1;
}
