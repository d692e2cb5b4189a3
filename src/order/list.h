/* SPDX-License-Identifier: BSD-3-Clause */
/* One row per order: ORDER(name, each worker writes only its own receive buffer, takes another order as argument, its walk over a
 * neighbourhood's edges, what it is). The file name.c defines order_name. */
ORDER(rows, true, false, NULL, "each rank fills its own receive buffer, the next rank's block first (li2018 s.2.1, SH-Naive)")
ORDER(spread, true, false, NULL, "each rank fills its own receive buffer; near ranks begin far from each other")
ORDER(columns, false, false, part_columns, "each rank empties its own send buffer, the next rank's block first (ramesh2024 s.V-A)")
ORDER(morton, false, false, NULL, "cache-oblivious: Z-order curve cut into p equal segments (li2018 s.2.1-2.2, SH-CO)")
ORDER(compact, false, false, part_compact, "Z-order curve of the next power of two, skipping missing cells (li2018 s.3)")
ORDER(hilbert, false, false, NULL, "Hilbert's curve: each rank has a tile or, if no divisor of p fits, a piece (ramesh2024 s.V-A)")
ORDER(tiles, false, false, NULL, "cache-aware: square tiles of 8 x 8 blocks, row by row inside, cut into p equal segments")
ORDER(numa, false, true, part_numa, "a step per memory domain; each rank writes only in its own (li2018 s.2.4, 3.1, SH-NUMA-CO)")
