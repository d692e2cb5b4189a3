/* SPDX-License-Identifier: BSD-3-Clause */
/* reduction - the collectives that combine elements. */
#include "mpi/calls.h"

static bool look(const struct request *r, struct shape *shape) {
    (void)r, (void)shape;
    return false;
}

const struct family family_reduction = {.look = look};
