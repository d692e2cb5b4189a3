/* SPDX-License-Identifier: BSD-3-Clause */
/* kernels - the table of copy kernels. */
#include "copy/kernels.h"

const struct kernel kernels[KERNELS] = {
#define KERNEL(name, about) {#name, about, copy_##name, usable_##name},
#include "copy/list.h"
#undef KERNEL
};
