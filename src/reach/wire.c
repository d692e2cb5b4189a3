/* SPDX-License-Identifier: BSD-3-Clause */
/* wire - the carrier of messages that the host MPI is: a private communicator with the ranks of the team. */
#include "reach/host.h"

#include "reach/reach.h"
#include "reach/wire.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int (*wire_collective)(MPI_Comm comm, struct team *team, const struct call *call);

struct state {
    MPI_Comm comm;
    MPI_Request *requests; /* [room] */
    MPI_Status *statuses;  /* [room]; wanted by the MPI library only */
    int *ready;            /* [room] those that PMPI_Testsome found, */
    int found;             /* and their number, from the end of which they are handed out */
    int room, under_way;
    struct traffic traffic;
};

static int grow(struct state *s, int request) {
    if (request < s->room) return 0;
    int room = s->room ? s->room : 64;
    while (room <= request) room *= 2;
    MPI_Request *requests = realloc(s->requests, (size_t)room * sizeof *requests);
    if (requests) s->requests = requests;
    int *ready = realloc(s->ready, (size_t)room * sizeof *ready);
    if (ready) s->ready = ready;
    MPI_Status *statuses = realloc(s->statuses, (size_t)room * sizeof *statuses);
    if (statuses) s->statuses = statuses;
    if (!requests || !ready || !statuses) return -ENOMEM;
    s->room = room;
    return 0;
}

static int start(void *state, bool sends, int peer, void *data, size_t bytes, int tag, int request) {
    struct state *s = state;
    int error = grow(s, request);
    if (error) return error;
    MPI_Request *at = &s->requests[request];
    error = sends ? PMPI_Isend(data, (int)bytes, MPI_BYTE, peer, tag, s->comm, at)
                  : PMPI_Irecv(data, (int)bytes, MPI_BYTE, peer, tag, s->comm, at);
    return error == MPI_SUCCESS ? 0 : -EIO;
}

struct test {
    struct state *state;
    int first, count, done, error;
};

#ifdef MORTAR_SIM
/* Simulated time passes only in calls that block. SMPI's MPI_Waitall costs the square of the count; many messages, whose order of
 * arrival is about that of starting them, are waited for one by one. */
static bool all_done(void *state) {
    enum { many = 64 };
    struct test *t = state;
    MPI_Request *requests = t->state->requests + t->first;
    if (t->count <= many) t->error = PMPI_Waitall(t->count, requests, t->state->statuses);
    for (int i = 0; t->count > many && i < t->count && t->error == MPI_SUCCESS; i++)
        t->error = PMPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    return true;
}
static bool some_done(void *state) {
    struct test *t = state;
    t->error = PMPI_Waitsome(t->count, t->state->requests + t->first, &t->done, t->state->ready, t->state->statuses);
    return true;
}
#else
static bool all_done(void *state) {
    struct test *t = state;
    t->error = PMPI_Testall(t->count, t->state->requests + t->first, &t->done, t->state->statuses);
    return t->done || t->error != MPI_SUCCESS;
}
static bool some_done(void *state) {
    struct test *t = state;
    t->error = PMPI_Testsome(t->count, t->state->requests + t->first, &t->done, t->state->ready, t->state->statuses);
    return t->done != 0 || t->error != MPI_SUCCESS; /* MPI_UNDEFINED: none is left */
}
#endif

static int all(void *state, struct team *team, int first, int count) {
    struct test test = {.state = state, .first = first, .count = count};
    if (count > 0) wait_until(team, all_done, &test);
    return test.error == MPI_SUCCESS ? 0 : -EIO;
}

static int some(void *state, struct team *team, int first, int count, int *done) {
    struct state *s = state;
    *done = -1;
    if (s->found == 0 && count > 0) {
        struct test test = {.state = s, .first = first, .count = count};
        wait_until(team, some_done, &test);
        if (test.error != MPI_SUCCESS) return -EIO;
        s->found = test.done == MPI_UNDEFINED ? 0 : test.done;
    }
    if (s->found > 0) *done = first + s->ready[--s->found];
    return 0;
}

static int look(void *state, int tag) {
    struct state *s = state;
    MPI_Status status;
    int flag = 0;
    if (PMPI_Iprobe(MPI_ANY_SOURCE, tag, s->comm, &flag, &status) != MPI_SUCCESS || !flag) return -1;
    return status.MPI_SOURCE;
}

/* ---- the host MPI's own collectives, on a communicator with just these ranks ---- */

struct native {
    MPI_Comm comm;
};

static int prepare(void *state, struct team *team) {
    struct state *s = state;
    struct native *native = calloc(1, sizeof *native);
    MPI_Group all = MPI_GROUP_NULL, some = MPI_GROUP_NULL;
    int error = native ? 0 : -ENOMEM;
    if (team->wire->native) {
        free(native);
        return 0;
    }
    if (!error && !team->wire->ranks) native->comm = s->comm;
    if (!error && team->wire->ranks) {
        PMPI_Comm_group(s->comm, &all);
        PMPI_Group_incl(all, team->p, team->wire->ranks, &some);
        if (PMPI_Comm_create_group(s->comm, some, team->wire->tag, &native->comm) != MPI_SUCCESS) error = -EIO;
        else PMPI_Comm_set_errhandler(native->comm, MPI_ERRORS_RETURN);
        PMPI_Group_free(&some);
        PMPI_Group_free(&all);
    }
    bool fine = messages_agree(team, !error);
    if (fine) team->wire->native = native;
    else free(native);
    return fine ? 0 : error ? error : -EIO;
}

static int collective(void *state, struct team *team, const struct call *call) {
    (void)state;
    const struct native *native = team->wire->native;
    return native && wire_collective ? wire_collective(native->comm, team, call) : -ENOSYS;
}

static void shut(void *state) {
    struct state *s = state;
    if (s->comm != MPI_COMM_NULL) host.comm_free(&s->comm);
    free(s->requests);
    free(s->ready);
    free(s->statuses);
    free(s);
}

static const struct carrier mpi = {
    .start = start, .some = some, .all = all, .look = look, .collective = collective, .prepare = prepare, .close = shut};

int wire_open(struct team *team, MPI_Comm comm) {
    struct wire *wire = calloc(1, sizeof *wire);
    struct state *s = calloc(1, sizeof *s);
    MPI_Comm own;
    int error = comm_private(comm, &own);
    if (error || !wire || !s) {
        if (!error) host.comm_free(&own);
        free(wire);
        free(s);
        return error ? error : -ENOMEM;
    }
    s->comm = own;
    *wire = (struct wire){.carrier = &mpi, .state = s, .under_way = &s->under_way, .traffic = &s->traffic};
    team->wire = wire;
    return 0;
}

void wire_close(struct team *team) {
    if (!team->wire) return;
    for (int l = 0; team->lanes && l < team->places->most; l++) {
        struct native *native = team->lanes[l] ? team->lanes[l]->wire->native : NULL;
        if (native) host.comm_free(&native->comm);
        free(native);
    }
    free(team->wire->native);
    team->wire->carrier->close(team->wire->state);
    free(team->wire);
    team->wire = NULL;
}
