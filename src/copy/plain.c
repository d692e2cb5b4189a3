/* SPDX-License-Identifier: BSD-3-Clause */
/* copy_plain - memcpy. */
#include "copy/kernels.h"

bool usable_plain(void) { return true; }

HOT void copy_plain(void *to, const void *from, size_t bytes) { memcpy(to, from, bytes); }
