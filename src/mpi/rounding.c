/* SPDX-License-Identifier: BSD-3-Clause */
/* rounding - by how much two floating-point results may differ if their operands were combined in
 * different associations. A sum of p numbers by any association is off by at most (p - 1) units in
 * the last place of the sum of their sizes; a product by as many of its own size (Higham, Accuracy
 * and Stability of Numerical Algorithms, chapters 3 and 4). Twice that lies between two results.
 * On the way a product may leave the range of its numbers by one association, and not by another:
 * not if its operands, together, are fewer powers of two away from 1 than the range has. */
#include "mpi/verify.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

struct numbers numbers_of(MPI_Datatype type) {
    size_t bytes = 0;
    type_bytes(type, &bytes);
    return (struct numbers){bytes, type_is_complex(type) ? 2 : 1};
}

static long double part_of(size_t width, const char *at) {
    float single;
    double usual;
    long double extended;
    if (width == sizeof single) return memcpy(&single, at, width), single;
    if (width == sizeof usual) return memcpy(&usual, at, width), usual;
    return memcpy(&extended, at, sizeof extended), extended;
}

void numbers_text(struct numbers numbers, const char *element, char *text, size_t size) {
    size_t width = numbers.bytes / (size_t)numbers.parts;
    if (numbers.parts == 1) snprintf(text, size, "%.17Lg", part_of(width, element));
    else
        snprintf(text, size, "(%.8Lg, %.8Lg)", part_of(width, element),
                 part_of(width, element + width));
}

static long double unit_of(size_t width) {
    if (width == sizeof(float)) return FLT_EPSILON;
    return width == sizeof(double) ? DBL_EPSILON : LDBL_EPSILON;
}

static void put_part(size_t width, char *at, long double part) {
    if (width == sizeof(float)) memcpy(at, &(float){(float)part}, width);
    else if (width == sizeof(double)) memcpy(at, &(double){(double)part}, width);
    else memcpy(at, &part, sizeof part);
}

/* Of the whole number, which has one or two parts. */
static long double size_of(struct numbers numbers, const char *element) {
    size_t width = numbers.bytes / (size_t)numbers.parts;
    long double first = part_of(width, element);
    return numbers.parts == 1 ? fabsl(first) : hypotl(first, part_of(width, element + width));
}

/* How many powers of two it is away from 1; the logarithm of 0 would be an exception. */
static long double powers_of(long double size) {
    return size == 0 ? (long double)INFINITY : fabsl(log2l(size));
}

void numbers_sizes(struct numbers numbers, MPI_Op op, char *sizes, const char *elements,
                   size_t count) {
    size_t width = numbers.bytes / (size_t)numbers.parts;
    for (size_t i = 0; i < count * numbers.bytes; i += width) {
        const char *number = elements + i - i % numbers.bytes;
        put_part(width, sizes + i,
                 op == MPI_PROD ? powers_of(size_of(numbers, number))
                                : fabsl(part_of(width, elements + i)));
    }
}

/* So many powers of two away from 1 a product is neither too large nor short of digits, with room
 * for what adding up the powers has rounded. */
static long double range_of(size_t width) {
    if (width == sizeof(float)) return -FLT_MIN_EXP - 1;
    return width == sizeof(double) ? -DBL_MIN_EXP - 1 : -LDBL_MIN_EXP - 1;
}

/* Is it what a product with an operand that is 0, infinite or no number can only be? */
static bool is_special(long double product) { return product == 0 || !isfinite(product); }

/* allowed: of the product's own size; powers: of all its operands. */
static bool products_alike(size_t width, long double ours, long double theirs, long double allowed,
                           long double powers) {
    if (!isfinite(powers)) return is_special(ours) && is_special(theirs);
    return powers > range_of(width) || fabsl(ours - theirs) <= allowed;
}

size_t numbers_unlike(struct numbers numbers, MPI_Op op, const char *ours, const char *theirs,
                      const char *sums, size_t count, int p) {
    /* A complex product rounds its four products and two sums. */
    size_t width = numbers.bytes / (size_t)numbers.parts, bytes = numbers.bytes;
    long double allowed = (numbers.parts == 2 ? 6 : 2) * (long double)p * unit_of(width);
    for (size_t i = 0; i < count; i++) {
        const char *a = ours + i * bytes, *b = theirs + i * bytes;
        if (memcmp(a, b, bytes) == 0) continue;
        for (size_t at = 0; at < bytes; at += width) {
            long double x = part_of(width, a + at), y = part_of(width, b + at);
            long double sum = sums ? part_of(width, sums + i * bytes + at) : 0;
            bool alike;
            if (x == y) continue;
            if (op == MPI_SUM) alike = !isfinite(sum) || fabsl(x - y) <= allowed * sum;
            else if (op == MPI_PROD)
                alike = products_alike(width, x, y, allowed * size_of(numbers, b), sum);
            else alike = isnan(x) || isnan(y); /* compared in another order */
            if (!alike) return i;
        }
    }
    return count;
}
