/* SPDX-License-Identifier: BSD-3-Clause */
/* ft.h - the definition of the NAS Parallel Benchmark FT (Bailey et al., NAS-95-020): its classes,
 * the numbers that it starts with, and the checksums that must come out. No MPI; the programs in C
 * and in Fortran share it. Everything is local. */
#include <complex.h>

/* Points in the directions x, y, z, and iterations, of class S, W, A or B. Returns 0 if there is no
 * such class. */
int ft_class(char class, int n[3], int *iterations);

/* The numbers that the points first ... first + count - 1 start with, x running fastest. */
void ft_start(long long first, int count, double complex *points);

/* What the transform of a point at that place of the spectrum is multiplied with in an iteration is
 * the product of these, one for each direction: place k of n. */
double ft_decay(int k, int n);

/* The mean of so many points at (j mod x, 3 j mod y, 5 j mod z), j = 1, 2 ..., times their number
 * and divided by that of all points, is an iteration's checksum. */
enum { FT_CHECKED = 1024 };

/* Is this the checksum of the iteration, counted from 1? Iterations that the class does not have
 * are never wrong. */
int ft_right(char class, int iteration, double complex checksum);
