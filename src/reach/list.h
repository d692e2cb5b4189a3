/* SPDX-License-Identifier: BSD-3-Clause */
/* One row per data path, a way to a peer's memory: PATH(name, about). The file name.c defines path_name. The first is what a plan
 * takes that names none. */
PATH(stage, "copies through a shared segment: any buffer")
PATH(heap, "loads and stores in the ranks' shared heaps (malloc, new, allocate, numpy): used wherever it can be")
PATH(xpmem, "loads and stores in any memory of a peer, through the XPMEM kernel module")
PATH(cma, "the kernel copies from any memory of a peer (process_vm_readv)")
