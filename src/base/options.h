/* SPDX-License-Identifier: BSD-3-Clause */
/* options.h - the one table of settings. OPTION(NAME, whose, default, unit, meaning): NAME is the environment variable without its
 * MORTAR_ prefix, and OPTION_NAME the constant; whose: see enum whose in base.h; `mortar info` prints the table. Nobody else calls
 * getenv. The unit says what is right: one of several words, a number from .. to, or a text that its user judges. What is wrong
 * counts as the default. */
OPTION(PLAN, ALIKE, "", "plan",
       "force this plan for every collective it fits, e.g. pull(morton), cico, native; empty: mortar chooses")
OPTION(TUNE, ALIKE, "watch", "off|watch|online|paper", "try plans while the program runs: native; all that may win; orders")
OPTION(TUNE_SAVE, WISH, "", "path", "at MPI_Finalize write what TUNE has measured as a tuning file, or add it to one")
OPTION(REGRET, ALIKE, "1", "0-100 percent", "of the time in a class of calls that trials may cost (and 2 ms)")
OPTION(REDUCE, ALIKE, "ordered", "ordered|arrival",
       "MPI_Reduce: the same brackets in every run, or by arrival where the order is free")
OPTION(OFF, ALIKE, "", "names",
       "collectives left to the host MPI, comma separated, e.g. alltoall,allgather; all switches mortar off")
OPTION(TUNING, OWN, "", "path",
       "a tuning file that `mortar tune` wrote: which plans run; refused when made on another machine or MPI")
OPTION(REPORT, WISH, "", "path", "at MPI_Finalize write what ran: - for a table on standard error, else a JSON file")
OPTION(VERBOSE, OWN, "1", "0|1|2", "0 silent, 1 one line when mortar cannot work here, 2 also what it chose and why")
OPTION(HEAP, OWN, "on", "on|off", "serve malloc from memory that all ranks of the node can load and store")
OPTION(HEAP_BYTES, OWN, "64G", "2M-128T bytes", "address space of the shared heap of one rank (sparse: costs nothing until used)")
OPTION(ADOPT, OWN, "off", "off|on", "make the program's static data (C static and global, COMMON, SAVE) part of the shared heap")
OPTION(HUGE, OWN, "auto", "auto|on|off", "huge pages in the shared heap; auto: as the system does for all memory; on: always")
OPTION(SLOT, ALIKE, "1M", "128-1G bytes",
       "staging memory of one rank and communicator: for barriers in two halves, and as much for boxes")
OPTION(WAIT, OWN, "auto", "auto|spin|yield|futex", "how a rank waits for others; auto measures whether yielding pays")
OPTION(SLICE, OWN, "100", "0-100000 us", "time slice to ask of the scheduler when ranks outnumber processors (Linux 6.12); 0: none")
OPTION(NT, OWN, "auto", "auto|sse2|avx2|avx512|neon", "the copy kernel that nt stands for; auto: the widest of the processor")
OPTION(DEVICES, OWN, "auto", "auto|ask", "do buffers lie on a GPU? auto: looks where there is one; ask: where a driver is loaded")
OPTION(NODES, ALIKE, "", "nodes",
       "pretend so many nodes (for tests): 3, or 5,3,1 with so many ranks, or cyclic:3; empty: the real ones")
OPTION(HANDOVER, ALIKE, "auto", "auto|proc|socket",
       "how ranks open each other's memory: /proc/PID/fd, or descriptors sent over a socket")
OPTION(DOMAINS, OWN, "auto", "auto|none|numa|socket|l3", "what is a memory domain; auto: the first of which there are several")
OPTION(TOPOLOGY, OWN, "", "text", "pretend this machine: what hwloc calls synthetic (\"pack:2 core:4 pu:1\"), or an .xml file")
OPTION(XPMEM, OWN, "libxpmem.so.0", "library",
       "XPMEM, for buffers outside the shared heap where its kernel module is there; off: none")
