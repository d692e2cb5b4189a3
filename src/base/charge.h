/* SPDX-License-Identifier: BSD-3-Clause */
/* charge.h - the cost of computing in a simulation (sim/). There only messages take time by
 * themselves, so code that copies, combines or completes a barrier calls these functions. In normal
 * builds they are empty. All are local. */
#ifndef MORTAR_CHARGE_H
#define MORTAR_CHARGE_H

#include <stddef.h>

#ifdef MORTAR_SIM
/* `pieces` pieces were copied, of `bytes` in all. */
void charge_copy(size_t pieces, size_t bytes);
/* `bytes` were combined with as many others. */
void charge_combine(size_t bytes);
/* This rank was the last of `ranks` to arrive at a barrier. */
void charge_barrier(int ranks);
/* Lets the charged time pass. Call it before another rank can see the result. */
void charge_settle(void);
#else
static inline void charge_copy(size_t pieces, size_t bytes) { (void)pieces, (void)bytes; }
static inline void charge_combine(size_t bytes) { (void)bytes; }
static inline void charge_barrier(int ranks) { (void)ranks; }
static inline void charge_settle(void) {}
#endif

#endif
