/* SPDX-License-Identifier: BSD-3-Clause */
/* One row per copy kernel: KERNEL(name, what it is). The file name.c defines copy_name. */
KERNEL(plain, "the C library's memcpy: cached loads and stores")
