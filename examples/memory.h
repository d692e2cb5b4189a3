/* SPDX-License-Identifier: BSD-3-Clause */
/* memory.h - how much memory this process has, by the kernel's own count, in MiB. Local; 0 where
 * /proc does not say. */

/* The most that was resident at any time. Pages that several processes map count in each. */
double memory_peak(void);

/* What is resident now; a page that k processes map counts 1/k in each, so that a sum over the
 * ranks is what they take together. */
double memory_share(void);
