/* SPDX-License-Identifier: BSD-3-Clause */
/* trial - one call through mortar, and the same once more by the host MPI's own messages, as the standard defines the collectives;
 * a call that is left to the host, by the host's own collective. (That one is no judge of the others: with derived types Open
 * MPI 4.1, MPICH 4.0 and Intel MPI get some wrong.) Every byte of the receive buffer is compared, with its gaps and guards, and
 * the send buffer must be as it was. */
#define _GNU_SOURCE
#include "driver.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef int function(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm);

char trial_text[512];
const char *const collective_names[COLLECTIVES] = {"alltoall", "allgather"};
static function *hosts[COLLECTIVES];

void host_find(void) {
    Dl_info where;
    void *library = NULL;
    if (dladdr((void *)(uintptr_t)PMPI_Comm_rank, &where)) library = dlopen(where.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (library) {
        hosts[ALLTOALL] = (function *)dlsym(library, "PMPI_Alltoall");
        hosts[ALLGATHER] = (function *)dlsym(library, "PMPI_Allgather");
    }
    if (!hosts[ALLTOALL] || !hosts[ALLGATHER]) {
        fprintf(stderr, "driver: the MPI library's own functions are not found\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static void call(const struct trial *t, const void *send, void *recv) {
    const struct side *s = &t->send, *r = &t->recv;
    MPI_Comm comm = t->place->comm;
#if MPI_VERSION >= 4
    if (t->large) {
        if (t->collective == ALLTOALL) MPI_Alltoall_c(send, s->count, s->type, recv, r->count, r->type, comm);
        else MPI_Allgather_c(send, s->count, s->type, recv, r->count, r->type, comm);
        return;
    }
#endif
    if (t->collective == ALLTOALL) MPI_Alltoall(send, s->count, s->type, recv, r->count, r->type, comm);
    else MPI_Allgather(send, s->count, s->type, recv, r->count, r->type, comm);
}

static void host_call(const struct trial *t, const void *send, void *recv) {
    const struct side *s = &t->send, *r = &t->recv;
    hosts[t->collective](send, s->count, s->type, recv, r->count, r->type, t->place->comm);
}

/* The definition of both collectives (MPI 4.1 sections 6.7 and 6.8). */
static void by_messages(const struct trial *t, const char *send, char *recv) {
    const struct place *place = t->place;
    MPI_Aint lb, sent, received;
    MPI_Type_get_extent(t->send.type, &lb, &sent);
    MPI_Type_get_extent(t->recv.type, &lb, &received);
    MPI_Request *requests = malloc(2 * (size_t)place->p * sizeof *requests);
    MPI_Status *statuses = malloc(2 * (size_t)place->p * sizeof *statuses);
    for (int k = 0; k < place->p && requests && statuses; k++) {
        int i = (place->me + k) % place->p, j = (place->me + place->p - k) % place->p;
        int block = t->collective == ALLTOALL ? j : t->in_place ? place->me : 0;
        MPI_Irecv(recv + i * t->recv.count * received, t->recv.count, t->recv.type, i, 6, place->comm, &requests[2 * k]);
        MPI_Isend(send + block * t->send.count * sent, t->send.count, t->send.type, j, 6, place->comm, &requests[2 * k + 1]);
    }
    MPI_Waitall(2 * place->p, requests, statuses);
    free(requests);
    free(statuses);
}

/* Something else that is under way in the same communicator while the collective runs. */
struct disturbance {
    MPI_Request requests[2];
    int count;
    char *out, *in;
    size_t bytes;
};

static void disturb(struct disturbance *d, const struct trial *t) {
    const struct place *place = t->place;
    *d = (struct disturbance){.bytes = 70000};
    if (t->disturb == 1) { /* long enough to need this rank's help */
        d->out = malloc(d->bytes), d->in = malloc(d->bytes);
        fill(d->out, d->bytes, t->seed + (uint64_t)place->me);
        int left = (place->me + place->p - 1) % place->p, right = (place->me + 1) % place->p;
        MPI_Irecv(d->in, (int)d->bytes, MPI_BYTE, right, 5, place->comm, &d->requests[d->count++]);
        MPI_Isend(d->out, (int)d->bytes, MPI_BYTE, left, 5, place->comm, &d->requests[d->count++]);
    }
    if (t->disturb == 2) MPI_Ibarrier(place->comm, &d->requests[d->count++]);
    struct random random = {t->seed ^ (uint64_t)place->me << 32};
    if (t->disturb == 3 && below(&random, 2)) usleep((useconds_t)below(&random, 3000));
}

static bool disturbed(struct disturbance *d, const struct trial *t) {
    MPI_Status statuses[2];
    MPI_Waitall(d->count, d->requests, statuses);
    if (!d->in) return true;
    fill(d->out, d->bytes, t->seed + (uint64_t)((t->place->me + 1) % t->place->p));
    bool fine = memcmp(d->in, d->out, d->bytes) == 0;
    if (!fine) fprintf(stderr, "FAILED rank %d: a message beside the collective is wrong: %s\n", t->place->me, trial_text);
    free(d->in);
    free(d->out);
    return fine;
}

static bool same(const struct trial *t, const char *what, const struct buffer *buffer, const char *expected) {
    if (memcmp(buffer->memory, expected, buffer->bytes) == 0) return true;
    size_t at = 0, wrong = 0;
    while (buffer->memory[at] == expected[at]) at++;
    for (size_t i = at; i < buffer->bytes; i++) wrong += buffer->memory[i] != expected[i];
    fprintf(stderr, "FAILED rank %d of %d: %s: %zu bytes of %zu wrong, the first at buffer%+ld (buffer kind %d): %s\n",
            t->place->me, t->place->p, what, wrong, buffer->bytes, (long)(buffer->memory + at - buffer->base), (int)buffer->kind,
            trial_text);
    return false;
}

static enum kind kind_of(const struct trial *t, struct random *local) {
    if (t->buffers == 0) return KIND_heap;
    return t->buffers == 1 ? (enum kind)(1 + below(local, KINDS - 1)) : (enum kind)below(local, KINDS);
}

/* The call has returned, so nobody may look at or write to my buffers any more: both get other contents at once. Behind the copy
 * of the send buffer is what the receive buffer is left with; what it got goes to `got`. */
static bool after_call(const struct trial *t, struct buffer *send, struct buffer *recv, char *send_copy, char *got) {
    char *left = send_copy + send->bytes;
    memcpy(got, recv->memory, recv->bytes);
    bool fine = same(t, "send buffer", send, send_copy);
    memset(send->memory, 0x55, send->bytes);
    fill(recv->memory, recv->bytes, t->seed * 3);
    fill(left, recv->bytes, t->seed * 3);
    if (t->disturb == 4) usleep(300); /* time for a straggler */
    memcpy(send->memory, send_copy, send->bytes);
    return fine;
}

bool trial_run(const struct trial *t) {
    struct random local = {t->seed * 31 + (uint64_t)t->place->me + 1};
    int p = t->place->p, sent = t->collective == ALLTOALL ? p : 1;
    int offset = t->recv.layout->family == 0 ? below(&local, 8) : 8 * below(&local, 2);
    struct buffer send, recv;
    if (!buffer_make(&send, kind_of(t, &local), &t->send, t->in_place ? p : sent, offset, false)) return false;
    if (!buffer_make(&recv, kind_of(t, &local), &t->recv, p, offset, true)) return false;
    fill(recv.memory, recv.bytes, t->seed * 7 + (uint64_t)t->place->me);
    if (t->in_place) memcpy(send.memory, recv.memory, recv.bytes);
    else fill(send.memory, send.bytes, t->seed * 5 + (uint64_t)t->place->me);
    char *send_copy = malloc(send.bytes + recv.bytes), *expected = malloc(recv.bytes), *got = malloc(recv.bytes);
    if (!send_copy || !expected || !got) return false;
    memcpy(send_copy, send.memory, send.bytes);
    memcpy(expected, recv.memory, recv.bytes);

    struct disturbance disturbance;
    disturb(&disturbance, t);
    bool fine = same(t, "receive buffer before the call", &recv, expected);
    call(t, t->in_place ? MPI_IN_PLACE : send.base, recv.base);
    fine = after_call(t, &send, &recv, send_copy, got) && fine;
    fine = disturbed(&disturbance, t) && fine;

    char *to = expected + (recv.base - recv.memory);
    if (t->native) host_call(t, t->in_place ? MPI_IN_PLACE : send.base, to);
    else by_messages(t, send.base, to);
    fine = same(t, "receive buffer after the call", &recv, send_copy + send.bytes) && fine;
    memcpy(recv.memory, got, recv.bytes);
    fine = same(t, "receive buffer", &recv, expected) && fine;
    free(send_copy);
    free(expected);
    free(got);
    buffer_free(&send);
    buffer_free(&recv);
    return fine;
}
