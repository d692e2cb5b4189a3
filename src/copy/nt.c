/* SPDX-License-Identifier: BSD-3-Clause */
/* copy_nt - calls the widest non-temporal kernel that this processor has, or the one that MORTAR_NT
 * names. It is chosen once per process. Without such a kernel it is memcpy, and not usable in
 * plans. */
#include "copy/kernels.h"

#include <stdatomic.h>

enum { unknown = -1 };
/* An enum kernel_id; all threads make the same choice. */
static _Atomic int chosen = unknown;

static int choose(void) {
    static const enum kernel_id widest_first[] = {KERNEL_avx512, KERNEL_avx2, KERNEL_sse2,
                                                  KERNEL_neon};
    static const enum kernel_id named[] = {KERNEL_nt, KERNEL_sse2, KERNEL_avx2, KERNEL_avx512,
                                           KERNEL_neon};
    enum kernel_id kernel = named[option_choice(OPTION_NT, "auto|sse2|avx2|avx512|neon")];
    if (kernel != KERNEL_nt && kernels[kernel].usable()) return (int)kernel;
    if (kernel != KERNEL_nt)
        warn_job(
            "MORTAR_NT=%s: this processor cannot run that kernel; using the widest that it can run",
            kernels[kernel].name);
    for (size_t i = 0; i < sizeof widest_first / sizeof *widest_first; i++)
        if (kernels[widest_first[i]].usable()) return (int)widest_first[i];
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
