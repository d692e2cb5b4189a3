/* SPDX-License-Identifier: BSD-3-Clause */
/* paper.h - the cache misses that li2018 counted: tables 1 and 2, Xeon E7-8890 v3, 72 processes,
 * per process. */
#ifndef MORTAR_PAPER_H
#define MORTAR_PAPER_H

#include <stdint.h>

enum { paper_sizes = 6, paper_orders = 3, paper_levels = 3 };
extern const uint64_t paper_bytes[paper_sizes];
/* SH-Naive ...; rows ... */
extern const char *const paper_names[paper_orders], *const paper_walks[paper_orders];
/* [0]: allgather (table 1), [1]: alltoall. */
extern const double paper_misses[2][paper_sizes][paper_levels][paper_orders];

#endif
