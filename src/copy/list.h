/* SPDX-License-Identifier: BSD-3-Clause */
/* One row per copy kernel: KERNEL(name, what it is). The file name.c defines copy_name and usable_name. */
KERNEL(plain, "the C library's memcpy: cached loads and stores")
KERNEL(nt, "the widest non-temporal kernel below that this processor has, or the one of MORTAR_NT")
KERNEL(sse2, "prefetched loads, non-temporal stores of 16 bytes (MOVNTDQ)")
KERNEL(avx2, "prefetched loads, non-temporal stores of 32 bytes (VMOVNTDQ)")
KERNEL(avx512, "prefetched loads, non-temporal stores of 64 bytes (VMOVNTDQ)")
KERNEL(neon, "prefetched loads, non-temporal stores of two 16-byte registers (STNP)")
