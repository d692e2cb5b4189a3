/* SPDX-License-Identifier: BSD-3-Clause */
/* options.h - the one table of settings. OPTION(NAME, default, unit, meaning): NAME is the environment variable without its
 * MORTAR_ prefix, and OPTION_NAME the constant; `mortar info` prints the table. Nobody else calls getenv. */
OPTION(PLAN, "", "plan", "force this plan for every collective it fits, e.g. pull(morton), cico, native; empty: mortar chooses")
OPTION(TUNE, "watch", "off|watch|online|paper", "try plans while the program runs: native; all that may win; orders")
OPTION(REGRET, "1", "percent", "of the time in a class of calls that trials may cost (and 2 ms)")
OPTION(OFF, "", "names", "collectives left to the host MPI, comma separated, e.g. alltoall,allgather; all switches mortar off")
OPTION(REPORT, "", "path", "at MPI_Finalize write what ran: - for a table on standard error, else a JSON file")
OPTION(VERBOSE, "1", "level", "0 silent, 1 one line when mortar cannot work here, 2 also what it chose and why")
OPTION(HEAP, "on", "on|off", "serve malloc from memory that all ranks of the node can load and store")
OPTION(HEAP_BYTES, "64G", "bytes", "address space of the shared heap of one rank (sparse: costs nothing until used)")
OPTION(HUGE, "auto", "auto|on|off", "huge pages in the shared heap; auto: as the system does for all memory; on: always")
OPTION(SLOT, "1M", "bytes", "staging memory of one rank and communicator (two halves), used by cico and unreachable buffers")
OPTION(WAIT, "auto", "auto|spin|yield|futex", "how a rank waits for others; auto measures whether yielding pays")
OPTION(SLICE, "100", "us", "time slice to ask of the scheduler when ranks outnumber processors (Linux 6.12); 0: none")
OPTION(NODES, "0", "count", "pretend the ranks sit on this many nodes (for tests); 0: the real ones")
OPTION(HANDOVER, "auto", "auto|proc|socket", "how ranks open each other's memory: /proc/PID/fd, or descriptors sent over a socket")
OPTION(TOPOLOGY, "", "text", "pretend this machine: hwloc's synthetic text \"pack:2 core:4 pu:1\" or an .xml file; empty: the real")
OPTION(XPMEM, "libxpmem.so.0", "library", "XPMEM, for buffers outside the shared heap where its kernel module is there; off: none")
