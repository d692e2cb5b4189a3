/* SPDX-License-Identifier: BSD-3-Clause */
/* copy_avx512 - non-temporal stores of 64 bytes: see kernels.h. Only for x86-64. */
#include "copy/kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>

bool usable_avx512(void) {
    __builtin_cpu_init(); /* may be called before the program's constructors have run */
    return __builtin_cpu_supports("avx512f");
}

__attribute__((target("avx512f"))) HOT void copy_avx512(void *to, const void *from, size_t bytes) {
    char *out = to;
    const char *in = from;
    size_t head = to_line(out);
    if (bytes >= head + line) {
        memcpy(out, in, head);
        out += head, in += head, bytes -= head;
        for (; bytes >= line; out += line, in += line, bytes -= line) {
            if (bytes > ahead) _mm_prefetch((const char *)((uintptr_t)in + ahead), _MM_HINT_T0);
            _mm512_stream_si512((__m512i *)out, _mm512_loadu_si512(in));
        }
    }
    memcpy(out, in, bytes);
}
#else
bool usable_avx512(void) { return false; }

void copy_avx512(void *to, const void *from, size_t bytes) { copy_plain(to, from, bytes); }
#endif
