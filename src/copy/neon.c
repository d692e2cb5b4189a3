/* SPDX-License-Identifier: BSD-3-Clause */
/* copy_neon - non-temporal stores of register pairs (STNP): see kernels.h. Only for 64-bit Arm.
 * Written in assembly, because no intrinsic guarantees STNP. */
#include "copy/kernels.h"

#if defined(__aarch64__)
bool usable_neon(void) { return true; } /* part of the base architecture */

HOT void copy_neon(void *to, const void *from, size_t bytes) {
    char *out = to;
    const char *in = from;
    size_t head = to_line(out);
    if (bytes >= head + line) {
        memcpy(out, in, head);
        out += head, in += head, bytes -= head;
        for (; bytes >= line; out += line, in += line, bytes -= line) {
            if (bytes > ahead) __builtin_prefetch(in + ahead, 0, 0);
            __asm__ volatile("ldp q0, q1, [%1]\n\t"
                             "ldp q2, q3, [%1, #32]\n\t"
                             "stnp q0, q1, [%0]\n\t"
                             "stnp q2, q3, [%0, #32]"
                             :
                             : "r"(out), "r"(in)
                             : "v0", "v1", "v2", "v3", "memory");
        }
    }
    memcpy(out, in, bytes);
}
#else
bool usable_neon(void) { return false; }

void copy_neon(void *to, const void *from, size_t bytes) { copy_plain(to, from, bytes); }
#endif
