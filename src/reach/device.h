/* SPDX-License-Identifier: BSD-3-Clause */
/* device.h - a part of reach.h: buffers in GPU memory, and those that a GPU's driver has registered
 * (device.c). */
#ifndef MORTAR_DEVICE_H
#define MORTAR_DEVICE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct team;

/* Can there be GPUs in this machine? */
extern _Atomic enum gpus { GPUS_UNKNOWN, GPUS_NONE, GPUS_MAYBE } gpus;
static inline bool no_gpus(void) {
    return atomic_load_explicit(&gpus, memory_order_relaxed) == GPUS_NONE;
}
bool on_gpu(const struct team *team, const void *send, const void *recv); /* on_device, if so */
/* Does either address belong to a GPU's memory? False if no driver is loaded. Local. */
static inline bool on_device(const struct team *team, const void *send, const void *recv) {
    return !no_gpus() && on_gpu(team, send, recv);
}
/* True: a GPU's driver knows some of these whole pages. Local. */
bool gpus_know(const void *start, size_t bytes);

#endif
