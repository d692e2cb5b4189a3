/* SPDX-License-Identifier: BSD-3-Clause */
/* entries - MPI_X and MPI_X_c of every row of coll/collectives.h: put the arguments into a struct
 * request and call `take`. For each there is also the reverse, native_x, which hands a request to
 * the MPI library. Fortran calls arrive here too. */
#include "mpi/calls.h"

/* The initialiser of a half, from the parameters of that side. With SAME and BARE the send half
 * takes its counts and type from the receive side. */
#define HALF_NO(x, buffer) NULL, 0, MPI_DATATYPE_NULL, NULL, NULL, NULL
#define HALF_EQUAL(x, buffer) buffer, x##_count, x##_type, NULL, NULL, NULL
#define HALF_COUNTS(x, buffer) buffer, 0, x##_type, x##_counts, NULL, NULL
#define HALF_VARY(x, buffer) buffer, 0, x##_type, x##_counts, x##_displs, NULL
#define HALF_EACH(x, buffer) buffer, 0, MPI_DATATYPE_NULL, x##_counts, x##_displs, x##_types
#define HALF_FAR HALF_EACH
#define SENT_NO(received) HALF_NO(send, send)
#define SENT_SAME(received) HALF_##received(recv, recv)
#define SENT_BARE(received) HALF_##received(recv, send)
#define SENT_EQUAL(received) HALF_EQUAL(send, send)
#define SENT_VARY(received) HALF_VARY(send, send)
#define SENT_EACH(received) HALF_EACH(send, send)
#define SENT_FAR(received) HALF_FAR(send, send)
#define MORE_NONE .op = MPI_OP_NULL, .root = 0
#define MORE_ROOT .op = MPI_OP_NULL, .root = root
#define MORE_OP .op = op, .root = 0
#define MORE_OP_ROOT .op = op, .root = root

#define ENTRY(name, symbol, sent, received, more, is_large, N, D)                                  \
    int MPI_##symbol(FORM(sent, received, more, N, D)) {                                           \
        return take(&(struct request){.collective = COLL_##name,                                   \
                                      .large = is_large,                                           \
                                      .native = native_##name,                                     \
                                      .comm = comm,                                                \
                                      .send = {SENT_##sent(received)},                             \
                                      .recv = {HALF_##received(recv, recv)},                       \
                                      MORE_##more,                                                 \
                                      .fresh = NULL,                                               \
                                      .caller = __builtin_return_address(0)});                     \
    }
#define COLLECTIVE(name, symbol, sent, received, more, family, about)                              \
    static int native_##name(const struct request *r) {                                            \
        COUNTED(received,                                                                          \
                if (r->large) return host.name##_c GIVE(sent, received, more, MPI_Count);)         \
        return host.name GIVE(sent, received, more, int);                                          \
    }                                                                                              \
    ENTRY(name, symbol, sent, received, more, false, int, int)                                     \
    COUNTED(received, ENTRY(name, symbol##_c, sent, received, more, true, MPI_Count, MPI_Aint))
#include "coll/collectives.h"
#undef COLLECTIVE
