/* SPDX-License-Identifier: BSD-3-Clause */
/* One row per order: ORDER(name, each worker writes only its own receive buffer, takes another order as argument, what it is). The
 * file name.c defines order_name. */
ORDER(rows, true, false, "each rank fills its own receive buffer, starting with the next rank's block (li2018 s.2.1, SH-Naive)")
ORDER(columns, false, false, "each rank empties its own send buffer, starting with the next rank's block (ramesh2024 s.V-A)")
ORDER(morton, false, false, "cache-oblivious: Z-order curve cut into p equal segments (li2018 s.2.1-2.2, SH-CO)")
ORDER(compact, false, false, "Z-order curve of the next power of two, skipping missing cells (li2018 s.3)")
ORDER(hilbert, false, false, "Hilbert's curve: each rank has a tile or, if no divisor of p fits, a segment (ramesh2024 s.V-A)")
ORDER(tiles, false, false, "cache-aware: square tiles of 8 x 8 blocks, row by row inside, cut into p equal segments")
ORDER(numa, false, true, "one step per memory domain; each rank writes only in its own domain (li2018 s.2.4, SH-NUMA-CO)")
