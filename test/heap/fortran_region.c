/* SPDX-License-Identifier: BSD-3-Clause */
/* fortran_region - heap_test.h's question, for Fortran. */
#include "heap_test.h"

int fortran_in_region(const void *address);
int fortran_in_region(const void *address) { return in_region(address); }

int fortran_moves(void *address, size_t bytes);
int fortran_moves(void *address, size_t bytes) {
    return move_it(address, bytes) == 0 && has_moved(address, bytes, false);
}
