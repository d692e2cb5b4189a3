/* SPDX-License-Identifier: BSD-3-Clause */
/* messages.c - point to point in the communicators of the collectives: what a program does between
 * its collectives. Each event has a tag of its own; where receivers take any tag, a barrier
 * follows, so that nobody's next message can be taken for this one's. */
#include <stdlib.h>
#include <string.h>
#include "field.h"

enum { SHIFT, FAN_IN, IN_FLIGHT, PERSISTENT_PAIR, PROBED, MATCHED, LATE, ANY_TAGS, WAYS };

static long length_of(long call, int source) {
    struct dice dice = {mix(mix(settings.seed, (uint64_t)call), (uint64_t)source + 1000)};
    int power = below(&dice, settings.largest < 16 ? settings.largest : 16);
    return chance(&dice, 10) ? 0 : draw_bytes(&dice, power);
}

static uint64_t key_of(const struct talk *talk, int source, int dest) {
    uint64_t comm = mix((uint64_t)talk->comm->number, (uint64_t)talk->comm->colour);
    return mix(mix(settings.seed, (uint64_t)talk->call) ^ comm,
               (uint64_t)source << 20 | (uint64_t)dest);
}

static char *letter(const struct talk *talk, int dest, long bytes) {
    char *memory = malloc((size_t)bytes + 1);
    contents(memory, (size_t)bytes, key_of(talk, talk->comm->me, dest));
    return memory;
}

static char *empty(long bytes) {
    char *memory = malloc((size_t)bytes + 1);
    memset(memory, 0x5a, (size_t)bytes + 1);
    return memory;
}

/* Frees what was received from source. */
static void look_at(const struct talk *talk, int source, char *memory, long bytes) {
    char *expected = malloc((size_t)bytes + 1);
    contents(expected, (size_t)bytes, key_of(talk, source, talk->comm->me));
    expected[bytes] = 0x5a;
    if (memcmp(expected, memory, (size_t)bytes + 1)) {
        long at = 0;
        while (expected[at] == memory[at]) at++;
        failed("message of way %d from %d to %d, %ld bytes: byte %ld is %d instead of %d",
               talk->way, source, talk->comm->me, bytes, at, (unsigned char)memory[at],
               (unsigned char)expected[at]);
    }
    free(expected);
    free(memory);
}

static void look_at_status(const struct talk *talk, const MPI_Status *status, int tag,
                           char *memory) {
    int bytes;
    MPI_Get_count(status, MPI_BYTE, &bytes);
    if (status->MPI_TAG != tag || bytes != length_of(talk->call, status->MPI_SOURCE))
        failed("message of way %d from %d: tag %d, %d bytes instead of tag %d, %ld bytes",
               talk->way, status->MPI_SOURCE, status->MPI_TAG, bytes, tag,
               length_of(talk->call, status->MPI_SOURCE));
    look_at(talk, status->MPI_SOURCE, memory, bytes);
}

/* All send to one, which takes them as they come. */
static void fan_in(struct talk *talk, int root, int tag, struct dice *own) {
    MPI_Comm comm = talk->comm->handle;
    int me = talk->comm->me;
    bool any_tag = talk->way == ANY_TAGS;
    if (me != root) {
        long bytes = length_of(talk->call, me);
        char *memory = letter(talk, root, bytes);
        if (chance(own, 40)) pause_for(own);
        MPI_Send(memory, (int)bytes, MPI_BYTE, root, tag, comm);
        free(memory);
    }
    for (int i = 1; me == root && i < talk->comm->size; i++) {
        MPI_Status status;
        MPI_Message message = MPI_MESSAGE_NULL;
        int bytes = 1 << 17;
        if (talk->way == PROBED) MPI_Probe(MPI_ANY_SOURCE, tag, comm, &status);
        if (talk->way == MATCHED) MPI_Mprobe(MPI_ANY_SOURCE, tag, comm, &message, &status);
        if (talk->way == PROBED || talk->way == MATCHED) MPI_Get_count(&status, MPI_BYTE, &bytes);
        char *memory = empty(bytes);
        if (talk->way == MATCHED) MPI_Mrecv(memory, bytes, MPI_BYTE, &message, &status);
        else
            MPI_Recv(memory, bytes, MPI_BYTE,
                     talk->way == PROBED ? status.MPI_SOURCE : MPI_ANY_SOURCE,
                     any_tag ? MPI_ANY_TAG : tag, comm, &status);
        look_at_status(talk, &status, tag, memory);
    }
    if (any_tag) MPI_Barrier(comm);
}

