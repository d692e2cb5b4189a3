/* SPDX-License-Identifier: BSD-3-Clause */
/* exchange - the life of an alltoall or allgather call: facts of the types, team, plan, packing where needed, the algorithm. */
#include "mpi/calls.h"

#include <stdlib.h>

/* Set while this thread is inside mortar: an MPI library may implement one call by another. */
static _Thread_local bool inside;

HOT static void count(struct team *team, struct plan *plan, size_t bytes, double start) {
    plan->tally.calls++;
    plan->tally.bytes += bytes;
    if (start <= 0) return;
    double took = clock_seconds() - start;
    if (plan->timed) plan->timed_seconds = took;
    if (!report_wanted()) return;
    plan->tally.seconds += took;
    if (plan->algorithm->code->run) tally_waits(&plan->tally, team);
    waits_end(team);
}

/* How one side of a call lies in memory, and where mortar's algorithms find it as bytes. */
struct side {
    struct typed typed;
    void *user;
    int blocks;
    char *packed; /* scratch; NULL: the user's memory is used */
};

HOT static bool scratch(struct side *side, size_t bytes, bool always) {
    if (type_is_run(side->typed.type)) {
        if (!always) return true;
    } else if (!can_pack(&side->typed, side->user)) {
        return false;
    }
    side->packed = malloc(bytes);
    return side->packed != NULL;
}

/* The arguments are checked no further than mortar needs: what looks wrong goes to the host MPI, whose errors the user knows. */
HOT static bool block_bytes(const struct exchange *e, size_t *bytes) {
    size_t sent, received;
    if (e->recv == MPI_IN_PLACE || e->recv_count < 0 || !type_bytes(e->recv_type, &received)) return false;
    *bytes = received * (size_t)e->recv_count;
    if (!e->recv && *bytes > 0 && type_is_run(e->recv_type)) return false; /* else it is MPI_BOTTOM */
    if (e->send == MPI_IN_PLACE) return true;
    if (e->send_count < 0 || !type_bytes(e->send_type, &sent)) return false;
    if (!e->send && *bytes > 0 && type_is_run(e->send_type)) return false;
    return sent * (size_t)e->send_count == *bytes;
}

/* *plan becomes the plan that served the call in the end. */
HOT static int run(const struct exchange *e, struct team *team, struct plan **plan, size_t n) {
    const struct algorithm_code *code = (*plan)->algorithm->code;
    bool in_place = e->send == MPI_IN_PLACE;
    int all = team->p, mine = e->collective == COLL_alltoall ? all : 1;
    struct side recv = {{e->recv_type, e->recv_count}, e->recv, all, NULL};
    struct side send = {{e->send_type, e->send_count}, (void *)(uintptr_t)e->send, mine, NULL};
    if (in_place) send = recv, send.blocks = mine;
    if (in_place && mine == 1) send.user = (char *)e->recv + team->me * typed_step(&recv.typed);

    struct call call = {.shape = {e->collective, n}, .in_place = in_place};
    call.straight = plan_prefers_host(team, &call.shape);
    /* An alltoall in place: others would read what is being overwritten. */
    bool copy_first = in_place && mine > 1 && !code->copies_in;
    bool device = on_device(team, send.user, recv.user);
    bool fine = !device && scratch(&recv, n * (size_t)recv.blocks, false) && scratch(&send, n * (size_t)send.blocks, copy_first);
    if (fine && send.packed) {
        fine = move_blocks(&send.typed, send.user, send.blocks, send.packed, true) == 0;
        call.in_place = false;
    }
    call.send = send.packed ? send.packed : send.user;
    call.recv = recv.packed ? recv.packed : recv.user;
    call.trouble = device ? ON_DEVICE : fine ? 0 : NO_MEMORY;

    int error = MPI_SUCCESS;
    enum outcome outcome = code->run(team, &call, &(*plan)->arguments);
    struct plan *instead = outcome == STAGED || outcome == OUT_OF_REACH ? plan_detour(team, &call.shape) : NULL;
    if (outcome == OUT_OF_REACH && instead && instead->algorithm->code->run) { /* by another way, at once */
        *plan = instead;
        outcome = instead->algorithm->code->run(team, &call, &instead->arguments);
        instead = outcome == STAGED || outcome == OUT_OF_REACH ? plan_detour(team, &call.shape) : NULL;
    }
    if (outcome == LEFT || outcome == OUT_OF_REACH) {
        error = e->native(e);
        bool native = instead && !instead->algorithm->code->run;
        *plan = native ? instead : plan_left(team, &call.shape);
    } else if (recv.packed && move_blocks(&recv.typed, e->recv, all, recv.packed, false) != 0) {
        error = MPI_ERR_TYPE;
        PMPI_Comm_call_errhandler(e->comm, error);
    }
    free(send.packed);
    free(recv.packed);
    return error;
}

HOT static int dispatch(const struct exchange *e) {
    size_t n;
    if (!block_bytes(e, &n)) return e->native(e);
    struct team *team = team_of(e->comm);
    if (!team) return e->native(e);
    struct shape shape = {e->collective, n};
    struct plan *plan = plan_for(team, &shape);
    double start = plan->timed || report_wanted() ? clock_seconds() : 0;
    if (report_wanted()) waits_begin(team, start);
    int error = plan->algorithm->code->run ? run(e, team, &plan, n) : e->native(e);
    count(team, plan, n * (size_t)team->p, start);
    return error;
}

HOT int exchange(const struct exchange *e) {
    if (inside || e->comm == MPI_COMM_NULL) return e->native(e);
    inside = true;
    int error = dispatch(e);
    inside = false;
    return error;
}
