/* SPDX-License-Identifier: BSD-3-Clause */
/* reduction - the collectives that combine elements. Elements with gaps between their data are
 * combined in scratch memory, because the operation may write the gaps; only the data of the
 * results go to the user's buffer. Elements that mingle (struct elements) travel packed, and are
 * unpacked for the operation a strip at a time. */
#include "mpi/calls.h"

#include <stdlib.h>
#include <string.h>

enum { stack_bytes = 4096, strip_bytes = 16 << 10 };

size_t elements_sent(const struct request *r, int p) {
    if (r->collective == COLL_reduce_scatter_block) return (size_t)r->recv.count * (size_t)p;
    if (r->collective != COLL_reduce_scatter) return (size_t)r->recv.count;
    size_t all = 0;
    for (int i = 0; i < p; i++) all += (size_t)entry_of(r->recv.counts, entry_width(r), i);
    return all;
}

size_t elements_received(const struct request *r, int me) {
    if (r->collective == COLL_reduce && me != r->root) return 0;
    if (r->collective != COLL_reduce_scatter) return (size_t)r->recv.count;
    return (size_t)entry_of(r->recv.counts, entry_width(r), me);
}

HOT static void reduction_look(const struct request *r, const struct standing *at,
                               struct common *common) {
    struct elements elements;
    common->foreign = !elements_of(r->recv.type, r->op, &elements);
    if (common->foreign || (r->collective == COLL_reduce_scatter && !r->recv.counts)) return;
    common->rounds = elements.rounds && !(elements.swaps && (at->p == 1 || at->p == 2));
    size_t count =
        r->collective == COLL_reduce_scatter ? elements_sent(r, at->p) : (size_t)r->recv.count;
    common->bytes = count * elements.size;
}

HOT static bool commutes(MPI_Op op) {
    int yes = 0;
    return PMPI_Op_commutative(op, &yes) == MPI_SUCCESS && yes;
}

/* A non-commutative operation needs operands in rank order: the shape is `ordered` if the nodes do
 * not hold consecutive ranks. */
HOT static bool reduction_agree(const struct common *common, struct team *team,
                                struct shape *shape) {
    shape->ordered = team->places && !team->places->in_order && !commutes(common->op);
    if (common->collective == COLL_reduce_scatter)
        shape->bytes = (common->bytes + (size_t)team->p - 1) / (size_t)team->p;
    return true;
}

/* ---- the operation ---- */

/* In pieces, since PMPI_Reduce_local counts in int. */
HOT static void reduction_combine(const struct reduction *reduction, const char *in, char *inout,
                                  size_t count) {
    const struct operation *operation = reduction->state;
    charge_combine(count * reduction->bytes);
    for (size_t done = 0, now; done < count; done += now) {
        now = count - done < 1 << 30 ? count - done : 1 << 30;
        PMPI_Reduce_local(in + done * reduction->bytes, inout + done * reduction->bytes, (int)now,
                          operation->type, operation->op);
    }
}

/* Does the user allow results that depend on the order of arrival? */
HOT static bool any_order(const struct team *team, MPI_Op op) {
    return team->by_arrival && commutes(op);
}

/* ---- data of elements with gaps ---- */

/* Packs `count` elements of `size` bytes, or unpacks them. device: only the MPI library can read
 * the user's memory. */
static bool move_packed(MPI_Datatype type, char *user, size_t count, char *packed, size_t size,
                        bool pack, bool device) {
    const struct layout *layout = device ? NULL : layout_of(type);
    if (layout && pack) layout_pack(packed, user, layout, count);
    else if (layout) layout_unpack(user, layout, count, packed, count * size);
    if (layout) return true;
    struct typed typed = {type, (MPI_Count)count, false};
    if (!device) return move_blocks(&typed, user, 1, packed, pack) == 0;
    int position = 0, bytes = (int)(count * size);
    if (count * size > INT32_MAX) return false;
    return (pack ? PMPI_Pack(user, (int)count, type, packed, bytes, &position, MPI_COMM_SELF)
                 : PMPI_Unpack(packed, bytes, &position, user, (int)count, type, MPI_COMM_SELF)) ==
           MPI_SUCCESS;
}

static void combine_packed(const struct reduction *reduction, const char *in, char *inout,
                           size_t count) {
    const struct operation *operation = reduction->state;
    size_t bytes = reduction->bytes;
    charge_combine(count * bytes);
    for (size_t done = 0, now; done < count; done += now) {
        now = count - done < operation->strip ? count - done : operation->strip;
        char *left = (char *)(uintptr_t)in + done * bytes, *right = inout + done * bytes;
        move_packed(operation->type, operation->in, now, left, bytes, false, false);
        move_packed(operation->type, operation->inout, now, right, bytes, false, false);
        PMPI_Reduce_local(operation->in, operation->inout, (int)now, operation->type,
                          operation->op);
        move_packed(operation->type, operation->inout, now, right, bytes, true, false);
    }
}

