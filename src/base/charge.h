/* SPDX-License-Identifier: BSD-3-Clause */
/* charge.h - what computing costs where it is simulated (sim/): there only messages take time by
 * themselves, so whoever copies, combines or completes a barrier says so here. Everywhere else
 * these are nothing at all. */
#ifndef MORTAR_CHARGE_H
#define MORTAR_CHARGE_H

#include <stddef.h>

#ifdef MORTAR_SIM
/* So many pieces were copied, of so many bytes in all. Local, like all of these. */
void charge_copy(size_t pieces, size_t bytes);
/* So many bytes were combined with as many others. */
void charge_combine(size_t bytes);
/* This rank was the last of so many to arrive at a barrier. */
void charge_barrier(int ranks);
/* Lets the time pass that was charged: before anybody may see what it was spent on. */
void charge_settle(void);
#else
static inline void charge_copy(size_t pieces, size_t bytes) { (void)pieces, (void)bytes; }
static inline void charge_combine(size_t bytes) { (void)bytes; }
static inline void charge_barrier(int ranks) { (void)ranks; }
static inline void charge_settle(void) {}
#endif

#endif
