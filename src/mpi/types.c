/* SPDX-License-Identifier: BSD-3-Clause */
/* types - facts about datatypes, and packing. Types without a layout (compile.c) are packed by
 * PMPI_Pack, so that any type works and no byte of a gap is touched. */
#include "mpi/calls.h"

#include <errno.h>
#include <pthread.h>

HOT bool type_bytes(MPI_Datatype type, size_t *bytes) {
    MPI_Count size;
    if (type == MPI_BYTE || type == MPI_CHAR) size = 1;
    else if (type == MPI_INT || type == MPI_FLOAT) size = 4;
    else if (type == MPI_DOUBLE) size = 8;
    else if (!is_type(type) || PMPI_Type_size_x(type, &size) != MPI_SUCCESS || size < 0)
        return false;
    *bytes = (size_t)size;
    return true;
}

HOT bool type_is_plain(MPI_Datatype type) {
    return type == MPI_BYTE || type == MPI_CHAR || type == MPI_INT || type == MPI_FLOAT ||
           type == MPI_DOUBLE || type == MPI_LONG || type == MPI_C_DOUBLE_COMPLEX ||
           type == MPI_DOUBLE_PRECISION || type == MPI_INTEGER || type == MPI_DOUBLE_COMPLEX;
}

HOT bool type_is_run(MPI_Datatype type) {
    if (type_is_plain(type)) return true;
    const struct layout *layout = layout_of(type);
    return layout && layout->run;
}

MPI_Aint typed_step(const struct typed *typed) {
    MPI_Aint lb = 0, extent = 0;
    PMPI_Type_get_extent(typed->type, &lb, &extent);
    return extent * (MPI_Aint)typed->count;
}

/* MPICH refuses to pack from address 0, even if the type's displacements are addresses, from
 * MPI_BOTTOM. So the type is wrapped in one with displacements from another address, that of
 * `place`. */
static int pack_from_bottom(MPI_Datatype type, int count, char *packed, int bytes, int *position,
                            bool pack, MPI_Comm packer) {
    static char place;
    MPI_Datatype seen;
    MPI_Aint away;
    PMPI_Get_address(&place, &away);
    away = -away;
    int error = PMPI_Type_create_hindexed(1, &count, &away, type, &seen);
    if (error != MPI_SUCCESS) return error;
    error = PMPI_Type_commit(&seen);
    if (error == MPI_SUCCESS)
        error = pack ? PMPI_Pack(&place, 1, seen, packed, bytes, position, packer)
                     : PMPI_Unpack(packed, bytes, position, &place, 1, seen, packer);
    host.type_free(&seen);
    return error;
}

enum { long_piece = 1 << 30 };

/* The packed form of an element that is longer than an int can say. */
static int make_long_type(MPI_Count size, MPI_Datatype *made) {
    int lengths[2] = {(int)(size / long_piece), (int)(size % long_piece)};
    MPI_Aint places[2] = {0, (MPI_Aint)lengths[0] * long_piece};
    MPI_Datatype types[2] = {MPI_DATATYPE_NULL, MPI_PACKED};
    int error = PMPI_Type_contiguous(long_piece, MPI_PACKED, &types[0]);
    if (error != MPI_SUCCESS) return error;
    error = PMPI_Type_create_struct(2, lengths, places, types, made);
    host.type_free(&types[0]);
    return error == MPI_SUCCESS ? PMPI_Type_commit(made) : error;
}

/* Packs or unpacks a block of such elements by messages of this rank to itself. */
static int move_long(const struct typed *typed, char *user, char *packed, MPI_Aint extent,
                     MPI_Count size, bool pack, MPI_Comm packer) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* a message for each thread's own */
    MPI_Datatype type = typed->type, made;
    int error = make_long_type(size, &made);
    if (error != MPI_SUCCESS) return -EIO;
    pthread_mutex_lock(&lock);
    for (MPI_Count done = 0; done < typed->count && error == MPI_SUCCESS; done++) {
        char *at = user + done * extent, *to = packed + done * size;
        error = pack ? PMPI_Sendrecv(at, 1, type, 0, 0, to, 1, made, 0, 0, packer,
                                     MPI_STATUS_IGNORE)
                     : PMPI_Sendrecv(to, 1, made, 0, 0, at, 1, type, 0, 0, packer,
                                     MPI_STATUS_IGNORE);
    }
    pthread_mutex_unlock(&lock);
    host.type_free(&made);
    return error == MPI_SUCCESS ? 0 : -EIO;
}

/* Packs or unpacks one block by the MPI library. PMPI_Pack counts in int, so long blocks go in
 * pieces of at most 1 GiB. 0 or -errno. */
static int move_block(const struct typed *typed, char *user, char *packed, bool pack) {
    MPI_Aint lb, extent;
    MPI_Count size;
    MPI_Comm packer = packer_comm();
    if (packer == MPI_COMM_NULL) return -ENOMEM;
    if (PMPI_Type_get_extent(typed->type, &lb, &extent) != MPI_SUCCESS) return -EINVAL;
    if (PMPI_Type_size_x(typed->type, &size) != MPI_SUCCESS) return -EINVAL;
    if (size > long_piece) return move_long(typed, user, packed, extent, size, pack, packer);
    MPI_Count most = size > 0 ? long_piece / size : 1;
    for (MPI_Count done = 0; done < typed->count;) {
        MPI_Count left = typed->count - done;
        int now = (int)(left < most ? left : most), bytes = (int)(now * size), position = 0, error;
        char *at = user + done * extent;
        if (!at) error = pack_from_bottom(typed->type, now, packed, bytes, &position, pack, packer);
        else if (pack) error = PMPI_Pack(at, now, typed->type, packed, bytes, &position, packer);
        else error = PMPI_Unpack(packed, bytes, &position, at, now, typed->type, packer);
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
    const struct layout *layout = typed->by_host ? NULL : layout_of(typed->type);
    if (layout) {
        size_t count = (size_t)typed->count * (size_t)blocks;
        if (pack) layout_pack(packed, user, layout, count);
        else layout_unpack(user, layout, count, packed, bytes * (size_t)blocks);
        return 0;
    }
    for (int i = 0; i < blocks; i++) {
        int error = move_block(typed, (char *)user + i * step, packed + (size_t)i * bytes, pack);
        if (error) return error;
    }
    return 0;
}