/* Bytes from the first to the last byte of data of `count` elements. */
static size_t reduction_span_of(const struct elements *elements, size_t count) {
    ptrdiff_t far = elements->extent < 0 ? -elements->extent : elements->extent;
    return (size_t)(elements->high - elements->low) + (count - 1) * (size_t)far;
}

/* Two strips of memory, in which elements lie unpacked, with their gaps, for the operation alone.
 * False: no memory. */
static bool operation_unpacks(struct operation *operation, const struct elements *elements) {
    operation->strip = strip_bytes / elements->size + 1;
    size_t span = (reduction_span_of(elements, operation->strip) + 63) / 64 * 64;
    ptrdiff_t before =
        elements->extent < 0 ? (ptrdiff_t)(operation->strip - 1) * elements->extent : 0;
    operation->memory = malloc(2 * span);
    if (!operation->memory) return false;
    memset(operation->memory, 0, 2 * span);
    operation->in = operation->memory - before - elements->low;
    operation->inout = operation->in + span;
    return true;
}

/* ---- vectors in scratch memory ---- */

struct scratch {
    char *memory, *send, *recv, *packed;
};

static size_t line_up(size_t bytes) { return (bytes + 63) / 64 * 64; }

/* Memory for a vector (`sent` elements) and for the results (`received` elements), `extent` bytes
 * each, and for the longer of both packed, `size` bytes each. It lies in `stack` if that has
 * room. */
static bool scratch_get(struct scratch *scratch, char *stack, size_t sent, size_t received,
                        size_t extent, size_t size) {
    size_t send = line_up(sent * extent), recv = line_up(received * extent);
    size_t all = send + recv + (sent > received ? sent : received) * size;
    scratch->memory = all > stack_bytes ? malloc(all) : NULL;
    if (all > stack_bytes && !scratch->memory) return false;
    scratch->send = scratch->memory ? scratch->memory : stack;
    scratch->recv = scratch->send + send;
    scratch->packed = scratch->recv + recv;
    return true;
}

/* ---- the call ---- */

struct combining {
    struct elements elements;
    struct reduction reduction;
    struct operation operation;
    size_t received; /* elements */
    bool device;
};

/* Copies elements without their gaps, either side of which is in scratch. brings: the other one is
 * `from`. */
static bool copy_elements(const struct combining *task, const struct scratch *scratch, char *to,
                          char *from, size_t count, bool brings) {
    static const struct copier plain = {.kernel = KERNEL_plain};
    MPI_Datatype type = task->operation.type;
    size_t bytes = task->elements.size;
    const struct layout *layout = task->device ? NULL : layout_of(type);
    if (layout) layout_copy(to, layout, count, from, layout, count, &plain);
    if (layout) return true;
    return move_packed(type, from, count, scratch->packed, bytes, true, brings && task->device) &&
           move_packed(type, to, count, scratch->packed, bytes, false, !brings && task->device);
}

/* Copies the user's vector to scratch. */
static bool bring(const struct combining *task, const struct scratch *scratch, const char *user) {
    enum { least_page = 4096 };
    const struct elements *elements = &task->elements;
    size_t count = task->reduction.count;
    char *from = (char *)(uintptr_t)user;
    if (elements->mingled)
        return move_packed(task->operation.type, from, count, scratch->send, elements->size, true,
                           task->device);
    if (!task->device && elements->extent <= least_page) {
        /* Only from the first to the last byte of data: memory around them may not exist. In a gap
         * this short it does, since the data at either end have their pages. */
        memcpy(scratch->send + elements->low, user + elements->low,
               reduction_span_of(elements, count));
        return true;
    }
    return copy_elements(task, scratch, scratch->send, from, count, true);
}

/* Copies the results to the user's buffer, without their gaps. */
static bool bring_back(const struct combining *task, const struct scratch *scratch, char *user) {
    const struct elements *elements = &task->elements;
    size_t count = task->received;
    if (elements->mingled)
        return move_packed(task->operation.type, user, count, scratch->recv, elements->size, false,
                           task->device);
    return copy_elements(task, scratch, user, scratch->recv, count, false);
}

/* Does the algorithm give a rank no way to tell the others that it cannot take part? */
static bool is_silent(const struct algorithm_code *code) {
    return code->loose && code->where != BY_MESSAGES;
}

HOT static struct answer combined(bool fine) {
    if (fine) return returns(MPI_SUCCESS);
    return fails(blocks_cut ? MPI_ERR_TRUNCATE : MPI_ERR_OTHER);
}

static struct answer run_scratch(struct combining *task, struct team *team,
                                 const struct algorithm_code *code,
                                 const struct arguments *arguments, struct call *call, bool *left) {
    _Alignas(64) char stack[stack_bytes];
    struct scratch scratch = {0};
    struct call user = *call;
    const struct elements *elements = &task->elements;
    size_t count = task->reduction.count;
    bool fine =
        scratch_get(&scratch, stack, count, task->received, task->reduction.bytes, elements->size);
    if (fine && elements->mingled) fine = operation_unpacks(&task->operation, elements);
    if (fine && !call->trouble) fine = bring(task, &scratch, user.send);
    if (!fine) call->trouble |= NO_MEMORY;
    call->send = scratch.send;
    call->recv = scratch.recv;
    call->in_place = false;
    if (fine || !is_silent(code)) {
        enum outcome outcome = code->run(team, call, arguments);
        *left = outcome == LEFT;
        fine = *left || (outcome != FAILED &&
                         (task->received == 0 || bring_back(task, &scratch, user.recv)));
    }
    free(task->operation.memory);
    free(scratch.memory);
    return combined(fine);
}

