/* SPDX-License-Identifier: BSD-3-Clause */
/* oracle - what a call that moves blocks must do: each block is a message, as the standard defines
 * the collectives (MPI 4.1 chapters 6 and 8). */
#include "driver.h"

#include <stdlib.h>

void blocks_by_messages(const struct ready *c, const char *send, char *recv) {
    /* In place: where the contributions lie. */
    const struct side *from = c->send.used ? &c->send : &c->recv;
    int count = 0;
    MPI_Request *requests = malloc((size_t)(c->to_count + c->from_count + 1) * sizeof *requests);
    MPI_Status *statuses = malloc((size_t)(c->to_count + c->from_count + 1) * sizeof *statuses);
    for (int i = 0; i < c->from_count && c->recv.used; i++) {
        const struct match *m = &c->from[i];
        const struct spot *spot = &c->recv.spots[m->block];
        MPI_Irecv(recv + spot->at, spot->count, spot->type, m->peer, m->tag, c->comm,
                  &requests[count++]);
    }
    for (int i = 0; i < c->to_count; i++) {
        const struct match *m = &c->to[i];
        const struct spot *spot = &from->spots[m->block];
        MPI_Isend(send + spot->at, spot->count, spot->type, m->peer, m->tag, c->comm,
                  &requests[count++]);
    }
    MPI_Waitall(count, requests, statuses);
    free(requests);
    free(statuses);
}
