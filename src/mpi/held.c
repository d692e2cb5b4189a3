/* SPDX-License-Identifier: BSD-3-Clause */
/* held - MPI_Type_free, and what MPI_Op_free needs. A thread may free a type or an operation while
 * another one's collective uses it; that call completes normally (MPI 4.1 sections 2.5.1, 5.1.9).
 * The MPI library sees to it for calls that it runs. Of mortar's it does not know, so what they use
 * is freed when the last of them is over. */
#include "mpi/held.h"

#include "mpi/fresh.h"

#include <pthread.h>
#include <stdlib.h>

/* A call that runs. It is not on the stack, as an error handler may leave the call by longjmp. */
struct held {
    uint64_t number; /* in the order in which they began */
    const struct this_thread *thread;
    MPI_Datatype sent, received;
    MPI_Op op;
    bool lists; /* of types, any of which it may use */
    struct held *next;
};
static struct held *calls;
static uint64_t begun;
/* A type or an operation that the program has freed; the other one is NULL. */
struct ended {
    MPI_Datatype type;
    MPI_Op op;
    struct ended *next;
};
static struct ended *ended;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool uses(const struct held *call, const struct ended *one) {
    if (one->op != MPI_OP_NULL) return call->op == one->op;
    return call->lists || call->sent == one->type || call->received == one->type;
}

static bool is_held(const struct ended *one) {
    const struct held *call = calls;
    while (call && !uses(call, one)) call = call->next;
    return call != NULL;
}

/* Takes out of the list what no call uses any more. */
static struct ended *let_go(void) {
    struct ended *gone = NULL;
    for (struct ended **link = &ended; *link;) {
        struct ended *one = *link;
        if (is_held(one)) {
            link = &one->next;
            continue;
        }
        *link = one->next;
        one->next = gone;
        gone = one;
    }
    return gone;
}

/* This thread's calls from this number on are over: one, and those that were made in it and left
 * by longjmp. */
static void end_from(uint64_t number) {
    const struct this_thread *own = own_thread();
    pthread_mutex_lock(&lock);
    for (struct held **link = &calls; *link;) {
        struct held *call = *link;
        if (call->thread != own || call->number < number) {
            link = &call->next;
            continue;
        }
        *link = call->next;
        free(call);
    }
    struct ended *gone = let_go();
    pthread_mutex_unlock(&lock);
    for (struct ended *next; gone; gone = next) {
        next = gone->next;
        if (gone->op != MPI_OP_NULL) op_ends(&gone->op);
        else host.type_free(&gone->type);
        free(gone);
    }
}

/* Outside of mortar no call of this thread uses anything of mortar's: those that are known were
 * left, or the MPI library has refused them and is in the error handler. */
static void end_left(void) {
    if (!inside_now()) end_from(0);
}

static void held_end(const uint64_t *number) { end_from(*number); }

int held_run(const struct request *r, int (*go)(const struct request *)) {
    struct held *call = malloc(sizeof *call);
    if (!call) return go(r);
    *call = (struct held){.thread = own_thread(),
                          .sent = r->send.type,
                          .received = r->recv.type,
                          .op = r->op,
                          .lists = r->send.types || r->recv.types};
    end_left();
    pthread_mutex_lock(&lock);
    call->number = ++begun;
    call->next = calls;
    calls = call;
    pthread_mutex_unlock(&lock);
    __attribute__((cleanup(held_end))) uint64_t number = call->number; /* an exception ends it */
    return go(r);
}

/* True: it is freed when no call uses it any more. */
static bool wait_for_calls(struct ended what) {
    end_left();
    pthread_mutex_lock(&lock);
    struct ended *one = is_held(&what) ? malloc(sizeof *one) : NULL;
    if (one) {
        *one = (struct ended){what.type, what.op, ended};
        ended = one;
    }
    pthread_mutex_unlock(&lock);
    return one != NULL;
}

bool held_op(MPI_Op op) {
    return host.many_threads && op_is_users(op) &&
           wait_for_calls((struct ended){MPI_DATATYPE_NULL, op, NULL});
}

int MPI_Type_free(MPI_Datatype *type) {
    if (type) fresh_forgets(*type);
    if (!host.many_threads || !type || type_is_predefined(*type) ||
        !wait_for_calls((struct ended){*type, MPI_OP_NULL, NULL}))
        return host.type_free(type);
    *type = MPI_DATATYPE_NULL;
    return MPI_SUCCESS;
}
