/* SPDX-License-Identifier: BSD-3-Clause */
/* options.h - the one table of settings. OPTION(NAME, whose, default, unit, meaning): MORTAR_NAME is the environment variable, and
 * OPTION_NAME the constant; whose: see enum whose in base.h. `mortar info` prints the table. No other code reads settings. The unit
 * gives the valid values: one of several words, a number in a range, or a text that the code which uses it checks. An invalid value
 * counts as the default. */
OPTION(
    PLAN, ALIKE, "", "plan",
    "run this plan in every collective that it can run, e.g. pull(morton), cico, native; empty: mortar chooses")
OPTION(TUNE, ALIKE, "watch", "off|watch|online|paper",
       "plans to try while the program runs: off: none; watch: the MPI library's; online: all that could win; paper: orders")
OPTION(TUNE_SAVE, WISH, "", "path",
       "at MPI_Finalize write what TUNE has measured to a tuning file, or add it to one")
OPTION(TUNE_RUNS, ALIKE, "3", "1-1000 calls",
       "with TUNE=paper: timed calls of each order, and of each copy")
OPTION(REGRET, ALIKE, "1", "0-100 percent",
       "share of the time in a communicator's collectives that trials may cost (plus 2 ms)")
OPTION(
    REDUCE, ALIKE, "ordered", "ordered|arrival",
    "MPI_Reduce: the same association in every run, or in the order of arrival if the operation commutes")
OPTION(
    START, ALIKE, "paid", "paid|early|first",
    "mortar begins on a communicator: paid: when its calls have taken twice what that costs; early: after some; first: at once")
OPTION(
    OFF, ALIKE, "", "names",
    "collectives left to the MPI library, comma separated, e.g. alltoall,allgather; all: switches mortar off")
OPTION(
    TUNING, OWN, "", "path",
    "a tuning file from `mortar tune`, which says which plans run; refused if made on another machine or MPI")
OPTION(REPORT, WISH, "", "path",
       "at MPI_Finalize write what ran; -: a table on standard error, else a JSON file")
OPTION(VERIFY, ALIKE, "0", "0-1000000000 calls",
       "run the first and every N-th call of a class again by the MPI library, and compare; 0: none")
OPTION(VERIFY_OPS, ALIKE, "off", "off|on",
       "verify also calls with the program's own operations, which then run twice")
OPTION(VERBOSE, OWN, "1", "0|1|2",
       "0: silent; 1: one line if mortar cannot work here; 2: also what it chose and why")
OPTION(HEAP, OWN, "on", "on|off|aside",
       "serve malloc from memory that can be shared with the node's ranks once collectives use it; "
       "aside: leave malloc to the program's own allocator, and share the memory that it maps")
OPTION(HEAP_BYTES, OWN, "64G", "16M-128T bytes",
       "address space of one rank's shared heap (takes no memory until used)")
OPTION(
    HUGE, OWN, "auto", "auto|on|off",
    "huge pages for memory that collectives share; auto: unless the system is set to `never`; on: also then")
OPTION(
    SLOT, ALIKE, "1M", "128-1G bytes",
    "staging memory of one rank in one communicator (in two halves), and the same again for short messages")
OPTION(WAIT, OWN, "auto", "auto|spin|yield|futex",
       "how a rank waits for others; auto: measures whether yielding pays")
OPTION(FAN, ALIKE, "0", "0-1000000 ranks",
       "ranks that meet at one counter of a barrier; 1: all; 0: chosen: all if they share processors, else none or 4")
OPTION(SLICE, OWN, "100", "0-100000 us",
       "time slice to ask the scheduler for (Linux 6.12); 0: none")
OPTION(NT, OWN, "auto", "auto|sse2|avx2|avx512|neon",
       "the copy kernel that the name nt means; auto: the widest that the processor has")
OPTION(DEVICES, OWN, "auto", "auto|ask",
       "check whether buffers lie on a GPU; auto: if there is one; ask: if a driver is loaded")
OPTION(
    NODES, ALIKE, "", "nodes",
    "for tests, pretend several nodes: 3, or 5,3,1 (ranks on each), or cyclic:3; empty: the real nodes")
OPTION(HANDOVER, ALIKE, "auto", "auto|proc|socket",
       "how ranks open each other's memory: by /proc/PID/fd, or by descriptors sent over sockets")
OPTION(DOMAINS, OWN, "auto", "auto|none|numa|socket|l3",
       "what counts as a memory domain; auto: what divides the ranks most and leaves two to each")
OPTION(TOPOLOGY, OWN, "", "text",
       "pretend this machine: a synthetic hwloc topology (\"pack:2 core:4 pu:1\"), or an .xml file")
OPTION(XPMEM, OWN, "libxpmem.so.0", "library",
       "XPMEM library, for buffers outside the shared heap; needs the kernel module; off: not used")
