/* SPDX-License-Identifier: BSD-3-Clause */
/* shown - what ranks read and write of each other's memory that has not moved into the heap's file
 * (src/reach/shown.c): alltoalls of buffers that lie inside one page, whose bytes are copied into
 * the file for the call, and back. Thread 2, if there is one, is a thread of rank 0's program and
 * writes beside the buffers all the time. Number: of calls. Pages are 64 bytes. */
#include "../crew.h"

#include "heap/heap.h"

extern const struct algorithm_code algorithm_pull;

enum { ranks = 2, page = 64 };
static struct program {
    _Alignas(page) uint32_t before;
    uint32_t send[ranks], between, recv[ranks], behind;
} *programs;        /* [ranks] */
static char *files; /* [ranks] one page each */
static const uint64_t moved[1];
static int range_count;
static size_t ends[ranks];
static struct heap_region heaps[ranks];
static uintptr_t bases[ranks][2][ranks];
static struct cell cells[2][ranks][ranks];

bool gpus_know(const void *start, size_t bytes) {
    (void)start, (void)bytes;
    return false;
}

static void begin(void) {
    crew_begin(page);
    programs = share(ranks * sizeof *programs);
    files = share(ranks * page);
    name_memory(programs, ranks * sizeof *programs, "private memory");
    name_memory(files, ranks * page, "files");
    for (uint32_t r = 0; r < ranks; r++) {
        struct team *team = &teams[r];
        team->p = team->figures.p = ranks;
        sync_begin(team);
        heaps[r] = (struct heap_region){.base = (char *)&programs[r],
                                        .bytes = page,
                                        .page = page,
                                        .moved = moved,
                                        .alias = files + r * page,
                                        .range_count = &range_count,
                                        .end = &ends[r]};
        team->heap = &heaps[r];
        team->region = heaps[r].base;
        team->region_bytes = page;
        for (uint32_t other = 0; other < ranks; other++)
            for (int writable = 0; writable < 2; writable++)
                bases[r][writable][other] = (uintptr_t)(files + other * page);
        bases[r][0][r] = (uintptr_t)team->region;
        team->peers[0] = bases[r][0];
        team->peers[1] = bases[r][1];
        for (uint32_t k = 0; k < ranks; k++) {
            cells[0][r][k] = (struct cell){.source = (r + k) % ranks, .dest = r};
            cells[1][r][k] = (struct cell){.source = r, .dest = (r + k) % ranks};
        }
        team->cells[ORDER_rows][0] = cells[0][r];
        team->cells[ORDER_columns][0] = cells[1][r];
    }
}

static void alltoalls(int me, enum order_id order) {
    for (int k = 0; k < scene_number(0); k++) {
        if (me == ranks) {
            programs[0].before = programs[0].between = programs[0].behind = (uint32_t)k;
            continue;
        }
        struct program *mine = &programs[me];
        struct call call = {.shape = {.collective = COLL_alltoall, .bytes = sizeof mine->send[0]},
                            .send = (const char *)mine->send,
                            .recv = (char *)mine->recv};
        struct arguments arguments = {.walk = {.order = order}};
        for (int j = 0; j < ranks; j++) mine->send[j] = (uint32_t)(100 * k + 10 * me + j);
        expect(algorithm_pull.run(crew_team(), &call, &arguments) == DONE, "left");
        for (int i = 0; i < ranks; i++) {
            expect(mine->recv[i] == (uint32_t)(100 * k + 10 * i + me), "a wrong block");
            mine->recv[i] = mine->send[i] = 0;
        }
    }
}
static void rows(int me) { alltoalls(me, ORDER_rows); }
static void columns(int me) { alltoalls(me, ORDER_columns); }

const struct scene scenes[] = {{"rows", begin, rows, NULL}, {"columns", begin, columns, NULL}};
const int scene_count = sizeof scenes / sizeof scenes[0];
