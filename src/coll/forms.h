/* SPDX-License-Identifier: BSD-3-Clause */
/* forms.h - the columns of collectives.h as C: the parameters of a function, and text that is only
 * for collectives with counts. N and D are the types of counts and displacements: int and int, or
 * MPI_Count and MPI_Aint in the forms with large counts. */
#ifndef MORTAR_FORMS_H
#define MORTAR_FORMS_H

/* FORM(what is sent, what is received, what follows, N, D): the list of parameters. Their names:
 * send or recv, the same with _count, _counts, _displs, _type, _types; op, root, comm. */
#define FORM(sent, received, more, N, D)                                                           \
    FORM_##sent(const void *send, send, N, D) FORM_##received(void *recv, recv, N, D)              \
        FORM_##more MPI_Comm comm
#define FORM_NO(buffer, x, N, D)
#define FORM_SAME(buffer, x, N, D)
#define FORM_BARE(buffer, x, N, D) buffer,
#define FORM_EQUAL(buffer, x, N, D) buffer, N x##_count, MPI_Datatype x##_type,
#define FORM_COUNTS(buffer, x, N, D) buffer, const N *x##_counts, MPI_Datatype x##_type,
#define FORM_VARY(buffer, x, N, D)                                                                 \
    buffer, const N *x##_counts, const D *x##_displs, MPI_Datatype x##_type,
#define FORM_EACH(buffer, x, N, D)                                                                 \
    buffer, const N *x##_counts, const D *x##_displs, const MPI_Datatype *x##_types,
#define FORM_FAR(buffer, x, N, D) FORM_EACH(buffer, x, N, MPI_Aint)
#define FORM_NONE
#define FORM_ROOT int root,
#define FORM_OP MPI_Op op,
#define FORM_OP_ROOT MPI_Op op, int root,

/* GIVE(what is sent, what is received, what follows, N): the arguments, in parentheses, from
 * variables of the caller: r->send and r->recv with the members buffer, count, counts, displs, type
 * and types; r->op, r->root, r->comm. */
#define GIVE_NO(half, buffer, N)
#define GIVE_SAME(half, buffer, N)
#define GIVE_BARE(half, buffer, N) buffer,
#define GIVE_EQUAL(half, buffer, N) buffer, (N)(half).count, (half).type,
#define GIVE_COUNTS(half, buffer, N) buffer, (half).counts, (half).type,
#define GIVE_VARY(half, buffer, N) buffer, (half).counts, (half).displs, (half).type,
#define GIVE_EACH(half, buffer, N) buffer, (half).counts, (half).displs, (half).types,
#define GIVE_FAR GIVE_EACH
#define GIVE_NONE
#define GIVE_ROOT r->root,
#define GIVE_OP r->op,
#define GIVE_OP_ROOT r->op, r->root,
#define GIVE(sent, received, more, N)                                                              \
    (GIVE_##sent(r->send, r->send.buffer, N)                                                       \
         GIVE_##received(r->recv, (void *)(uintptr_t)r->recv.buffer, N) GIVE_##more r->comm)

/* COUNTED(what is received, text): the text, for a collective that has a form with large counts. */
#define COUNTED(received, ...) COUNTED_##received(__VA_ARGS__)
#define COUNTED_NO(...)
#define COUNTED_EQUAL(...) __VA_ARGS__
#define COUNTED_COUNTS(...) __VA_ARGS__
#define COUNTED_VARY(...) __VA_ARGS__
#define COUNTED_EACH(...) __VA_ARGS__
#define COUNTED_FAR(...) __VA_ARGS__

#endif
