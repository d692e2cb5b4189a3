/* SPDX-License-Identifier: BSD-3-Clause */
/* held - MPI_Type_free. A thread may free a type while another one's collective uses it; that call
 * completes normally (MPI 4.1 section 5.1.9). The MPI library sees to it for calls that it runs. Of
 * mortar's it does not know, so a type of theirs is freed when the last of them is over. */
#include "mpi/held.h"

#include "mpi/fresh.h"

#include <pthread.h>
#include <stdlib.h>

/* A call that runs. It is not on the stack: an error handler may leave the call by longjmp. Then
 * its types are never freed. */
struct held {
    MPI_Datatype sent, received;
    bool lists; /* of types, any of which it may use */
    struct held *next, **link;
};
static struct held *calls;
/* A type that the program has freed. */
struct ended {
    MPI_Datatype type;
    struct ended *next;
};
static struct ended *ended;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool is_held(MPI_Datatype type) {
    const struct held *call = calls;
    while (call && !call->lists && call->sent != type && call->received != type) call = call->next;
    return call != NULL;
}

/* Takes the types out of the list that no call uses any more. */
static struct ended *let_go(void) {
    struct ended *gone = NULL;
    for (struct ended **link = &ended; *link;) {
        struct ended *one = *link;
        if (is_held(one->type)) {
            link = &one->next;
            continue;
        }
        *link = one->next;
        one->next = gone;
        gone = one;
    }
    return gone;
}

int held_run(const struct request *r, int (*go)(const struct request *)) {
    struct held *call = malloc(sizeof *call);
    if (!call) return go(r);
    *call = (struct held){.sent = r->send.type,
                          .received = r->recv.type,
                          .lists = r->send.types || r->recv.types,
                          .link = &calls};
    pthread_mutex_lock(&lock);
    call->next = calls;
    if (calls) calls->link = &call->next;
    calls = call;
    pthread_mutex_unlock(&lock);
    int error = go(r);
    pthread_mutex_lock(&lock);
    *call->link = call->next;
    if (call->next) call->next->link = call->link;
    struct ended *gone = let_go();
    pthread_mutex_unlock(&lock);
    free(call);
    for (struct ended *next; gone; gone = next) {
        next = gone->next;
        host.type_free(&gone->type);
        free(gone);
    }
    return error;
}

/* True: the type is freed when no call uses it any more. */
static bool wait_for_calls(MPI_Datatype type) {
    if (type_is_predefined(type)) return false;
    pthread_mutex_lock(&lock);
    struct ended *one = is_held(type) ? malloc(sizeof *one) : NULL;
    if (one) {
        *one = (struct ended){type, ended};
        ended = one;
    }
    pthread_mutex_unlock(&lock);
    return one != NULL;
}

int MPI_Type_free(MPI_Datatype *type) {
    if (type) fresh_forgets(*type);
    if (!host.many_threads || !type || !wait_for_calls(*type)) return host.type_free(type);
    *type = MPI_DATATYPE_NULL;
    return MPI_SUCCESS;
}
