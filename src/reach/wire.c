/* SPDX-License-Identifier: BSD-3-Clause */
/* wire - the host MPI as the carrier of messages, on the messenger, or on a communicator of the
 * team's own. */
#include "reach/host.h"

#include "reach/reach.h"
#include "reach/wire.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int (*wire_collective)(MPI_Comm comm, struct team *team, const struct call *call, void *tables);

/* A request: a send or a receive whose mishaps were not reported yet, or none. */
enum request_kind { SENT, RECEIVED, SETTLED };
enum { sink_bytes = 4096 };

/* Where a rank of the team receives: its rank in the communicator, and the first of its tags. */
struct address {
    int rank, tag;
};

struct state {
    MPI_Comm comm; /* the messenger, or */
    bool apart;    /* it is the team's own */
    int p, me;
    struct address *to; /* [p] */
    struct tags tags;   /* mine, on the messenger */
    /* Messages may come that nobody will receive: the tags are not used again. */
    bool spoiled;
    MPI_Request *requests; /* [room] */
    MPI_Status *statuses;  /* [room] */
    int *ready;            /* [room] the requests that PMPI_Testsome found done */
    int found;             /* how many of them were not returned yet; the last is next */
    char *kinds;           /* [room] of enum request_kind */
    int room, under_way;
    bool errors; /* the statuses of `ready` have errors */
    bool alone;  /* no other thread can make MPI calls meanwhile */
    struct traffic traffic;
    struct fate fate;
    /* Type of sink_bytes with extent 0: a receive of any length fits into the sink. */
    MPI_Datatype drain;
    char sink[sink_bytes];
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
    char *kinds = realloc(s->kinds, (size_t)room);
    if (kinds) s->kinds = kinds;
    if (!requests || !ready || !statuses || !kinds) return -ENOMEM;
    s->room = room;
    return 0;
}

static int wire_start(void *state, bool sends, int peer, void *data, size_t bytes, int tag,
                      int request) {
    struct state *s = state;
    int error = grow(s, request), rank = s->to[peer].rank;
    if (error) {
        s->spoiled = true;
        return error;
    }
    MPI_Request *at = &s->requests[request];
    tag += s->to[sends ? peer : s->me].tag;
    if (sends) error = PMPI_Isend(data, (int)bytes, MPI_BYTE, rank, tag, s->comm, at);
    else if (data) error = PMPI_Irecv(data, (int)bytes, MPI_BYTE, rank, tag, s->comm, at);
    else
        /* Not with less room than the message has: Open MPI 4 and 5 copying by CMA would write
         * all of it. */
        error = PMPI_Irecv(s->sink, (int)((bytes + sink_bytes - 1) / sink_bytes), s->drain, rank,
                           tag, s->comm, at);
    s->kinds[request] = sends ? SENT : RECEIVED;
    if (error != MPI_SUCCESS) s->spoiled = true;
    return error == MPI_SUCCESS ? 0 : -EIO;
}

/* ---- completion ---- */

static int error_class(int error) {
    int class = MPI_SUCCESS;
    if (error != MPI_SUCCESS) PMPI_Error_class(error, &class);
    return class;
}

/* The mishaps of a request that is done; 0 if asked again. */
static int wire_settle(struct state *s, int request, const MPI_Status *status, bool errors) {
    char kind = s->kinds[request];
    int class = errors ? error_class(status->MPI_ERROR) : MPI_SUCCESS, bytes = 0;
    s->kinds[request] = SETTLED;
    if (kind == SETTLED) return 0;
    if (class == MPI_ERR_TRUNCATE) return CAME_CUT;
    if (class != MPI_SUCCESS) s->spoiled = true;
    if (class != MPI_SUCCESS) return NOT_CARRIED;
    if (kind == SENT) return 0;
    if (PMPI_Get_count(status, MPI_BYTE, &bytes) != MPI_SUCCESS) return 0;
    return bytes == 0 ? CAME_EMPTY : 0;
}

struct test {
    struct state *state;
    int first, count, done, error, mishaps;
    bool over;
};

/* After an error MPI libraries differ in which requests they have finished, and in whether these
 * are set to MPI_REQUEST_NULL. So they are asked again until no request is left. */
static void settle_some(struct test *t, int error) {
    struct state *s = t->state;
    bool errors = error != MPI_SUCCESS;
    if (errors && error_class(error) != MPI_ERR_IN_STATUS) {
        t->mishaps |= NOT_CARRIED;
        t->over = true;
        return;
    }
    int open = 0;
    for (int i = 0; i < t->count; i++) {
        int class = errors ? error_class(s->statuses[i].MPI_ERROR) : MPI_SUCCESS;
        bool gone = s->requests[t->first + i] == MPI_REQUEST_NULL;
        open += !gone;
        if (class == MPI_ERR_PENDING || (class == MPI_SUCCESS && !gone)) continue;
        t->mishaps |= wire_settle(s, t->first + i, &s->statuses[i], errors);
    }
    t->over = t->done || open == 0 || t->mishaps & NOT_CARRIED;
}

