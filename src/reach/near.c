/* SPDX-License-Identifier: BSD-3-Clause */
/* near - parts of the peers' regions, mapped once more and side by side.
 *
 * The regions lie 64 GiB apart, so each needs pages of the page table of its own, at three levels.
 * A rank that reads a short block of each of many peers pays for these more than for the data,
 * since ranks that take turns on a processor empty its TLB. 64 ranks on 2 processors (AMD EPYC with
 * 1 MiB L2 each, virtual), alltoall of 4 KiB by processes that do nothing else, by the distance of
 * the regions: 64 GiB 3260 us, 16 MiB 2610, 2 MiB 1950; of 512 bytes 366, 294, 274. So what a rank
 * has often read of a peer's region is mapped beside what it has read of the others: two pieces of
 * 2 MiB for each peer.
 *
 * Each rank decides by itself, since it changes nothing but addresses. To map pieces of all peers
 * takes as long as 10 to 100 calls gain, the fewer the longer the blocks. Buffers that change more
 * often than that keep the region's own mapping: after each change a peer waits twice as long. */
#define _GNU_SOURCE
#include "reach/reach.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { pays_after = 80, least_ranks = 16 };

void near_begin(struct team *team) {
    size_t p = (size_t)team->p, bytes = p * near_pieces * near_bytes;
    bool crowded = team->figures.processors > 0 && team->p > team->figures.processors;
    if (team->near || !crowded || team->p < least_ranks) return;
    struct near *near = malloc(sizeof *near + p * sizeof near->of[0]);
    void *area = near ? mmap(NULL, bytes + near_bytes, PROT_NONE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
                      : MAP_FAILED;
    if (area == MAP_FAILED) {
        free(near);
        return;
    }
    *near = (struct near){.area = area,
                          .base = ((uintptr_t)area + near_bytes - 1) / near_bytes * near_bytes,
                          .bytes = bytes + near_bytes};
    for (size_t r = 0; r < p; r++)
        near->of[r] = (struct near_peer){.first = {near_empty, near_empty}, .patience = pays_after};
    peers_add(area, near->bytes);
    team->near = near;
}

void near_end(struct team *team) {
    struct near *near = team->near;
    team->near = NULL;
    if (!near) return;
    peers_remove(near->area);
    munmap(near->area, near->bytes);
    free(near);
}

/* Maps the pages of [first, first + near_bytes) of a peer's region in a piece of mine. */
static bool near_map(const struct team *team, int rank, int piece, uint64_t first) {
    char *far = (char *)team->peers[0][rank] + first;
    /* No bytes of a shared mapping: the same pages, once more, in no child either (mremap(2)). A
     * system call, because UCX puts a function with four arguments in mremap's place. */
    long at = syscall(SYS_mremap, far, (size_t)0, (size_t)near_bytes, MREMAP_MAYMOVE | MREMAP_FIXED,
                      near_at(team->near, rank, piece));
    if (at == -1) return false;
    madvise(far, near_bytes, MADV_DONTNEED); /* they count as resident in each mapping */
    return true;
}

uintptr_t near_missed(const struct team *team, int rank, uint64_t offset, size_t bytes) {
    struct near_peer *peer = &team->near->of[rank];
    uintptr_t far = team->peers[0][rank];
    size_t page = (size_t)sysconf(_SC_PAGESIZE), region = team->names[rank].bytes;
    /* Huge pages stay huge if a piece begins like one. */
    uint64_t first = offset / near_bytes * near_bytes;
    if (offset + bytes > first + near_bytes) first = offset / page * page;
    if (rank == team->me || offset + bytes > first + near_bytes || first + near_bytes > region)
        return far;
    peer->missed += 1 + (uint32_t)(bytes >> 16);
    if (peer->missed < peer->patience) return far;
    int piece = peer->next;
    peer->missed = 0;
    if (peer->patience < UINT32_MAX / 4) peer->patience *= 2;
    peer->next = (piece + 1) % near_pieces;
    peer->first[piece] = near_empty;
    if (!near_map(team, rank, piece, first)) return far;
    peer->first[piece] = first;
    return near_at(team->near, rank, piece) - first;
}
