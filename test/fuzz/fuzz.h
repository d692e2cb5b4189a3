/* SPDX-License-Identifier: BSD-3-Clause */
/* fuzz.h - what the fuzz targets share. A target is one file with LLVMFuzzerTestOneInput, which
 * takes any bytes, gives them to a part of mortar that reads what a user wrote or a program drew,
 * and checks what must hold of every input. With Clang libFuzzer looks for inputs that reach new
 * code; with any compiler main.c runs those that are kept in corpus/TARGET. */
#ifndef MORTAR_FUZZ_H
#define MORTAR_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Ends the program by a signal, with the message, unless it is fine. */
void must(bool fine, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* An input that is eaten from its front. */
struct food {
    const uint8_t *at;
    size_t left;
};
/* A number below the bound (at least 1), from as many bytes as the bound needs; missing bytes are
 * 0. */
uint64_t eat(struct food *food, uint64_t bound);
/* Any number; short and round ones more often than others. Costs 2 bytes. */
uint64_t eat_size(struct food *food, unsigned most_bits);

/* The rest up to the first zero byte, as a text in memory of just that size: a sanitizer sees a
 * step beyond its end. The caller frees it. */
char *eat_text(struct food *food);

#endif