HOT static struct answer run_straight(struct team *team, const struct algorithm_code *code,
                                      const struct arguments *arguments, const struct call *call,
                                      bool *left) {
    enum outcome outcome = code->run(team, call, arguments);
    *left = outcome == LEFT;
    return combined(outcome != FAILED);
}

/* Would the plan pass packed elements to the host MPI, which cannot combine them? The same on all
 * ranks. */
static bool too_foreign(const struct elements *elements, const struct plan *plan) {
    const struct routine *inner = plan->arguments.inner;
    return elements->mingled && inner && !inner->algorithm->code->run;
}

/* Could this rank run out of memory without a way to tell the others? The same on all ranks. */
static bool too_loose(const struct combining *task, const struct algorithm_code *code) {
    const struct elements *elements = &task->elements;
    size_t bytes = 2 * line_up(task->reduction.count * task->reduction.bytes) +
                   task->reduction.count * elements->size;
    return is_silent(code) && elements->gaps && (elements->mingled || bytes > stack_bytes);
}

/* Fills *task and *call, except that elements with gaps are still in the user's memory. */
HOT static void reduction_describe(const struct request *r, const struct team *team,
                                   struct reduction *reduction, struct operation *operation,
                                   const struct elements *elements, struct call *call) {
    *operation = (struct operation){.type = r->recv.type, .op = r->op};
    *reduction = (struct reduction){.combine = reduction_combine,
                                    .state = operation,
                                    .bytes = (size_t)elements->extent,
                                    .count = elements_sent(r, team->p),
                                    .commutes = team->figures.domains > 1 && commutes(r->op),
                                    .any_order = any_order(team, r->op),
                                    .counts = r->recv.counts,
                                    .count_width = entry_width(r)};
    if (elements->mingled) {
        reduction->combine = combine_packed;
        reduction->bytes = elements->size;
    }
    char *recv = (char *)(uintptr_t)r->recv.buffer;
    bool root = r->collective != COLL_reduce || team->me == r->root;
    /* The same buffer on both sides is an error, but some programs do it and MPI libraries let
     * them. */
    call->in_place = root && (r->send.buffer == MPI_IN_PLACE || r->send.buffer == recv);
    call->send = call->in_place ? recv : r->send.buffer;
    call->recv = recv;
    call->root = r->root;
    call->reduction = reduction;
}

static struct answer reduction_left(const struct request *r, struct team *team, struct plan **plan,
                                    const struct shape *shape) {
    struct answer answer = returns(r->native(r));
    *plan = plan_left(team, shape);
    return answer;
}

HOT static struct answer reduction_run(const struct request *r, struct team *team,
                                       struct plan **plan, const struct shape *shape) {
    struct combining task;
    struct call call = {.shape = *shape};
    const struct elements *elements = &task.elements;
    elements_of(r->recv.type, r->op, &task.elements);
    reduction_describe(r, team, &task.reduction, &task.operation, elements, &call);
    task.received = part_received(team, &call, team->me).count;
    bool root = r->collective != COLL_reduce || team->me == r->root;
    task.device = on_device(team, call.send, root ? call.recv : NULL);
    const struct algorithm_code *code = (*plan)->algorithm->code;
    const struct arguments *arguments = &(*plan)->arguments;
    if (code->strict && too_loose(&task, code)) code = code->strict;
    bool near = code->where == ON_NODE;
    if (task.device && near && !code->loose) call.trouble = ON_DEVICE;
    bool left = too_loose(&task, code) || (!near && too_foreign(elements, *plan));
    blocks_cut = false;
    struct answer answer = {0};
    if (!left && (elements->gaps || task.device))
        answer = run_scratch(&task, team, code, arguments, &call, &left);
    else if (!left) answer = run_straight(team, code, arguments, &call, &left);
    return left ? reduction_left(r, team, plan, shape) : answer;
}

static struct answer reduction_end(const struct request *r, struct team *team, struct plan **plan,
                                   const struct call *call, enum outcome outcome) {
    if (outcome == LEFT) return reduction_left(r, team, plan, &call->shape);
    return combined(outcome != FAILED);
}

static bool reduction_prepare(const struct request *r, struct team *team, struct ready *ready) {
    struct elements elements;
    if (!elements_of(r->recv.type, r->op, &elements) || elements.gaps) return false;
    reduction_describe(r, team, &ready->reduction, &ready->operation, &elements, &ready->call);
    return true;
}

const struct family family_reduction = {.look = reduction_look,
                                        .agree = reduction_agree,
                                        .run = reduction_run,
                                        .prepare = reduction_prepare,
                                        .end = reduction_end};
