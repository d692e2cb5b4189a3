/* SPDX-License-Identifier: BSD-3-Clause */
/* node - one access after another: which caches miss, what is thrown out, who has to give a line
 * away.
 *
 * A load that misses L2 is served from the L3 of the core's domain, from a cache of another domain,
 * or from memory. A store first makes its core the owner: all other copies are invalidated. In an
 * inclusive L3 a line that goes takes the private copies of its domain along; an L3 that is not
 * inclusive takes what L2 throws out.
 * What is counted is what processors count: lines that L1 takes in; requests of the core that L2
 * sends on; those that L3 of the own domain sends on. What the stream prefetcher has brought in
 * time is no miss at that level, though it is moved as well. */
#include "directory.h"

#include <stdlib.h>

/* Walks followed at once; how far apart its lines may be. */
enum { streams = 32, reach = 20, recent_directories = 32 };

struct stream {
    /* The last line asked for, the last fetched ahead; how many in a row. */
    uint32_t page, last, head, run;
};

struct core {
    /* The last: page directories that the walker remembers. */
    struct cache l1, l2, tlb, directories;
    struct stream streams[streams];
    uint32_t next_stream, last_load, page[2];
    /* Shares carried over; moving average over what L2 took in. */
    double credit_l2, credit_l3, from_memory;
    uint32_t leaves, page_directories; /* lines of its page tables */
    uint64_t clock;
    struct counts counts;
};

struct node {
    struct machine machine;
    uint32_t sample, cores_per_domain;
    struct core *cores;
    struct cache l3[most_domains];
    struct directory directory;
};

/* Is the line one of those that are simulated? Of 8 the sixth, behind those in which a stream is
 * noticed. */
static bool sampled(const struct node *node, uint32_t line) {
    return line % node->sample == 5 % node->sample;
}

struct counts *node_counts(struct node *node, uint32_t core) {
    return &node->cores[core].counts;
}
uint64_t node_clock(const struct node *node, uint32_t core) { return node->cores[core].clock; }
uint32_t node_domain(const struct node *node, uint32_t core) {
    return core / node->cores_per_domain;
}
void node_tables(struct node *node, uint32_t core, uint32_t leaves, uint32_t directories) {
    node->cores[core].leaves = leaves;
    node->cores[core].page_directories = directories;
}

static uint64_t lines_of(const struct machine *m, const struct cache_shape *shape) {
    return shape->bytes / m->line_bytes;
}

static bool make_core(struct core *core, const struct machine *m) {
    struct cache_shape tlb = {.bytes = (uint64_t)m->tlb_entries * m->line_bytes,
                              .ways = m->tlb_ways};
    struct cache_shape directories = {.bytes = (uint64_t)recent_directories * m->line_bytes};
    if (!cache_make(&core->l1, &m->l1, m->line_bytes)) return false;
    if (m->l2.bytes > 0 && !cache_make(&core->l2, &m->l2, m->line_bytes)) return false;
    return m->tlb_entries == 0 || (cache_make(&core->tlb, &tlb, m->line_bytes) &&
                                   cache_make(&core->directories, &directories, m->line_bytes));
}

bool node_divides(const struct machine *m, uint32_t sample) {
    return cache_divides(&m->l1, m->line_bytes, sample) &&
           cache_divides(&m->l2, m->line_bytes, sample) &&
           cache_divides(&m->l3, m->line_bytes, sample);
}

struct node *node_make(const struct machine *machine, uint32_t sample) {
    struct node *node = calloc(1, sizeof *node);
    if (!node) return NULL;
    node->machine = *machine;
    node->sample = sample;
    node->cores_per_domain = machine->cores / machine->domains;
    node->cores = calloc(machine->cores, sizeof *node->cores);
    uint64_t lines = (uint64_t)machine->cores *
                         (lines_of(machine, &machine->l1) + lines_of(machine, &machine->l2)) +
                     machine->domains * lines_of(machine, &machine->l3);
    bool fine = node->cores && directory_make(&node->directory, lines / sample + 4096);
    for (uint32_t c = 0; fine && c < machine->cores; c++)
        fine = make_core(&node->cores[c], machine);
    for (uint32_t d = 0; fine && machine->l3.bytes > 0 && d < machine->domains; d++)
        fine = cache_make(&node->l3[d], &machine->l3, machine->line_bytes);
    if (fine) return node;
    node_free(node);
    return NULL;
}

