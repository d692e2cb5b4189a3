/* SPDX-License-Identifier: BSD-3-Clause */
/* copy_sse2 - non-temporal stores of 16 bytes: see kernels.h. Only for x86-64. */
#include "copy/kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>

bool usable_sse2(void) {
    __builtin_cpu_init(); /* may be called before the program's constructors have run */
    return __builtin_cpu_supports("sse2");
}

__attribute__((target("sse2"))) HOT void copy_sse2(void *to, const void *from, size_t bytes) {
    char *out = to;
    const char *in = from;
    size_t head = to_line(out);
    if (bytes >= head + line) {
        memcpy(out, in, head);
        out += head, in += head, bytes -= head;
        for (; bytes >= line; out += line, in += line, bytes -= line) {
            if (bytes > ahead) _mm_prefetch((const char *)((uintptr_t)in + ahead), _MM_HINT_T0);
            const __m128i *words = (const __m128i *)in;
            __m128i a = _mm_loadu_si128(words), b = _mm_loadu_si128(words + 1);
            __m128i c = _mm_loadu_si128(words + 2), d = _mm_loadu_si128(words + 3);
            _mm_stream_si128((__m128i *)out, a);
            _mm_stream_si128((__m128i *)out + 1, b);
            _mm_stream_si128((__m128i *)out + 2, c);
            _mm_stream_si128((__m128i *)out + 3, d);
        }
    }
    memcpy(out, in, bytes);
}
#else
bool usable_sse2(void) { return false; }

void copy_sse2(void *to, const void *from, size_t bytes) { copy_plain(to, from, bytes); }
#endif
