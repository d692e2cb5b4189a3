/* SPDX-License-Identifier: BSD-3-Clause */
/* kinds - the collectives that can be measured, and how each is called for a cell. Every function
 * is there twice: the MPI library's own, and the one that any program gets. */
#define _GNU_SOURCE
#include "bench.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

struct functions library;
const struct functions caught = {
#define KIND(name, Name, sends, receives, contents, vector) .name = MPI_##Name,
#include "list.h"
#undef KIND
};

/* ---- the calls ---- */

static int elements(const struct cell *cell) { return (int)(cell->bytes / cell->unit); }

static int call_barrier(const struct functions *f, const struct cell *c, MPI_Comm comm) {
    return (void)c, f->barrier(comm);
}

static int call_bcast(const struct functions *f, const struct cell *c, MPI_Comm comm) {
    return f->bcast(c->me == c->root ? c->send : c->recv, elements(c), c->type, c->root, comm);
}

static int call_gather(const struct functions *f, const struct cell *c, MPI_Comm comm) {
    return f->gather(c->send, elements(c), c->type, c->recv, elements(c), c->type, c->root, comm);
}

static int call_gatherv(const struct functions *f, const struct cell *c, MPI_Comm comm) {
    return f->gatherv(c->send, c->out.counts[0], c->type, c->recv, c->in.counts, c->in.places,
                      c->type, c->root, comm);
}

static int call_scatter(const struct functions *f, const struct cell *c, MPI_Comm comm) {
    return f->scatter(c->send, elements(c), c->type, c->recv, elements(c), c->type, c->root, comm);
}

static int call_scatterv(const struct functions *f, const struct cell *c, MPI_Comm comm) {
    return f->scatterv(c->send, c->out.counts, c->out.places, c->type, c->recv, c->in.counts[0],
                       c->type, c->root, comm);
}

static int call_allgather(const struct functions *f, const struct cell *c, MPI_Comm comm) {
    return f->allgather(c->send, elements(c), c->type, c->recv, elements(c), c->type, comm);
}

static int call_allgatherv(const struct functions *f, const struct cell *c, MPI_Comm comm) {
    return f->allgatherv(c->send, c->out.counts[0], c->type, c->recv, c->in.counts, c->in.places,
                         c->type, comm);
}

static int call_alltoall(const struct functions *f, const struct cell *c, MPI_Comm comm) {
    return f->alltoall(c->send, elements(c), c->type, c->recv, elements(c), c->type, comm);
}

static int call_alltoallv(const struct functions *f, const struct cell *c, MPI_Comm comm) {
    return f->alltoallv(c->send, c->out.counts, c->out.places, c->type, c->recv, c->in.counts,
                        c->in.places, c->type, comm);
}

static int call_alltoallw(const struct functions *f, const struct cell *c, MPI_Comm comm) {
    return f->alltoallw(c->send, c->out.counts, c->out.places, c->out.types, c->recv, c->in.counts,
                        c->in.places, c->in.types, comm);
}

static int call_reduce(const struct functions *f, const struct cell *c, MPI_Comm comm) {
    return f->reduce(c->send, c->recv, elements(c), c->type, MPI_SUM, c->root, comm);
}

static int call_allreduce(const struct functions *f, const struct cell *c, MPI_Comm comm) {
    return f->allreduce(c->send, c->recv, elements(c), c->type, MPI_SUM, comm);
}

static int call_reduce_scatter(const struct functions *f, const struct cell *c, MPI_Comm comm) {
    return f->reduce_scatter(c->send, c->recv, c->out.counts, c->type, MPI_SUM, comm);
}

static int call_reduce_scatter_block(const struct functions *f, const struct cell *c,
                                     MPI_Comm comm) {
    return f->reduce_scatter_block(c->send, c->recv, elements(c), c->type, MPI_SUM, comm);
}

static int call_scan(const struct functions *f, const struct cell *c, MPI_Comm comm) {
    return f->scan(c->send, c->recv, elements(c), c->type, MPI_SUM, comm);
}

static int call_exscan(const struct functions *f, const struct cell *c, MPI_Comm comm) {
    return f->exscan(c->send, c->recv, elements(c), c->type, MPI_SUM, comm);
}

