/* SPDX-License-Identifier: BSD-3-Clause */
/* copy.h - moving n bytes between ranges that do not overlap. */
#ifndef MORTAR_COPY_H
#define MORTAR_COPY_H

#include <stddef.h>
#include <string.h>

struct kernel {
    const char *name, *about;
    void (*move)(void *to, const void *from, size_t bytes);
};

enum kernel_id {
#define KERNEL(name, about) KERNEL_##name,
#include "copy/list.h"
#undef KERNEL
    KERNELS
};
extern const struct kernel kernels[KERNELS];

/* Short blocks are one or two instructions where the compiler knows the length; a call costs more than the copy. */
static inline void copy_block(const struct kernel *kernel, void *to, const void *from, size_t bytes) {
    if (to == from) return; /* a block that is in place already: peers may be reading it */
    switch (bytes) {
    case 4: memcpy(to, from, 4); break;
    case 8: memcpy(to, from, 8); break;
    case 16: memcpy(to, from, 16); break;
    case 32: memcpy(to, from, 32); break;
    case 64: memcpy(to, from, 64); break;
    default: kernel->move(to, from, bytes);
    }
}

#endif
