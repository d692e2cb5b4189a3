/* SPDX-License-Identifier: BSD-3-Clause */
/* base.h - what C and Linux should have given us. Knows no rank and no collective. Set-up functions
 * return 0 or -errno. */
#ifndef MORTAR_BASE_H
#define MORTAR_BASE_H

#include "base/charge.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* On functions of the path of a call after the first: the linker puts them side by side. With many
 * ranks on a processor every switch empties the TLB, and each page that a short call touches then
 * costs about as much as its copying. */
#define HOT __attribute__((hot))

/* ---- options.c: allocation-free, so that the heap may ask before malloc works ---- */
enum option {
#define OPTION(name, whose, value, unit, meaning) OPTION_##name,
#include "base/options.h"
#undef OPTION
    OPTIONS
};
/* Whose an option is, where the ranks of a job have different ones: launchers do not bring
 * variables to other nodes. */
enum whose {
    OWN,   /* each rank goes by its own */
    ALIKE, /* decides what all ranks must decide alike: rank 0's counts, see reach/settings.c */
    WISH,  /* something that all do together when one of them wants it */
};
struct option_row {
    const char *name;
    enum whose whose;
    const char *value, *unit, *meaning;
};
extern const struct option_row option_rows[OPTIONS];

/* The text that was taken over, or the one in the environment, or the default. Static storage. */
const char *option_text(enum option option);

/* From now on this is the option's text: another rank's. 0 or -ENOMEM. Uses malloc. */
int option_take_over(enum option option, const char *text);

/* Goes on with a hash (FNV-1a; begin with HASH_START) over a text and its end. */
#define HASH_START 14695981039346656037u
uint64_t hash_text(uint64_t hash, const char *text);

/* The text as a number, which may end in K, M, G or T (powers of 1024). One that is wrong or out of
 * range: the default. */
uint64_t option_number(enum option option);

/* Is the text one of the words of `a|b|c`? Returns its index; of anything else the default's. */
int option_choice(enum option option, const char *words);

/* One line for each option that is wrong, and for each MORTAR_ variable that is none. For one
 * process of the job. */
void options_check(void);

/* Parses "8", "64K", "1M"; -EINVAL when text is anything else. */
int parse_bytes(const char *text, uint64_t *bytes);

/* ---- log.c ---- */
/* One line on standard error, prefixed "mortar: ". Warnings stop after 8 lines; notes need
 * MORTAR_VERBOSE=2. */
void warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
void note(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* What is wrong for the whole job is a warning of its first process (base/launcher.c), and a note
 * of the others. */
void warn_job(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- clock.c ---- */
/* Monotonic time in seconds. About 25 ns. */
double clock_seconds(void);
/* The processor's own counter, about 10 ns and no memory touched, and how many of its ticks make a
 * second. */
uint64_t clock_ticks(void);
double clock_ticks_per_second(void);

/* ---- machine.c ---- */
/* The processors that this process may run on, as a bit set, and how many a set holds. Sets of all
 * ranks of a node are or-ed. */
struct processors {
    uint64_t bits[32];
};
struct processors machine_processors(void);
int processors_count(const struct processors *set);

/* Bytes of memory that the node has. */
size_t machine_memory(void);

/* Asks the scheduler to run this thread in slices of so many microseconds, without changing its
 * share of the processor: a thread that was woken then need not wait for a stranger's whole slice
 * (3 ms). Needs no privilege; Linux before 6.12 ignores it. */
void machine_short_slices(uint64_t microseconds);

/* ---- topology.c: the machine as hwloc sees it, or the one described by MORTAR_TOPOLOGY. The first
 * call takes milliseconds ---- */
struct machine_facts {
    char cpu[96];       /* the processor's model; empty: unknown */
    size_t l1d, l2, l3; /* bytes of one cache; 0: none, or unknown */
    /* Hardware threads, those included that this process may not use; 0: unknown. */
    int processors;
    int numa, sockets, l3s; /* how many there are; at least 1 */
};
enum domain_kind { DOMAIN_NUMA, DOMAIN_SOCKET, DOMAIN_L3, DOMAIN_KINDS };
const struct machine_facts *machine_facts(void);
/* [machine_facts()->processors] the domain, counted from 0, of each processor by the system's
 * number; NULL: unknown. */
const uint32_t *machine_domains(enum domain_kind kind);

/* What counts as a domain by MORTAR_DOMAINS; DOMAIN_KINDS: nothing, or there is only one. */
enum domain_kind machine_domain_kind(void);

/* ---- network.c: what the network between two nodes does. docs/network.md says how each figure is
 * measured ---- */
struct network_facts {
    /* Half a round trip of a short message, from call to call: with both overheads. */
    double latency_seconds;
    /* Overhead (LogGP's o): a rank's time to post a short send and complete it. */
    double send_seconds;
    double receive_seconds; /* and of a receive whose message is there already */
    /* Between two short messages that leave one rank, while as many reach it. */
    double message_seconds;
    double node_message_seconds; /* that leave a node, all of its ranks together */
    /* Per byte of long messages that leaves one rank, while as many reach it. */
    double byte_seconds;
    double node_byte_seconds; /* that leaves a node, all of its ranks together */
    /* How many times as long bytes take when all nodes send at once as when a pair of nodes does,
     * with the network to itself: each node to one other at a time, and to so many that more would
     * not change it. 0: not measured. */
    double one_partner_ratio, many_partners_ratio;
    /* How many ranks "all" were on each side; 0: nothing was measured. */
    int pairs;
    char date[32], between[160]; /* when, and between which hosts; empty: nothing was measured */
};
/* What the cost model takes where nobody has measured. */
extern const struct network_facts network_usual;

/* ---- launcher.c: what the launcher told this process by its environment; 0 or -1 when it told
 * nothing ---- */
int launcher_ranks(void);       /* ranks of the job */
int launcher_local_ranks(void); /* ranks of the job on this node */
int launcher_rank(void);        /* this one; -1: unknown */

/* ---- file.c: what a user named, be it a file, a device or a pipe: nobody waits long for its other
 * end, or dies of it ---- */
/* Reads at most so many bytes. *text is the caller's to free. 0 or -errno; -ETIMEDOUT: a pipe that
 * nobody writes to. */
int file_read(const char *path, size_t most, char **text, size_t *bytes);

/* Writes a text: to a file that is made or emptied first, or to a descriptor. 0 or -errno; -ENXIO:
 * a pipe that nobody reads. */
int file_write(const char *path, const char *text, size_t bytes);
int file_put(int fd, const char *text, size_t bytes);

/* What `print` prints, with a decimal point whatever the program's locale says. *text is the
 * caller's to free, also after an error. 0 or -ENOMEM. */
int file_print(void (*print)(FILE *out, const void *what), const void *what, char **text,
               size_t *bytes);

/* What such an error means. As strerror: static storage. */
const char *file_why(int error);

/* ---- segment.c: shared memory without names: nothing to clean up after kill -9 ---- */
/* A sealed, zeroed memfd of that many bytes. Returns the descriptor (close-on-exec) or -errno;
 * -EFBIG: the limit on the size of files (ulimit -f), which counts here too, is below that. */
int segment_create(const char *name, size_t bytes);

/* Moves a descriptor that stays open to a number where programs and shells do not look for theirs.
 * Returns the new number. Costs 15 ms in a process that has threads (the kernel grows the table),
 * nothing before. */
int segment_hide(int fd);

/* Maps a descriptor; not inherited by fork, not in core files. NULL and *error = -errno on
 * failure. */
void *segment_map(int fd, size_t bytes, bool writable, int *error);

/* What a process tells others about a descriptor, and opening it from that. */
struct segment_name {
    int32_t pid, fd;
    uint64_t inode, device, bytes;
};
int segment_name(int fd, struct segment_name *name);
int segment_open(const struct segment_name *name, bool writable);

#endif
