/* SPDX-License-Identifier: BSD-3-Clause */
/* ops - which operations mortar runs on which types: those that MPI 4.1 section 6.9.2 allows, and
 * others that the MPI library accepts, such as characters. All others are left to the library,
 * which reports the error. */
#include "mpi/held.h"

#include <pthread.h>

enum kind {
    C_INTEGER = 1,
    FORTRAN_INTEGER = 2,
    FLOATING = 4,
    LOGICAL = 8,
    COMPLEX = 16,
    BYTES = 32,
    MULTI = 64,
    PAIR = 128
};

/* The kind of a predefined type; 0: no predefined operation is defined for it. */
static unsigned ops_kind_of(MPI_Datatype type) {
    const struct {
        unsigned kind;
        MPI_Datatype types[24];
    } kinds[] = {
        {FLOATING,
         {MPI_DOUBLE, MPI_FLOAT, MPI_LONG_DOUBLE, MPI_DOUBLE_PRECISION, MPI_REAL, MPI_REAL4,
          MPI_REAL8}},
        {C_INTEGER,
         {MPI_INT, MPI_LONG, MPI_SHORT, MPI_UNSIGNED_SHORT, MPI_UNSIGNED, MPI_UNSIGNED_LONG,
          MPI_LONG_LONG_INT, MPI_UNSIGNED_LONG_LONG, MPI_SIGNED_CHAR, MPI_UNSIGNED_CHAR, MPI_INT8_T,
          MPI_INT16_T, MPI_INT32_T, MPI_INT64_T, MPI_UINT8_T, MPI_UINT16_T, MPI_UINT32_T,
          MPI_UINT64_T}},
        {FORTRAN_INTEGER, {MPI_INTEGER, MPI_INTEGER1, MPI_INTEGER2, MPI_INTEGER4, MPI_INTEGER8}},
        {COMPLEX,
         {MPI_C_DOUBLE_COMPLEX, MPI_C_FLOAT_COMPLEX, MPI_C_LONG_DOUBLE_COMPLEX, MPI_DOUBLE_COMPLEX,
          MPI_COMPLEX, MPI_COMPLEX8, MPI_COMPLEX16}},
        {LOGICAL, {MPI_LOGICAL, MPI_C_BOOL}},
        {BYTES, {MPI_BYTE}},
        {MULTI, {MPI_AINT, MPI_OFFSET, MPI_COUNT}},
        {PAIR,
         {MPI_DOUBLE_INT, MPI_2INT, MPI_FLOAT_INT, MPI_LONG_INT, MPI_SHORT_INT, MPI_LONG_DOUBLE_INT,
          MPI_2INTEGER, MPI_2REAL, MPI_2DOUBLE_PRECISION}},
    };
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (size_t i = 0; i < sizeof kinds[k].types / sizeof *kinds[k].types; i++)
            if (kinds[k].types[i] == type) return kinds[k].kind;
    return 0;
}

enum { USER = -1, NOBODYS = 0 };

/* The kinds of types that an operation is defined for. NOBODYS: not an operation for reductions;
 * USER: the user's own operation. */
static int kinds_for(MPI_Op op) {
    if (op == MPI_SUM || op == MPI_PROD)
        return C_INTEGER | FORTRAN_INTEGER | FLOATING | COMPLEX | MULTI;
    if (op == MPI_MAX || op == MPI_MIN) return C_INTEGER | FORTRAN_INTEGER | FLOATING | MULTI;
    if (op == MPI_LAND || op == MPI_LOR || op == MPI_LXOR) return C_INTEGER | LOGICAL;
    if (op == MPI_BAND || op == MPI_BOR || op == MPI_BXOR)
        return C_INTEGER | FORTRAN_INTEGER | BYTES | MULTI;
    if (op == MPI_MINLOC || op == MPI_MAXLOC) return PAIR;
    if (op == MPI_REPLACE || op == MPI_NO_OP) return NOBODYS;
    return is_made(op) ? USER : NOBODYS;
}

bool op_is_users(MPI_Op op) { return kinds_for(op) == USER; }

/* How often op_is_steady was asked for a program's own operations since one was freed. One that is
 * made for each call anew is never asked for so often: its end would make void what was remembered
 * of all calls. */
enum { often = 64 };
static _Atomic unsigned asked_since;

