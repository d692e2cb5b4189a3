/* SPDX-License-Identifier: BSD-3-Clause */
/* base.h - options, log, files, clock, processors and shared segments: what C and Linux lack. Knows
 * no ranks and no collectives. Set-up functions return 0 or -errno. */
#ifndef MORTAR_BASE_H
#define MORTAR_BASE_H

#include "base/charge.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* For functions that every call runs after the first one: the linker places them together. With
 * many ranks on a processor every context switch flushes the TLB, and then each page that a short
 * call touches costs about as much as its copying. */
#define HOT __attribute__((hot))
/* For those of them that short calls run, whatever their algorithm: they share a page or two. */
#define SHORT_WAY __attribute__((hot, section(".text.sorted.short_way")))

/* Its topmost bits are a place in a table; they depend on all bits of the key. */
static inline uint64_t hashed(uint64_t key) { return key * 0x9e3779b97f4a7c15u; }

/* Things that nobody has, for whoever needs one next, in any thread. All 0: none. */
enum { spare_places = 8 };
struct spares {
    void *_Atomic some[spare_places];
};

/* NULL: there is none. */
static inline void *spares_take(struct spares *spares) {
    void *one = NULL;
    for (int i = 0; i < spare_places && !one; i++) one = atomic_exchange(&spares->some[i], NULL);
    return one;
}

/* Returns one for which there is no room, or NULL. */
static inline void *spares_keep(struct spares *spares, void *one) {
    for (int i = 0; i < spare_places && one; i++) one = atomic_exchange(&spares->some[i], one);
    return one;
}

/* Fetches a line that this thread will write to soon, while it does other work. */
static inline void line_to_write(const void *line) {
#if defined(__x86_64__)
    __asm__ volatile("prefetchw %0" : : "m"(*(const char *)line));
#else
    __builtin_prefetch(line, 1);
#endif
}

/* ---- options.c: no allocation, so that the heap can read options before malloc works ---- */
enum option {
#define OPTION(name, whose, value, unit, meaning) OPTION_##name,
#include "base/options.h"
#undef OPTION
    OPTIONS
};
/* Whose value of an option counts if the ranks of a job differ, as when a launcher does not pass
 * variables to other nodes. */
enum whose {
    OWN,   /* each rank's own */
    ALIKE, /* rank 0's, because all ranks must decide alike; see reach/settings.c */
    WISH,  /* if one rank sets it, all ranks act on it together */
};
struct option_row {
    const char *name;
    enum whose whose;
    const char *value, *unit, *meaning;
};
extern const struct option_row option_rows[OPTIONS];

/* The text taken over from another rank, else from the environment, else the default. Never
 * freed. */
const char *option_text(enum option option);

/* Replaces the option's text by another rank's. 0 or -ENOMEM. Uses malloc. */
int option_take_over(enum option option, const char *text);

/* From now on the options are what they are now: the program may change its environment, also in a
 * thread that runs meanwhile. Relative paths mean files below this folder, wherever the program
 * goes; NULL: no folder is known. 0 or -ENOMEM. Uses malloc. */
int options_take(const char *folder);

/* Continue a hash (FNV-1a; begin with HASH_START) over bytes, over a text and its '\0'. */
#define HASH_START 14695981039346656037u
uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t count);
uint64_t hash_text(uint64_t hash, const char *text);

/* The text as a number, which may end in K, M, G or T (powers of 1024). If it is invalid or out of
 * range: the default. */
uint64_t option_number(enum option option);

/* The index of the option's text in the words `a|b|c`; if it is none of them, the default's. */
int option_choice(enum option option, const char *words);

/* Is the text a valid value of the option? */
bool options_fits(enum option option, const char *text);
/* The place of a text in a list of words, "auto|on|off", from 0; -1: it is none of them. */
int options_index_of(const char *text, const char *words);
/* options_check.c: warns about each option with an invalid value, and each MORTAR_ variable that is
 * no option. Call it in one process of the job. */
void options_check(void);
/* The edit distance of two words, whatever their case: letters to insert, delete or replace. */
int word_distance(const char *a, const char *b);
/* A word at most so far from what was typed is probably what was meant. */
int likely_distance(const char *typed);
/* The option whose name is most like this one, without MORTAR_. alike: it may be meant. */
enum option options_nearest(const char *name, bool *alike);

