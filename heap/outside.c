/* SPDX-License-Identifier: BSD-3-Clause */
/* outside - jemalloc's memory that the region cannot serve: the system's, with a readable page on
 * either side, as in the region (region.c). jemalloc may free a part of what it has taken; the rest
 * needs a fence where it was. Where it begins and ends is noted, or the fences of what is freed
 * would stay for ever. */
#define _GNU_SOURCE
#include "heap/region.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

/* Without its fences. What finds no place here is never joined by what is freed beside it. */
struct piece {
    char *start, *end;
};
enum { most_pieces = 4096 };
static struct piece pieces[most_pieces]; /* under the region's lock, which is kept over a fork */
static size_t piece_count;

static void note_piece(char *start, char *end) {
    if (piece_count < most_pieces) pieces[piece_count++] = (struct piece){start, end};
}

/* Without MAP_NORESERVE the system refuses more than it has, as it refuses the C library. */
void *outside_take(size_t bytes, int protection, int flags) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE), all = bytes + 2 * page;
    char *fence = mmap(NULL, all, PROT_READ, flags | MAP_NORESERVE, -1, 0);
    if (fence == MAP_FAILED) return MAP_FAILED;
    if (mmap(fence + page, bytes, protection, (flags & ~MAP_NORESERVE) | MAP_FIXED, -1, 0) !=
        MAP_FAILED) {
        region_lock();
        note_piece(fence + page, fence + page + bytes);
        region_unlock();
        return fence + page;
    }
    int saved = errno;
    munmap(fence, all);
    errno = saved;
    return MAP_FAILED;
}

/* Does a piece begin with this memory, and does it end with it? It is noted no longer. */
static void forget(char *start, char *end, bool *begins, bool *ends) {
    *begins = *ends = false;
    size_t i = 0;
    while (i < piece_count && !(pieces[i].start <= start && end <= pieces[i].end)) i++;
    if (i == piece_count) return;
    struct piece piece = pieces[i];
    pieces[i] = pieces[--piece_count];
    *begins = piece.start == start;
    *ends = piece.end == end;
    if (!*begins) note_piece(piece.start, start);
    if (!*ends) note_piece(end, piece.end);
}

int outside_give(char *start, size_t bytes) {
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *end = start + bytes;
    bool begins, ends;
    region_lock();
    forget(start, end, &begins, &ends);
    region_unlock();
    if (!begins) mmap(start, page, PROT_READ, flags, -1, 0);
    if (!ends) mmap(end - page, page, PROT_READ, flags, -1, 0);
    start += begins ? -(ptrdiff_t)page : (ptrdiff_t)page;
    end += ends ? (ptrdiff_t)page : -(ptrdiff_t)page;
    return end > start ? munmap(start, (size_t)(end - start)) : 0;
}
