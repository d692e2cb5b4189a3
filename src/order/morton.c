/* SPDX-License-Identifier: BSD-3-Clause */
/* order_morton - the Z-order curve over the receive matrix (row = dest, column = source), cut into
 * p segments of p cells. li2018 sections 2.1-2.2: bit extraction if p is a power of two. Otherwise
 * the recursion that halves the longer side, and squares first into top and bottom: it gives the
 * same curve for powers of two, and works for bunches that are not square. Time O(p) by bits, O(p
 * log p) by recursion, once per communicator. */
#include "order/order.h"

void order_morton(const struct matrix *matrix, uint32_t worker, struct cell *cells);

/* The even bits of a code, packed: as the instruction pext with the mask 0x5555..., but in plain
 * C. */
static uint32_t even_bits(uint64_t code) {
    code &= 0x5555555555555555u;
    code = (code | code >> 1) & 0x3333333333333333u;
    code = (code | code >> 2) & 0x0f0f0f0f0f0f0f0fu;
    code = (code | code >> 4) & 0x00ff00ff00ff00ffu;
    code = (code | code >> 8) & 0x0000ffff0000ffffu;
    code = (code | code >> 16) & 0x00000000ffffffffu;
    return (uint32_t)code;
}

#if defined(__x86_64__)
#include <immintrin.h>
__attribute__((target("bmi2"))) static void by_pext(uint32_t p, uint64_t first,
                                                    struct cell *cells) {
    for (uint32_t k = 0; k < p; k++)
        cells[k] = (struct cell){.source = (uint32_t)_pext_u64(first + k, 0x5555555555555555u),
                                 .dest = (uint32_t)_pext_u64(first + k, 0xaaaaaaaaaaaaaaaau)};
}
static bool have_pext(void) { return __builtin_cpu_supports("bmi2"); }
#else
static void by_pext(uint32_t p, uint64_t first, struct cell *cells) {
    (void)p, (void)first, (void)cells;
}
static bool have_pext(void) { return false; }
#endif

static void by_bits(uint32_t p, uint64_t first, struct cell *cells) {
    for (uint32_t k = 0; k < p; k++)
        cells[k] =
            (struct cell){.source = even_bits(first + k), .dest = even_bits((first + k) >> 1)};
}

/* The cell with this number on the balanced curve: descends the tree of halved rectangles. */
static struct cell balanced(uint32_t rows, uint32_t columns, uint64_t number) {
    uint32_t row = 0, column = 0;
    while (rows > 1 || columns > 1) {
        bool cut_rows = rows >= columns;
        uint32_t half = (cut_rows ? rows : columns) / 2;
        uint64_t cells = (uint64_t)half * (cut_rows ? columns : rows);
        bool second = number >= cells;
        if (second) number -= cells;
        if (cut_rows) {
            row += second ? half : 0;
            rows = second ? rows - half : half;
        } else {
            column += second ? half : 0;
            columns = second ? columns - half : half;
        }
    }
    return (struct cell){.source = column, .dest = row};
}

void order_morton(const struct matrix *matrix, uint32_t worker, struct cell *cells) {
    uint32_t p = matrix->p, rows = rows_of(matrix);
    uint64_t first = (uint64_t)p * worker;
    if (rows != p || (p & (p - 1)) != 0) {
        for (uint32_t k = 0; k < p; k++) cells[k] = balanced(rows, p, first + k);
    } else if (have_pext()) {
        by_pext(p, first, cells);
    } else {
        by_bits(p, first, cells);
    }
}
