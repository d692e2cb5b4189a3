/* SPDX-License-Identifier: BSD-3-Clause */
/* words.h - MPI functions without mpi.h: of so many machine words. On every 64-bit Linux ABI an int or a pointer argument travels
 * in one word, so that a function of words hands them on unchanged, whatever MPI's handles are. PARAMETERS_n and ARGUMENTS_n are
 * what a function of n words is declared and called with; the rows of list.h say n. */
#ifndef MORTAR_WORDS_H
#define MORTAR_WORDS_H

#include <stdint.h>

typedef intptr_t word;

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

#endif
