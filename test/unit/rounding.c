/* SPDX-License-Identifier: BSD-3-Clause */
/* rounding - what src/mpi/rounding.c calls alike: results that two associations of p operands
 * explain, and nothing beyond, for sums, products, complex numbers, minima and NaN. */
#include "mpi/verify.h"

#include "unit.h"

#include <float.h>
#include <math.h>

enum { p = 4 };

bool type_bytes(MPI_Datatype type, size_t *bytes) { return (void)type, (void)bytes, false; }
bool type_is_complex(MPI_Datatype type) { return (void)type, false; }

/* Is the second of three elements told apart, and not the others? */
static bool is_seen(MPI_Op op, double ours, double theirs, double sizes) {
    double a[3] = {1, ours, 3}, b[3] = {1, theirs, 3}, sums[3] = {1, sizes, 3};
    struct numbers numbers = {sizeof(double), 1};
    size_t at = numbers_unlike(numbers, op, (char *)a, (char *)b, (char *)sums, 3, p);
    expect(at == 1 || at == 3, "element %zu", at);
    return at == 1;
}

static bool single_is_seen(float ours, float theirs) {
    struct numbers numbers = {sizeof(float), 1};
    return numbers_unlike(numbers, MPI_SUM, (char *)&ours, (char *)&theirs, (char *)&theirs, 1,
                          p) == 0;
}

/* A part of a product may be off by digits of the whole number, whose size is 5. */
static bool complex_is_seen(double off) {
    double a[2] = {4, 3 + off}, b[2] = {4, 3};
    struct numbers numbers = {sizeof a, 2};
    return numbers_unlike(numbers, MPI_PROD, (char *)a, (char *)b, NULL, 1, p) == 0;
}

/* What a product has of a number: how many powers of two it is away from 1. */
static bool is_away(double number, double imaginary, double powers) {
    double element[2] = {number, imaginary}, found[2];
    struct numbers real = {sizeof(double), 1}, complex = {sizeof element, 2};
    numbers_sizes(complex, MPI_PROD, (char *)found, (char *)element, 1);
    if (found[0] != powers || found[1] != powers) return false;
    numbers_sizes(real, MPI_PROD, (char *)found, (char *)element, 2);
    return found[0] == fabs(log2(fabs(number))) || number == 0;
}

int main(void) {
    double unit = 2 * p * DBL_EPSILON;
    expect(!is_seen(MPI_SUM, 1 + unit, 1, 1), "a sum's rounding");
    expect(is_seen(MPI_SUM, 1 + 1.5 * unit, 1, 1), "more than a sum's rounding");
    expect(!is_seen(MPI_SUM, 1000 * unit, 0, 1000), "a sum of large numbers that cancel");
    expect(is_seen(MPI_SUM, 1500 * unit, 0, 1000), "more than theirs");
    expect(!is_seen(MPI_SUM, NAN, INFINITY, INFINITY), "a sum that was too large on the way");
    expect(is_seen(MPI_SUM, NAN, 1, 1), "no number");
    expect(!is_seen(MPI_PROD, 8 + 8 * unit, 8, 0), "a product's rounding");
    expect(is_seen(MPI_PROD, 8 + 12 * unit, 8, 0), "more than a product's rounding");
    expect(!is_seen(MPI_PROD, 8 + 12 * unit, 8, 1100), "a product that was too small on the way");
    expect(!is_seen(MPI_PROD, 0, DBL_MIN / 2, 1022), "a product that is too small");
    expect(is_seen(MPI_PROD, 0, 8, 3), "a product that was lost");
    expect(is_seen(MPI_PROD, INFINITY, 8, 3), "a product that is not too large");
    expect(is_seen(MPI_PROD, 5, 0, INFINITY), "a product of 0 that was lost");
    expect(!is_seen(MPI_PROD, NAN, 0, INFINITY), "a product of 0, too large on the way");
    expect(is_seen(MPI_MAX, 1 + DBL_EPSILON, 1, 0), "a maximum's last digit");
    expect(!is_seen(MPI_MAX, NAN, 1, 0), "a maximum with what is no number");
    expect(!is_seen(MPI_MIN, -0.0, 0.0, 0), "a minimum's sign of zero");
    expect(!single_is_seen(1 + 2 * p * FLT_EPSILON, 1), "a single's rounding");
    expect(single_is_seen(1 + 3 * p * FLT_EPSILON, 1), "more than a single's rounding");
    expect(!complex_is_seen(5 * 2.9 * unit), "a complex product's rounding");
    expect(complex_is_seen(5 * 3.1 * unit), "more than a complex product's rounding");
    expect(is_away(8, 0, 3) && is_away(0, -0.125, 3) && is_away(-3, 4, log2(5)), "powers of two");
    expect(is_away(0, 0, INFINITY) && !is_away(1, 0, 1), "powers of 0 and 1");
    return 0;
}
