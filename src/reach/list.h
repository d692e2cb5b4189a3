/* SPDX-License-Identifier: BSD-3-Clause */
/* One row per data path, a way to a peer's memory: PATH(name, about). The file name.c defines path_name. A plan that names no path
 * takes the first. */
PATH(stage, "copies in and out of a shared segment; works for any buffer")
PATH(heap, "loads and stores in the ranks' shared heaps (malloc, new, allocate, numpy); used for every buffer that lies there")
PATH(xpmem, "loads and stores in any memory of a peer, through the XPMEM kernel module")
PATH(cma, "the kernel copies from any memory of a peer (process_vm_readv)")