bool op_is_steady(MPI_Op op) {
    return !op_is_users(op) || atomic_fetch_add(&asked_since, 1) >= often;
}

/* The handle may come to mean another operation. */
int op_ends(MPI_Op *op) {
    if (atomic_exchange(&asked_since, 0) > often) atomic_fetch_add(&changes.calls, 1);
    return host.op_free(op);
}

int MPI_Op_free(MPI_Op *op) {
    if (!op || !held_op(*op)) return op_ends(op);
    *op = MPI_OP_NULL;
    return MPI_SUCCESS;
}

enum comparison comparison_of(MPI_Datatype type) {
    unsigned kind = ops_kind_of(type);
    if (kind & (FLOATING | COMPLEX)) return BY_VALUE;
    return kind ? BY_BYTES : NEVER;
}

bool type_is_complex(MPI_Datatype type) { return ops_kind_of(type) == COMPLEX; }

/* Fills size, extent, low, high, gaps and mingled. False: the type is invalid or empty. */
static bool ops_measure(MPI_Datatype type, struct elements *elements) {
    MPI_Count lb, extent, low, span;
    if (!type_bytes(type, &elements->size) || elements->size == 0) return false;
    if (PMPI_Type_get_extent_x(type, &lb, &extent) != MPI_SUCCESS) return false;
    if (PMPI_Type_get_true_extent_x(type, &low, &span) != MPI_SUCCESS) return false;
    elements->extent = (ptrdiff_t)extent;
    elements->low = (ptrdiff_t)low;
    elements->high = (ptrdiff_t)(low + span);
    elements->mingled = low < 0 || low + span > extent;
    elements->gaps = elements->mingled || (MPI_Count)elements->size != extent;
    return true;
}

/* Does the MPI library accept a pair that the standard does not allow? The test is an allreduce of
 * one element on a private communicator of this process, so an error reaches no user's handler. The
 * library is the same on all ranks, and so is the answer. */
static bool host_takes(MPI_Datatype type, MPI_Op op) {
    enum { asked_most = 16, room = 256 };
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static struct {
        MPI_Datatype type;
        MPI_Op op;
        bool takes;
    } asked[asked_most];
    static unsigned count;
    if (!is_type(type) || !type_is_predefined(type)) return false;
    pthread_mutex_lock(&lock);
    unsigned i = 0, known = count < asked_most ? count : asked_most;
    while (i < known && (asked[i].type != type || asked[i].op != op)) i++;
    if (i == known) {
        _Alignas(64) char in[room] = "", out[room] = "";
        i = count++ % asked_most;
        asked[i].type = type, asked[i].op = op;
        asked[i].takes = packer_comm() != MPI_COMM_NULL &&
                         host.allreduce(in, out, 1, type, op, packer_comm()) == MPI_SUCCESS;
    }
    bool takes = asked[i].takes;
    pthread_mutex_unlock(&lock);
    return takes;
}

static bool examine(MPI_Datatype type, int kinds, MPI_Op op, struct elements *elements) {
    if (kinds != USER && !(ops_kind_of(type) & (unsigned)kinds) && !host_takes(type, op))
        return false;
    const unsigned exact = C_INTEGER | FORTRAN_INTEGER | LOGICAL | BYTES | MULTI;
    elements->rounds = kinds == USER || !(ops_kind_of(type) & exact);
    /* A complex product may round one of its two products only; a comparison with NaN does not. */
    elements->swaps = op == MPI_SUM || (op == MPI_PROD && !type_is_complex(type));
    return ops_measure(type, elements);
}

HOT bool elements_of(MPI_Datatype type, MPI_Op op, struct elements *elements) {
    /* The last answer of this thread. Predefined types and operations are never freed, so it stays
     * true. */
    static _Thread_local struct {
        MPI_Datatype type;
        MPI_Op op;
        bool known;
        struct elements elements;
    } last;
    if (last.known && last.type == type && last.op == op) {
        *elements = last.elements;
        return true;
    }
    int kinds = is_type(type) ? kinds_for(op) : NOBODYS;
    if (kinds == NOBODYS || !examine(type, kinds, op, elements)) return false;
    if (kinds == USER) return true;
    last.type = type;
    last.op = op;
    last.elements = *elements;
    last.known = true;
    return true;
}
