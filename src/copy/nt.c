/* SPDX-License-Identifier: BSD-3-Clause */
/* copy_nt - calls the widest non-temporal kernel that this processor has, or the one that MORTAR_NT
 * names. It is chosen once per process. Without such a kernel it is memcpy, and not usable in
 * plans. */
#include "copy/kernels.h"

#include <stdatomic.h>

enum { unknown = -1 };
/* An enum kernel_id; all threads make the same choice. */
static _Atomic int chosen = unknown;

/* The rows below nt's, the widest last, are also the option's words, behind `auto`. */
static int choose(void) {
    int kernel = KERNEL_nt + option_choice(OPTION_NT, option_rows[OPTION_NT].unit);
    if (kernel != KERNEL_nt && kernels[kernel].usable()) return kernel;
    if (kernel != KERNEL_nt)
        warn_job(
            "MORTAR_NT=%s: this processor cannot run that kernel; using the widest that it can run",
            kernels[kernel].name);
    for (kernel = KERNELS - 1; kernel > KERNEL_nt; kernel--)
        if (kernels[kernel].usable()) return kernel;
    return KERNEL_plain;
}

HOT static int kernel_now(void) {
    int kernel = atomic_load_explicit(&chosen, memory_order_relaxed);
    if (kernel != unknown) return kernel;
    kernel = choose();
    atomic_store_explicit(&chosen, kernel, memory_order_relaxed);
    return kernel;
}

bool usable_nt(void) { return kernel_now() != KERNEL_plain; }

HOT void copy_nt(void *to, const void *from, size_t bytes) {
    kernels[kernel_now()].move(to, from, bytes);
}
