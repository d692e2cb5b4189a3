/* SPDX-License-Identifier: BSD-3-Clause */
#include "copy/copy.h"

#define KERNEL(name, about) void copy_##name(void *to, const void *from, size_t bytes);
#include "copy/list.h"
#undef KERNEL

const struct kernel kernels[KERNELS] = {
#define KERNEL(name, about) {#name, about, copy_##name, NULL},
#include "copy/list.h"
#undef KERNEL
};
