/* SPDX-License-Identifier: BSD-3-Clause */
/* count.h - private to libmortar-count.so: the requests of calls that are counted, until they are
 * done. */
#ifndef MORTAR_COUNT_H
#define MORTAR_COUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The bytes of a handle: MPICH's are ints, others' are pointers. Set it before the first call. */
extern size_t request_bytes;

/* The request at an address belongs to row `row` from now on. */
void request_made(const void *request, int row);

/* Those of an array of requests that belong to rows. Without memory for so many the rest is
 * forgotten. */
enum { few_seen = 64 };
struct seen {
    int count, room;
    struct seen_one {
        int row;
        const char *place;
        uint64_t handle;
    } few[few_seen], *all;
};
void requests_see(const void *requests, int count, struct seen *seen);

/* Forgets those whose handle the MPI library has changed, since they are done. Call it if any were
 * seen: it ends *seen. */
void requests_check(struct seen *seen);

#endif