void node_free(struct node *node) {
    if (!node) return;
    for (uint32_t c = 0; node->cores && c < node->machine.cores; c++) {
        struct cache *caches[] = {&node->cores[c].l1, &node->cores[c].l2, &node->cores[c].tlb,
                                  &node->cores[c].directories};
        for (int i = 0; i < 4; i++) cache_free(caches[i]);
    }
    for (uint32_t d = 0; d < node->machine.domains; d++) cache_free(&node->l3[d]);
    directory_free(&node->directory);
    free(node->cores);
    free(node);
}

/* ---- who holds a line ---- */

static bool core_in(const struct holders *holders, uint32_t core) {
    return holders->cores[core / 64] >> core % 64 & 1;
}

static bool nobody(const struct holders *holders) {
    for (int i = 0; i < most_cores / 64; i++)
        if (holders->cores[i]) return false;
    return holders->l3s == 0;
}

static void core_loses(struct node *node, struct holders *holders, uint32_t core) {
    holders->cores[core / 64] &= ~(1ull << core % 64);
    if (holders->owner == (int)core) holders->owner = -1, holders->modified = false;
    if (nobody(holders)) directory_remove(&node->directory, holders);
}

void node_forget(struct node *node) {
    for (uint32_t c = 0; c < node->machine.cores; c++) {
        struct cache *caches[] = {&node->cores[c].l1, &node->cores[c].l2};
        for (int k = 0; k < 2; k++)
            for (size_t i = 0; i < (size_t)caches[k]->sets * caches[k]->ways; i++) {
                uint32_t line = caches[k]->lines[i];
                struct holders *holders = line ? directory_find(&node->directory, line) : NULL;
                caches[k]->lines[i] = 0;
                if (holders && !cache_holds(&node->cores[c].l1, line) &&
                    !cache_holds(&node->cores[c].l2, line))
                    core_loses(node, holders, c);
            }
    }
}

static void drop_private(struct node *node, uint32_t core, uint32_t line) {
    cache_drop(&node->cores[core].l1, line);
    cache_drop(&node->cores[core].l2, line);
}

/* A line has gone from an L3. */
static void gone_from_l3(struct node *node, uint32_t domain, uint32_t line) {
    struct holders *holders = line ? directory_find(&node->directory, line) : NULL;
    if (!holders) return;
    holders->l3s &= ~(1u << domain);
    for (uint32_t i = 0; node->machine.inclusive && i < node->cores_per_domain; i++) {
        uint32_t core = domain * node->cores_per_domain + i;
        if (!core_in(holders, core)) continue;
        node->cores[core].counts.back_invalidated++;
        drop_private(node, core, line);
        holders->cores[core / 64] &= ~(1ull << core % 64);
        if (holders->owner == (int)core) holders->owner = -1, holders->modified = false;
    }
    if (nobody(holders)) directory_remove(&node->directory, holders);
}

static void fill_l3(struct node *node, uint32_t domain, uint32_t line) {
    if (node->l3[domain].sets == 0) return;
    gone_from_l3(node, domain, cache_fill(&node->l3[domain], line));
    directory_add(&node->directory, line)->l3s |= 1u << domain;
}

/* A line has gone from a private cache; the other one of the core may still have it. */
static void gone_from_core(struct node *node, uint32_t core, const struct cache *other,
                           uint32_t line, bool to_l3) {
    if (line == 0) return;
    if (to_l3 && !node->machine.inclusive) fill_l3(node, node_domain(node, core), line);
    if (cache_holds(other, line)) return;
    struct holders *holders = directory_find(&node->directory, line);
    if (holders) core_loses(node, holders, core);
}

static void hold(struct node *node, uint32_t core, uint32_t line) {
    directory_add(&node->directory, line)->cores[core / 64] |= 1ull << core % 64;
}

static void fill_private(struct node *node, uint32_t core, uint32_t line) {
    struct core *c = &node->cores[core];
    if (c->l2.sets && !cache_holds(&c->l2, line))
        gone_from_core(node, core, &c->l1, cache_fill(&c->l2, line), true);
    gone_from_core(node, core, &c->l2, cache_fill(&c->l1, line), c->l2.sets == 0);
    hold(node, core, line);
}

