/* SPDX-License-Identifier: BSD-3-Clause */
/* equations - li2018, section 2.3: the cache complexity of the orders, (1) to (9), per process
 * (divided by P). Those that the paper gives as O() are the expression inside it, without
 * constants. */
#include "cachesim.h"

#include <math.h>

double equation(int number, double p, double block, double line, double along, double cache) {
    double lines = ceil(block / line), walk = ceil(p * block / along), fit = sqrt(cache / block);
    switch (number) {
    case 1: return walk + p * lines;              /* alltoall, rows */
    case 2: return walk + ceil(p * block / line); /* alltoall, curve, sequential: optimal */
    case 3: return p * block / line + sqrt(p);    /* alltoall, curve, parallel: O() */
    case 4: return walk + p * lines;              /* allgather, rows */
    case 5: return p * block / line + p;          /* allgather, curve, no two blocks fit: O() */
    case 6: return p * lines / fit + walk;     /* allgather, curve, sequential, some blocks fit */
    case 7: return p * block / line + p / fit; /* the same, parallel: O() */
    case 8: return lines + walk;               /* allgather, curve, sequential, everything fits */
    case 9: return p * block / line + sqrt(p); /* the same, parallel: O() */
    default: return NAN;
    }
}

int equation_for(bool alltoall, bool curve, double p, double block, double cache) {
    if (alltoall) return curve ? 2 : 1;
    if (!curve || block > cache / 2) return 4;
    return p >= sqrt(cache / block) ? 6 : 8;
}
