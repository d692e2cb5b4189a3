/* SPDX-License-Identifier: BSD-3-Clause */
/* forward.h - MPI functions without mpi.h, as functions of machine words. On every 64-bit Linux ABI
 * an int or a pointer is passed in one word, so a function of words passes them on unchanged,
 * whatever MPI's handles are. PARAMETERS_n and ARGUMENTS_n: the parameter list and the argument
 * list of a function of n words, for list.h and untaken.h; LAST_n: its last argument. TAKES and
 * PASSES: the same from the columns of coll/collectives.h. */
#ifndef MORTAR_FORWARD_H
#define MORTAR_FORWARD_H

#include <stdint.h>

typedef intptr_t word;
typedef word (*entry)(); /* called with the arguments of its row */

#define PARAMETERS_0 (void)
#define PARAMETERS_1 (word a)
#define PARAMETERS_2 (word a, word b)
#define PARAMETERS_3 (word a, word b, word c)
#define PARAMETERS_4 (word a, word b, word c, word d)
#define PARAMETERS_5 (word a, word b, word c, word d, word e)
#define PARAMETERS_6 (word a, word b, word c, word d, word e, word f)
#define PARAMETERS_7 (word a, word b, word c, word d, word e, word f, word g)
#define PARAMETERS_8 (word a, word b, word c, word d, word e, word f, word g, word h)
#define PARAMETERS_9 (word a, word b, word c, word d, word e, word f, word g, word h, word i)
#define PARAMETERS_10                                                                              \
    (word a, word b, word c, word d, word e, word f, word g, word h, word i, word j)
#define PARAMETERS_11                                                                              \
    (word a, word b, word c, word d, word e, word f, word g, word h, word i, word j, word k)
#define PARAMETERS_12                                                                              \
    (word a, word b, word c, word d, word e, word f, word g, word h, word i, word j, word k, word l)
#define PARAMETERS_13                                                                              \
    (word a, word b, word c, word d, word e, word f, word g, word h, word i, word j,               \
     word k, word l, word m)
#define ARGUMENTS_0 ()
#define ARGUMENTS_1 (a)
#define ARGUMENTS_2 (a, b)
#define ARGUMENTS_3 (a, b, c)
#define ARGUMENTS_4 (a, b, c, d)
#define ARGUMENTS_5 (a, b, c, d, e)
#define ARGUMENTS_6 (a, b, c, d, e, f)
#define ARGUMENTS_7 (a, b, c, d, e, f, g)
#define ARGUMENTS_8 (a, b, c, d, e, f, g, h)
#define ARGUMENTS_9 (a, b, c, d, e, f, g, h, i)
#define ARGUMENTS_10 (a, b, c, d, e, f, g, h, i, j)
#define ARGUMENTS_11 (a, b, c, d, e, f, g, h, i, j, k)
#define ARGUMENTS_12 (a, b, c, d, e, f, g, h, i, j, k, l)
#define ARGUMENTS_13 (a, b, c, d, e, f, g, h, i, j, k, l, m)
#define LAST_2 b
#define LAST_3 c
#define LAST_4 d
#define LAST_5 e
#define LAST_6 f
#define LAST_7 g
#define LAST_8 h
#define LAST_9 i
#define LAST_10 j
#define LAST_11 k
#define LAST_12 l
#define LAST_13 m

#define TAKES(sent, received, more) (TAKES_##sent(s) TAKES_##received(r) TAKES_##more word comm)
#define TAKES_NO(x)
#define TAKES_SAME(x)
#define TAKES_BARE(x) word x##1,
#define TAKES_EQUAL(x) word x##1, word x##2, word x##3,
#define TAKES_COUNTS TAKES_EQUAL
#define TAKES_VARY(x) word x##1, word x##2, word x##3, word x##4,
#define TAKES_EACH TAKES_VARY
#define TAKES_FAR TAKES_VARY
#define TAKES_NONE
#define TAKES_ROOT word root,
#define TAKES_OP word op,
#define TAKES_OP_ROOT word op, word root,

#define PASSES(sent, received, more) (PASSES_##sent(s) PASSES_##received(r) PASSES_##more comm)
#define PASSES_NO(x)
#define PASSES_SAME(x)
#define PASSES_BARE(x) x##1,
#define PASSES_EQUAL(x) x##1, x##2, x##3,
#define PASSES_COUNTS PASSES_EQUAL
#define PASSES_VARY(x) x##1, x##2, x##3, x##4,
#define PASSES_EACH PASSES_VARY
#define PASSES_FAR PASSES_VARY
#define PASSES_NONE
#define PASSES_ROOT root,
#define PASSES_OP op,
#define PASSES_OP_ROOT op, root,

#endif