/* All copies but those of the core (and of its domain's L3) go. core -1: all. Returns whether there
 * were any. */
static bool invalidate(struct node *node, int core, uint32_t line) {
    struct holders *holders = directory_find(&node->directory, line);
    uint32_t keep = core < 0 ? 0 : 1u << node_domain(node, (uint32_t)core);
    bool any = false;
    for (uint32_t c = 0; holders && c < node->machine.cores; c++) {
        if ((int)c == core || !core_in(holders, c)) continue;
        drop_private(node, c, line);
        holders->cores[c / 64] &= ~(1ull << c % 64);
        any = true;
    }
    for (uint32_t d = 0; holders && d < node->machine.domains; d++) {
        if (!(holders->l3s & ~keep & 1u << d)) continue;
        cache_drop(&node->l3[d], line);
        any = true;
    }
    if (!holders) return false;
    holders->l3s &= keep;
    if (holders->owner != core) holders->owner = -1, holders->modified = false;
    if (nobody(holders)) directory_remove(&node->directory, holders);
    return any;
}

/* Who reads what another owns shares it from then on; who reads what nobody has owns it. */
static void read_share(struct node *node, uint32_t core, uint32_t line, bool alone) {
    struct holders *holders = directory_find(&node->directory, line);
    if (alone) holders->owner = (int16_t)core, holders->modified = false;
    else if (holders->owner != (int)core) holders->owner = -1, holders->modified = false;
}

/* ---- the stream prefetcher ---- */

/* The share of a sequence, spread evenly: true for that many of its members. */
static bool share(double *credit, double part) {
    *credit += part;
    if (*credit < 1) return false;
    *credit -= 1;
    return true;
}

/* Fetches a line ahead of its use: into L2, or as far as L3, or too late to be of use. */
static void fetch_ahead(struct node *node, uint32_t core, uint32_t line) {
    const struct machine *m = &node->machine;
    struct core *c = &node->cores[core];
    uint32_t domain = node_domain(node, core);
    if (!sampled(node, line) || cache_holds(&c->l2, line) || cache_holds(&c->l1, line)) return;
    bool busy = m->busy < 1 && c->from_memory > m->busy;
    bool to_l2 = !busy && share(&c->credit_l2, m->stream_l2);
    const struct holders *holders = directory_find(&node->directory, line);
    bool in_l3 = holders && holders->l3s >> domain & 1, alone = holders == NULL;
    if (!to_l2 && (in_l3 || !share(&c->credit_l3, m->stream_l3))) return;
    c->from_memory += ((alone ? 1.0 : 0.0) - c->from_memory) / 64;
    if (!in_l3) fill_l3(node, domain, line);
    if (to_l2)
        gone_from_core(node, core, &c->l1, cache_fill(&c->l2, line), true), hold(node, core, line);
    read_share(node, core, line, alone && to_l2);
}

/* Follows ascending walks inside a page: after two lines it runs ahead of the third and later ones,
 * two lines for each. */
static void follow(struct node *node, uint32_t core, uint32_t line) {
    struct core *c = &node->cores[core];
    uint32_t per_page = node->machine.page_bytes / node->machine.line_bytes, page = line / per_page;
    struct stream *s = NULL;
    for (int i = 0; i < streams && !s; i++)
        if (c->streams[i].page == page && c->streams[i].run > 0) s = &c->streams[i];
    if (!s) {
        c->streams[c->next_stream++ % streams] =
            (struct stream){page, line, line, node->sample > 1 ? 2 : 1};
        return;
    }
    uint32_t step = line > s->last ? line - s->last : s->last - line, end = (page + 1) * per_page;
    s->run = step <= reach ? s->run + 1 : 1;
    s->last = line;
    if (s->run < 2) s->head = line;
    if (s->run < 2) return;
    if (s->head < line) s->head = line;
    uint32_t to = s->head + 2 * (node->sample > 1 ? node->sample : 1);
    if (to > line + reach) to = line + reach;
    for (; s->head < to && s->head + 1 < end; s->head++) fetch_ahead(node, core, s->head + 1);
}

/* ---- one access ---- */

