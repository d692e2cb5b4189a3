/* SPDX-License-Identifier: BSD-3-Clause */
/* node - the memory of a team: control block, stage, peers' regions, parts of orders. No MPI: in
 * tests ranks are threads. */
#define _GNU_SOURCE
#include "reach/reach.h"

#include "heap/heap.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { page = 4096, line = 64 };

static size_t posts_end(int p) {
    return sizeof(struct control) + 2 * (size_t)p * sizeof(struct post);
}

static size_t cards_end(int p) {
    return (posts_end(p) + 2 * (size_t)p * CARD_BYTES + page - 1) / page * page;
}

static size_t stage_end(int p, size_t slot) {
    return (cards_end(p) + 2 * (size_t)p * slot + page - 1) / page * page;
}

static size_t shared_end(int p, size_t slot) {
    size_t end = stage_end(p, slot);
    for (int i = 0; i < shared_count; i++)
        end += shared_wanted(i).all + (size_t)p * shared_wanted(i).each;
    return end;
}

static size_t gates_end(int p, size_t slot) {
    size_t end = shared_end(p, slot) + gates_most(p) * sizeof(struct gate);
    return end + ((size_t)p * sizeof(uint32_t) + line - 1) / line * line;
}

static size_t beacons_end(int p, size_t slot) {
    const size_t all = 2 * (size_t)p * sizeof(struct beacon), pair = _Alignof(struct beacon);
    return p > few_ranks ? gates_end(p, slot) : (gates_end(p, slot) + pair - 1) / pair * pair + all;
}

static size_t ledgers_end(int p, size_t slot) {
    return beacons_end(p, slot) + (size_t)p * ledger_room;
}

static size_t boxes_end(int p, size_t slot) {
    return (ledgers_end(p, slot) + boxes_size(p, slot) + page - 1) / page * page;
}

size_t control_size(int p, size_t slot, size_t space) { return boxes_end(p, slot) + space; }

static _Atomic size_t mapped;

void *control_map(int fd, size_t bytes) {
    int error;
    void *memory = segment_map(fd, bytes, true, &error);
    if (memory) atomic_fetch_add(&mapped, bytes);
    return memory;
}

void control_unmap(void *memory, size_t bytes) {
    munmap(memory, bytes);
    atomic_fetch_sub(&mapped, bytes);
}

const char few_addresses_why[] = "too many communicators: too few addresses left for their memory";

size_t control_mapped(void) { return atomic_load(&mapped); }

void team_attach(struct team *team, void *memory, size_t slot, size_t space) {
    team->figures = figures_of_node(team->p);
    team->first = (int)far_apart((uint32_t)team->me, (uint32_t)team->p);
    team->control = memory;
    team->control_bytes = control_size(team->p, slot, space);
    team->space = (char *)memory + boxes_end(team->p, slot);
    team->figures.space_bytes = space;
    team->cards = (char *)memory + posts_end(team->p);
    team->stage = (char *)memory + cards_end(team->p);
    team->figures.slot = slot;
    team->stage_half = (size_t)team->p * slot;
    char *at = (char *)memory + stage_end(team->p, slot);
    for (int i = 0; i < shared_count; i++) {
        struct shared wanted = shared_wanted(i);
        size_t bytes = wanted.all + (size_t)team->p * wanted.each;
        team->shared[i] = bytes > 0 ? at : NULL;
        at += bytes;
    }
    team->gates = (void *)at;
    team->seats = (void *)(team->gates + gates_most(team->p));
    at = (char *)memory + beacons_end(team->p, slot);
    if (team->p <= few_ranks) team->unlit = (struct beacon *)(void *)at - 2 * team->p;
    team->ledgers = (void *)at;
    team->ledger = &team->ledgers[team->me];
    boxes_attach(team, (char *)memory + ledgers_end(team->p, slot), slot);
    sync_begin(team);
    team->map_error[0] = 1; /* not tried */
    team->map_error[1] = 1;
    team->patience = patience_first(team->p);
}

void team_reserve_tables(struct team *node) {
    node->tables.bytes = node->figures.space_bytes / 16 / page * page;
    node->figures.space_bytes -= node->tables.bytes;
    node->tables.at = node->space + node->figures.space_bytes;
}

char *team_space(struct team *node, size_t *bytes) {
    *bytes = node->figures.space_bytes / 2;
    return node->space + (node->space_turns++ & 1) * *bytes;
}

static void unmap_peers(struct team *team, bool writable) {
    if (!writable) near_end(team);
    for (int r = 0; r < team->p; r++)
        if (team->peers[writable][r] && r != team->me && team->names[r].bytes)
            peer_unmap(&team->names[r], writable);
    free(team->peers[writable]);
    team->peers[writable] = NULL;
}

void team_forget_comm(struct team *team) {
    for (int i = 0; i < 2; i++) {
        free(team->neighbours[i]);
        team->neighbours[i] = NULL;
        for (int order = 0; order < ORDERS; order++) {
            free(team->segment[i][order]);
            team->segment[i][order] = NULL;
        }
    }
    free(team->shortcuts);
    team->shortcuts = NULL;
}

void team_release(struct team *team) {
    team_close_paths(team);
    team_forget_comm(team);
    for (int writable = 0; writable < 2; writable++)
        if (team->peers[writable] && team->names) unmap_peers(team, writable);
    for (int order = 0; order < ORDERS; order++)
        for (int inner = 0; inner < ORDERS; inner++) free(team->cells[order][inner]);
    team_free_lanes(team);
    team_free_kept(team);
    if (team->places) places_free(team->places);
    free(team->places);
    free(team->domain_of);
    free(team->names);
    free(team->world);
    free(team->waits.late);
    free(team->turns);
}

const struct cell *team_cells(struct team *team, struct walk walk) {
    const struct order *order = &orders[walk.order];
    struct matrix matrix = {.p = (uint32_t)team->p,
                            .domain_of = team->domain_of,
                            .inner = order->nests ? &orders[walk.inner] : NULL};
    struct cell **cells = &team->cells[walk.order][walk.inner];
    if (!*cells) {
        *cells = malloc((size_t)team->p * sizeof **cells);
        if (*cells) order->fill(&matrix, (uint32_t)team->me, *cells);
    }
    return *cells;
}

uintptr_t team_own_base(const struct team *team, bool writable) {
    return (uintptr_t)(writable && team->heap ? team->heap->alias : team->region);
}

static int map_all(struct team *team, bool writable) {
    uintptr_t *bases = calloc((size_t)team->p, sizeof *bases);
    if (!bases) return -ENOMEM;
    team->peers[writable] = bases;
    for (int r = 0; r < team->p; r++) {
        int error = 0;
        if (r == team->me) bases[r] = team_own_base(team, writable);
        else if (team->names[r].bytes) error = peer_map(&team->names[r], -1, writable, &bases[r]);
        if (error) {
            unmap_peers(team, writable);
            return error;
        }
    }
    return 0;
}

int team_map(struct team *team, bool writable) {
    if (team->map_error[writable] <= 0) return team->map_error[writable];
    int error = team->peers[writable] ? 0 : map_all(team, writable);
    if (!team_agree(team, error == 0)) {
        if (error == 0) unmap_peers(team, writable);
        else
            note("a peer's memory cannot be mapped (error %d): no plan that needs it is used",
                 -error);
        error = -EACCES;
    }
    team->map_error[writable] = error;
    return error;
}

void team_shares(struct team *team) {
    team->figures.shares = true;
    for (int r = 0; r < team->p; r++)
        if (team->names[r].bytes == 0) team->figures.shares = false;
}