static int call_neighbor_allgather(const struct functions *f, const struct cell *c, MPI_Comm comm) {
    return f->neighbor_allgather(c->send, elements(c), c->type, c->recv, elements(c), c->type,
                                 comm);
}

static int call_neighbor_allgatherv(const struct functions *f, const struct cell *c,
                                    MPI_Comm comm) {
    return f->neighbor_allgatherv(c->send, c->out.counts[0], c->type, c->recv, c->in.counts,
                                  c->in.places, c->type, comm);
}

static int call_neighbor_alltoall(const struct functions *f, const struct cell *c, MPI_Comm comm) {
    return f->neighbor_alltoall(c->send, elements(c), c->type, c->recv, elements(c), c->type, comm);
}

static int call_neighbor_alltoallv(const struct functions *f, const struct cell *c, MPI_Comm comm) {
    return f->neighbor_alltoallv(c->send, c->out.counts, c->out.places, c->type, c->recv,
                                 c->in.counts, c->in.places, c->type, comm);
}

static int call_neighbor_alltoallw(const struct functions *f, const struct cell *c, MPI_Comm comm) {
    return f->neighbor_alltoallw(c->send, c->out.counts, c->out.offsets, c->out.types, c->recv,
                                 c->in.counts, c->in.offsets, c->in.types, comm);
}

static int call_redistribution(const struct functions *f, const struct cell *c, MPI_Comm comm) {
    const struct cut *out = &c->grid.out, *in = &c->grid.in;
    return f->redistribution(c->send, out->types_each, out->zeros, out->types, c->recv,
                             in->types_each, in->zeros, in->types, comm);
}

/* ---- the table ---- */

const struct kind kinds[] = {
#define KIND(name, Name, sends, receives, contents, vector)                                        \
    {#name, #Name, call_##name, sends, receives, contents, vector},
#include "list.h"
#undef KIND
};
const int count_of_kinds = sizeof kinds / sizeof *kinds;

const struct kind *kind_of(const char *name) {
    for (int i = 0; i < count_of_kinds; i++)
        if (strcmp(kinds[i].name, name) == 0) return &kinds[i];
    return NULL;
}

bool kind_same_to_all(const struct kind *kind) {
    return kind->sends == ONE || kind->sends == ONE_ROOT;
}
bool kind_rooted(const struct kind *kind) {
    return kind->sends == ONE_ROOT || kind->sends == ALL_ROOT || kind->receives == ONE_ROOT ||
           kind->receives == ALL_ROOT;
}
bool kind_neighbours(const struct kind *kind) { return kind->receives == NEIGHBOURS; }
bool kind_grid(const struct kind *kind) { return kind->sends == SLAB; }
bool kind_stream(const struct kind *kind) {
    return kind->receives == ALL && kind->contents == BYTES && !kind->vector;
}
/* Not where each rank needs something of everybody. (Where counts differ, or a grid is small, some
 * pairs have nothing for each other, but the others hold all of them together.) */
bool kind_loose(const struct kind *kind) {
    bool meets = kind->sends == NOBODY || kind->receives == ALL || kind_grid(kind);
    return !meets && (kind->contents != SUM || kind->receives != ONE);
}
bool kind_limit(const struct kind *kind) {
    bool bcast = kind->sends == ONE_ROOT && kind->receives == ONE_OTHERS;
    bool allreduce = kind->sends == ONE && kind->receives == ONE && kind->contents == SUM;
    return kind_stream(kind) || bcast || allreduce;
}

const char *library_file(void) {
    Dl_info info;
    void *known = dlsym(RTLD_DEFAULT, "PMPI_Comm_rank");
    return known && dladdr(known, &info) ? info.dli_fname : "the MPI library";
}

void *library_symbol(const char *name) {
    void *handle = dlopen(library_file(), RTLD_LAZY | RTLD_NOLOAD);
    return handle ? dlsym(handle, name) : NULL;
}

const char *functions_find(void) {
    static const struct {
        const char *symbol;
        size_t place;
    } members[] = {
#define KIND(name, Name, sends, receives, contents, vector)                                        \
    {"PMPI_" #Name, offsetof(struct functions, name)},
#include "list.h"
#undef KIND
    };
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        void *symbol = library_symbol(members[i].symbol);
        if (!symbol) return members[i].symbol;
        memcpy((char *)&library + members[i].place, &symbol, sizeof symbol);
    }
    return NULL;
}
