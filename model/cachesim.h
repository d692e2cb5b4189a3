/* SPDX-License-Identifier: BSD-3-Clause */
/* cachesim.h - a trace-driven simulator of the caches of one node: what the library's own orders
 * (src/order) do to private L1 and L2 caches, to L3 caches shared by domains, and to the lines that
 * cores take from each other. It counts; it knows no time. A line is a number: byte address / line
 * size. Line 0 is never used. */
#ifndef MORTAR_CACHESIM_H
#define MORTAR_CACHESIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* ---- cache.c: one set-associative cache of line numbers ---- */
enum policy {
    POLICY_lru, /* least recently used */
    /* A bit per inner node of a binary tree over the ways: what L1 and L2 caches often have. */
    POLICY_tree,
    /* Two bits of age per line, young again at a hit (RRIP, Jaleel et al. 2010): L3 caches keep
     * what is used twice. */
    POLICY_age,
    POLICIES
};
extern const char *const policy_names[POLICIES];

struct cache_shape {
    uint64_t bytes; /* 0: there is none */
    uint32_t ways;  /* 0: fully associative */
    enum policy policy;
    bool scattered; /* the set depends on where the system has put the page: a hash of its number */
};

struct cache {
    uint32_t sets, ways;
    enum policy policy;
    bool scattered;
    uint32_t *lines; /* [sets * ways]; 0: empty. LRU keeps them in order of use */
    uint8_t *state;  /* [sets * ways] ages, or the tree's bits; NULL for LRU */
};

/* Its sets, ways and policy, without memory. Returns NULL, or what is wrong with the shape. */
const char *cache_shaped(struct cache *cache, const struct cache_shape *shape, uint32_t line_bytes);
/* Do the lines of one remainder, one of `sample`, have sets of their own? */
bool cache_divides(const struct cache_shape *shape, uint32_t line_bytes, uint32_t sample);
/* A cache of that many lines. Returns false when there is no memory, or the shape is wrong. */
bool cache_make(struct cache *cache, const struct cache_shape *shape, uint32_t line_bytes);
void cache_free(struct cache *cache);
/* Is the line there? If so it counts as used now. */
bool cache_use(struct cache *cache, uint32_t line);
/* Is the line there? Changes nothing. */
bool cache_holds(const struct cache *cache, uint32_t line);
/* Brings a line in that is not there. Returns the line that had to go, 0: none. */
uint32_t cache_fill(struct cache *cache, uint32_t line);
void cache_drop(struct cache *cache, uint32_t line);

/* ---- machine.c: the machine that is simulated, from a small file of lines `key value` ---- */
enum { most_cores = 128, most_domains = 32 };
struct machine {
    char name[64], about[160];
    uint32_t cores, domains; /* a domain shares one L3 */
    uint32_t line_bytes, page_bytes;
    struct cache_shape l1, l2, l3;
    /* L3 holds what the private caches below it hold; otherwise it takes what L2 throws out. */
    bool inclusive;
    uint32_t tlb_entries, tlb_ways; /* 0: address translation touches no cache */
    bool next_line;                 /* L1 fetches the next line of an ascending walk */
    bool stream;                    /* L2 follows ascending walks inside a page */
    /* Share of the followed lines that are in L2 (in L3) before they are asked for. */
    double stream_l2, stream_l3;
    /* Above this share of recent misses from memory, followed lines get only as far as L3. */
    double busy;
    uint32_t cycles[4]; /* that a line takes from L1, L2, L3, from beyond */
    /* Memcpy of at least copy_large bytes prefetches so many lines ahead of its loads. */
    uint32_t copy_ahead, copy_large;
};

/* Reads a description. Returns 0 or -errno; then one line in `why` says what is wrong. */
int machine_read(struct machine *machine, const char *path, char why[256]);
/* The machine that this runs on, as hwloc tells; at most most_cores of it. */
void machine_this(struct machine *machine);
/* An ideal cache (Frigo et al.): one level that counts as L1, fully associative, LRU, no prefetch,
 * no translation. */
struct machine machine_ideal(uint32_t cores, uint64_t bytes);