#ifdef MORTAR_SIM
/* Simulated time passes only in blocking calls. SMPI's MPI_Waitall takes time quadratic in the
 * count, so many messages are waited for one by one; they arrive about in the order of their
 * starts. */
static bool all_done(void *state) {
    enum { many = 64 };
    struct test *t = state;
    MPI_Request *requests = t->state->requests + t->first;
    int error = MPI_SUCCESS;
    if (t->count <= many) error = PMPI_Waitall(t->count, requests, t->state->statuses);
    for (int i = 0; t->count > many && i < t->count && error == MPI_SUCCESS; i++)
        error = PMPI_Wait(&requests[i], &t->state->statuses[i]);
    t->done = 1;
    settle_some(t, error);
    return t->over;
}
static bool some_done(void *state) {
    struct test *t = state;
    t->error = PMPI_Waitsome(t->count, t->state->requests + t->first, &t->done, t->state->ready,
                             t->state->statuses);
    return true;
}
#else
/* For calls on several requests MPICH calls the error handler of MPI_COMM_WORLD or MPI_COMM_SELF,
 * whatever the requests' communicator is. These handlers are the program's and may end it. So both
 * are set to MPI_ERRORS_RETURN meanwhile, which costs 15 to 35 ns each. */
static bool hushes(const struct state *s) { return s->alone && !host.open_mpi; }
static void hush(const struct state *s, MPI_Errhandler users[2]) {
    const MPI_Comm comms[2] = {MPI_COMM_WORLD, MPI_COMM_SELF};
    for (int i = 0; i < 2 && hushes(s); i++) {
        PMPI_Comm_get_errhandler(comms[i], &users[i]);
        PMPI_Comm_set_errhandler(comms[i], host.errors_return);
    }
}
static void unhush(const struct state *s, MPI_Errhandler users[2]) {
    const MPI_Comm comms[2] = {MPI_COMM_WORLD, MPI_COMM_SELF};
    for (int i = 0; i < 2 && hushes(s); i++) {
        PMPI_Comm_set_errhandler(comms[i], users[i]);
        PMPI_Errhandler_free(&users[i]);
    }
}

static bool all_done(void *state) {
    struct test *t = state;
    MPI_Errhandler users[2];
    hush(t->state, users);
    int error = host.testall(t->count, t->state->requests + t->first, &t->done, t->state->statuses);
    unhush(t->state, users);
    if (t->done || error != MPI_SUCCESS) settle_some(t, error);
    return t->over;
}
static bool some_done(void *state) {
    struct test *t = state;
    MPI_Errhandler users[2];
    hush(t->state, users);
    t->error = host.testsome(t->count, t->state->requests + t->first, &t->done, t->state->ready,
                             t->state->statuses);
    unhush(t->state, users);
    return t->done != 0 || t->error != MPI_SUCCESS; /* MPI_UNDEFINED: none is left */
}
#endif

static int all(void *state, struct team *team, int first, int count) {
    struct test test = {.state = state, .first = first, .count = count};
    if (count > 0) wait_until(team, all_done, &test);
    return test.mishaps;
}

static int some(void *state, struct team *team, int first, int count, int *done) {
    struct state *s = state;
    *done = -1;
    for (;;) {
        if (s->found == 0 && count > 0) {
            struct test test = {.state = s, .first = first, .count = count};
            wait_until(team, some_done, &test);
            s->errors = test.error != MPI_SUCCESS;
            s->found = test.done == MPI_UNDEFINED ? 0 : test.done;
            if (s->errors && (s->found <= 0 || error_class(test.error) != MPI_ERR_IN_STATUS)) {
                s->found = 0;
                return NOT_CARRIED;
            }
        }
        if (s->found == 0) return 0;
        int k = --s->found, request = first + s->ready[k];
        if (s->kinds[request] == SETTLED) continue; /* reported again, after an error */
        *done = request;
        return wire_settle(s, request, &s->statuses[k], s->errors);
    }
}

/* Has a message come from this rank of the communicator? *source: who has sent it. */
static int wire_probe(const struct state *s, int rank, int tag, int *source) {
    MPI_Status status;
    int flag = 0, error = host.iprobe(rank, tag, s->comm, &flag, &status);
    *source = error == MPI_SUCCESS && flag ? status.MPI_SOURCE : MPI_PROC_NULL;
    return error;
}

static int wire_look(void *state, int tag) {
    const struct state *s = state;
    int source;
    tag += s->to[s->me].tag;
    /* A library that goes on without the dead (ULFM) finds no message from any source once a rank
     * of the communicator is dead, of another team perhaps. */
    bool each = wire_probe(s, MPI_ANY_SOURCE, tag, &source) != MPI_SUCCESS;
    if (!each && source == MPI_PROC_NULL) return -1;
    for (int r = 0; r < s->p; r++) {
        if (each) wire_probe(s, s->to[r].rank, tag, &source);
        if (source == s->to[r].rank) return r;
    }
    return -1;
}

