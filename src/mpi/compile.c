/* SPDX-License-Identifier: BSD-3-Clause */
/* compile - datatypes to layouts. */
#include "mpi/calls.h"

const struct layout *layout_of(MPI_Datatype type) {
    static struct layout runs[65];
    size_t bytes;
    if (!type_is_run(type) || !type_bytes(type, &bytes) || bytes > 64) return NULL;
    runs[bytes] = (struct layout){.size = bytes, .extent = (ptrdiff_t)bytes, .high = (ptrdiff_t)bytes, .run = true};
    return &runs[bytes];
}
