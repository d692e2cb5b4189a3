/* SPDX-License-Identifier: BSD-3-Clause */
/* near.h - a part of reach.h: peers' regions in my address space, whole (peers.c), and parts of
 * them side by side (near.c). */
#ifndef MORTAR_NEAR_H
#define MORTAR_NEAR_H

#include "reach/reach.h"

/* ---- near.c: parts of the peers' regions, side by side ---- */
enum { near_pieces = 2, near_bytes = 2 << 20 };
static const uint64_t near_empty = (uint64_t)1 << 63; /* no region is so long */
struct near {
    void *area;
    size_t bytes;   /* of it */
    uintptr_t base; /* of the first piece */
    struct near_peer {
        uint64_t first[near_pieces]; /* where each piece begins in the region, or near_empty */
        uint32_t missed, patience;   /* missed so often, the next piece is mapped */
        int next;
    } of[];
};
static inline uintptr_t near_at(const struct near *near, int rank, int piece) {
    return near->base + (size_t)(rank * near_pieces + piece) * near_bytes;
}
/* For a team whose peers are mapped for reading; does nothing where it does not pay. Local. */
void near_begin(struct team *team);
void near_end(struct team *team);
uintptr_t near_missed(const struct team *team, int rank, uint64_t offset, size_t bytes);
/* Where a peer's region begins for me, as far as [offset, offset + bytes) of it goes: to read only,
 * in this call. The team needs `near`. Local. */
static inline uintptr_t near_peer(const struct team *team, int rank, uint64_t offset,
                                  size_t bytes) {
    const struct near_peer *peer = &team->near->of[rank];
    for (int piece = 0; piece < near_pieces; piece++)
        if (offset - peer->first[piece] <= near_bytes - bytes && bytes <= near_bytes)
            return near_at(team->near, rank, piece) - peer->first[piece];
    return near_missed(team, rank, offset, bytes);
}

/* ---- peers.c: mapped regions of other processes, shared by all teams of this process ---- */
/* fd: a descriptor of the region, which stays the caller's, or -1 to open it by its name. *base is
 * valid until the matching peer_unmap. 0 or -errno. Thread safe. Local. */
int peer_map(const struct segment_name *name, int fd, bool writable, uintptr_t *base);
void peer_unmap(const struct segment_name *name, bool writable);
/* After a call in which this rank has touched so many bytes of its peers. Pages of theirs count as
 * this process's resident memory (VmRSS) once it has. If they are more than a quarter of its own,
 * and 64 MiB, it forgets them; the next access maps them again. Local. */
void peers_count(size_t bytes);
/* Memory in which peers' regions are mapped, too. Thread safe. Local. */
void peers_add(void *area, size_t bytes);
void peers_remove(const void *area);
static inline void peers_touched(size_t bytes) {
    enum { least = 64 << 10 }; /* shorter calls do not fill memory */
    if (bytes >= least) peers_count(bytes);
}

#endif
