/* SPDX-License-Identifier: BSD-3-Clause */
/* reduction - the collectives that combine elements: what can be combined, the operation, elements with gaps between their data.
 * Those are combined in scratch memory, where gaps may be written; the results' data alone go to the user's buffer. */
#include "mpi/calls.h"

#include <stdlib.h>
#include <string.h>

enum { stack_bytes = 4096 }; /* of scratch: no memory need be asked for */

/* Elements in the vectors of this call. */
static size_t vector_count(const struct request *r, int p) {
    if (r->collective == COLL_reduce_scatter_block) return (size_t)r->recv.count * (size_t)p;
    if (r->collective != COLL_reduce_scatter) return (size_t)r->recv.count;
    size_t all = 0;
    for (int i = 0; i < p; i++) all += (size_t)entry_of(r->recv.counts, r->large ? 8 : (int)sizeof(int), i);
    return all;
}

HOT static bool look(const struct request *r, struct shape *shape) {
    struct elements elements;
    if (!elements_of(r->recv.type, r->op, &elements)) return false;
    if (r->collective == COLL_reduce_scatter) return r->recv.counts != NULL;
    if (r->recv.count < 0) return false;
    shape->bytes = (size_t)r->recv.count * elements.size;
    if (r->collective == COLL_reduce) return true; /* its root alone has both buffers */
    return r->recv.buffer != MPI_IN_PLACE && (shape->bytes == 0 || (r->send.buffer && r->recv.buffer));
}

HOT static bool agree(const struct request *r, struct team *team, struct shape *shape) {
    if (r->collective == COLL_reduce) return r->root >= 0 && r->root < team->p;
    if (r->collective != COLL_reduce_scatter) return true;
    for (int i = 0; i < team->p; i++)
        if (entry_of(r->recv.counts, r->large ? 8 : (int)sizeof(int), i) < 0) return false;
    struct elements elements;
    elements_of(r->recv.type, r->op, &elements);
    shape->bytes = (vector_count(r, team->p) * elements.size + (size_t)team->p - 1) / (size_t)team->p;
    return true;
}

/* ---- the operation ---- */

struct operation {
    MPI_Datatype type;
    MPI_Op op;
};

/* The MPI library counts in int. */
HOT static void combine(const struct reduction *reduction, const char *in, char *inout, size_t count) {
    const struct operation *operation = reduction->state;
    for (size_t done = 0, now; done < count; done += now) {
        now = count - done < 1 << 30 ? count - done : 1 << 30;
        PMPI_Reduce_local(in + done * reduction->bytes, inout + done * reduction->bytes, (int)now, operation->type, operation->op);
    }
}

/* ---- elements with gaps, and buffers on devices: through scratch ---- */

/* Vectors where the algorithm sees them, when that is not the user's memory. */
struct scratch {
    char *memory, *send, *recv, *packed;
};

static size_t line_up(size_t bytes) { return (bytes + 63) / 64 * 64; }

/* Memory for a send vector, for the results, and for as many of these, packed. */
static bool scratch_get(struct scratch *scratch, char *stack, const struct elements *elements, size_t sent, size_t received) {
    size_t send = line_up(sent * elements->extent), recv = line_up(received * elements->extent);
    size_t all = send + recv + (sent > received ? sent : received) * elements->size;
    scratch->memory = all > stack_bytes ? malloc(all) : NULL;
    if (all > stack_bytes && !scratch->memory) return false;
    scratch->send = scratch->memory ? scratch->memory : stack;
    scratch->recv = scratch->send + send;
    scratch->packed = scratch->recv + recv;
    return true;
}