/* Where the line comes from when L2 has missed, and what that counts as. */
static void beyond_l2(struct node *node, uint32_t core, uint32_t line, int kind) {
    struct core *c = &node->cores[core];
    uint32_t domain = node_domain(node, core);
    const struct holders *holders = directory_find(&node->directory, line);
    bool here = (holders && holders->l3s >> domain & 1) || (kind & KNOWN), far = holders && !here;
    for (uint32_t i = 0; holders && !here && i < node->cores_per_domain; i++)
        here = core_in(holders, domain * node->cores_per_domain + i);
    c->from_memory += ((holders || here ? 0.0 : 1.0) - c->from_memory) / 64;
    c->counts.l2++;
    if (holders && here && holders->modified && holders->owner != (int)core) c->counts.neighbour++;
    c->clock += node->machine.cycles[here ? 2 : 3];
    if (here) return;
    c->counts.l3++;
    if (far) c->counts.remote++;
    else c->counts.memory++;
}

static void own(struct node *node, uint32_t core, uint32_t line) {
    struct holders *holders = directory_find(&node->directory, line);
    if (holders && holders->owner == (int)core) {
        holders->modified = true;
        return;
    }
    if (invalidate(node, (int)core, line)) node->cores[core].counts.ownership++;
    holders = directory_add(&node->directory, line);
    holders->owner = (int16_t)core;
    holders->modified = true;
}

void node_access(struct node *node, uint32_t core, uint32_t line, int kind) {
    struct core *c = &node->cores[core];
    if (!sampled(node, line)) return;
    bool hit = cache_use(&c->l1, line);
    c->clock += node->machine.cycles[0];
    if (!hit) {
        c->counts.l1++;
        bool in_l2 = cache_use(&c->l2, line), alone = false;
        if (in_l2) {
            c->clock += node->machine.cycles[1];
        } else {
            uint32_t domain = node_domain(node, core);
            if (c->l2.sets || node->machine.l3.bytes > 0) beyond_l2(node, core, line, kind);
            alone = directory_find(&node->directory, line) == NULL;
            bool in_l3 = cache_use(&node->l3[domain], line);
            if (!in_l3 && node->machine.inclusive) fill_l3(node, domain, line);
        }
        fill_private(node, core, line);
        if (!(kind & STORE)) read_share(node, core, line, alone);
    }
    if (kind & STORE) own(node, core, line);
    if (!hit && node->machine.stream && !(kind & KNOWN)) follow(node, core, line);
}

/* The page's address: from the TLB, or from one line of the page table, and one of the directory
 * above if that is not at hand. */
static void translate(struct node *node, uint32_t core, uint32_t line, int way) {
    struct core *c = &node->cores[core];
    uint32_t page = line / (node->machine.page_bytes / node->machine.line_bytes);
    if (node->machine.tlb_entries == 0 || c->page[way] == page) return;
    c->page[way] = page;
    if (cache_use(&c->tlb, page + 1)) return;
    cache_fill(&c->tlb, page + 1);
    c->counts.walks++;
    if (!cache_use(&c->directories, page / 512 + 1)) {
        cache_fill(&c->directories, page / 512 + 1);
        node_access(node, core, c->page_directories + page / 512 / 8, LOAD | KNOWN);
    }
    node_access(node, core, c->leaves + page / 8, LOAD | KNOWN);
}

void node_prefetch(struct node *node, uint32_t core, uint32_t line) {
    translate(node, core, line, 0);
    node_access(node, core, line, LOAD);
}

void node_load(struct node *node, uint32_t core, uint32_t line) {
    struct core *c = &node->cores[core];
    translate(node, core, line, 0);
    node_access(node, core, line, LOAD);
    uint32_t per_page = node->machine.page_bytes / node->machine.line_bytes;
    if (node->machine.next_line && line == c->last_load + 1 && (line + 1) % per_page != 0)
        node_access(node, core, line + 1, LOAD);
    c->last_load = line;
}

void node_store(struct node *node, uint32_t core, uint32_t line) {
    translate(node, core, line, 1);
    node_access(node, core, line, STORE);
}

void node_store_past(struct node *node, uint32_t core, uint32_t line) {
    translate(node, core, line, 1);
    if (!sampled(node, line)) return;
    invalidate(node, -1, line);
    node->cores[core].counts.nontemporal++;
}
