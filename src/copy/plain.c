/* SPDX-License-Identifier: BSD-3-Clause */
/* copy_plain - memcpy. */
#include "base/base.h"
#include "copy/copy.h"

void copy_plain(void *to, const void *from, size_t bytes);

HOT void copy_plain(void *to, const void *from, size_t bytes) { memcpy(to, from, bytes); }