/* Parses "8", "64K", "1M"; -EINVAL: the text is anything else. */
int parse_bytes(const char *text, uint64_t *bytes);

/* ---- log.c ---- */
/* One line on standard error, prefixed "mortar: ". A process prints at most 8 warnings. Notes need
 * MORTAR_VERBOSE=2. */
void warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
void note(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* For what concerns the whole job: a warning in its first process (launcher_rank), a note in the
 * others. */
void warn_job(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- what the door and an engine share: reach/comms.h, undriven; reach/progress.c ---- */
enum {
    UNDRIVEN = 1,
    DRIVING_HELPED = 2, /* a look that found nothing has found something behind it */
    DRIVER = 4          /* one of them, and more above */
};
/* For one call that looks. */
struct driving {
    double begun; /* clock_seconds */
    int turns;    /* so far; 0: not begun */
    bool looks;   /* the call says what it found, and was itself a turn of the library's */
    bool all;     /* as many turns as can help */
    bool over;
};

/* ---- clock.c ---- */
/* Monotonic time in seconds. About 25 ns. */
double clock_seconds(void);
/* The processor's own counter: about 10 ns, touches no memory. And its ticks per second. */
uint64_t clock_ticks(void);
double clock_ticks_per_second(void);

/* ---- timeline.c: seconds over the time of a run, in constant memory. Local ---- */
enum { timeline_slices = 64 };
struct timeline {
    double begin; /* clock_seconds */
    double slice; /* the length of a slice, in seconds: a power of two, which grows with the run */
    int rows;
    double (*seconds)[timeline_slices]; /* [rows], from calloc; NULL: not open */
};
/* 0 or -ENOMEM. Rows that are never added to take no memory. */
int timeline_open(struct timeline *timeline, int rows, double begin);
/* Adds the seconds from `from` (clock_seconds) on to a row, each slice its part. */
void timeline_add(struct timeline *timeline, int row, double from, double seconds);
/* Makes slices at least that long. */
void timeline_widen(struct timeline *timeline, double slice);

/* ---- machine.c ---- */
/* Set of the processors that this process may run on, a bit for each, and the size of a set. The
 * union of several is their bitwise OR. */
struct processors {
    uint64_t bits[32];
};
struct processors machine_processors(void);
/* How many the node has, asked for once: the C library reads a file each time. */
int machine_online(void);
static inline int processors_count(const struct processors *set) {
    int count = 0;
    for (size_t i = 0; i < sizeof set->bits / sizeof *set->bits; i++)
        count += __builtin_popcountll(set->bits[i]);
    return count;
}

/* The namespace of this process's id: ids are comparable within one. 0: not known. */
uint64_t machine_name_space(void);

/* Identifies the node among others, by its kernel and its host name. 0: not known. */
uint64_t machine_node(void);
/* Identifies the namespace of process ids as well: processes with the same number can open each
 * other's memory by /proc. 0: not known. */
uint64_t machine_place(void);

/* Bytes of the node's physical memory. */
size_t machine_memory(void);

/* Moves this thread to another processor that it may use, if there is one; then it may use all of
 * them again. */
void machine_leave_processor(void);

/* Asks the scheduler to run this thread in slices of this length, without changing its share of the
 * processor. A thread that is woken then need not wait for the end of another's default slice (3
 * ms). Needs no privilege; Linux before 6.12 ignores it. 0: does nothing. */
void machine_short_slices(uint64_t microseconds);

/* ---- huge.c: huge pages of memory that ranks share ---- */
/* Is this word set in the system's file `which`: "always", "madvise" or "never" in "enabled" or
 * "shmem_enabled"? */
bool huge_set(const char *which, const char *word);
/* Option HUGE, the system's setting, and whether the kernel makes huge pages at request. */
bool huge_wanted(void);
/* True: private memory is in huge pages where the system finds some, and memory that moves loses
 * them, because they are not wanted there or the kernel makes none. */
bool huge_lost(void);

/* ---- program.c: what a file that may be started is ---- */
struct program_facts {
    enum {
        PROGRAM_OTHER,  /* a script, or unreadable: whoever runs it decides */
        PROGRAM_USUAL,  /* dynamically linked, for glibc and this kind of processor */
        PROGRAM_STATIC, /* statically linked */
        PROGRAM_RAISED, /* gets rights that this process has not: setuid, setgid, capabilities */
        PROGRAM_STRANGE /* for another C library, or another kind of processor */
    } kind;
    char interpreter[128]; /* the dynamic linker that it names; empty: none */
    char reader[512];      /* the program that a script's first line names; empty: none */
    const char *sanitizer; /* e.g. "AddressSanitizer"; NULL: none */
    const char *allocator; /* a library with a malloc of its own that it names; NULL: none */
    bool mpi;              /* it names an MPI library */
};
/* Looks into the file; of a script, into what its first line names. */
struct program_facts program_look(const char *path);
/* Why the system does not start the script `path`: what its first line names is not there, or is no
 * program. False: that is not why. */
bool program_lacks_reader(const struct program_facts *facts, const char *path, char *why,
                          size_t size);

/* ---- topology.c: the machine as hwloc reports it, or the one of MORTAR_TOPOLOGY. The first call
 * takes milliseconds ---- */
struct machine_facts {
    char cpu[96];       /* the processor's model; empty: unknown */
    size_t l1d, l2, l3; /* bytes of one cache; 0: none, or unknown */
    int processors;     /* hardware threads, also those that this process may not use; 0: unknown */
    int numa, sockets, l3s; /* how many there are; at least 1 */
};
enum domain_kind { DOMAIN_NUMA, DOMAIN_SOCKET, DOMAIN_L3, DOMAIN_KINDS };
const struct machine_facts *machine_facts(void);
/* What programs here have of all L3 caches; 0: none, or unknown. At most what so many processors
 * have anywhere: a virtual machine with a few of a socket's reports the socket's cache, of which
 * others have their part. */
size_t machine_l3_bytes(void);
/* [machine_facts()->processors] the domain, from 0, of each processor, by the processor's number in
 * the system; NULL: unknown. */
const uint32_t *machine_domains(enum domain_kind kind);

/* The kinds of domain that MORTAR_DOMAINS selects and of which there are several, the smallest
 * domains first. Returns how many kinds. */
int machine_domain_kinds(enum domain_kind kinds[DOMAIN_KINDS]);

/* What this process knows of the machine, for others on the same node, which then need not ask.
 * tell writes it and returns its bytes; 0: it knows nothing, or `room` bytes do not suffice. hear
 * takes it, unless this process knows or has heard. place: as aligned as size_t. */
size_t machine_tell(void *place, size_t room);
void machine_hear(const void *place, size_t bytes);

/* ---- network.c: figures of the network between two nodes; docs/network.md says how each is
 * measured ---- */
struct network_facts {
    /* Half a round trip of a short message, from call to call, both overheads included. */
    double latency_seconds;
    /* Overhead (LogGP's o) of a short send: a rank's time to post it and complete it. */
    double send_seconds;
    double receive_seconds; /* the same of a receive whose message has arrived before */
    /* From one short message of one rank to its next, while it receives as many. */
    double message_seconds;
    double node_message_seconds; /* the same of all ranks of a node together */
    /* Per byte of one rank's long messages, while it receives as many. */
    double byte_seconds;
    double node_byte_seconds; /* the same of all ranks of a node together */
    /* Time per byte when all nodes send at once, divided by that of one pair of nodes alone. one:
     * each node sends to one other at a time; many: to so many that more make no difference. 0: not
     * measured. */
    double one_partner_ratio, many_partners_ratio;
    int pairs; /* ranks on each side in the measurements of a node; 0: nothing was measured */
    char date[32], between[160]; /* when, and between which hosts; empty: nothing was measured */
};
/* What the cost model assumes for a network that was not measured. */
extern const struct network_facts network_usual;

/* ---- what door/count.c counts in a process ---- */
struct untaken {
    const char *function; /* "MPI_Ialltoall" */
    const char *kind;     /* "nonblocking", "persistent" or "one-sided" */
    uint64_t calls;
    double seconds; /* in them and, if they have a request, in the waits for it */
};
/* libmortar-count.so exports int mortar_untaken(int i, struct untaken *row), which fills in row i.
 * 0: there are fewer rows. The same functions in each process. */

/* ---- launcher.c: what the launcher's environment variables say ---- */
int launcher_ranks(void);       /* ranks of the job; 0: unknown */
int launcher_local_ranks(void); /* ranks of the job on this node; 0: unknown */
int launcher_rank(void);        /* this process's rank; -1: unknown */
void launcher_listen(void);     /* later answers are those of now */
/* Takes all mortars' libraries out of LD_PRELOAD in this process's environment: programs that it
 * starts from now on run as without mortar. Not while other threads use the environment. */
void launcher_unpreload(void);

/* ---- json.c ---- */
/* Writes a text in quotation marks; null if it is empty. */
void json_text(FILE *out, const char *text);

/* ---- file.c: reads and writes files, devices and pipes that the user names. A pipe's other end
 * makes a process neither wait for long nor die ---- */
/* Reads at most `most` bytes. The caller frees *text. 0 or -errno; -ETIMEDOUT: a pipe without a
 * writer. */
int file_read(const char *path, size_t most, char **text, size_t *bytes);

/* Writes a text: to a file, which is created or truncated first, or to a descriptor. If several
 * processes write a file, it has the text of one of them. 0 or -errno; -ENXIO: a pipe without a
 * reader. */
int file_write(const char *path, const char *text, size_t bytes);
int file_put(int fd, const char *text, size_t bytes);
/* Puts a text in a file's place, whole or not at all: into a file next to it, which is then
 * renamed. 0 or -errno. */
int file_replace(const char *path, const char *text, size_t bytes);
/* Keeps others that call this for a file in the same folder waiting until the descriptor is closed:
 * a file that is replaced cannot be locked itself. They wait no longer than 10 s, and not where the
 * file system has no locks for folders, as NFS. -1: there is no such folder. */
int file_hold(const char *path);
/* The file that a path leads to, through links. 0 or -errno; -ENOTSUP: a device or a pipe, because
 * replacing one would break its other users. */
int file_place(const char *path, char place[PATH_MAX]);

/* The text that `print` writes, with a decimal point in every locale. The caller frees *text, also
 * after an error. 0 or -ENOMEM. */
int file_print(void (*print)(FILE *out, const void *what), const void *what, char **text,
               size_t *bytes);

/* What such an error means, in words. Static storage, as strerror's. */
const char *file_why(int error);

/* At the end of a program: its exit code, or 1 if standard output has not got all that was printed,
 * which it says then for `who`. */
int output_end(const char *who, int code);

/* ---- segment.c: shared memory without names, so that kill -9 leaves nothing behind ---- */
/* Makes a sealed, zeroed memfd of `bytes`. Returns the descriptor (close-on-exec) or -errno;
 * -EFBIG: the limit on file size (ulimit -f), which applies here too, is lower. Never the number of
 * a standard stream. */
int segment_create(const char *name, size_t bytes);

/* May a file be so long? Beyond the limit (ulimit -f) a write or ftruncate sends SIGXFSZ, which
 * ends a process. The program may have set the limit meanwhile. */
bool segment_may_be(size_t bytes);

/* Moves a descriptor to a high number, out of the way of programs and shells. Returns the new
 * number. Costs 15 ms in a process with threads (the kernel grows the table), else nothing. */
int segment_hide(int fd);

/* Maps a descriptor, without memory. If the program has said mlockall(MCL_FUTURE) a new mapping is
 * locked, and the system fills all of it that can be accessed: so it comes in two steps. `at`: in
 * place of what is there, which may be inaccessible after an error; NULL: anywhere. Address, or
 * MAP_FAILED and errno. */
void *segment_lay(void *at, int fd, size_t offset, size_t bytes, int protection);

/* Maps all of a descriptor likewise. A forked child does not inherit the mapping, and core files do
 * not contain it. NULL and *error = -errno on failure. */
void *segment_map(int fd, size_t bytes, bool writable, int *error);

/* Identifies a descriptor to other processes, which open it with segment_open: a descriptor, or
 * -errno; -ESTALE: the number means another file by now. */
struct segment_name {
    int32_t pid, fd;
    uint64_t inode, device, bytes;
};
int segment_name(int fd, struct segment_name *name);
int segment_open(const struct segment_name *name, bool writable);

#endif
