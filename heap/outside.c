/* SPDX-License-Identifier: BSD-3-Clause */
/* outside - jemalloc's memory that the region cannot serve: the system's, with a readable page on
 * either side, as in the region (region.c). jemalloc may free a part of what it has taken; the rest
 * needs a fence where it was. Where it begins and ends is noted, or the fences of what is freed
 * would stay for ever. */
#define _GNU_SOURCE
#include "heap/blocks.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

/* Without its fences. All are noted, because a block in one is jemalloc's. Half of the table is for
 * what remains of those that are freed in parts. */
struct piece {
    char *start, *end;
};
enum { most_pieces = 4096, most_taken = most_pieces / 2 };
static struct piece pieces[most_pieces]; /* under the region's lock, which is kept over a fork */
static size_t piece_count;

static bool note_piece(char *start, char *end) {
    region_lock();
    bool fits = piece_count < most_taken;
    if (fits) {
        pieces[piece_count++] = (struct piece){start, end};
        blocks.overflows = true;
    }
    region_unlock();
    return fits;
}

bool outside_holds(const void *address) {
    const char *at = address;
    size_t i = 0;
    region_lock();
    while (i < piece_count && !(pieces[i].start <= at && at < pieces[i].end)) i++;
    bool holds = i < piece_count;
    region_unlock();
    return holds;
}

/* Without MAP_NORESERVE the system refuses more than it has, as it refuses the C library. */
void *outside_take(size_t bytes, int protection, int flags) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE), all = bytes + 2 * page;
    char *fence = mmap(NULL, all, PROT_READ, flags | MAP_NORESERVE, -1, 0);
    if (fence == MAP_FAILED) return MAP_FAILED;
    void *inner =
        mmap(fence + page, bytes, protection, (flags & ~MAP_NORESERVE) | MAP_FIXED, -1, 0);
    if (inner != MAP_FAILED && note_piece(inner, (char *)inner + bytes)) return inner;
    munmap(fence, all);
    errno = ENOMEM;
    return MAP_FAILED;
}

/* Does a piece begin with this memory, and does it end with it? It is noted no longer. False: the
 * table has no room for both of what remains. */
static bool forget(char *start, char *end, bool *begins, bool *ends) {
    *begins = *ends = false;
    size_t i = 0;
    while (i < piece_count && !(pieces[i].start <= start && end <= pieces[i].end)) i++;
    if (i == piece_count) return true;
    struct piece piece = pieces[i];
    *begins = piece.start == start;
    *ends = piece.end == end;
    if (!*begins && !*ends && piece_count == most_pieces) return false;
    pieces[i] = pieces[--piece_count];
    if (!*begins) pieces[piece_count++] = (struct piece){piece.start, start};
    if (!*ends) pieces[piece_count++] = (struct piece){end, piece.end};
    return true;
}

int outside_give(char *start, size_t bytes) {
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *end = start + bytes;
    bool begins, ends;
    region_lock();
    bool known = forget(start, end, &begins, &ends);
    region_unlock();
    if (!known) return madvise(start, bytes, MADV_DONTNEED); /* its addresses are lost */
    if (!begins) mmap(start, page, PROT_READ, flags, -1, 0);
    if (!ends) mmap(end - page, page, PROT_READ, flags, -1, 0);
    start += begins ? -(ptrdiff_t)page : (ptrdiff_t)page;
    end += ends ? (ptrdiff_t)page : -(ptrdiff_t)page;
    return end > start ? munmap(start, (size_t)(end - start)) : 0;
}
