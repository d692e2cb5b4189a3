/* SPDX-License-Identifier: BSD-3-Clause */
/* One row per order: ORDER(name, writes only its own worker's receive buffer, takes another order, what it is). The file name.c
 * defines order_name. */
ORDER(rows, true, false, "each rank fills its own receive buffer, starting behind itself (li2018 s.2.1, SH-Naive)")
ORDER(columns, false, false, "each rank empties its own send buffer, starting behind itself (ramesh2024 s.V-A)")
ORDER(morton, false, false, "Z-order curve cut into p equal segments: cache-oblivious (li2018 s.2.1-2.2, SH-CO)")
ORDER(compact, false, false, "Z-order curve of the next power of two, without the cells that are not there (li2018 s.3)")
ORDER(hilbert, false, false, "Hilbert's curve: each rank a tile or, where no divisor of p fits, a segment (ramesh2024 s.V-A)")
ORDER(tiles, false, false, "square tiles of 8 x 8 blocks, row by row inside, cut into p equal segments: cache-aware")
ORDER(numa, false, true, "steps over the memory domains; each rank writes only in its own (li2018 s.2.4, SH-NUMA-CO)")
