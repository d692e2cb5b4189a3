/* SPDX-License-Identifier: BSD-3-Clause */
/* rounding - by how much two floating-point results may differ if their operands were combined in
 * different associations. A sum of p numbers by any association is off by at most (p - 1) units in
 * the last place of the sum of their sizes; a product by as many of its own size (Higham, Accuracy
 * and Stability of Numerical Algorithms, chapters 3 and 4). Twice that lies between two results. */
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

static void put_size(size_t width, char *to, const char *from) {
    float single;
    double usual;
    long double extended;
    if (width == sizeof single) {
        memcpy(&single, from, width);
        single = fabsf(single);
        memcpy(to, &single, width);
    } else if (width == sizeof usual) {
        memcpy(&usual, from, width);
        usual = fabs(usual);
        memcpy(to, &usual, width);
    } else {
        memcpy(&extended, from, width);
        extended = fabsl(extended);
        memcpy(to, &extended, width);
    }
}

void numbers_sizes(struct numbers numbers, char *sizes, const char *elements, size_t count) {
    size_t width = numbers.bytes / (size_t)numbers.parts;
    for (size_t i = 0; i < count * numbers.bytes; i += width)
        put_size(width, sizes + i, elements + i);
}

/* Smaller numbers have fewer digits. */
static long double least_of(size_t width) {
    if (width == sizeof(float)) return FLT_MIN;
    return width == sizeof(double) ? DBL_MIN : LDBL_MIN;
}

/* May a product have been too large or too small on the way? */
static bool was_extreme(size_t width, long double product) {
    return !isfinite(product) || fabsl(product) < least_of(width);
}

/* size: the sum of the operands' sizes, or the size of the product. */
static bool is_explained(MPI_Op op, size_t width, long double ours, long double theirs,
                         long double size, long double allowed) {
    if (ours == theirs) return true;
    if (op == MPI_PROD && (was_extreme(width, ours) || was_extreme(width, theirs))) return true;
    if (op == MPI_SUM || op == MPI_PROD)
        return !isfinite(size) || fabsl(ours - theirs) <= allowed * size;
    return isnan(ours) || isnan(theirs); /* compared in another order */
}

size_t numbers_unlike(struct numbers numbers, MPI_Op op, const char *ours, const char *theirs,
                      const char *sums, size_t count, int p) {
    /* A complex product rounds its four products and two sums. */
    size_t width = numbers.bytes / (size_t)numbers.parts, bytes = numbers.bytes;
    long double allowed = (numbers.parts == 2 ? 6 : 2) * (long double)p * unit_of(width);
    for (size_t i = 0; i < count; i++) {
        const char *a = ours + i * bytes, *b = theirs + i * bytes;
        if (memcmp(a, b, bytes) == 0) continue;
        long double size = 0;
        for (int k = 0; k < numbers.parts; k++) {
            long double part = part_of(width, b + (size_t)k * width);
            size = numbers.parts == 2 ? hypotl(size, part) : fabsl(part);
        }
        for (int k = 0; k < numbers.parts; k++) {
            size_t at = (size_t)k * width;
            if (op == MPI_SUM) size = part_of(width, sums + i * bytes + at);
            if (!is_explained(op, width, part_of(width, a + at), part_of(width, b + at), size,
                              allowed))
                return i;
        }
    }
    return count;
}