/* Every second rank waits for its neighbour, who comes later. */
static void late(struct talk *talk, int tag, struct dice *own) {
    int me = talk->comm->me, peer = me ^ 1;
    if (peer >= talk->comm->size) return;
    long bytes = length_of(talk->call, me & ~1);
    if (me & 1) {
        MPI_Status status;
        char *memory = empty(bytes);
        MPI_Recv(memory, (int)bytes, MPI_BYTE, peer, tag, talk->comm->handle, &status);
        look_at(talk, peer, memory, bytes);
    } else {
        char *memory = letter(talk, peer, bytes);
        pause_for(own);
        MPI_Send(memory, (int)bytes, MPI_BYTE, peer, tag, talk->comm->handle);
        free(memory);
    }
}

bool talk_start(struct talk *talk, struct comm *comm, long call) {
    *talk = (struct talk){.comm = comm, .call = call};
    struct dice dice = {mix(mix(settings.seed, (uint64_t)call), 2000)},
                own = {mix(roll(&dice), (uint64_t)comm->me)};
    int p = comm->size, me = comm->me, by = below(&dice, p), to = (me + by) % p,
        tag = 1 + (int)(call % 32000);
    talk->way = below(&dice, WAYS);
    at_work(call, "messages", comm, "");
    tally.messages++;
    if (talk->way == LATE) {
        late(talk, tag, &own);
        return false;
    }
    if (talk->way != SHIFT && talk->way != IN_FLIGHT && talk->way != PERSISTENT_PAIR) {
        fan_in(talk, below(&dice, p), tag, &own);
        return false;
    }
    talk->to = to, talk->from = (me + p - by) % p;
    talk->bytes = length_of(call, talk->from);
    talk->sent = letter(talk, to, length_of(call, me));
    talk->received = empty(talk->bytes);
    int bytes = (int)talk->bytes, out = (int)length_of(call, me);
    switch (talk->way) {
    case SHIFT:
        MPI_Sendrecv(talk->sent, out, MPI_BYTE, to, tag, talk->received, bytes, MPI_BYTE,
                     talk->from, tag, comm->handle, MPI_STATUS_IGNORE);
        talk_finish(talk);
        return false;
    case IN_FLIGHT:
        MPI_Irecv(talk->received, bytes, MPI_BYTE, talk->from, tag, comm->handle,
                  &talk->request[0]);
        MPI_Isend(talk->sent, out, MPI_BYTE, to, tag, comm->handle, &talk->request[1]);
        break;
    default:
        MPI_Recv_init(talk->received, bytes, MPI_BYTE, talk->from, tag, comm->handle,
                      &talk->request[0]);
        MPI_Send_init(talk->sent, out, MPI_BYTE, to, tag, comm->handle, &talk->request[1]);
        MPI_Startall(2, talk->request);
    }
    return true;
}

void talk_finish(struct talk *talk) {
    if (talk->way != SHIFT) {
        at_work(talk->call, "messages", talk->comm, "waiting for them");
        for (int i = 0; i < 2; i++) {
            MPI_Wait(&talk->request[i], MPI_STATUS_IGNORE);
            if (talk->request[i] != MPI_REQUEST_NULL) MPI_Request_free(&talk->request[i]);
        }
    }
    look_at(talk, talk->from, talk->received, talk->bytes);
    free(talk->sent);
}