/* ---- the host MPI's own collectives, on a communicator with just these ranks ---- */

struct native {
    MPI_Comm comm;
    _Alignas(64) char tables[]; /* for the counts of a call: wire_tables of each rank */
};

/* ranks: memory for p numbers. */
static int wire_gathers(const struct state *s, const struct team *team, int *ranks,
                        MPI_Comm *comm) {
    MPI_Group all, some;
    for (int r = 0; r < team->p; r++)
        ranks[r] = s->to[team->wire->ranks ? team->wire->ranks[r] : r].rank;
    PMPI_Comm_group(s->comm, &all);
    PMPI_Group_incl(all, team->p, ranks, &some);
    int error = host.comm_create_group(s->comm, some, TAG_MAKING, comm);
    PMPI_Group_free(&some);
    PMPI_Group_free(&all);
    if (error != MPI_SUCCESS) return -EIO;
    PMPI_Comm_set_errhandler(*comm, host.errors_return);
    return 0;
}

static int wire_prepare(void *state, struct team *team) {
    size_t tables = (wire_tables * (size_t)team->p + 63) / 64 * 64;
    if (team->wire->native) return 0;
    struct native *native = aligned_alloc(64, sizeof *native + tables);
    int error = -EBUSY;
    if (messages_agree(team, native && makes_alone())) {
        error = wire_gathers(state, team, (int *)(void *)native->tables, &native->comm);
        if (!messages_agree(team, !error) && !error) error = -EIO;
    }
    if (error) free(native);
    else team->wire->native = native;
    return error;
}

static int collective(void *state, struct team *team, const struct call *call) {
    (void)state;
    struct native *native = team->wire->native;
    return native && wire_collective ? wire_collective(native->comm, team, call, native->tables)
                                     : -ENOSYS;
}

static void free_lists(struct state *s) {
    free(s->to);
    free(s->requests);
    free(s->ready);
    free(s->statuses);
    free(s->kinds);
}

static void shut(void *state) {
    struct state *s = state;
    if (s->apart) host.comm_free(&s->comm);
    host.type_free(&s->drain);
    free_lists(s);
    if (s->spoiled) return; /* its tags stay taken */
    tags_give(&s->tags);
    free(s);
}

static const struct carrier mpi = {.start = wire_start,
                                   .some = some,
                                   .all = all,
                                   .look = wire_look,
                                   .collective = collective,
                                   .prepare = wire_prepare,
                                   .close = shut};

int wire_open(struct team *team, int tags) {
    struct wire *wire = calloc(1, sizeof *wire);
    struct state *s = calloc(1, sizeof *s);
    if (s) s->to = calloc((size_t)team->p, sizeof *s->to);
    /* More are in flight only if they are parts of very long messages. */
    if (!wire || !s || !s->to || grow(s, 2 * team->p) != 0) {
        if (s) free_lists(s);
        free(s);
        free(wire);
        return -ENOMEM;
    }
    MPI_Datatype piece;
    PMPI_Type_contiguous(sink_bytes, MPI_BYTE, &piece);
    PMPI_Type_create_resized(piece, 0, 0, &s->drain);
    PMPI_Type_commit(&s->drain);
    host.type_free(&piece);
    s->comm = messenger_comm();
    s->p = team->p, s->me = team->me;
    s->alone = !host.many_threads;
    tags_take(&s->tags, tags);
    *wire = (struct wire){.carrier = &mpi,
                          .state = s,
                          .under_way = &s->under_way,
                          .traffic = &s->traffic,
                          .fate = &s->fate};
    team->wire = wire;
    return 0;
}

static struct state *state_of(const struct team *team) { return team->wire->state; }

int wire_tag(const struct team *team) { return state_of(team)->tags.first; }

void wire_reaches(struct team *team, int rank, int world, int tag) {
    state_of(team)->to[rank] = (struct address){world, tag};
}

int wire_apart(struct team *team, MPI_Comm comm) {
    struct state *s = state_of(team);
    s->apart = comm_private(comm, &s->comm) == 0;
    for (int r = 0; r < team->p; r++) s->to[r] = (struct address){r, TAG_FIRST};
    return s->apart ? 0 : -EIO;
}

static void wire_frees(struct wire *wire) {
    struct native *native = wire->native;
    if (native) host.comm_free(&native->comm);
    free(native);
}

void wire_close(struct team *team) {
    if (!team->wire) return;
    struct state *s = state_of(team);
    if (team->failed || team->doubt.what || s->under_way > 0) s->spoiled = true;
    for (int l = 0; team->lanes && l < team->places->most; l++)
        if (team->lanes[l]) wire_frees(team->lanes[l]->wire);
    wire_frees(team->wire);
    team->wire->carrier->close(s);
    free(team->wire);
    team->wire = NULL;
}
