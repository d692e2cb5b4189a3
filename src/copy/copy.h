/* SPDX-License-Identifier: BSD-3-Clause */
/* copy.h - moving n bytes between ranges that do not overlap. When a copy returns, its stores come
 * before whatever the caller stores afterwards, with whatever instructions they were made. */
#ifndef MORTAR_COPY_H
#define MORTAR_COPY_H

#include "base/base.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "copy/layout.h"

struct kernel {
    const char *name, *about;
    /* What it stores comes in no order with other stores before copy_fence: only copy_block and
     * layout_copy call it. */
    void (*move)(void *to, const void *from, size_t bytes);
    bool (*usable)(void); /* can this processor run it? */
};

enum kernel_id {
#define KERNEL(name, about) KERNEL_##name,
#include "copy/list.h"
#undef KERNEL
    KERNELS
};
extern const struct kernel kernels[KERNELS];

/* How blocks are copied: the first `plain` bytes by memcpy, what is beyond by the kernel
 * (ramesh2024 section V-E). */
struct copier {
    enum kernel_id kernel;
    size_t plain;
};

/* As `plain` of a copier that is written hybrid, without a number: the second level cache's bytes /
 * ranks of the node, which is put in its place before the plan runs (plan_settle). Until then
 * everything is copied plainly. */
#define HYBRID_START SIZE_MAX

static inline void copy_fence(void) {
#if defined(__x86_64__)
    __builtin_ia32_sfence();
#elif defined(__aarch64__)
    __asm__ volatile("dmb ishst" ::: "memory");
#endif
}

/* Short blocks are one or two instructions where the compiler knows the length; a call costs more
 * than the copy. */
static inline void copy_block(const struct copier *copier, void *to, const void *from,
                              size_t bytes) {
    if (to == from) return; /* a block that is in place already: peers may be reading it */
    charge_copy(1, bytes);
    switch (bytes) {
    case 4: memcpy(to, from, 4); break;
    case 8: memcpy(to, from, 8); break;
    case 16: memcpy(to, from, 16); break;
    case 32: memcpy(to, from, 32); break;
    case 64: memcpy(to, from, 64); break;
    default:
        if (copier->plain >= bytes) {
            memcpy(to, from, bytes);
        } else {
            if (copier->plain) memcpy(to, from, copier->plain);
            kernels[copier->kernel].move((char *)to + copier->plain,
                                         (const char *)from + copier->plain, bytes - copier->plain);
            copy_fence();
        }
    }
}

#endif
