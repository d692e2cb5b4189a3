/* SPDX-License-Identifier: BSD-3-Clause */
/* copy.h - copies n bytes between ranges that do not overlap. When a copy has returned, other
 * threads see its stores, non-temporal ones too, before anything that the caller stores
 * afterwards. */
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
    /* Its stores are unordered until copy_fence, so only copy_block and layout_copy call it. */
    void (*move)(void *to, const void *from, size_t bytes);
    bool (*usable)(void); /* true: this processor can run it */
};

enum kernel_id {
#define KERNEL(name, about) KERNEL_##name,
#include "copy/list.h"
#undef KERNEL
    KERNELS
};
extern const struct kernel kernels[KERNELS];

/* How blocks are copied: the first `plain` bytes by memcpy, the rest by the kernel (ramesh2024
 * section V-E). */
struct copier {
    enum kernel_id kernel;
    size_t plain;
};

/* The value of `plain` for a copier written `hybrid`, without a number. Before the plan runs it is
 * replaced by bytes of the L2 cache / ranks of the node (plan_settle). Until then memcpy copies
 * all. */
#define HYBRID_START SIZE_MAX

static inline void copy_fence(void) {
#if defined(__x86_64__)
    __builtin_ia32_sfence();
#elif defined(__aarch64__)
    __asm__ volatile("dmb ishst" ::: "memory");
#endif
}

/* Copies one block. If the compiler knows the length, a short block takes one or two instructions;
 * a call would cost more than the copy. */
static inline void copy_block(const struct copier *copier, void *to, const void *from,
                              size_t bytes) {
    if (to == from) return; /* in place already, and peers may be reading it */
    charge_copy(1, bytes);
    switch (bytes) {
    case 0: break; /* an empty block's address may be NULL, which memcpy does not take */
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

/* Copies `count` blocks that lie `step` bytes apart to places side by side. */
static inline void copy_apart(char *to, const char *from, size_t step, size_t bytes, int count) {
    charge_copy((size_t)count, (size_t)count * bytes);
#define COPY_APART(n)                                                                              \
    for (int k = 0; k < count; k++) memcpy(to + (size_t)k * (n), from + (size_t)k * step, (n))
    switch (bytes) {
    case 4: COPY_APART(4); break;
    case 8: COPY_APART(8); break;
    case 16: COPY_APART(16); break;
    default: COPY_APART(bytes);
    }
#undef COPY_APART
}

#endif
