/* SPDX-License-Identifier: BSD-3-Clause */
/* types - facts about datatypes, and packing. A type that is not one run of bytes is packed with the host's own PMPI_Pack, so that
 * any type works and no gap byte is touched. */
#include "mpi/calls.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

HOT bool type_bytes(MPI_Datatype type, size_t *bytes) {
    MPI_Count size;
    if (type == MPI_BYTE || type == MPI_CHAR) return *bytes = 1, true;
    if (type == MPI_INT || type == MPI_FLOAT) return *bytes = 4, true;
    if (type == MPI_DOUBLE) return *bytes = 8, true;
    if (type == MPI_DATATYPE_NULL || PMPI_Type_size_x(type, &size) != MPI_SUCCESS || size < 0) return false;
    *bytes = (size_t)size;
    return true;
}

static bool has_no_gap(MPI_Datatype type, MPI_Count size) {
    MPI_Count lb, extent;
    return PMPI_Type_get_extent_x(type, &lb, &extent) == MPI_SUCCESS && lb == 0 && extent == size;
}

/* A run of bytes may still be out of order (an indexed type that swaps two integers), so the way the type was made decides; what
 * is not known to be in order counts as scattered. */
static bool run_by_construction(MPI_Datatype type) {
    int ints = 0, addresses = 0, types = 0, combiner;
    MPI_Count size;
    if (PMPI_Type_size_x(type, &size) != MPI_SUCCESS || !has_no_gap(type, size)) return false;
#if MPI_VERSION >= 4
    MPI_Count n_ints, n_addresses, n_counts, n_types;
    if (PMPI_Type_get_envelope_c(type, &n_ints, &n_addresses, &n_counts, &n_types, &combiner) != MPI_SUCCESS) return false;
    if (n_counts > 0 || n_ints > 16) return false; /* made with large counts: not taken apart */
    ints = (int)n_ints, addresses = (int)n_addresses, types = (int)n_types;
#else
    if (PMPI_Type_get_envelope(type, &ints, &addresses, &types, &combiner) != MPI_SUCCESS) return false;
#endif
    if (combiner == MPI_COMBINER_NAMED) return true;
    if (combiner != MPI_COMBINER_CONTIGUOUS && combiner != MPI_COMBINER_DUP && combiner != MPI_COMBINER_RESIZED) return false;
    int int_values[16];
    MPI_Aint address_values[16];
    MPI_Datatype inner;
    if (ints > 16 || addresses > 16 || types != 1) return false;
    if (PMPI_Type_get_contents(type, ints, addresses, types, int_values, address_values, &inner) != MPI_SUCCESS) return false;
    bool run = run_by_construction(inner);
    int inner_ints, inner_addresses, inner_types, inner_combiner = MPI_COMBINER_NAMED;
    PMPI_Type_get_envelope(inner, &inner_ints, &inner_addresses, &inner_types, &inner_combiner);
    if (inner_combiner != MPI_COMBINER_NAMED) PMPI_Type_free(&inner);
    return run;
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int key = MPI_KEYVAL_INVALID;
static MPI_Comm packer = MPI_COMM_NULL; /* private: what fails here is not the user's error handler's business */

static void start(void) {
    PMPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, &key, NULL);
    if (PMPI_Comm_dup(MPI_COMM_SELF, &packer) == MPI_SUCCESS) PMPI_Comm_set_errhandler(packer, MPI_ERRORS_RETURN);
}

void types_finish(void) {
    if (packer != MPI_COMM_NULL) PMPI_Comm_free(&packer);
    if (key != MPI_KEYVAL_INVALID) PMPI_Type_free_keyval(&key);
}

/* The answer is kept with the type: it dies with it, and a handle that is used again gets a new one. */
static bool run_remembered(MPI_Datatype type) {
    static char yes, no;
    void *answer;
    int found = 0;
    pthread_once(&once, start);
    if (PMPI_Type_get_attr(type, key, &answer, &found) == MPI_SUCCESS && found) return answer == &yes;
    bool run = run_by_construction(type);
    PMPI_Type_set_attr(type, key, run ? &yes : &no);
    return run;
}

HOT bool type_is_run(MPI_Datatype type) {
    if (type == MPI_BYTE || type == MPI_CHAR || type == MPI_INT || type == MPI_FLOAT || type == MPI_DOUBLE || type == MPI_LONG ||
        type == MPI_C_DOUBLE_COMPLEX || type == MPI_DOUBLE_PRECISION || type == MPI_INTEGER || type == MPI_DOUBLE_COMPLEX)
        return true;
    return run_remembered(type);
}

MPI_Aint typed_step(const struct typed *typed) {
    MPI_Aint lb = 0, extent = 0;
    PMPI_Type_get_extent(typed->type, &lb, &extent);
    return extent * (MPI_Aint)typed->count;
}

bool can_pack(const struct typed *typed, const void *user) {
    size_t bytes;
    return user != MPI_BOTTOM && type_bytes(typed->type, &bytes) && bytes <= INT32_MAX;
}

/* PMPI_Pack counts in int: long blocks go in pieces that stay below 1 GiB. */
static int move_block(const struct typed *typed, char *user, char *packed, bool pack) {
    MPI_Aint lb, extent;
    MPI_Count size;
    if (PMPI_Type_get_extent(typed->type, &lb, &extent) != MPI_SUCCESS) return -EINVAL;
    if (PMPI_Type_size_x(typed->type, &size) != MPI_SUCCESS) return -EINVAL;
    MPI_Count most = size > 0 ? (1 << 30) / size : 1;
    if (most < 1) most = 1;
    for (MPI_Count done = 0; done < typed->count;) {
        int now = (int)(typed->count - done < most ? typed->count - done : most), position = 0, bytes = (int)(now * size);
        char *at = user + done * extent;
        int error = pack ? PMPI_Pack(at, now, typed->type, packed, bytes, &position, packer)
                         : PMPI_Unpack(packed, bytes, &position, at, now, typed->type, packer);
        if (error != MPI_SUCCESS || position != bytes) return -EIO;
        packed += bytes;
        done += now;
    }
    return 0;
}

int move_blocks(const struct typed *typed, void *user, int blocks, char *packed, bool pack) {
    MPI_Aint step = typed_step(typed);
    size_t bytes = 0;
    if (!type_bytes(typed->type, &bytes)) return -EINVAL;
    bytes *= (size_t)typed->count;
    if (type_is_run(typed->type)) {
        memcpy(pack ? packed : user, pack ? user : packed, bytes * (size_t)blocks);
        return 0;
    }
    for (int i = 0; i < blocks; i++) {
        int error = move_block(typed, (char *)user + i * step, packed + (size_t)i * bytes, pack);
        if (error) return error;
    }
    return 0;
}