/* Between two buffers of the same type, data only; the MPI library knows memory that is none of the host's. */
static bool move_data(MPI_Datatype type, char *to, const char *from, size_t count, char *packed, bool device) {
    static const struct copier plain = {.kernel = KERNEL_plain};
    const struct layout *layout = device ? NULL : layout_of(type);
    if (layout) {
        layout_copy(to, layout, count, from, layout, count, &plain);
        return true;
    }
    struct typed typed = {type, (MPI_Count)count};
    return move_blocks(&typed, (void *)(uintptr_t)from, 1, packed, true) == 0 && move_blocks(&typed, to, 1, packed, false) == 0;
}

/* ---- the call ---- */

static int fail(const struct request *r, int error) {
    PMPI_Comm_call_errhandler(r->comm, error);
    return error;
}

/* One call, whose vectors lie where the algorithm may use them. *left: nothing has happened. */
HOT static void run_dense(const struct request *r, struct team *team, struct plan **plan, struct call *call, size_t count,
                          size_t extent, bool *left) {
    struct operation operation = {r->recv.type, r->op};
    struct reduction reduction = {.combine = combine,
                                  .state = &operation,
                                  .bytes = extent,
                                  .count = count,
                                  .counts = r->recv.counts,
                                  .count_width = r->large ? 8 : (uint8_t)sizeof(int)};
    call->root = r->root;
    call->reduction = &reduction;
    *left = (*plan)->algorithm->code->run(team, call, &(*plan)->arguments) == LEFT;
}

/* The same when they do not. */
static int run_scratch(const struct request *r, struct team *team, struct plan **plan, struct call *call, size_t count,
                       const struct elements *elements, bool *left) {
    _Alignas(64) char stack[stack_bytes];
    struct scratch scratch = {0};
    struct reduction sizes = {.count = count, .counts = r->recv.counts, .count_width = r->large ? 8 : (uint8_t)sizeof(int)};
    struct call user = *call;
    user.root = r->root, user.reduction = &sizes;
    size_t received = part_received(team, &user, team->me).count;
    /* What ranks cannot tell each other must not go wrong on one of them. */
    if ((*plan)->algorithm->code->loose && 2 * (line_up(count * elements->extent) + count * elements->size) > stack_bytes)
        return *left = true, MPI_SUCCESS;
    if (!scratch_get(&scratch, stack, elements, count, received)) call->trouble |= NO_MEMORY;
    if (!call->trouble && count > 0)
        memcpy(scratch.send, user.send, (count - 1) * elements->extent + elements->high); /* nothing behind the last one */
    call->send = scratch.send;
    call->recv = scratch.recv;
    call->in_place = false;
    run_dense(r, team, plan, call, count, elements->extent, left);
    bool fine = *left || received == 0 || move_data(r->recv.type, user.recv, scratch.recv, received, scratch.packed, false);
    free(scratch.memory);
    return fine ? MPI_SUCCESS : fail(r, MPI_ERR_TYPE);
}

HOT static int run(const struct request *r, struct team *team, struct plan **plan, const struct shape *shape) {
    struct elements elements;
    if (!elements_of(r->recv.type, r->op, &elements)) return r->native(r);
    char *recv = (char *)(uintptr_t)r->recv.buffer;
    /* The same buffer twice is wrong, but some programs get away with it. */
    bool significant = r->collective != COLL_reduce || team->me == r->root;
    bool in_place = significant && (r->send.buffer == MPI_IN_PLACE || r->send.buffer == recv);
    struct call call = {.shape = *shape, .send = in_place ? recv : r->send.buffer, .recv = recv, .in_place = in_place};
    if (on_device(team, call.send, significant ? recv : NULL)) call.trouble = ON_DEVICE;
    bool left;
    int error = MPI_SUCCESS;
    size_t count = vector_count(r, team->p);
    if (elements.gaps) error = run_scratch(r, team, plan, &call, count, &elements, &left);
    else run_dense(r, team, plan, &call, count, elements.extent, &left);
    if (!left) return error;
    error = r->native(r);
    *plan = plan_left(team, shape);
    return error;
}

const struct family family_reduction = {.look = look, .agree = agree, .run = run};
