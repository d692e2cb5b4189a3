/* SPDX-License-Identifier: BSD-3-Clause */
#include "fuzz.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void must(bool fine, const char *format, ...) {
    if (fine) return;
    va_list arguments;
    va_start(arguments, format);
    fputs("FAILED: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    abort();
}

uint64_t eat(struct food *food, uint64_t bound) {
    uint64_t value = 0;
    for (uint64_t rest = bound - 1; rest > 0; rest >>= 8) {
        value = value << 8 | (food->left > 0 ? *food->at : 0);
        if (food->left > 0) food->at++, food->left--;
    }
    return value % bound;
}

uint64_t eat_size(struct food *food, unsigned most_bits) {
    uint64_t bits = eat(food, most_bits + 1), low = eat(food, 256);
    uint64_t value = bits == 0 ? 0 : (uint64_t)1 << (bits - 1);
    return low < 128 ? value + low % (value + 1) : value - (low - 127 < value ? low - 127 : value);
}

char *eat_text(struct food *food) {
    size_t length = food->left > 0 ? strnlen((const char *)food->at, food->left) : 0;
    char *text = malloc(length + 1);
    must(text != NULL, "no memory");
    if (length > 0) memcpy(text, food->at, length);
    text[length] = 0;
    food->at += length;
    food->left -= length;
    return text;
}
