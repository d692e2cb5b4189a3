/* SPDX-License-Identifier: BSD-3-Clause */
/* copy_avx2 - non-temporal stores of 32 bytes: see kernels.h. Only for x86-64. */
#include "copy/kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>

bool usable_avx2(void) {
    __builtin_cpu_init(); /* may be called before the program's constructors have run */
    return __builtin_cpu_supports("avx2");
}

__attribute__((target("avx2"))) HOT void copy_avx2(void *to, const void *from, size_t bytes) {
    char *out = to;
    const char *in = from;
    size_t head = to_line(out);
    if (bytes >= head + line) {
        memcpy(out, in, head);
        out += head, in += head, bytes -= head;
        for (; bytes >= line; out += line, in += line, bytes -= line) {
            if (bytes > ahead) _mm_prefetch((const char *)((uintptr_t)in + ahead), _MM_HINT_T0);
            const __m256i *words = (const __m256i *)in;
            __m256i a = _mm256_loadu_si256(words), b = _mm256_loadu_si256(words + 1);
            _mm256_stream_si256((__m256i *)out, a);
            _mm256_stream_si256((__m256i *)out + 1, b);
        }
    }
    memcpy(out, in, bytes);
}
#else
bool usable_avx2(void) { return false; }

void copy_avx2(void *to, const void *from, size_t bytes) { copy_plain(to, from, bytes); }
#endif
