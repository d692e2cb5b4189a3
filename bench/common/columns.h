/* SPDX-License-Identifier: BSD-3-Clause */
/* columns.h - the words in the columns of list.h, which says what they mean. */
#ifndef MORTAR_BENCH_COLUMNS_H
#define MORTAR_BENCH_COLUMNS_H

enum blocks_of { NOBODY, ONE, ALL, NEIGHBOURS, ONE_ROOT, ALL_ROOT, ONE_OTHERS, ONE_LATER, SLAB };
enum contents { BYTES, SUM, UP_TO, BELOW };

#endif