/* ---- node.c: cores, caches, who holds a line ---- */
struct counts {
    /* Lines that had to come from beyond that cache: what the processor's counters count as
     * misses. */
    uint64_t l1, l2, l3;
    uint64_t remote, memory; /* of those beyond L3: from another domain's caches, from memory */
    uint64_t neighbour;      /* L2 misses that another core of the domain had modified */
    uint64_t ownership;      /* stores into a line that others held as well */
    /* Lines of private caches that fell with their line in an inclusive L3. */
    uint64_t back_invalidated;
    uint64_t nontemporal; /* lines stored past the caches */
    uint64_t walks;       /* page walks */
};

struct node;
/* One of `sample` lines is simulated (1: all), those whose number has the same remainder. Where
 * node_divides, they have sets of their own in all caches, and what is simulated is exact, but for
 * the prefetchers. NULL: no memory or the machine makes no sense. */
bool node_divides(const struct machine *machine, uint32_t sample);
struct node *node_make(const struct machine *machine, uint32_t sample);
void node_free(struct node *node);
/* KNOWN: is in L3 before the counting begins (step lists, page tables). */
enum { LOAD = 0, STORE = 1, KNOWN = 2 };
void node_access(struct node *node, uint32_t core, uint32_t line, int kind);
/* The same for data: translated first, and followed by the next-line prefetcher. */
void node_load(struct node *node, uint32_t core, uint32_t line);
void node_store(struct node *node, uint32_t core, uint32_t line);
void node_store_past(struct node *node, uint32_t core, uint32_t line);
void node_prefetch(struct node *node, uint32_t core, uint32_t line);
/* All private caches become empty; what lies in L3 stays there. */
void node_forget(struct node *node);
struct counts *node_counts(struct node *node, uint32_t core);
/* The time that a core has used up, in cycles: only to decide who goes on; latencies add up as if
 * nothing overlapped. */
uint64_t node_clock(const struct node *node, uint32_t core);
uint32_t node_domain(const struct node *node, uint32_t core);
/* Where the page tables of a core lie: lines from here up, one for 8 pages, then one for 8 x
 * 512. */
void node_tables(struct node *node, uint32_t core, uint32_t leaves, uint32_t directories);

/* ---- exchange.c: the trace of one collective ---- */
struct order;
struct edge;
/* Who exchanges blocks with whom in a neighbourhood (grid.c). Each rank has room for `degree`
 * blocks. */
struct around {
    struct edge *edges;
    size_t count;
    uint32_t degree;
};
struct exchange {
    bool alltoall;               /* else allgather */
    const struct around *around; /* of neighbours only; NULL: among all ranks */
    uint32_t ranks;
    uint64_t bytes; /* of a block */
    const struct order *order, *inner;
    /* Blocks of at least so many bytes are stored past the caches; 0: never. */
    uint64_t nontemporal;
    /* Only the blocks: no posts, no step lists, no barrier, nothing in the caches before
     * (equations). */
    bool bare;
    /* What a rank has touched before stays in its L1 and L2; else only in L3. */
    bool kept;
    uint32_t sample; /* see node_make */
};
/* Misses per process: each rank touches its own buffers, barrier, then the collective is counted
 * (li2018, figure 9). */
struct result {
    double l1, l2, l3, remote, memory, neighbour, ownership, back_invalidated, nontemporal, walks;
};
int simulate(const struct machine *machine, const struct exchange *exchange, struct result *result);

/* ---- grid.c: neighbourhoods ---- */
/* Fills a neighbourhood of so many ranks, whose edges the caller frees: text is a grid without
 * wrap-around, like 6x10 or 4x4x4, ranks in row-major order as in MPI_Cart_create, or random8: 8
 * others that each rank sends to. NULL, or what is wrong. */
const char *around_make(const char *text, uint32_t ranks, struct around *around);

/* ---- equations.c: li2018, section 2.3, per process. Bytes everywhere; `along` is the L of long
 * walks (L' in the paper) ---- */
double equation(int number, double p, double block, double line, double along, double cache);
/* The number of the equation that the paper uses for this order: rows or a curve; `exact`: the
 * sequential bound, not the O(). */
int equation_for(bool alltoall, bool curve, double p, double block, double cache);

#endif
